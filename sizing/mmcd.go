package sizing

import "math"

// MMcD is the M/M/c queue whose waiters leave after a fixed time: a bulkhead
// with max_wait. The wait an arrival would need, were it patient, has the
// density λ·p_(c−1)·e^(λ·min(x,D) − cμx); what would need more than D leaves
// at D and is shed. Barrer (1957), "Queuing with impatient customers and
// ordered service"; in this form Baccelli & Hebuterne (1981).
//
// It needs exponential holding times: a timeout T makes them min(S,T), and
// unless T is far in the tail only a simulation is exact.
type MMcD struct {
	Rate    float64 // per second
	Mean    float64 // seconds a permit is held
	Servers int     // permits, at least 1
	MaxWait float64 // seconds; 0 is Erlang B, +Inf is M/M/c
}

// MMcDPermits returns the fewest permits that shed at most the share target:
// 0 for a target of 1 or more, [NoAnswer] for one of 0 or less.
func MMcDPermits(rate, mean, maxWait, target float64) int {
	a := Little(rate, mean)
	if !(a >= 0 && maxWait >= 0) || math.IsInf(a, 1) {
		return NoAnswer
	}
	return fewestPermits(a, target, func(c int) float64 { return MMcD{rate, mean, c, maxWait}.Shed() })
}

// Load returns a = λm.
func (q MMcD) Load() float64 { return Little(q.Rate, q.Mean) }

// Shed returns the share of arrivals that leave without a permit. It tends to
// max(0, 1 − c/a) as the wait grows.
func (q MMcD) Shed() float64 { return q.solve().beyond }

// PWait returns the share of arrivals that find no free permit, those that
// leave included.
func (q MMcD) PWait() float64 { s := q.solve(); return s.within + s.beyond }

// MeanWaitServed returns the mean wait of those that get a permit, the ones
// that wait 0 included; below MaxWait, and NaN if nobody gets one.
func (q MMcD) MeanWaitServed() float64 {
	s := q.solve()
	return s.waited / (1 - s.beyond)
}

// MeanQueue returns how many wait on average, λ·E[min(V,D)].
func (q MMcD) MeanQueue() float64 {
	s := q.solve()
	left := 0.0
	if s.beyond > 0 {
		left = s.beyond * q.MaxWait
	}
	return Little(q.Rate, s.waited+left)
}

// MeanBusy returns the permits in use on average, a·(1 − shed).
func (q MMcD) MeanBusy() float64 { return q.Load() * (1 - q.Shed()) }

// Parked returns the mean number of calls that wait or hold a permit.
func (q MMcD) Parked() float64 { return q.MeanQueue() + q.MeanBusy() }

// Probability returns the chance that n permits are in use and nobody waits,
// for 0 ≤ n < Servers: proportional to a^n/n!. NaN for other n: from Servers
// on the number in the system has no elementary law.
func (q MMcD) Probability(n int) float64 {
	if n < 0 || n >= q.Servers {
		return math.NaN()
	}
	free := 1 - q.PWait()
	return free * PoissonProbability(q.Load(), n) / PoissonAtMost(q.Load(), q.Servers-1)
}

// WaitTail returns the share of arrivals that wait longer than t, whether or
// not they get a permit in the end: 0 from MaxWait on, 1 for t below 0.
func (q MMcD) WaitTail(t float64) float64 {
	switch {
	case t < 0:
		return 1
	case t >= q.MaxWait:
		return 0
	case math.IsInf(q.MaxWait, 1):
		return MMc{q.Rate, q.Mean, q.Servers}.WaitTail(t)
	}
	s := q.solve()
	if t == 0 {
		return s.within + s.beyond
	}
	return s.beyond + s.within*q.between(t, q.MaxWait)/q.between(0, q.MaxWait)
}

// mmcdSolution holds what the offered wait V says.
type mmcdSolution struct {
	within float64 // P(0 < V < D)
	beyond float64 // P(V ≥ D)
	waited float64 // E[V; V < D]
}

// solve integrates the density. With δ = λ − cμ every weight is taken in
// units of p_(c−1)·e^(max(δ,0)·D), so that neither sign of δ overflows.
func (q MMcD) solve() mmcdSolution {
	a, c, d := q.Load(), float64(q.Servers), q.MaxWait
	nan := math.NaN()
	switch {
	case q.Servers < 1 || math.IsNaN(a) || !(d >= 0):
		return mmcdSolution{nan, nan, nan}
	case a == 0:
		return mmcdSolution{}
	case math.IsInf(a, 1):
		return mmcdSolution{beyond: 1}
	case math.IsInf(d, 1):
		return q.patient()
	}
	free := 1 / ErlangB(q.Servers-1, a) // Σ p_n over n < c, in units of p_(c−1)
	if math.IsInf(free, 1) {
		return mmcdSolution{}
	}
	slope := (a - c) / q.Mean // δ
	growth := math.Max(slope, 0) * d
	free *= math.Exp(-growth)
	within := q.Rate * q.between(0, d)
	beyond := a / c * math.Exp(slope*d-growth)
	waited := q.Rate * d * d * firstMoment(slope*d)
	total := free + within + beyond
	return mmcdSolution{within / total, beyond / total, waited / total}
}

// patient is the limit of an endless MaxWait: M/M/c below capacity, everybody
// waiting for ever above it.
func (q MMcD) patient() mmcdSolution {
	if share := 1 - float64(q.Servers)/q.Load(); share >= 0 {
		return mmcdSolution{within: 1 - share, beyond: share, waited: math.Inf(1)}
	}
	m := MMc{q.Rate, q.Mean, q.Servers}
	return mmcdSolution{within: m.PWait(), waited: m.MeanWait()}
}

// between returns ∫ e^(δx) dx from t to u, in units of e^(max(δ,0)·D).
func (q MMcD) between(t, u float64) float64 {
	slope := (q.Load() - float64(q.Servers)) / q.Mean
	switch {
	case slope == 0:
		return u - t
	case slope > 0:
		return -math.Exp(slope*(u-q.MaxWait)) * math.Expm1(-slope*(u-t)) / slope
	}
	return math.Exp(slope*t) * math.Expm1(slope*(u-t)) / slope
}

// firstMoment returns ∫ u·e^(yu) du over [0,1], for y > 0 divided by e^y:
// ((y−1)e^y + 1)/y², by its series where that cancels.
func firstMoment(y float64) float64 {
	if math.Abs(y) < 0.5 {
		sum, term := 0.0, 1.0 // term = y^k/k!
		for k := 0.0; k < 20; k++ {
			sum += term / (k + 2)
			term *= y / (k + 1)
		}
		if y > 0 {
			sum *= math.Exp(-y)
		}
		return sum
	}
	if y > 0 {
		return (y - 1 + math.Exp(-y)) / (y * y)
	}
	return ((y-1)*math.Exp(y) + 1) / (y * y)
}
