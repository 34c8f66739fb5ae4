// Package dist holds latency distributions and the keyed random streams they
// draw from. Every sampler gives the same bits on every processor: inverse
// CDFs over PCG, with logarithm and exponential of our own.
package dist

import (
	"time"

	"blastradius/sim/spec"
)

// Dist is a latency distribution. Samples and figures are never negative.
type Dist interface {
	// Sample draws one latency.
	Sample(r *Rand) time.Duration
	// Mean is E[S], rounded to the nanosecond.
	Mean() time.Duration
	// Quantile is the smallest t with P(S <= t) >= p, for 0 <= p <= 1; at 1 it
	// may be the largest Duration when the distribution has no upper end.
	Quantile(p float64) time.Duration
	// MeanMin is E[min(S, t)]: the mean time a call holds a permit under a
	// timeout t.
	MeanMin(t time.Duration) time.Duration
}

// Kind is the configuration of a distribution as a scenario file gives it: a
// pointer to a plain struct with yaml, unit and help tags. Dist cannot fail
// after Validate reported nothing.
type Kind interface {
	Validate() []spec.Problem
	Dist() Dist
}

// Described is a kind that can explain itself.
type Described interface {
	Help() string    // one sentence
	Example() string // one line of YAML for `latency:`
}

// longest is where sampled and derived times saturate, far beyond any run, so
// that adding two of them cannot overflow.
const longest = time.Duration(1<<62 - 1)

// duration rounds ns to the nanosecond within 0…longest; NaN is 0. The
// conversion in the sum is not idle: duration is inlined, and without it the
// caller's last product and this sum become one fused instruction on arm64 and
// amd64 v3, with another rounding.
func duration(ns float64) time.Duration {
	switch {
	case !(ns > 0):
		return 0
	case ns >= float64(longest):
		return longest
	}
	return time.Duration(float64(ns) + 0.5)
}
