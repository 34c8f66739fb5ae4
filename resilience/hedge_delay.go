package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/spec"
)

// HedgeDelay says how long a hedge waits for the attempts before it.
type HedgeDelay interface {
	Validate() []spec.Problem
	delay() hedgeDelay
	// Least is the shortest delay that can come of it.
	Least() time.Duration
	Text() string
	Help() string
	Example() string
}

// hedgeDelay is a delay in use.
type hedgeDelay interface {
	// next is the delay from now on; ok is false while there is no hedge.
	next() (d time.Duration, ok bool)
	// observe hears how long a first attempt took, or had taken when a hedge won.
	observe(d time.Duration)
}

// HedgeDelays are the kinds of delay by the name that a scenario file uses.
var HedgeDelays = map[string]func() HedgeDelay{
	"fixed":    func() HedgeDelay { return &FixedDelay{} },
	"quantile": func() HedgeDelay { return &QuantileDelay{Initial: -1, Age: 100, MinCalls: 20} },
}

// FixedHedgeDelay is the kind that a bare value stands for.
const FixedHedgeDelay = "fixed"

// FixedDelay is the same for every call. With 0s all attempts go out together,
// unless the first answers at once.
type FixedDelay struct {
	After time.Duration `yaml:"after" unit:"duration" min:"0s" short:"true" required:"true" help:"time until a hedge goes out"`
}

// Validate has nothing to add to the range of the field.
func (*FixedDelay) Validate() []spec.Problem { return nil }

func (c *FixedDelay) delay() hedgeDelay { return (*fixedDelay)(&c.After) }

// Least is the delay.
func (c *FixedDelay) Least() time.Duration { return c.After }

// Text is the delay.
func (c *FixedDelay) Text() string { return brief(c.After) }

// Help says what the kind is.
func (*FixedDelay) Help() string { return "the same delay for every call" }

// Example is a line of YAML.
func (*FixedDelay) Example() string { return "{fixed: 200ms}" }

type fixedDelay time.Duration

func (d *fixedDelay) next() (time.Duration, bool) { return time.Duration(*d), true }
func (*fixedDelay) observe(time.Duration)         {}

// QuantileDelay is the running quantile of how long first attempts take, so that
// a share of about 1 - quantile of the calls is hedged whatever the latency is. It
// goes by first attempts that were answered; one that lost to a hedge counts with
// its age then, which is above the delay as its whole time would have been.
type QuantileDelay struct {
	Quantile float64       `yaml:"quantile" unit:"share" min:"0%" max:"100%" open:"min,max" short:"true" required:"true" also:"percentile" help:"share of the first attempts that answer before a hedge goes out"`
	Initial  time.Duration `yaml:"initial" unit:"duration" min:"0s" forever:"true" beside:"true" help:"delay until min_calls were seen; forever is no hedge until then"`
	Min      time.Duration `yaml:"min" unit:"duration" min:"0s" beside:"true" help:"shortest delay"`
	Max      time.Duration `yaml:"max" unit:"duration" min:"0s" open:"min" beside:"true" help:"longest delay; none when omitted"`
	Age      int           `yaml:"age" unit:"count" min:"1" beside:"true" also:"quantileAge" help:"first attempts over which its step is averaged: more are calmer, fewer follow faster"`
	MinCalls int           `yaml:"min_calls" unit:"count" min:"1" beside:"true" also:"executionThreshold" help:"first attempts seen before the quantile is used"`
}

// Validate wants a longest delay above the shortest.
func (c *QuantileDelay) Validate() []spec.Problem {
	if c.Max > 0 && c.Max < c.Min {
		return []spec.Problem{{Field: "max", Text: "max " + brief(c.Max) + " is below min " + brief(c.Min), Hint: "raise max or lower min"}}
	}
	return nil
}

func (c *QuantileDelay) delay() hedgeDelay {
	return &quantileDelay{config: *c, estimate: newMovingQuantile(c.Quantile, c.Age)}
}

// Least is min.
func (c *QuantileDelay) Least() time.Duration { return c.Min }

// Text is e.g. "the 95% quantile".
func (c *QuantileDelay) Text() string {
	out := "the " + percent(c.Quantile) + " quantile"
	if c.Min > 0 {
		out += " from " + brief(c.Min)
	}
	if c.Max > 0 {
		out += " up to " + brief(c.Max)
	}
	if c.Initial >= 0 {
		out += fmt.Sprintf(", %s for the first %d", brief(c.Initial), c.MinCalls)
	}
	return out
}

// Help says what the kind is.
func (*QuantileDelay) Help() string { return "a running quantile of how long first attempts take" }

// Example is a line of YAML.
func (*QuantileDelay) Example() string {
	return "{quantile: 95%, min: 5ms, initial: 200ms}"
}

type quantileDelay struct {
	config   QuantileDelay
	estimate movingQuantile
}

func (d *quantileDelay) next() (time.Duration, bool) {
	if d.estimate.count < d.config.MinCalls {
		return max(0, d.config.Initial), d.config.Initial >= 0
	}
	out := max(nanoseconds(d.estimate.value), d.config.Min)
	if d.config.Max > 0 {
		out = min(out, d.config.Max)
	}
	return out, true
}

func (d *quantileDelay) observe(took time.Duration) { d.estimate.add(float64(took)) }
