package report

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// curve is one line of a panel over time: the bin maximum bold, the bin mean
// thin.
type curve struct {
	label string // at its right end
	style armStyle
	max   []*float64
	mean  []*float64 // nil: none
	dot   bool       // marks the peak
	thin  bool
}

// panel is one plot over the run's time.
type panel struct {
	curves []curve
	limit  float64 // a black line, 0 for none
	word   string  // at that line: "pool 100"
	share  bool    // y is 0…100 %
	yLabel string
	xAxis  bool
	flag   string // a note at flagAt
	flagAt float64
	note   string // thin, in the panel's top left
}

// labelRoom is kept free right of a plot for the labels of its curves.
const labelRoom = 128

// build makes the plot of a panel.
func (p *panel) build(d *Document) *plot.Plot {
	r := d.Result
	pl := plot.New()
	pl.BackgroundColor = color.Transparent
	pl.X.Min, pl.X.Max = 0, r.Scenario.Duration
	pl.Y.Min, pl.Y.Max = 0, p.top()
	scale, unit, suffix := timeUnit(r.Scenario.Duration)
	pl.X.Tick.Marker = niceTicks{scale, suffix, 8}
	pl.Y.Tick.Marker = niceTicks{1, "", 6}
	if p.share {
		pl.Y.Tick.Marker = niceTicks{0.01, "%", 4}
	}
	for _, a := range []*plot.Axis{&pl.X, &pl.Y} {
		a.LineStyle.Color, a.LineStyle.Width = faint, 0.5
		a.Tick.LineStyle.Color, a.Tick.LineStyle.Width, a.Tick.Length = faint, 0.5, 3
		a.Tick.Label.Font.Size, a.Tick.Label.Color = vg.Points(8.5), ink
		a.Label.TextStyle.Font.Size, a.Label.TextStyle.Color = vg.Points(9), ink
		a.Padding = 2
	}
	pl.X.Tick.Label.YAlign = -1
	pl.Y.Label.Text = p.yLabel
	if p.xAxis {
		pl.X.Label.Text = unit
	}
	pl.Add(faultBands{d.Windows})
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal = draw.LineStyle{Color: gridColor, Width: 0.5}
	pl.Add(grid)
	step := binSeconds(r)
	for _, c := range p.curves {
		if c.mean != nil {
			pl.Add(lines{points: points(c.mean, step), style: draw.LineStyle{Color: c.style.color, Width: 0.6}})
		}
		width := vg.Length(2.5 * pxToPt)
		if c.thin {
			width = 1
		}
		pl.Add(lines{points: points(c.max, step), style: draw.LineStyle{Color: c.style.color, Width: width, Dashes: c.style.dashes}, dot: c.dot})
	}
	if p.limit > 0 {
		pl.Add(lines{points: []plotter.XYs{{{X: 0, Y: p.limit}, {X: r.Scenario.Duration, Y: p.limit}}}, style: draw.LineStyle{Color: color.Black, Width: 1}})
	}
	return pl
}

// top is the largest value shown, with some air.
func (p *panel) top() float64 {
	if p.share {
		return 1
	}
	high := p.limit
	for _, c := range p.curves {
		for _, v := range c.max {
			if v != nil {
				high = max(high, *v)
			}
		}
	}
	if high == 0 {
		return 1
	}
	return high * 1.08
}

