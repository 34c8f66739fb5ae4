package report

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// served is the endpoint that the fallback picture speaks of: one that calls a
// faulted dependency, or the first with degraded answers, or the first.
func served(r *Result) (Endpoint, bool) {
	for _, e := range r.Scenario.Endpoints {
		if e.Direct {
			return e, true
		}
	}
	for _, e := range r.Scenario.Endpoints {
		for i := range r.Arms {
			if v, _, ok := r.Arms[i].Figure(phaseAll, "endpoint."+e.Name+".degraded_rate"); ok && v > 0 {
				return e, true
			}
		}
	}
	if len(r.Scenario.Endpoints) == 0 {
		return Endpoint{}, false
	}
	return r.Scenario.Endpoints[0], true
}

func hasFallback(a *Arm) bool {
	for _, l := range a.Layers {
		if l.Kind == "fallback" {
			return true
		}
	}
	return false
}

// drawFallback shows what the users of one endpoint got: a strip for each arm,
// shares stacked to 100 %.
func drawFallback(d *Document, c draw.Canvas) string {
	r := d.Result
	e, ok := served(r)
	if !ok || len(r.Arms) == 0 {
		frame(d, c, "no endpoint", "")
		return "no endpoint"
	}
	title := fallbackTitle(d, e)
	inner := frame(d, c, title, "what "+e.Name+" users got, share of the requests by arrival: live, from the fallback (hatched), lost (late, failed)")
	inner = draw.Crop(inner, 0, -labelRoom, 0, -10)
	n := len(r.Arms)
	h := (inner.Max.Y - inner.Min.Y) / vg.Length(n)
	for i := range r.Arms {
		strip := inner
		strip.Max.Y = inner.Max.Y - h*vg.Length(i)
		strip.Min.Y = strip.Max.Y - h + 4
		drawStrip(d, strip, e, i, i == n-1)
	}
	return title
}

func fallbackTitle(d *Document, e Endpoint) string {
	a := heldBack(d.Result)
	figure := func(name string) (float64, bool) {
		v, _, ok := a.Figure(d.Phase.Name, "endpoint."+e.Name+"."+name)
		return v, ok
	}
	lost, ok := figure("lost_rate")
	good, _ := figure("slo_rate")
	live, _ := figure("live_rate")
	if !ok {
		return "no request of " + e.Name + " arrived"
	}
	if !hasFallback(a) {
		return fmt.Sprintf("no fallback: %s of %s requests lost in %s", FormatShare(lost), e.Name, a.Name)
	}
	return fmt.Sprintf("%s served %s of %s requests from its fallback and lost %s", a.Name, FormatShare(max(0, good-live)), e.Name, FormatShare(lost))
}

func drawStrip(d *Document, c draw.Canvas, e Endpoint, arm int, axis bool) {
	r := d.Result
	a := &r.Arms[arm]
	pl := plot.New()
	pl.BackgroundColor = color.Transparent
	pl.X.Min, pl.X.Max, pl.Y.Min, pl.Y.Max = 0, r.Scenario.Duration, 0, 1
	scale, _, suffix := timeUnit(r.Scenario.Duration)
	pl.X.Tick.Marker, pl.Y.Tick.Marker = niceTicks{scale, suffix, 8}, niceTicks{0.01, "%", 2}
	for _, ax := range []*plot.Axis{&pl.X, &pl.Y} {
		ax.LineStyle.Color, ax.LineStyle.Width, ax.Tick.LineStyle.Color, ax.Tick.Length = faint, 0.5, faint, 3
		ax.Tick.Label.Font.Size, ax.Tick.Label.Color, ax.Padding = vg.Points(8.5), ink, 2
	}
	if !axis { // the room stays, so that all strips have one time axis
		pl.X.Tick.Label.Color = color.Transparent
	}
	s := &stack{step: binSeconds(r)}
	for _, name := range []string{"live_rate", "degraded_rate", "lost_rate"} {
		s.shares = append(s.shares, a.series("endpoint."+e.Name+"."+name))
	}
	pl.Add(s)
	pl.Draw(c)
	area := pl.DataCanvas(c)
	tx, ty := pl.Transforms(&area)
	c.FillText(style(9, stylesOf(r)[arm].color, true), vg.Point{X: area.Max.X + 6, Y: (area.Min.Y+area.Max.Y)/2 + 6}, a.Name)
	word := "fallback layer"
	if !hasFallback(a) {
		word = "no fallback layer"
	}
	c.FillText(style(8, faint, false), vg.Point{X: area.Max.X + 6, Y: (area.Min.Y+area.Max.Y)/2 - 7}, word)
	for _, w := range d.Windows {
		for _, x := range []float64{w.From, w.To} {
			c.StrokeLine2(draw.LineStyle{Color: ink, Width: 0.6, Dashes: []vg.Length{2, 2}}, tx(x), area.Min.Y, tx(x), area.Max.Y)
		}
		if arm == 0 {
			c.FillText(style(8.5, faint, false), vg.Point{X: tx(w.From), Y: area.Max.Y + 7}, w.Text)
		}
	}
	s.words(c, tx, ty, d.Phase, r.Scenario.Warmup)
}

