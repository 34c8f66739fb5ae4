package sizing

import "math"

// ErlangB returns the share of Poisson arrivals that find all c permits taken
// when nobody waits, at a load of a = λ·E[S] erlangs. It does not depend on
// the shape of S. B_k = a·B_(k−1)/(k + a·B_(k−1)), B_0 = 1 (Erlang 1917; the
// insensitivity: Sevastyanov 1957). 1 for c = 0 or a = +Inf, 0 for a = 0 and
// c > 0.
//
// The recursion is entered at k = ⌊a⌋, where 1/B = 1 + k/a + k(k−1)/a² + …
// has no large terms, and left when B is 0 to the float: about 50·√a steps
// whatever c. Above 1e10 erlangs it is the fluid's max(0, 1 − c/a), which is
// right to 1e-5.
func ErlangB(c int, a float64) float64 {
	switch {
	case c < 0 || !(a >= 0):
		return math.NaN()
	case c == 0 || math.IsInf(a, 1):
		return 1
	case a == 0:
		return 0
	case a > fluidLoad:
		return math.Max(0, 1-float64(c)/a)
	}
	if float64(c) <= a {
		return 1 / belowInUnits(a, c)
	}
	k := int(a)
	b := 1 / belowInUnits(a, k)
	for k < c && b > 0 {
		k++
		b = a * b / (float64(k) + a*b)
	}
	return b
}

// fluidLoad is where a queue is so large that its chance fluctuations, √a,
// no longer show beside a.
const fluidLoad = 1e10

// ErlangBPermits returns the fewest permits that shed at most the share target
// of a erlangs without a queue. 0 for a target of 1 or more, [NoAnswer] for
// one of 0 or less, which no number reaches, or for an infinite load.
func ErlangBPermits(a, target float64) int {
	if !(a >= 0) || math.IsInf(a, 1) {
		return NoAnswer
	}
	return fewestPermits(a, target, func(c int) float64 { return ErlangB(c, a) })
}

// ErlangBLoad returns the erlangs that c permits carry when the share target
// of them is shed: the inverse of [ErlangB] in a, which turns a rejection rate
// seen in production into a load. +Inf for a target of 1, NaN outside [0, 1]
// or for c below 1.
func ErlangBLoad(c int, target float64) float64 {
	switch {
	case c < 1 || !(target >= 0 && target <= 1):
		return math.NaN()
	case target == 1:
		return math.Inf(1)
	}
	// At most c erlangs are carried, so at most c/(1−target) are offered.
	high := float64(c) / (1 - target)
	return smallestWhere(0, high, func(a float64) bool { return ErlangB(c, a) >= target && a > 0 })
}

// ErlangC returns the probability that an arrival has to wait in an M/M/c
// queue at a erlangs: B/(1 − (a/c)(1−B)). 1 once a ≥ c, where the queue grows
// for ever, and for c = 0 (Erlang 1917). Unlike Erlang B it needs exponential
// times.
func ErlangC(c int, a float64) float64 {
	switch {
	case c < 0 || !(a >= 0):
		return math.NaN()
	case a >= float64(c):
		return 1
	}
	b := ErlangB(c, a)
	return b / (1 - a/float64(c)*(1-b))
}

// MMc is a queue of Poisson arrivals at c servers (permits, connections) with
// exponential times and endless patience: Gross & Harris, Fundamentals of
// Queueing Theory, section 2.3. Waits are +Inf once Rate·Mean ≥ Servers.
type MMc struct {
	Rate    float64 // per second
	Mean    float64 // seconds a server is held
	Servers int
}

// Load returns a = λm.
func (q MMc) Load() float64 { return Little(q.Rate, q.Mean) }

// PWait returns the share of arrivals that wait: [ErlangC].
func (q MMc) PWait() float64 { return ErlangC(q.Servers, q.Load()) }

// spare returns cμ − λ, the rate at which the queue empties, 0 in overload.
func (q MMc) spare() float64 {
	if a, c := q.Load(), float64(q.Servers); !(a >= c) {
		return (c - a) / q.Mean
	}
	return 0
}

// MeanWait returns the mean wait of all arrivals, Cw/(cμ − λ).
func (q MMc) MeanWait() float64 {
	if q.Mean == 0 && q.Servers > 0 {
		return 0
	}
	return q.PWait() / q.spare()
}

// MeanQueue returns how many wait on average, λ times the mean wait.
func (q MMc) MeanQueue() float64 { return Little(q.Rate, q.MeanWait()) }

// WaitTail returns P(W > t) = Cw·e^(−(cμ−λ)t); 1 for t below 0.
func (q MMc) WaitTail(t float64) float64 {
	switch {
	case t < 0:
		return 1
	case q.Mean == 0 && q.Servers > 0:
		return 0
	}
	if t == 0 {
		return q.PWait()
	}
	return q.PWait() * math.Exp(-q.spare()*t)
}

// WaitQuantile returns the wait that a share p of arrivals does not exceed:
// ln(Cw/(1−p))/(cμ−λ), 0 when fewer than 1 − p wait at all.
func (q MMc) WaitQuantile(p float64) float64 {
	wait := q.PWait()
	switch {
	case !(p >= 0 && p <= 1):
		return math.NaN()
	case wait <= 1-p || q.Mean == 0 && q.Servers > 0:
		return 0
	}
	return math.Log(wait/(1-p)) / q.spare()
}

// fewestPermits returns the smallest c with shed(c) ≤ target for a shed that
// falls with c: in growing steps, then by halving. c permits carry c erlangs
// at most, so fewer than a(1 − target) are never enough.
func fewestPermits(a, target float64, shed func(c int) float64) int {
	switch {
	case target >= 1:
		return 0
	case !(target > 0):
		return NoAnswer
	}
	floor := a*(1-target) - 1
	if floor > math.MaxInt/4 {
		return NoAnswer
	}
	low := max(0, int(floor)) // sheds more than the target
	high := low + 1
	for step := 1; !(shed(high) <= target); step *= 2 {
		if high > math.MaxInt/4 {
			return NoAnswer
		}
		low, high = high, high+2*step
	}
	for high-low > 1 {
		if middle := low + (high-low)/2; shed(middle) <= target {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
