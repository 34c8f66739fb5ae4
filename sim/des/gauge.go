package des

import "time"

// Gauge is a number of things that are somewhere now, with its time integral
// and its maximum since the last Cut. The integral is exact in integer
// nanoseconds.
type Gauge struct {
	n    int64
	max  int64
	min  int64
	last time.Duration
	area int64 // ∫n dt since the last cut, in thing-nanoseconds
}

// N is the number now.
func (g *Gauge) N() int64 { return g.n }

// Add changes the number by d at now.
func (g *Gauge) Add(now time.Duration, d int64) { g.Set(now, g.n+d) }

// Set makes the number n at now.
func (g *Gauge) Set(now time.Duration, n int64) {
	g.area += g.n * int64(now-g.last)
	g.last = now
	g.n = n
	if n > g.max {
		g.max = n
	} else if n < g.min {
		g.min = n
	}
}

// Span is what a gauge did in one window [from, to).
type Span struct {
	Area int64 // ∫n dt, thing-nanoseconds
	Max  int64
	Min  int64
	End  int64 // the number at the end
}

// Cut closes the window that ends at now and starts the next. The number
// standing at now is the first of the new window's maximum.
func (g *Gauge) Cut(now time.Duration) Span {
	g.area += g.n * int64(now-g.last)
	s := Span{Area: g.area, Max: g.max, Min: g.min, End: g.n}
	g.last, g.area, g.max, g.min = now, 0, g.n, g.n
	return s
}

// Station is a place that things enter and leave: a gauge and the sums of
// Little's law. Its three accumulators are independent of each other, so
// Area = Sojourn + AgeEnd − AgeStart is a law to test and not a definition.
type Station struct {
	Gauge
	in, out int64
	sojourn int64 // Σ(leave − enter) of the things that left since the cut
	entered int64 // Σ of the entry instants of those inside, modulo 2^64
}

// Enter counts one thing in at now; the caller keeps now for Leave.
func (s *Station) Enter(now time.Duration) {
	s.Gauge.Set(now, s.n+1)
	s.in++
	s.entered += int64(now)
}

// Leave counts one thing out at now that entered at entered.
func (s *Station) Leave(now, entered time.Duration) {
	s.Gauge.Set(now, s.n-1)
	s.out++
	s.sojourn += int64(now - entered)
	s.entered -= int64(entered)
}

// Flow is what a station did in one window.
type Flow struct {
	Span
	In, Out int64
	Sojourn int64 // Σ of the whole sojourns of the things that left, ns
	Age     int64 // Σ of the ages of the things inside at the window's end, ns
}

// CutFlow closes the window that ends at now.
func (s *Station) CutFlow(now time.Duration) Flow {
	f := Flow{Span: s.Gauge.Cut(now), In: s.in, Out: s.out, Sojourn: s.sojourn}
	f.Age = f.End*int64(now) - s.entered
	s.in, s.out, s.sojourn = 0, 0, 0
	return f
}