// stack is shares stacked to one, in bins.
type stack struct {
	shares [][]*float64 // live, from the fallback, lost
	step   float64
}

var (
	stackColors = []color.NRGBA{colorLive, colorCached, colorLost}
	stackWords  = []string{"live", "fallback", "lost"}
)

func (s *stack) bins() (n int) {
	for _, v := range s.shares {
		n = max(n, len(v))
	}
	return n
}

// at is the lower and the upper end of one share in a bin.
func (s *stack) at(kind, bin int) (low, high float64, ok bool) {
	for k := 0; k <= kind; k++ {
		low = high
		if bin < len(s.shares[k]) && s.shares[k][bin] != nil {
			high += *s.shares[k][bin]
			ok = true
		}
	}
	return low, high, ok
}

// Plot implements plot.Plotter.
func (s *stack) Plot(c draw.Canvas, pl *plot.Plot) {
	tx, ty := pl.Transforms(&c)
	n := s.bins()
	for kind := range s.shares {
		for bin := 0; bin < n; bin++ {
			low, high, ok := s.at(kind, bin)
			if !ok || high <= low {
				continue
			}
			// Bins that look alike are one rectangle: a picture of 600 bins stays small.
			end := bin + 1
			for end < n {
				l, h, ok := s.at(kind, end)
				if !ok || l != low || h != high {
					break
				}
				end++
			}
			x0, x1 := tx(float64(bin)*s.step), tx(min(float64(end)*s.step, pl.X.Max))
			c.SetColor(stackColors[kind])
			c.Fill(vg.Rectangle{Min: vg.Point{X: x0, Y: ty(low)}, Max: vg.Point{X: x1, Y: ty(high)}}.Path())
			bin = end - 1
		}
	}
	// The hatching tells the fallback apart without colour.
	every := max(1, n/150)
	for bin := 0; bin < n; bin += every {
		if low, high, ok := s.at(1, bin); ok && high > low {
			x := tx((float64(bin) + 0.5) * s.step)
			c.StrokeLine2(draw.LineStyle{Color: color.White, Width: 0.7}, x, ty(low), x, ty(high))
		}
	}
}

// words names the areas where there is room: in the middle of the phase, and
// live before it.
func (s *stack) words(c draw.Canvas, tx, ty func(float64) vg.Length, phase Phase, warmup float64) {
	place := func(kind int, from, to float64) {
		if tx(to)-tx(from) < 34 {
			return
		}
		bin := int((from + to) / 2 / s.step)
		low, high, ok := s.at(kind, bin)
		if !ok || high-low < 0.2 {
			return
		}
		col := color.Color(color.White)
		if kind == 0 {
			col = ink
		}
		st := style(9, col, true)
		st.XAlign = -0.5
		if kind == 1 { // white lines behind it: a plate under the word
			w := st.Width(stackWords[kind])/2 + 3
			x, y := tx((from+to)/2), ty((low+high)/2)
			c.SetColor(colorCached)
			c.Fill(vg.Rectangle{Min: vg.Point{X: x - w, Y: y - 6}, Max: vg.Point{X: x + w, Y: y + 6}}.Path())
		}
		c.FillText(st, vg.Point{X: tx((from + to) / 2), Y: ty((low + high) / 2)}, stackWords[kind])
	}
	if phase.Name != phaseAll {
		place(0, warmup, phase.From)
	}
	for kind := range s.shares {
		place(kind, phase.From, phase.To)
	}
}
