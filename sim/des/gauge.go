package des

import "time"

// Gauge is a number of things that are somewhere now, with its time integral
// and its maximum since the last Cut. The integral is exact in integer
// nanoseconds.
type Gauge struct {
	n   int64
	max int64
	// steps is Σ(change × instant) since the start, counted modulo 2^64 as the
	// area is: the area up to now is n·now − steps, so a change costs one product.
	steps int64
	done  int64 // area up to the last cut
}

// N is the number now.
func (g *Gauge) N() int64 { return g.n }

// Add changes the number by d at now.
func (g *Gauge) Add(now time.Duration, d int64) {
	g.n += d
	g.steps += d * int64(now)
	g.max = max(g.max, g.n)
}

// Set makes the number n at now.
func (g *Gauge) Set(now time.Duration, n int64) { g.Add(now, n-g.n) }

// Span is what a gauge did in one window [from, to).
type Span struct {
	Area int64 // ∫n dt, thing-nanoseconds
	Max  int64
	End  int64 // the number at the end
}

// Cut closes the window that ends at now and starts the next. The number
// standing at now is the first of the new window's maximum.
func (g *Gauge) Cut(now time.Duration) Span {
	area := g.n*int64(now) - g.steps
	s := Span{Area: area - g.done, Max: g.max, End: g.n}
	g.done, g.max = area, g.n
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
	s.Add(now, 1)
	s.in++
	s.entered += int64(now)
}

// Leave counts one thing out at now that entered at entered.
func (s *Station) Leave(now, entered time.Duration) {
	s.Add(now, -1)
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
