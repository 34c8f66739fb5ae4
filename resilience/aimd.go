package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/spec"
)

// AIMD adds one to the limit for each good sample taken while at least half of
// it was in use, and multiplies it by backoff, rounded down, for each drop: the
// sawtooth of TCP Reno. A call that takes longer than timeout is a drop too.
type AIMD struct {
	Start   int           `yaml:"start" unit:"count" min:"1" also:"initialLimit,initial_limit,initial" help:"limit at the start"`
	Min     int           `yaml:"min" unit:"count" min:"1" also:"minLimit,min_limit" help:"smallest limit"`
	Max     int           `yaml:"max" unit:"count" min:"1" also:"maxLimit,max_limit" help:"largest limit"`
	Backoff float64       `yaml:"backoff" unit:"share" min:"50%" max:"100%" open:"max" also:"backoffRatio,backoff_ratio" help:"what a drop leaves of the limit"`
	Timeout time.Duration `yaml:"timeout" unit:"duration" min:"0s" open:"min" help:"an answer that takes longer is a drop"`
}

func newAIMD() Algorithm {
	return &AIMD{Start: 20, Min: 20, Max: 200, Backoff: 0.9, Timeout: 5 * time.Second}
}

var (
	_ Algorithm     = (*AIMD)(nil)
	_ AdaptiveLimit = (*aimd)(nil)
)

// Validate wants the start between the bounds.
func (c *AIMD) Validate() []spec.Problem { return outside(c.Start, c.Min, c.Max) }

// Bounds are start and max.
func (c *AIMD) Bounds() (int, int) { return c.Start, c.Max }

// Text is e.g. "aimd 20 in 20..200, x0.9, timeout 5s".
func (c *AIMD) Text() string {
	return fmt.Sprintf("aimd %d in %d..%d, x%g, timeout %s", c.Start, c.Min, c.Max, c.Backoff, brief(c.Timeout))
}

// Help says what the kind is.
func (*AIMD) Help() string { return "one more for each good answer, a tenth less for each drop" }

// Example is a line of YAML.
func (*AIMD) Example() string { return "{aimd: {start: 20, min: 20, max: 200}}" }

// New is the limit at its start.
func (c *AIMD) New() AdaptiveLimit { return &aimd{AIMD: *c, limit: c.Start} }

type aimd struct {
	AIMD
	limit int
}

// Sample moves the limit by one call.
func (l *aimd) Sample(s Sample) int {
	switch {
	case s.Dropped || s.RTT > l.Timeout:
		l.limit = int(float64(l.limit) * l.Backoff)
	case 2*s.InFlight >= l.limit:
		l.limit++
	}
	l.limit = min(max(l.limit, l.Min), l.Max)
	return l.limit
}
