package dist

import (
	"time"

	"blastradius/sim/spec"
)

// Constant takes the same time always. It draws nothing: an attempt's stream
// is keyed, so what one distribution takes shifts no other.
type Constant struct {
	Value time.Duration `yaml:"constant" unit:"duration" min:"0s" short:"true" required:"true" help:"the latency of every call"`
}

// Validate has nothing to add to the range of the field.
func (*Constant) Validate() []spec.Problem { return nil }

// Dist returns the distribution.
func (c *Constant) Dist() Dist { return constant(min(c.Value, longest)) }

// Help says what the kind is.
func (*Constant) Help() string { return "the same latency always" }

// Example is a line of YAML.
func (*Constant) Example() string { return "20ms" }

type constant time.Duration

func (c constant) Sample(*Rand) time.Duration            { return time.Duration(c) }
func (c constant) Mean() time.Duration                   { return time.Duration(c) }
func (c constant) Quantile(float64) time.Duration        { return time.Duration(c) }
func (c constant) MeanMin(t time.Duration) time.Duration { return max(0, min(time.Duration(c), t)) }

var _ cumulative = constant(0)

func (c constant) cdf(t time.Duration) float64 {
	if t < time.Duration(c) {
		return 0
	}
	return 1
}
