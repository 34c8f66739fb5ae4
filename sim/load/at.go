package load

import (
	"fmt"
	"sort"
	"time"

	"blastradius/sim/dist"
	"blastradius/sim/spec"
)

// At is a list of arrival instants.
type At struct {
	Times []time.Duration `yaml:"at" unit:"duration" min:"0s" short:"true" required:"true" help:"instants since the start of the run, in order; several may be the same"`
}

var (
	_ Config   = (*At)(nil)
	_ Arrivals = (*list)(nil)
)

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
func (c *At) Mean(from, to time.Duration) float64 { return float64(between(c.Times, from, to)) }

// Peak is the largest number within one second of [from, to), per second: a
// list has no rate curve.
func (c *At) Peak(from, to time.Duration) float64 {
	most, first := 0, before(c.Times, from)
	for i := first; i < before(c.Times, to); i++ {
		for c.Times[first] <= c.Times[i]-time.Second {
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
func (l *list) Rate(at time.Duration) float64 {
	return float64(between(l.times, at-time.Second/2, at+time.Second/2))
}

// before is the number of instants before t, in an ordered list.
func before(times []time.Duration, t time.Duration) int {
	return sort.Search(len(times), func(i int) bool { return times[i] >= t })
}

// between is the number of instants in [from, to).
func between(times []time.Duration, from, to time.Duration) int {
	return max(0, before(times, to)-before(times, from))
}
