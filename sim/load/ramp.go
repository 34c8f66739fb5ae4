package load

import (
	"time"

	"blastradius/sim/spec"
)

// Ramp is a rate that grows or falls linearly and then holds.
type Ramp struct {
	From    float64       `yaml:"from" unit:"rate" min:"0/s" max:"1000000000/s" required:"true" help:"rate at the start"`
	To      float64       `yaml:"to" unit:"rate" min:"0/s" max:"1000000000/s" required:"true" help:"rate at the end, which then holds"`
	Over    time.Duration `yaml:"over" unit:"duration" min:"0s" open:"min" required:"true" help:"how long the change takes"`
	Process string        `yaml:"process" enum:"poisson,even" beside:"true" help:"how arrivals fall on the rate"`
}

var _ Config = (*Ramp)(nil)

// Validate wants a rate above 0 somewhere.
func (c *Ramp) Validate() []spec.Problem {
	if c.From > 0 || c.To > 0 {
		return nil
	}
	return []spec.Problem{{Field: "to", Text: "both rates are 0", Hint: "give one of them, e.g. to: 80/s"}}
}

func (c *Ramp) curve() pieces {
	return lay([]segment{
		{from: 0, to: c.Over, start: c.From, end: c.To},
		{from: c.Over, to: forEver, start: c.To, end: c.To},
	})
}

// Arrivals starts a stream.
func (c *Ramp) Arrivals() Arrivals { return newArrivals(c.curve(), c.Process) }

// Mean is the integral of the rate.
func (c *Ramp) Mean(from, to time.Duration) float64 { return meanOf(c.curve(), from, to) }

// Peak is the largest rate in the window.
func (c *Ramp) Peak(from, to time.Duration) float64 { return c.curve().peak(from, to) }

// Help says what the kind is.
func (*Ramp) Help() string { return "a rate that changes linearly and then holds" }

// Example is a line of YAML.
func (*Ramp) Example() string { return "{ramp: {from: 20/s, to: 120/s, over: 5m}}" }