// decorate draws what stands beside the curves once the axes are known: the
// labels at their right ends, pushed apart, and the notes.
func (p *panel) decorate(d *Document, pl *plot.Plot, c draw.Canvas, bandLabel bool) {
	area := pl.DataCanvas(c)
	tx, ty := pl.Transforms(&area)
	type label struct {
		y    vg.Length
		text string
		c    color.Color
	}
	var labels []label
	for _, cv := range p.curves {
		if cv.label == "" {
			continue
		}
		labels = append(labels, label{ty(lastValue(cv.max)), cv.label, cv.style.color})
	}
	slices.SortStableFunc(labels, func(a, b label) int {
		switch {
		case a.y < b.y:
			return -1
		case a.y > b.y:
			return 1
		}
		return 0
	})
	const gap = 12
	for i := range labels {
		labels[i].y = max(labels[i].y, area.Min.Y+4)
		if i > 0 {
			labels[i].y = max(labels[i].y, labels[i-1].y+gap)
		}
	}
	for _, l := range labels {
		c.FillText(style(9, l.c, true), vg.Point{X: area.Max.X + 6, Y: l.y}, l.text)
	}
	small := style(8.5, ink, false)
	if p.word != "" {
		c.FillText(small, vg.Point{X: area.Min.X + 6, Y: ty(p.limit) + 7}, p.word)
	}
	if p.note != "" {
		n := style(8.5, faint, false)
		c.FillText(n, vg.Point{X: area.Min.X + 6, Y: area.Max.Y - 8}, p.note)
	}
	if p.flag != "" {
		x := tx(p.flagAt)
		c.StrokeLine2(draw.LineStyle{Color: ink, Width: 0.7}, x, ty(0), x, area.Max.Y-10)
		f := style(8.5, ink, false)
		f.XAlign = -1
		c.FillText(f, vg.Point{X: x - 4, Y: area.Max.Y - 8}, p.flag)
	}
	if !bandLabel {
		return
	}
	last := vg.Length(math.Inf(-1))
	for _, w := range d.Windows {
		s := style(8.5, faint, false)
		x := tx(w.From)
		if x < last+4 {
			continue // one label for windows that touch
		}
		c.FillText(s, vg.Point{X: x, Y: area.Max.Y + 7}, w.Text)
		last = x + s.Width(w.Text)
	}
}

// drawPanel draws one panel that fills a canvas.
func drawPanel(d *Document, c draw.Canvas, p *panel) {
	pl := p.build(d)
	inner := draw.Crop(c, 0, -labelRoom, 0, -10)
	pl.Draw(inner)
	p.decorate(d, pl, inner, true)
}

// faultBands are the windows in which something was faulty.
type faultBands struct{ windows []Window }

// Plot implements plot.Plotter.
func (f faultBands) Plot(c draw.Canvas, pl *plot.Plot) {
	tx, _ := pl.Transforms(&c)
	end := math.Inf(-1)
	for _, w := range f.windows { // by start; overlaps are drawn once
		from, to := max(w.From, end), w.To
		if to <= from {
			continue
		}
		end = to
		x0, x1 := tx(from), max(tx(to), tx(from)+0.5)
		c.SetColor(bandColor)
		c.Fill(vg.Rectangle{Min: vg.Point{X: x0, Y: c.Min.Y}, Max: vg.Point{X: x1, Y: c.Max.Y}}.Path())
	}
}

// lines is a polyline with gaps.
type lines struct {
	points []plotter.XYs
	style  draw.LineStyle
	dot    bool
}

// Plot implements plot.Plotter.
func (l lines) Plot(c draw.Canvas, pl *plot.Plot) {
	tx, ty := pl.Transforms(&c)
	peak, has := plotter.XY{}, false
	for _, part := range l.points {
		ps := make([]vg.Point, len(part))
		for i, p := range part {
			ps[i] = vg.Point{X: tx(p.X), Y: ty(p.Y)}
			if !has || p.Y > peak.Y {
				peak, has = p, true
			}
		}
		c.StrokeLines(l.style, c.ClipLinesXY(ps)...)
	}
	if l.dot && has && peak.Y > 0 {
		c.DrawGlyph(draw.GlyphStyle{Color: l.style.Color, Radius: 3, Shape: draw.CircleGlyph{}}, vg.Point{X: tx(peak.X), Y: ty(peak.Y)})
	}
}

// points turns bins into runs of points in the middle of each bin.
func points(values []*float64, step float64) (out []plotter.XYs) {
	var run plotter.XYs
	for i, v := range values {
		if v == nil {
			if len(run) > 0 {
				out = append(out, run)
			}
			run = nil
			continue
		}
		run = append(run, plotter.XY{X: (float64(i) + 0.5) * step, Y: *v})
	}
	if len(run) > 0 {
		out = append(out, run)
	}
	return out
}

