package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/spec"
)

// LinearBackoff adds the same to the pause with every retry, up to a largest.
type LinearBackoff struct {
	Base time.Duration `yaml:"base" unit:"duration" min:"0s" open:"min" short:"true" required:"true" help:"pause before the first retry"`
	Step time.Duration `yaml:"step" unit:"duration" min:"0s" default:"base" help:"growth from retry to retry"`
	Max  time.Duration `yaml:"max" unit:"duration" min:"0s" open:"min" also:"cap,maxDelay,max_delay" help:"largest pause; none when omitted"`
}

// Validate wants a largest pause above the first.
func (b *LinearBackoff) Validate() []spec.Problem { return largestAboveFirst(b.Base, b.Max) }

// Pause is base + (n-1)·step, at most max; the step is the base when omitted.
func (b *LinearBackoff) Pause(n int) time.Duration {
	step, most := b.Step, longestPause
	if step == 0 {
		step = b.Base
	}
	if b.Max > 0 {
		most = b.Max
	}
	if b.Base >= most || time.Duration(n-1) > (most-b.Base)/step {
		return most
	}
	return b.Base + time.Duration(n-1)*step
}

// Bounds are base and max.
func (b *LinearBackoff) Bounds() (time.Duration, time.Duration) { return b.Base, b.Max }

// Text is e.g. "backoff 100ms + 100ms up to 2s".
func (b *LinearBackoff) Text() string {
	step := b.Step
	if step == 0 {
		step = b.Base
	}
	out := fmt.Sprintf("backoff %s + %s", brief(b.Base), brief(step))
	if b.Max > 0 {
		out += " up to " + brief(b.Max)
	}
	return out
}

// Help says what the kind is.
func (*LinearBackoff) Help() string { return "a pause that grows by the same step up to a largest" }

// Example is a line of YAML.
func (*LinearBackoff) Example() string { return "{linear: {base: 100ms, max: 2s}}" }
