package load

import (
	"math"
	"time"

	"blastradius/sim/dist"
)

// curve is a rate over time whose integral is known in closed form: all that
// an arrival process of varying rate needs.
type curve interface {
	rate(at time.Duration) float64 // per second
	// count is the integral of the rate from 0 to at.
	count(at time.Duration) float64
	// when is the instant at which count passes n; ok is false when it never does.
	when(n float64) (time.Duration, bool)
	peak(from, to time.Duration) float64
}

// Processes: how arrivals fall on a rate curve.
const (
	Poisson = "poisson"
	Even    = "even"
)

// newArrivals puts a process on a curve. Both work by inversion of the
// cumulative rate: arrival k of an even stream is where it reaches k (the first
// at the very start), arrival k of a Poisson stream where it reaches the sum of
// k exponentials (Çinlar 1975). No thinning, so no draw is wasted and the count
// in any window has exactly the right mean.
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

func (p *poisson) Next(prev time.Duration, r *dist.Rand) (time.Duration, bool) {
	p.level += r.Exp()
	at, ok := p.curve.when(p.level)
	return max(at, prev), ok
}

func (p *poisson) Rate(at time.Duration) float64 { return p.curve.rate(at) }

type even struct {
	curve curve
	n     uint64
}

func (e *even) Next(prev time.Duration, _ *dist.Rand) (time.Duration, bool) {
	at, ok := e.curve.when(float64(e.n))
	e.n++
	return max(at, prev), ok
}

func (e *even) Rate(at time.Duration) float64 { return e.curve.rate(at) }

// flat is a constant rate per second.
type flat float64

func (f flat) rate(time.Duration) float64           { return float64(f) }
func (f flat) count(at time.Duration) float64       { return float64(f) * at.Seconds() }
func (f flat) when(n float64) (time.Duration, bool) { return instant(n / float64(f)) }
func (f flat) peak(_, _ time.Duration) float64      { return float64(f) }

// instant rounds seconds to the nanosecond; ok is false beyond the longest
// Duration.
func instant(seconds float64) (time.Duration, bool) {
	ns := math.Round(seconds * 1e9)
	if !(ns < math.MaxInt64) {
		return 0, false
	}
	return time.Duration(ns), true
}

// segment is a stretch of a piecewise linear rate.
type segment struct {
	from, to   time.Duration // to is the largest Duration for the last one
	start, end float64       // rate at both ends, per second
	before     float64       // count at from
}

// slope is the growth of the rate per second.
func (s *segment) slope() float64 {
	if s.start == s.end {
		return 0
	}
	return (s.end - s.start) / (s.to - s.from).Seconds()
}

func (s *segment) rateAt(at time.Duration) float64 {
	return s.start + float64(s.slope()*(at-s.from).Seconds())
}

func (s *segment) countAt(at time.Duration) float64 {
	t := (at - s.from).Seconds()
	return s.before + float64(s.start*t) + float64(s.slope()*float64(t*t))/2
}

// pieces is a piecewise linear rate; the last segment goes on for ever.
type pieces []segment

// lay fills in the counts at the segments' starts.
func lay(segments []segment) pieces {
	for i := 1; i < len(segments); i++ {
		s := &segments[i-1]
		segments[i].before = s.countAt(s.to)
	}
	return segments
}

func (p pieces) at(at time.Duration) *segment {
	for i := range p {
		if at < p[i].to {
			return &p[i]
		}
	}
	return &p[len(p)-1]
}

func (p pieces) rate(at time.Duration) float64  { return p.at(at).rateAt(at) }
func (p pieces) count(at time.Duration) float64 { return p.at(at).countAt(at) }

// when is the last instant at which the count is n: an arrival due exactly when
// a pause begins comes when the pause is over.
func (p pieces) when(n float64) (time.Duration, bool) {
	i := len(p) - 1
	for p[i].before > n {
		i--
	}
	s := &p[i]
	t, ok := s.solve(n - s.before)
	if !ok {
		return 0, false
	}
	at, ok := instant(s.from.Seconds() + t)
	return min(max(at, s.from), s.to), ok
}

// solve finds t >= 0 with start·t + slope·t²/2 = n, in the form that does not
// cancel: 2n/(start + √(start² + 2·slope·n)).
func (s *segment) solve(n float64) (float64, bool) {
	a := s.slope()
	inside := float64(s.start*s.start) + float64(2*a*n)
	if inside < 0 {
		inside = 0
	}
	d := s.start + math.Sqrt(inside)
	if d == 0 {
		return 0, s.start+s.end > 0
	}
	return 2 * n / d, true
}

func (p pieces) peak(from, to time.Duration) float64 {
	high := p.rate(from)
	for i := range p {
		s := &p[i]
		if s.to <= from || s.from >= to {
			continue
		}
		high = max(high, s.rateAt(max(s.from, from)), s.rateAt(min(s.to, to)))
	}
	return high
}

const forEver = time.Duration(math.MaxInt64)