func binSeconds(r *Result) float64 {
	for _, a := range r.Arms {
		if d, err := time.ParseDuration(a.Series.Step); err == nil && d > 0 {
			return d.Seconds()
		}
	}
	return 1
}

func lastValue(values []*float64) float64 {
	for i := len(values) - 1; i >= 0; i-- {
		if values[i] != nil {
			return *values[i]
		}
	}
	return 0
}

func peakOf(values []*float64) (peak float64) {
	for _, v := range values {
		if v != nil {
			peak = max(peak, *v)
		}
	}
	return peak
}

// armCurves makes a curve of every arm that has the series.
func armCurves(d *Document, name string, label func(a *Arm, peak float64) string) (out []curve) {
	styles := stylesOf(d.Result)
	for i := range d.Result.Arms {
		a := &d.Result.Arms[i]
		top := a.series(name + "_max")
		mean := a.series(name + "_mean")
		if top == nil {
			top = a.series(name)
		}
		if top == nil {
			continue
		}
		out = append(out, curve{label: label(a, peakOf(top)), style: styles[i], max: top, mean: mean})
	}
	return out
}

// heldBack names the arm that speaks for containment: contained, or the last of
// the file's own.
func heldBack(r *Result) *Arm {
	for i := range r.Arms {
		if r.Arms[i].Name == "contained" {
			return &r.Arms[i]
		}
	}
	if len(r.Arms) == 0 {
		return nil
	}
	return &r.Arms[len(r.Arms)-1]
}

// contrast says the largest peak of a figure and the contained arm's.
func contrast(r *Result, metric, what string) string {
	worst, worstArm := -1.0, ""
	for i := range r.Arms {
		if v, _, ok := r.Arms[i].Figure(phaseAll, metric); ok && v > worst {
			worst, worstArm = v, r.Arms[i].Name
		}
	}
	if worst < 0 {
		return "no " + what
	}
	out := FormatCount(worst) + " " + what
	if b := heldBack(r); b != nil && b.Name != worstArm {
		if v, _, ok := b.Figure(phaseAll, metric); ok {
			return fmt.Sprintf("%s %s, %s %s", out, worstArm, b.Name, FormatCount(v))
		}
	}
	return out
}

func parkedPanel(d *Document) *panel {
	p := &panel{yLabel: "goroutines"}
	p.curves = armCurves(d, "process.parked", func(a *Arm, peak float64) string { return a.Name + " " + FormatCount(peak) })
	for i := range p.curves {
		p.curves[i].dot = true
	}
	for _, f := range d.Result.Scenario.Faults {
		for _, dep := range d.Result.Scenario.Dependencies {
			if dep.Name == f.Dependency && f.Latency != nil && *f.Latency > 0 {
				p.note = fmt.Sprintf("%s wants %s x %s = %s", dep.Name, FormatRate(dep.Rate), FormatSetting(*f.Latency), FormatCount(math.Round(dep.Rate**f.Latency)))
			}
		}
	}
	return p
}

func drawParked(d *Document, c draw.Canvas) string {
	title := contrast(d.Result, "process.parked_max", "parked")
	p := parkedPanel(d)
	p.xAxis = true
	drawPanel(d, frame(d, c, title, "goroutines of ours that wait, bin maximum (bold) and mean (thin)"), p)
	return title
}

// mainPool is the pool that the pictures speak of: the shared one, or the first.
func mainPool(r *Result) (Pool, bool) {
	for _, p := range r.Scenario.Pools {
		if p.Name == "process.pool" {
			return p, true
		}
	}
	if len(r.Scenario.Pools) > 0 {
		return r.Scenario.Pools[0], true
	}
	return Pool{}, false
}

