package resilience

import "math"

// When a breaker decides whether it opens, and when a call enters its total.
const (
	atCompletion = "completion"
	atFailure    = "failure"
	atAdmission  = "admission"
	atTick       = "tick"
)

// How a share is rounded before it is compared.
const (
	roundExact   = "exact"
	roundNearest = "nearest"
	roundDown    = "down"
)

// tripRule says whether the counts of a window open the breaker: failures in a
// row, or else, from min results on, a number or a share of failures, or a share
// of slow calls.
type tripRule struct {
	row      int     // failures in a row; 0: not looked at
	failures int     // failures in the window; 0: not looked at
	ratio    float64 // share of failures; 0: not looked at
	slow     float64 // share of slow calls; 0: not looked at
	min      int
	above    bool // at the threshold is not enough
	rounding rounding
}

// rounding is how a share is rounded to whole percents.
type rounding uint8

const (
	exactly rounding = iota
	toNearest
	downward
)

func roundingOf(word string) rounding {
	switch word {
	case roundNearest:
		return toNearest
	case roundDown:
		return downward
	}
	return exactly
}

func (r *tripRule) trips(c *counts) bool {
	if r.row > 0 {
		return r.whole(c.row, r.row)
	}
	if c.total < r.min || c.total == 0 {
		return false
	}
	if r.slow > 0 && r.share(c.slow, c.total, r.slow) {
		return true
	}
	if r.failures > 0 {
		return r.whole(c.failures, r.failures)
	}
	return r.ratio > 0 && r.share(c.failures, c.total, r.ratio)
}

func (r *tripRule) whole(n, threshold int) bool {
	if r.above {
		return n > threshold
	}
	return n >= threshold
}

// nearly keeps 7 % of 100 at 7, which binary fractions put a hair above.
const nearly = 1e-9

// share compares part of total with a threshold. No part at all never trips.
func (r *tripRule) share(part, total int, threshold float64) bool {
	if part == 0 {
		return false
	}
	x := float64(part)
	limit := float64(threshold * float64(total))
	switch r.rounding {
	case toNearest: // in binary fractions, as hystrix-go and failsafe-go: 23 of 40 are 57
		percent := float64(float64(part) / float64(total) * 100)
		x, limit = float64(int(percent+0.5)), float64(threshold*100)
	case downward: // in binary fractions too: 29 of 100 are 28
		x, limit = math.Trunc(float64(float64(part)/float64(total)*100)), float64(threshold*100)
	}
	if r.above {
		return x > limit+nearly
	}
	return x >= limit-nearly
}

// bad reports whether one result alone speaks against the dependency, in the
// rule's terms.
func (r *tripRule) bad(x result) bool {
	judgesFailures := r.row > 0 || r.failures > 0 || r.ratio > 0
	return judgesFailures && x.failed || r.slow > 0 && x.slow
}
