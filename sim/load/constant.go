package load

import (
	"time"

	"blastradius/sim/spec"
)

// PoissonRate is a Poisson stream of constant rate: users who do not know of
// each other.
type PoissonRate struct {
	Rate float64 `yaml:"rate" unit:"rate" min:"0/s" open:"min" max:"1000000000/s" short:"true" required:"true" help:"mean arrivals per time"`
}

var (
	_ Config = (*PoissonRate)(nil)
	_ Config = (*EvenRate)(nil)
)

// Validate has nothing to add to the range of the field.
func (*PoissonRate) Validate() []spec.Problem { return nil }

// Arrivals starts a stream.
func (c *PoissonRate) Arrivals() Arrivals { return newArrivals(flat(c.Rate), Poisson) }

// Mean is rate times length.
func (c *PoissonRate) Mean(from, to time.Duration) float64 { return meanOf(flat(c.Rate), from, to) }

// Peak is the rate.
func (c *PoissonRate) Peak(_, _ time.Duration) float64 { return c.Rate }

// Help says what the kind is.
func (*PoissonRate) Help() string { return "Poisson arrivals: independent users" }

// Example is a line of YAML.
func (*PoissonRate) Example() string { return "{poisson: 80/s}" }

// EvenRate is a stream with a fixed gap, the first arrival at 0: a load
// generator's.
type EvenRate struct {
	Rate float64 `yaml:"rate" unit:"rate" min:"0/s" open:"min" max:"1000000000/s" short:"true" required:"true" help:"arrivals per time"`
}

// Validate has nothing to add to the range of the field.
func (*EvenRate) Validate() []spec.Problem { return nil }

// Arrivals starts a stream.
func (c *EvenRate) Arrivals() Arrivals {
	if exact := newClockwork(c.Rate); exact != nil {
		return exact
	}
	return newArrivals(flat(c.Rate), Even)
}

// Mean is rate times length: the count to within one.
func (c *EvenRate) Mean(from, to time.Duration) float64 { return meanOf(flat(c.Rate), from, to) }

// Peak is the rate.
func (c *EvenRate) Peak(_, _ time.Duration) float64 { return c.Rate }

// Help says what the kind is.
func (*EvenRate) Help() string { return "arrivals at a fixed gap, the first at 0" }

// Example is a line of YAML.
func (*EvenRate) Example() string { return "{even: 80/s}" }