func poolPanel(d *Document) (*panel, string) {
	r := d.Result
	pool, ok := mainPool(r)
	if !ok {
		return &panel{yLabel: "connections", note: "the scenario has no pool"}, "no pool: connections are unlimited"
	}
	p := &panel{yLabel: "connections", limit: float64(pool.Size), word: fmt.Sprintf("%s %d", shortPool(pool.Name), pool.Size)}
	p.curves = armCurves(d, pool.Name+".in_use", func(a *Arm, peak float64) string { return a.Name + " " + FormatCount(peak) })
	title := "never full: " + contrast(r, pool.Name+".in_use_max", "of "+fmt.Sprint(pool.Size)+" in use")
	for i := range r.Arms {
		at, _, full := r.Arms[i].Figure(d.Phase.Name, pool.Name+".full_at")
		if !full {
			continue
		}
		p.flagAt = at
		p.flag = "full"
		title = fmt.Sprintf("%s full in %s", shortPool(pool.Name), r.Arms[i].Name)
		if len(d.Windows) > 0 && at >= d.Windows[0].From {
			p.flag = "full +" + FormatDuration(at-d.Windows[0].From)
			title = fmt.Sprintf("%s empty %s into the fault", shortPool(pool.Name), FormatDuration(at-d.Windows[0].From))
		}
		if b := heldBack(r); b != nil && b.Name != r.Arms[i].Name {
			if v, _, ok := b.Figure(phaseAll, pool.Name+".in_use_max"); ok {
				title += fmt.Sprintf("; %s never used more than %s", b.Name, FormatCount(v))
			}
		}
		break
	}
	return p, title
}

func shortPool(name string) string {
	switch name {
	case "process.pool":
		return "pool"
	case "process.workers":
		return "workers"
	}
	return name
}

func drawPool(d *Document, c draw.Canvas) string {
	p, title := poolPanel(d)
	p.xAxis = true
	if pool, ok := mainPool(d.Result); ok {
		styles := stylesOf(d.Result)
		for i := range d.Result.Arms { // those who wait, above the pool's size
			if w := d.Result.Arms[i].series(pool.Name + ".waiting_max"); peakOf(w) > 0 {
				p.curves = append(p.curves, curve{style: styles[i], max: raised(w, float64(pool.Size)), thin: true, label: fmt.Sprintf("+%s waiting", FormatCount(peakOf(w)))})
			}
		}
	}
	drawPanel(d, frame(d, c, title, "connections in use, bin maximum (bold) and mean (thin); callers that wait above the size"), p)
	return title
}

// raised shifts the waiting line on top of the size and leaves out where nobody
// waits.
func raised(values []*float64, by float64) []*float64 {
	out := make([]*float64, len(values))
	for i, v := range values {
		if v != nil && *v > 0 {
			x := *v + by
			out[i] = &x
		}
	}
	return out
}

func drawOverview(d *Document, c draw.Canvas) string {
	parked := parkedPanel(d)
	pool, poolTitle := poolPanel(d)
	lost := &panel{yLabel: "lost and fallback", share: true, xAxis: true}
	lost.curves = armCurves(d, "process.lost_rate", func(a *Arm, peak float64) string { return a.Name + " " + FormatShare(peak) + " lost" })
	for _, cv := range armCurves(d, "process.fallback_rate", func(a *Arm, peak float64) string { return a.Name + " " + FormatShare(peak) + " fallback" }) {
		if peakOf(cv.max) > 0 {
			cv.thin = true
			lost.curves = append(lost.curves, cv)
		}
	}
	title := contrast(d.Result, "process.parked_max", "parked")
	inner := frame(d, c, title+"; "+poolTitle, "goroutines parked; connections in use; share of all requests lost (bold) and answered by a fallback (thin)")
	inner = draw.Crop(inner, 0, -labelRoom, 0, -10)
	panels := []*panel{parked, pool, lost}
	plots := [][]*plot.Plot{{parked.build(d)}, {pool.build(d)}, {lost.build(d)}}
	// Heights 4:3:3: the first tile is cut larger by hand.
	h := inner.Max.Y - inner.Min.Y
	cuts := []vg.Length{inner.Max.Y, inner.Max.Y - h*0.4, inner.Max.Y - h*0.7, inner.Min.Y}
	tiles := draw.Tiles{Rows: 3, Cols: 1}
	aligned := plot.Align(plots, tiles, inner)
	for i, p := range panels {
		tile := aligned[i][0]
		tile.Max.Y, tile.Min.Y = cuts[i]-6, cuts[i+1]+8
		plots[i][0].Draw(tile)
		p.decorate(d, plots[i][0], tile, i == 0)
	}
	return title + "; " + poolTitle
}
