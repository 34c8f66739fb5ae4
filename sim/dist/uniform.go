package dist

import (
	"fmt"
	"math"
	"time"

	"blastradius/sim/spec"
)

// Uniform is equally likely anywhere between two ends.
type Uniform struct {
	Low  time.Duration `yaml:"low" unit:"duration" min:"0s" pos:"0" required:"true" help:"shortest latency"`
	High time.Duration `yaml:"high" unit:"duration" min:"0s" pos:"1" required:"true" help:"longest latency"`
}

// Validate checks the order of the ends.
func (c *Uniform) Validate() []spec.Problem {
	if c.High < c.Low {
		return []spec.Problem{{Field: "high", Text: fmt.Sprintf("the upper end %v is below the lower end %v", c.High, c.Low), Hint: fmt.Sprintf("[%v, %v]", c.High, c.Low)}}
	}
	return nil
}

// Dist returns the distribution.
func (c *Uniform) Dist() Dist { return uniform{min(c.Low, longest), min(c.High, longest)} }

// Help says what the kind is.
func (*Uniform) Help() string { return "equally likely anywhere between two ends" }

// Example is a line of YAML.
func (*Uniform) Example() string { return "{uniform: [10ms, 30ms]}" }

type uniform struct{ low, high time.Duration }

// Sample is exact to the nanosecond: every one from low to high alike.
func (u uniform) Sample(r *Rand) time.Duration { return u.low + r.Duration(u.high-u.low+1) }
func (u uniform) Mean() time.Duration          { return u.low + (u.high-u.low)/2 }

// Quantile is exact for the whole nanoseconds that Sample draws from.
func (u uniform) Quantile(p float64) time.Duration {
	if !(p > 0) {
		return u.low
	}
	each := float64(u.high - u.low + 1)
	return min(u.high, u.low+time.Duration(math.Ceil(float64(each*min(1, p)))-1))
}

// MeanMin is t below the lower end, the mean above the upper one, and between
// them t - (t-low)²/(2(high-low)).
func (u uniform) MeanMin(t time.Duration) time.Duration {
	switch {
	case t <= u.low:
		return max(0, t)
	case t >= u.high:
		return u.Mean()
	}
	over := float64(t - u.low)
	return min(u.Mean(), t-duration(over*over/float64(2*float64(u.high-u.low))))
}

var _ cumulative = uniform{}

func (u uniform) cdf(t time.Duration) float64 {
	switch {
	case t < u.low:
		return 0
	case t >= u.high:
		return 1
	}
	return float64(t-u.low+1) / float64(u.high-u.low+1)
}
