package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/spec"
)

// FixedWindow lets a number of calls pass in each window of time. Windows follow
// each other from the start of the run, so twice the number can pass around an
// edge.
type FixedWindow struct {
	Calls int           `yaml:"calls" unit:"count" min:"1" required:"true" also:"limit,limitForPeriod,max_requests,permits" help:"calls that may pass in a window"`
	Per   time.Duration `yaml:"per" unit:"duration" min:"0s" open:"min" also:"period,window,limitRefreshPeriod,interval" help:"length of a window"`
}

var (
	_ Limiter   = (*FixedWindow)(nil)
	_ Allowance = (*fixedWindow)(nil)
)

// Validate has nothing to add to the ranges of the fields.
func (*FixedWindow) Validate() []spec.Problem { return nil }

// Room is 0.
func (*FixedWindow) Room() int { return 0 }

// Text is e.g. "100 in each 1s".
func (c *FixedWindow) Text() string { return fmt.Sprintf("%d in each %s", c.Calls, brief(c.Per)) }

// Help says what the kind is.
func (*FixedWindow) Help() string {
	return "a number of calls in each window of time; the windows follow each other from the start"
}

// Example is a line of YAML.
func (*FixedWindow) Example() string { return "{fixed_window: {calls: 100, per: 1s}}" }

// New is a limit that nobody has used.
func (c *FixedWindow) New() Allowance { return &fixedWindow{calls: int64(c.Calls), per: c.Per} }

type fixedWindow struct {
	calls, used int64
	per, from   time.Duration // the window is [from, from+per)
}

// Take counts a call in the window of now.
func (w *fixedWindow) Take(now time.Duration) bool {
	w.turn(now)
	if w.used == w.calls {
		return false
	}
	w.used++
	return true
}

// Next is the start of the window in which the call finds a place.
func (w *fixedWindow) Next(now time.Duration, n int64) time.Duration {
	w.turn(now)
	n -= w.calls - w.used
	if n < 0 {
		return now
	}
	return farther(w.from, w.per, 1+n/w.calls)
}

// turn begins the window of now.
func (w *fixedWindow) turn(now time.Duration) {
	if now-w.from >= w.per {
		w.from, w.used = now-now%w.per, 0
	}
}

// farther is n times per after from, at most the longest pause.
func farther(from, per time.Duration, n int64) time.Duration {
	if n > 0 && per > longestPause/time.Duration(n) {
		return from + longestPause
	}
	return from + time.Duration(n)*per
}
