package load

import (
	"math"
	"math/bits"
	"time"

	"blastradius/sim/dist"
)

// Processes: how arrivals fall on a rate curve.
const (
	Poisson = "poisson"
	Even    = "even"
)

// newArrivals puts a process on a curve. Both work by inversion of the
// cumulative rate: arrival k of an even stream is where it reaches k (the first
// at the very start), arrival k of a Poisson stream where it reaches the sum of
// k exponentials (Çinlar 1975). Against thinning, no draw is wasted, one
// exponential belongs to one arrival, and the count in any window has exactly
// the right mean and law.
func newArrivals(c curve, process string) Arrivals {
	if process == Even {
		return &even{curve: c}
	}
	return &poisson{curve: c}
}

type poisson struct {
	curve curve
	level float64 // of the cumulative rate at the last arrival
}

var (
	_ Arrivals = (*poisson)(nil)
	_ Arrivals = (*even)(nil)
	_ Arrivals = (*clockwork)(nil)
)

// Next rounds down: an instant of real time lies in a window of whole
// nanoseconds if and only if its floor does, so rounding moves no arrival from
// one window to the next.
func (p *poisson) Next(prev time.Duration, r *dist.Rand) (time.Duration, bool) {
	p.level += r.Exp()
	at, ok := p.curve.when(p.level)
	if !ok {
		return 0, false
	}
	t, ok := at.add(at.ns)
	return max(t, prev), ok
}

func (p *poisson) Rate(at time.Duration) float64 { return p.curve.rate(at) }

type even struct {
	curve curve
	n     uint64
}

// Next rounds to the nearest nanosecond.
func (e *even) Next(prev time.Duration, _ *dist.Rand) (time.Duration, bool) {
	at, ok := e.curve.when(float64(e.n))
	if !ok {
		return 0, false
	}
	e.n++
	t, ok := at.add(math.Round(at.ns))
	return max(t, prev), ok
}

func (e *even) Rate(at time.Duration) float64 { return e.curve.rate(at) }

// clockwork is an even stream of a rate that is a whole number per second, per
// minute or per hour: arrival n is at n·period/count, in integers, so that it
// is right to half a nanosecond however long the run is.
type clockwork struct {
	n      uint64
	count  uint64 // arrivals in one period
	period uint64 // ns
}

// newClockwork is nil for a rate that is no whole number per second, minute or
// hour. A rate of 31/min is a rounded number per second: the whole number is the
// one that gives the same when divided by 60.
func newClockwork(rate float64) *clockwork {
	for _, seconds := range []uint64{1, 60, 3600} {
		n := math.Round(rate * float64(seconds))
		if n >= 1 && n < 1<<53 && n/float64(seconds) == rate {
			return &clockwork{count: uint64(n), period: seconds * 1e9}
		}
	}
	return nil
}

// Next is n·period/count, halves rounded up.
func (c *clockwork) Next(time.Duration, *dist.Rand) (time.Duration, bool) {
	hi, lo := bits.Mul64(c.n, c.period)
	lo, carry := bits.Add64(lo, c.count/2, 0)
	hi += carry
	if hi >= c.count {
		return 0, false
	}
	at, _ := bits.Div64(hi, lo, c.count)
	if at > math.MaxInt64 {
		return 0, false
	}
	c.n++
	return time.Duration(at), true
}

func (c *clockwork) Rate(time.Duration) float64 {
	return float64(c.count) / (float64(c.period) / 1e9)
}
