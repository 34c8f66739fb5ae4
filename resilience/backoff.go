package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/spec"
)

// Backoff is the pause before a retry, without its jitter: the configuration
// and the formula in one.
type Backoff interface {
	Validate() []spec.Problem
	// Pause is the pause before retry n, counted from 1. It may be above the
	// largest of Bounds, which then cuts what the jitter makes of it.
	Pause(n int) time.Duration
	// Bounds are the smallest pause and the largest, for jitter that wanders
	// between them; a largest of 0 is no bound.
	Bounds() (base, most time.Duration)
	Text() string // its settings, as part of a line
	Help() string
	Example() string
}

// Backoffs are the kinds of backoff by the name that a scenario file uses.
var Backoffs = map[string]func() Backoff{
	"none":        func() Backoff { return &NoBackoff{} },
	"constant":    func() Backoff { return &ConstantBackoff{} },
	"exponential": func() Backoff { return &ExponentialBackoff{Factor: 2} },
	"linear":      func() Backoff { return &LinearBackoff{} },
	"list":        func() Backoff { return &ListBackoff{} },
	"envoy":       func() Backoff { return &EnvoyBackoff{Base: 25 * time.Millisecond, Max: 250 * time.Millisecond} },
}

// NoBackoff tries again at once.
type NoBackoff struct{}

// Validate has nothing to check.
func (*NoBackoff) Validate() []spec.Problem { return nil }

// Pause is 0.
func (*NoBackoff) Pause(int) time.Duration { return 0 }

// Bounds are 0.
func (*NoBackoff) Bounds() (time.Duration, time.Duration) { return 0, 0 }

// Text is "no backoff".
func (*NoBackoff) Text() string { return "no backoff" }

// Help says what the kind is.
func (*NoBackoff) Help() string { return "tries again at once" }

// Example is a line of YAML.
func (*NoBackoff) Example() string { return "none" }

// ConstantBackoff waits the same time before every retry.
type ConstantBackoff struct {
	Wait time.Duration `yaml:"wait" unit:"duration" min:"0s" short:"true" required:"true" help:"pause before every retry"`
}

// Validate has nothing to add to the range of the field.
func (*ConstantBackoff) Validate() []spec.Problem { return nil }

// Pause is the wait.
func (b *ConstantBackoff) Pause(int) time.Duration { return b.Wait }

// Bounds are the wait, and no largest.
func (b *ConstantBackoff) Bounds() (time.Duration, time.Duration) { return b.Wait, 0 }

// Text is e.g. "backoff 100ms".
func (b *ConstantBackoff) Text() string { return "backoff " + brief(b.Wait) }

// Help says what the kind is.
func (*ConstantBackoff) Help() string { return "the same pause before every retry" }

// Example is a line of YAML.
func (*ConstantBackoff) Example() string { return "{constant: 100ms}" }

// ExponentialBackoff multiplies the pause with every retry, up to a largest.
type ExponentialBackoff struct {
	Base   time.Duration `yaml:"base" unit:"duration" min:"0s" open:"min" required:"true" help:"pause before the first retry"`
	Factor float64       `yaml:"factor" unit:"factor" min:"1" help:"growth from retry to retry"`
	Max    time.Duration `yaml:"max" unit:"duration" min:"0s" open:"min" also:"cap,maxDelay,max_delay" help:"largest pause; none when omitted"`
}

// Validate wants a largest pause above the first.
func (b *ExponentialBackoff) Validate() []spec.Problem { return largestAboveFirst(b.Base, b.Max) }

func largestAboveFirst(base, most time.Duration) []spec.Problem {
	if most > 0 && most < base {
		return []spec.Problem{{Field: "max", Text: "max " + brief(most) + " is below base " + brief(base), Hint: "raise max or lower base"}}
	}
	return nil
}

// Pause is base·factor^(n-1), at most max, rounded down to the nanosecond.
func (b *ExponentialBackoff) Pause(n int) time.Duration {
	most := longestPause
	if b.Max > 0 {
		most = b.Max
	}
	p := float64(b.Base)
	for range n - 1 {
		if p >= float64(most) || b.Factor == 1 {
			break
		}
		p *= b.Factor
	}
	if p >= float64(most) {
		return most
	}
	return time.Duration(p)
}

// Bounds are base and max.
func (b *ExponentialBackoff) Bounds() (time.Duration, time.Duration) { return b.Base, b.Max }

// Text is e.g. "backoff 100ms x2 up to 2s".
func (b *ExponentialBackoff) Text() string {
	out := fmt.Sprintf("backoff %s x%g", brief(b.Base), b.Factor)
	if b.Max > 0 {
		out += " up to " + brief(b.Max)
	}
	return out
}

// Help says what the kind is.
func (*ExponentialBackoff) Help() string { return "a pause that grows by a factor up to a largest" }

// Example is a line of YAML.
func (*ExponentialBackoff) Example() string {
	return "{exponential: {base: 100ms, factor: 2, max: 2s}}"
}
