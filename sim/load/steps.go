package load

import (
	"time"

	"blastradius/sim/spec"
)

// Steps is a rate that jumps; after the last step its rate holds on.
type Steps struct {
	Steps   []Step `yaml:"steps" list:"true" required:"true" help:"rates and how long each holds"`
	Process string `yaml:"process" enum:"poisson,even" beside:"true" help:"how arrivals fall on the rate"`
}

// Step is one rate of Steps.
type Step struct {
	Rate float64       `yaml:"rate" unit:"rate" min:"0/s" max:"1000000000/s" required:"true" help:"arrivals per time; 0/s is a pause"`
	For  time.Duration `yaml:"for" unit:"duration" min:"0s" open:"min" required:"true" help:"how long it holds"`
}

var _ Config = (*Steps)(nil)

// Validate wants a step, and a rate above 0 in one of them.
func (c *Steps) Validate() []spec.Problem {
	for _, s := range c.Steps {
		if s.Rate > 0 {
			return nil
		}
	}
	return []spec.Problem{{Field: "steps", Text: "no step has a rate above 0", Hint: "[{rate: 80/s, for: 2m}, {rate: 160/s, for: 1m}]"}}
}

func (c *Steps) curve() pieces {
	out := make([]segment, len(c.Steps))
	at := time.Duration(0)
	for i, s := range c.Steps {
		end := at + min(s.For, forEver-at)
		out[i] = segment{from: at, to: end, start: s.Rate, end: s.Rate}
		at = end
	}
	out[len(out)-1].to = forEver
	return lay(out)
}

// Arrivals starts a stream.
func (c *Steps) Arrivals() Arrivals { return newArrivals(c.curve(), c.Process) }

// Mean is the integral of the rate.
func (c *Steps) Mean(from, to time.Duration) float64 { return meanOf(c.curve(), from, to) }

// Peak is the largest rate in the window.
func (c *Steps) Peak(from, to time.Duration) float64 { return c.curve().peak(from, to) }

// Help says what the kind is.
func (*Steps) Help() string { return "a rate that jumps; the last one holds on" }

// Example is a line of YAML.
func (*Steps) Example() string {
	return "{steps: [{rate: 80/s, for: 2m}, {rate: 160/s, for: 1m}], process: poisson}"
}
