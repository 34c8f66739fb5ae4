package dist

import (
	"time"

	"blastradius/sim/spec"
)

// Exponential has no memory: what is left of a call does not depend on how
// long it has taken.
type Exponential struct {
	MeanLatency time.Duration `yaml:"mean" unit:"duration" min:"0s" short:"true" required:"true" help:"mean latency"`
}

// Validate has nothing to add to the range of the field.
func (*Exponential) Validate() []spec.Problem { return nil }

// Dist returns the distribution.
func (c *Exponential) Dist() Dist { return exponential(min(c.MeanLatency, longest)) }

// Help says what the kind is.
func (*Exponential) Help() string { return "exponential with this mean; p99 is 4.6 times the mean" }

// Example is a line of YAML.
func (*Exponential) Example() string { return "{exp: 50ms}" }

type exponential time.Duration

func (m exponential) Sample(r *Rand) time.Duration { return duration(float64(m) * r.Exp()) }
func (m exponential) Mean() time.Duration          { return time.Duration(m) }

// Quantile is -m ln(1-p).
func (m exponential) Quantile(p float64) time.Duration {
	switch {
	case m == 0 || !(p > 0):
		return 0
	case p >= 1:
		return longest
	}
	return duration(float64(m) * -Log(1-p))
}

// MeanMin is m(1 - e^(-t/m)); for a t that is small against m the first terms
// of its series, t(1 - x/2 + x²/6) with x = t/m, since the difference would lose
// its digits.
func (m exponential) MeanMin(t time.Duration) time.Duration {
	if m == 0 || t <= 0 {
		return 0
	}
	held := 0.0
	if x := float64(t) / float64(m); x < 1e-5 {
		held = float64(t) * (1 - float64(x*(0.5-x/6)))
	} else {
		held = float64(m) * (1 - Exp(-x))
	}
	return min(time.Duration(m), duration(held))
}

var _ cumulative = exponential(0)

// cdf is 1 - e^(-t/m).
func (m exponential) cdf(t time.Duration) float64 {
	if m == 0 {
		return 1
	}
	return 1 - Exp(-endOf(t)/float64(m))
}
