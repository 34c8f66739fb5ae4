package load

import (
	"fmt"
	"time"

	"blastradius/sim/dist"
	"blastradius/sim/spec"
)

// At is a list of arrival instants.
type At struct {
	Times []time.Duration `yaml:"at" unit:"duration" min:"0s" short:"true" required:"true" help:"instants since the start of the run, in order; several may be the same"`
}

// Validate checks the order.
func (c *At) Validate() []spec.Problem {
	if len(c.Times) == 0 {
		return []spec.Problem{{Field: "at", Text: "no instant is listed", Hint: "at: [0s, 0s, 1.5s]"}}
	}
	for i := 1; i < len(c.Times); i++ {
		if c.Times[i] < c.Times[i-1] {
			return []spec.Problem{{Field: "at", Text: fmt.Sprintf("%v comes after %v", c.Times[i], c.Times[i-1]), Hint: "list the instants in ascending order"}}
		}
	}
	return nil
}

// Arrivals starts a stream.
func (c *At) Arrivals() Arrivals { return &list{times: c.Times} }

// Mean is the number of instants in [from, to).
func (c *At) Mean(from, to time.Duration) (n float64) {
	for _, t := range c.Times {
		if t >= from && t < to {
			n++
		}
	}
	return n
}

// Peak is the largest number in any one second, per second: a list has no rate
// curve.
func (c *At) Peak(from, to time.Duration) float64 {
	most, first := 0, 0
	for i, t := range c.Times {
		if t < from || t >= to {
			first = max(first, i+1)
			continue
		}
		for c.Times[first] <= t-time.Second {
			first++
		}
		most = max(most, i-first+1)
	}
	return float64(most)
}

// Help says what the kind is.
func (*At) Help() string { return "a list of instants" }

// Example is a line of YAML.
func (*At) Example() string { return "{at: [0s, 0s, 1.5s]}" }

type list struct {
	times []time.Duration
	n     int
}

func (l *list) Next(time.Duration, *dist.Rand) (time.Duration, bool) {
	if l.n == len(l.times) {
		return 0, false
	}
	l.n++
	return l.times[l.n-1], true
}

// Rate is the number of instants in the second around at.
func (l *list) Rate(at time.Duration) (n float64) {
	for _, t := range l.times {
		if t >= at-time.Second/2 && t < at+time.Second/2 {
			n++
		}
	}
	return n
}
