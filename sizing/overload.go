package sizing

import "math"

// Saturated is a bulkhead in an outage: every call holds its permit until the
// timeout. The figures are those of a fluid, exact in the limit of a high rate.
type Saturated struct {
	Rate    float64 // calls per second that ask for a permit
	Permits float64
	Timeout float64 // seconds a permit is held; +Inf: for ever
	MaxWait float64 // seconds a call waits for one; 0: not at all
}

// Full reports whether the calls would hold more than the permits: λT > c.
// Where it does not, nothing is shed and nobody waits for long.
func (s Saturated) Full() bool { return Little(s.Rate, s.Timeout) > s.Permits }

// Carried returns the calls per second that get a permit: min(λ, c/T).
func (s Saturated) Carried() float64 {
	if !s.Full() {
		return s.Rate
	}
	return s.Permits / s.Timeout
}

// Shed returns the share of calls that get none: 1 − c/(λT), 0 when not full.
func (s Saturated) Shed() float64 {
	if !s.Full() {
		return 0
	}
	return 1 - s.Permits/(s.Rate*s.Timeout)
}

// Holding returns the permits in use: min(c, λT).
func (s Saturated) Holding() float64 {
	if !(s.Permits >= 0) {
		return math.NaN()
	}
	return math.Min(s.Permits, Little(s.Rate, s.Timeout))
}

// Waiting returns the calls that wait for a permit. Everybody waits just
// under MaxWait, those who get a permit and those who do not, so λD bounds it
// closely from above; 0 when not full.
func (s Saturated) Waiting() float64 {
	if !s.Full() {
		return 0
	}
	return Little(s.Rate, s.MaxWait)
}

// Overload is a queue that more enters than leaves, seen as a fluid (Newell,
// Applications of Queueing Theory).
type Overload struct {
	Rate     float64 // arrivals per second
	Capacity float64 // what is served per second at most
	MaxWait  float64 // seconds after which a waiter leaves; 0 or +Inf: never
}

// Queue returns how many wait t seconds after the overload began:
// (λ − capacity)·t, and not above λ·MaxWait; 0 without overload.
func (o Overload) Queue(t float64) float64 {
	queue := Little(math.Max(o.Rate-o.Capacity, 0), math.Max(t, 0))
	if o.MaxWait > 0 {
		queue = math.Min(queue, Little(o.Rate, o.MaxWait))
	}
	return queue
}

// Wait returns the seconds an arrival at t waits: (λ/capacity − 1)·t, and not
// above MaxWait. +Inf when nothing is served.
func (o Overload) Wait(t float64) float64 {
	if !(o.Rate > o.Capacity) || !(t > 0) {
		return 0
	}
	wait := math.Inf(1)
	if o.Capacity > 0 {
		wait = (o.Rate - o.Capacity) / o.Capacity * t
	}
	if o.MaxWait > 0 {
		wait = math.Min(wait, o.MaxWait)
	}
	return wait
}

// Drain returns the seconds until a backlog is gone: backlog/(capacity − λ);
// +Inf when the capacity is no greater than the rate, 0 for no backlog.
func (o Overload) Drain(backlog float64) float64 {
	switch {
	case !(backlog > 0):
		return 0
	case !(o.Capacity > o.Rate):
		return math.Inf(1)
	}
	return backlog / (o.Capacity - o.Rate)
}

// Slowdown returns the response time of a server that needs base seconds and
// perInFlight more for each call in it: the fixed point t = base +
// perInFlight·λt = base/(1 − λ·perInFlight). +Inf once λ·perInFlight reaches
// 1: there is none, and load alone keeps it down. Multiply the rate by the
// attempts for a caller that retries.
func Slowdown(rate, base, perInFlight float64) float64 {
	share := Little(rate, perInFlight)
	switch {
	case math.IsNaN(share) || !(base >= 0):
		return math.NaN()
	case share >= 1:
		return math.Inf(1)
	}
	return base / (1 - share)
}
