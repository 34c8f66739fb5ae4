package load

import (
	"math"
	"sort"
	"time"
)

// curve is a rate over time whose integral is known in closed form: all that
// an arrival process of varying rate needs.
type curve interface {
	rate(at time.Duration) float64 // per second
	// count is the integral of the rate from 0 to at.
	count(at time.Duration) float64
	// when is where count passes n; ok is false when it never does. Where count
	// rests at n it is the end of the rest: an arrival due exactly when a pause
	// begins comes when the pause is over.
	when(n float64) (p point, ok bool)
	// peak is the largest rate in [from, to).
	peak(from, to time.Duration) float64
}

// point is ns nanoseconds after from, before end. The two parts are kept apart
// so that a late point is as fine as an early one.
type point struct {
	from, end time.Duration
	ns        float64
}

// add is the instant ns, cut to a whole number, after p.from and before p.end;
// ok is false beyond the longest Duration.
func (p point) add(ns float64) (time.Duration, bool) {
	if !(ns < float64(p.end-p.from)) {
		return p.end - 1, p.end < forEver
	}
	return p.from + max(0, time.Duration(ns)), true
}

// forEver is the end of what does not end.
const forEver = time.Duration(math.MaxInt64)

// meanOf is the integral of the rate over [from, to).
func meanOf(c curve, from, to time.Duration) float64 {
	return max(0, c.count(to)-c.count(max(0, from)))
}

// flat is a constant rate per second.
type flat float64

func (f flat) rate(time.Duration) float64      { return float64(f) }
func (f flat) count(at time.Duration) float64  { return float64(f) * at.Seconds() }
func (f flat) peak(_, _ time.Duration) float64 { return float64(f) }

func (f flat) when(n float64) (point, bool) {
	return point{end: forEver, ns: n * (1e9 / float64(f))}, true
}

// pieces is a piecewise linear rate; the last segment goes on for ever.
type pieces []segment

// segment is a stretch of a piecewise linear rate.
type segment struct {
	from, to   time.Duration // to is forEver for the last one
	start, end float64       // rate at both ends, per second
	before     float64       // count at from
}

// lay fills in the counts at the segments' starts. A count within rounding of a
// whole number is that number: 10/min for 2m are 20 arrivals, and no even
// stream may think that the 21st is due just before they are over.
func lay(segments []segment) pieces {
	for i := 1; i < len(segments); i++ {
		s := &segments[i-1]
		n := s.countAt(s.to)
		if whole := math.Round(n); math.Abs(n-whole) <= whole*1e-12 {
			n = whole
		}
		segments[i].before = n
	}
	return segments
}

// slope is the growth of the rate per second.
func (s *segment) slope() float64 {
	if s.start == s.end {
		return 0
	}
	return (s.end - s.start) / (s.to - s.from).Seconds()
}

func (s *segment) rateAt(at time.Duration) float64 {
	if at >= s.to {
		return s.end
	}
	return s.start + float64(s.slope()*(at-s.from).Seconds())
}

func (s *segment) countAt(at time.Duration) float64 {
	t := (at - s.from).Seconds()
	return s.before + float64(s.start*t) + float64(float64(s.slope()*float64(t*t))/2)
}

// reach finds t >= 0 in seconds with start·t + slope·t²/2 = n, in the form that
// does not cancel: 2n/(start + √(start² + 2·slope·n)).
func (s *segment) reach(n float64) (t float64, ok bool) {
	inside := float64(s.start*s.start) + float64(2*s.slope()*n)
	d := s.start + math.Sqrt(max(0, inside))
	if d == 0 { // a rate of 0: for ever, or just now
		return 0, s.end > 0
	}
	return 2 * n / d, true
}

// at is the segment that holds an instant.
func (p pieces) at(at time.Duration) *segment {
	i := sort.Search(len(p)-1, func(i int) bool { return at < p[i].to })
	return &p[i]
}

func (p pieces) rate(at time.Duration) float64  { return p.at(at).rateAt(at) }
func (p pieces) count(at time.Duration) float64 { return p.at(at).countAt(at) }

func (p pieces) when(n float64) (point, bool) {
	// The last segment with before <= n; those of rate 0 before it are passed over.
	i := sort.Search(len(p)-1, func(i int) bool { return p[i+1].before > n })
	s := &p[i]
	t, ok := s.reach(n - s.before)
	return point{from: s.from, end: s.to, ns: t * 1e9}, ok
}

func (p pieces) peak(from, to time.Duration) (high float64) {
	for i := range p {
		s := &p[i]
		if s.to > from && s.from < to {
			high = max(high, s.rateAt(max(s.from, from)), s.rateAt(min(s.to, to)))
		}
	}
	return high
}
