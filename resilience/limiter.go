package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/spec"
)

// Limiter is the configuration of a limit on calls over time.
type Limiter interface {
	Validate() []spec.Problem
	// New is a limit that nobody has used.
	New() Allowance
	// Room is how many calls may wait within the limiter, whatever the layer does
	// when it is full: 0 for all but the leaky bucket.
	Room() int
	Text() string // its settings, as part of a line
	Help() string
	Example() string
}

// Allowance is what is left of a limit. It is a pure state machine; time never
// goes back.
type Allowance interface {
	// Take lets one call pass at now, if it may.
	Take(now time.Duration) bool
	// Next is the earliest instant, now or later, at which a call may pass when n
	// others pass before it, each as early as it may. Next(now, 0) is now exactly
	// when Take(now) would be true.
	Next(now time.Duration, n int64) time.Duration
}

// Limiters are the kinds of limit by the name that a scenario file uses.
var Limiters = map[string]func() Limiter{
	"token_bucket": func() Limiter { return &TokenBucket{Burst: 1} },
	"gcra":         func() Limiter { return &GCRA{Burst: 1} },
	"leaky_bucket": func() Limiter { return &LeakyBucket{} },
	"fixed_window": func() Limiter { return &FixedWindow{Per: time.Second} },
	"sliding_log":  func() Limiter { return &SlidingLog{Per: time.Second} },
}

// DefaultLimiter is the kind that a bare rate stands for.
const DefaultLimiter = "token_bucket"

// longBurst reports a burst that takes longer than the longest pause to fill.
func longBurst(rate float64, burst int) []spec.Problem {
	if float64(burst)/rate*1e9 <= float64(longestPause) {
		return nil
	}
	return []spec.Problem{{Field: "burst", Text: fmt.Sprintf("burst %d takes more than 36 years to fill at %s", burst, perTime(rate)), Hint: "lower burst or raise rate"}}
}

// perTime writes a rate as people type it.
func perTime(rate float64) string {
	switch {
	case rate >= 1 || rate == 0:
		return fmt.Sprintf("%.12g/s", rate)
	case rate*60 >= 1:
		return fmt.Sprintf("%.12g/min", rate*60)
	}
	return fmt.Sprintf("%.12g/h", rate*3600)
}
