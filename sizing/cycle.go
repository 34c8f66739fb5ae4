package sizing

import "math"

// Cycle is a breaker that keeps going round closed, open, half-open because
// its dependency fails a steady share of calls; own renewal argument. One
// probe decides, results are independent, calls in the closed state take no
// time. At Rate 0 figures are NaN.
type Cycle struct {
	Rate      float64 // calls per second that come to it
	P         float64 // share of calls that fail, probes too
	MeanCalls float64 // calls from a close until it opens: [Consecutive.MeanCalls], [WindowChain]
	Cooldown  float64 // seconds
	Probe     float64 // seconds a probe takes; the timeout, for a dependency that hangs
}

// scaled returns (1 − p) times the cycle's length, which stays finite for a
// dead dependency: a cycle has 1/(1−p) openings on average.
func (c Cycle) scaled() float64 {
	if !(c.Rate > 0 && c.P >= 0 && c.P <= 1 && c.MeanCalls >= 0 && c.Cooldown >= 0 && c.Probe >= 0) {
		return math.NaN()
	}
	return c.closed()/c.Rate + c.Cooldown + 1/c.Rate + c.Probe
}

// closed returns (1 − p) times the calls of the closed state, 0 for p = 1.
func (c Cycle) closed() float64 {
	if c.P == 1 {
		return 0
	}
	return (1 - c.P) * c.MeanCalls
}

// Length returns the mean seconds from one close to the next:
// E_A/λ + (C + 1/λ + τ)/(1 − p), with τ the probe's time. +Inf for p = 1.
func (c Cycle) Length() float64 { return c.scaled() / (1 - c.P) }

// OpensPerHour returns all openings, those after a failed probe too:
// 3600/((1−p)·length). For a dead dependency it is the probes per hour.
func (c Cycle) OpensPerHour() float64 { return 3600 / c.scaled() }

// TripsPerHour returns the openings from the closed state: 3600/length.
func (c Cycle) TripsPerHour() float64 { return 3600 * (1 - c.P) / c.scaled() }

// TransitionsPerHour returns all changes of state: 3600/length·(3−p)/(1−p).
func (c Cycle) TransitionsPerHour() float64 { return 3600 * (3 - c.P) / c.scaled() }

// ShareOpenLazy returns the share of time in state open when the next call
// after the cooldown makes it half-open: (C + 1/λ)/((1−p)·length).
func (c Cycle) ShareOpenLazy() float64 { return (c.Cooldown + 1/c.Rate) / c.scaled() }

// ShareOpenTimer returns the share of time in state open when a timer makes it
// half-open at the end of the cooldown: C/((1−p)·length).
func (c Cycle) ShareOpenTimer() float64 { return c.Cooldown / c.scaled() }

// Rejected returns the share of calls it refuses: those of the cooldowns and
// of the probes' time, λ(C + τ)/(1−p), over all calls of a cycle.
func (c Cycle) Rejected() float64 {
	if math.IsNaN(c.scaled()) {
		return math.NaN()
	}
	refused := c.Rate * (c.Cooldown + c.Probe)
	return refused / (refused + c.closed() + 1)
}

// RecoveryLag returns how long after the end of an outage the first probe
// meets a healthy dependency: uniform over the dead cycle C + 1/λ + τ, so half
// of it on average and all of it at worst. It does not depend on P.
func (c Cycle) RecoveryLag() (mean, worst float64) {
	dead := c
	dead.P = 1
	return dead.scaled() / 2, dead.scaled()
}
