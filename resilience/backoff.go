package resilience

import (
	"time"

	"blastradius/sim/dist"
	"blastradius/sim/spec"
)

// Backoff is the pause before a retry, without its jitter: the configuration
// and the formula in one.
type Backoff interface {
	Validate() []spec.Problem
	// Pause is the pause before retry n, counted from 1.
	Pause(n int) time.Duration
	// Bounds are the smallest pause and the largest, for jitter that wanders
	// between them; a largest of 0 is none.
	Bounds() (base, most time.Duration)
	Help() string
	Example() string
}

// Backoffs are the kinds of backoff by the name that a scenario file uses.
var Backoffs = map[string]func() Backoff{
	"none":        func() Backoff { return &NoBackoff{} },
	"constant":    func() Backoff { return &ConstantBackoff{} },
	"exponential": func() Backoff { return &ExponentialBackoff{Factor: 2} },
}

// NoBackoff tries again at once.
type NoBackoff struct{}

// Validate has nothing to check.
func (*NoBackoff) Validate() []spec.Problem { return nil }

// Pause is 0.
func (*NoBackoff) Pause(int) time.Duration { return 0 }

// Bounds are 0.
func (*NoBackoff) Bounds() (time.Duration, time.Duration) { return 0, 0 }

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
func (b *ExponentialBackoff) Validate() []spec.Problem {
	if b.Max > 0 && b.Max < b.Base {
		return []spec.Problem{{Field: "max", Text: "max " + b.Max.String() + " is below base " + b.Base.String(), Hint: "raise max or lower base"}}
	}
	return nil
}

// Pause is base·factor^(n-1), at most max.
func (b *ExponentialBackoff) Pause(n int) time.Duration {
	const longest = float64(1 << 62)
	most := longest
	if b.Max > 0 {
		most = float64(b.Max)
	}
	p := float64(b.Base)
	for range n - 1 {
		if p *= b.Factor; p >= most {
			return time.Duration(most)
		}
	}
	return time.Duration(min(p, most))
}

// Bounds are base and max.
func (b *ExponentialBackoff) Bounds() (time.Duration, time.Duration) { return b.Base, b.Max }

// Help says what the kind is.
func (*ExponentialBackoff) Help() string { return "a pause that grows by a factor up to a largest" }

// Example is a line of YAML.
func (*ExponentialBackoff) Example() string {
	return "{exponential: {base: 100ms, factor: 2, max: 2s}}"
}

// Jitters, as Marc Brooker's "Exponential Backoff And Jitter" (AWS Architecture
// Blog, 2015) defines them.
const (
	JitterNone         = "none"
	JitterFull         = "full"         // uniform in [0, pause)
	JitterEqual        = "equal"        // half the pause and a uniform half
	JitterDecorrelated = "decorrelated" // uniform in [base, 3·last pause), at most max
)

// Delay is the jittered pause before retry n, counted from 1; last is the
// pause before the retry before it, 0 for the first.
func Delay(b Backoff, jitter string, n int, last time.Duration, r *dist.Rand) time.Duration {
	p := b.Pause(n)
	switch jitter {
	case JitterFull:
		return r.Duration(p)
	case JitterEqual:
		return p/2 + r.Duration(p-p/2)
	case JitterDecorrelated:
		base, most := b.Bounds()
		last = max(last, base)
		d := base + r.Duration(3*last-base)
		if most > 0 {
			d = min(d, most)
		}
		return d
	}
	return p
}
