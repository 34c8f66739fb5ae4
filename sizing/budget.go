package sizing

import "math"

// RetryBudget is a token bucket for retries in its steady state: every first
// try adds Fraction of a token and a retry takes one. The bucket's size
// decides how a burst begins, not these figures.
type RetryBudget struct {
	Fraction float64 // tokens per first try, 0.1 allows 10 % of retries
	Attempts int     // per request, the first included; below 1: not bounded
}

// Demand returns the retries per request that would be made without a budget,
// each attempt failing with probability p: p/(1−p) unbounded, else
// p + … + p^(n−1). +Inf for p = 1 unbounded.
func (b RetryBudget) Demand(p float64) float64 {
	switch {
	case !(p >= 0 && p <= 1):
		return math.NaN()
	case b.Attempts >= 1:
		return RetryAttempts(b.Attempts, p) - 1
	}
	return p / (1 - p)
}

// Retries returns the retries per request: min(Demand(p), Fraction).
func (b RetryBudget) Retries(p float64) float64 { return math.Min(b.Demand(p), b.Fraction) }

// Short reports whether the budget refuses retries.
func (b RetryBudget) Short(p float64) bool { return b.Demand(p) > b.Fraction }

// Success returns the share of requests that succeed: every attempt made
// succeeds with 1 − p, so (1−p)(1 + retries).
func (b RetryBudget) Success(p float64) float64 { return (1 - p) * (1 + b.Retries(p)) }

// Knee returns the failure share from which an unbounded retry runs short:
// f/(1+f), 0.0909 for f = 0.1. A gRPC throttle breaks even there, too.
func (b RetryBudget) Knee() float64 { return b.Fraction / (1 + b.Fraction) }

// SuccessBudgetRetries returns the retries per request when it is a success
// that adds fraction of a token: the supply f(1−p)/(1 − f(1−p)), which dries
// up with the dependency, or the unbounded demand p/(1−p) where that is less.
func SuccessBudgetRetries(fraction, p float64) float64 {
	if !(p >= 0 && p <= 1 && fraction >= 0) {
		return math.NaN()
	}
	supply := math.Inf(1)
	if earned := fraction * (1 - p); earned < 1 {
		supply = earned / (1 - earned)
	}
	return math.Min(RetryBudget{}.Demand(p), supply)
}

// ThrottleProbability returns the chance that client-side throttling refuses a
// call locally after requests of which so many were accepted, both over the
// same window: max(0, (R − K·A)/(R + 1)). Google, Site Reliability
// Engineering, chapter 21.
func ThrottleProbability(requests, accepts, k float64) float64 {
	if !(requests >= 0 && accepts >= 0 && k >= 0) {
		return math.NaN()
	}
	return math.Max(0, (requests-Little(k, accepts))/(requests+1))
}

// ThrottledOverload returns the calls that reach an overloaded backend under
// that throttling, per call that it accepts: K in the limit of a long window,
// so K − 1 rejections by the backend for each accept.
func ThrottledOverload(k float64) float64 { return math.Max(1, k) }

// ThrottledFailing returns the calls sent per window under that throttling
// when a share q of them fails, however many ask: +Inf (nothing is throttled)
// for q up to 1 − 1/K, else 1/(1 − K(1−q)), which is one call per window for a
// dead backend.
func ThrottledFailing(k, q float64) float64 {
	left := 1 - k*(1-q)
	if left <= 0 {
		return math.Inf(1)
	}
	return 1 / left
}
