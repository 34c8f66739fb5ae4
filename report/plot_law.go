package report

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// drawLaw shows Little's law at every station: on the left raw L against λW,
// on the right what the bulkheads and pools are asked for against what they
// have.
func drawLaw(d *Document, c draw.Canvas) string {
	title := lawTitle(d.Result)
	inner := frame(d, c, title, "time-average inside (L) against arrival rate x mean time (lambda W); filled: "+d.Phase.Name+" phase; grey: within 5%")
	left, right := inner, inner
	cut := inner.Min.X + (inner.Max.X-inner.Min.X)*0.62
	left.Max.X, right.Min.X = cut-10, cut+10
	left.Max.Y -= 10
	drawScatter(d, left)
	drawDemand(d, right)
	return title
}

func lawTitle(r *Result) string {
	rows, exact, off := 0, 0, 0
	for _, a := range r.Arms {
		for _, row := range a.Audit {
			rows++
			if row.Exact {
				exact++
			}
			if row.Gap != nil && math.Abs(*row.Gap) > 0.05 {
				off++
			}
		}
	}
	if rows == 0 {
		return "no station to audit"
	}
	out := fmt.Sprintf("Little's law closes to the nanosecond at %d of %d stations and phases", exact, rows)
	if off > 0 {
		out += fmt.Sprintf("; %d are not stationary", off)
	}
	return out
}

// lawPoint is one station of one arm in one phase.
type lawPoint struct {
	x, y    float64
	station string
	arm     int
	fault   bool
	note    string
}

func lawPoints(d *Document) (out []lawPoint, stations []string) {
	for i, a := range d.Result.Arms {
		for _, row := range a.Audit {
			if row.Phase == phaseAll && d.Phase.Name != phaseAll {
				continue // its parts are shown
			}
			if !slices.Contains(stations, row.Station) {
				stations = append(stations, row.Station)
			}
			x, y := row.Lambda*row.W, row.L
			if x <= 0 || y <= 0 {
				continue
			}
			p := lawPoint{x: x, y: y, station: row.Station, arm: i, fault: row.Phase == phaseFault}
			if row.Gap != nil && math.Abs(*row.Gap) > 0.05 {
				p.note = row.Note
			}
			out = append(out, p)
		}
	}
	return out, stations
}

// stationKinds give a station its shape.
var stationKinds = []struct {
	name         string
	filled, open draw.GlyphDrawer
}{
	{"dependency", draw.CircleGlyph{}, draw.RingGlyph{}},
	{"bulkhead", draw.BoxGlyph{}, draw.SquareGlyph{}},
	{"pool", draw.PyramidGlyph{}, draw.TriangleGlyph{}},
	{"servers", draw.CrossGlyph{}, draw.CrossGlyph{}},
	{"workers", draw.PlusGlyph{}, draw.PlusGlyph{}},
}

// kindOf is the place of a station's kind in stationKinds.
func kindOf(station string) int {
	parts := strings.Split(station, ".")
	switch {
	case parts[0] == "pool" || station == "process.pool":
		return 2
	case station == "process.workers":
		return 4
	case len(parts) == 2:
		return 0
	case parts[2] == "servers":
		return 3
	}
	return 1
}

func drawScatter(d *Document, c draw.Canvas) {
	pts, stations := lawPoints(d)
	low, high := 0.01, 1.0
	if len(pts) > 0 {
		low, high = math.Inf(1), 0
		for _, p := range pts {
			low, high = min(low, p.x, p.y), max(high, p.x, p.y)
		}
	}
	low, high = math.Pow(10, math.Floor(math.Log10(low))), math.Pow(10, math.Ceil(math.Log10(high)))
	if low == high {
		high *= 10
	}
	pl := plot.New()
	pl.BackgroundColor = color.Transparent
	pl.X.Scale, pl.Y.Scale = plot.LogScale{}, plot.LogScale{}
	pl.X.Min, pl.X.Max, pl.Y.Min, pl.Y.Max = low, high, low, high
	pl.X.Tick.Marker, pl.Y.Tick.Marker = decades{}, decades{}
	pl.X.Label.Text, pl.Y.Label.Text = "λ · W", "L"
	for _, ax := range []*plot.Axis{&pl.X, &pl.Y} {
		ax.LineStyle.Color, ax.LineStyle.Width, ax.Tick.LineStyle.Color, ax.Tick.Length = faint, 0.5, faint, 3
		ax.Tick.Label.Font.Size, ax.Tick.Label.Color, ax.Padding = vg.Points(8.5), ink, 2
		ax.Label.TextStyle.Font.Size = vg.Points(9)
	}
	square := c
	side := min(c.Max.X-c.Min.X-170, c.Max.Y-c.Min.Y+60)
	square.Max.X = c.Min.X + side
	pl.Draw(square)
	area := pl.DataCanvas(square)
	tx, ty := pl.Transforms(&area)
	c.SetColor(bandColor)
	var band vg.Path
	band.Move(vg.Point{X: tx(low * 1.05), Y: ty(low)})
	band.Line(vg.Point{X: tx(high), Y: ty(high / 1.05)})
	band.Line(vg.Point{X: tx(high), Y: ty(high)})
	band.Line(vg.Point{X: tx(high / 1.05), Y: ty(high)})
	band.Line(vg.Point{X: tx(low), Y: ty(low * 1.05)})
	band.Line(vg.Point{X: tx(low), Y: ty(low)})
	band.Close()
	c.Fill(band)
	c.StrokeLine2(draw.LineStyle{Color: ink, Width: 0.7}, tx(low), ty(low), tx(high), ty(high))
	styles := stylesOf(d.Result)
	taken := []vg.Length{}
	for _, p := range pts {
		g := stationKinds[kindOf(p.station)]
		shape := g.open
		if p.fault {
			shape = g.filled
		}
		at := vg.Point{X: tx(p.x), Y: ty(p.y)}
		c.DrawGlyph(draw.GlyphStyle{Color: styles[p.arm].color, Radius: 3.2, Shape: shape}, at)
		if p.note != "" {
			y := at.Y
			for slices.ContainsFunc(taken, func(t vg.Length) bool { return max(t-y, y-t) < 9 }) {
				y -= 9
			}
			if y < area.Min.Y+4 {
				continue
			}
			taken = append(taken, y)
			name := strings.TrimPrefix(p.station, "dependency.")
			cause, _, _ := strings.Cut(p.note, ",")
			label := style(7.5, ink, false)
			text := name + ": " + cause
			x := at.X + 6
			if x+label.Width(text) > square.Max.X+20 {
				x = at.X - 6 - label.Width(text)
			}
			c.FillText(label, vg.Point{X: x, Y: y}, text)
		}
	}
	drawLawLegend(d, c, square.Max.X+14, stations, styles)
}

func drawLawLegend(d *Document, c draw.Canvas, x vg.Length, stations []string, styles []armStyle) {
	y := c.Max.Y - 8
	small := style(8.5, ink, false)
	for i, a := range d.Result.Arms {
		c.FillText(style(9, styles[i].color, true), vg.Point{X: x, Y: y}, a.Name)
		y -= 12
	}
	y -= 6
	for i, k := range stationKinds {
		if !slices.ContainsFunc(stations, func(s string) bool { return kindOf(s) == i }) {
			continue
		}
		c.DrawGlyph(draw.GlyphStyle{Color: ink, Radius: 3, Shape: k.open}, vg.Point{X: x + 3, Y: y})
		c.FillText(small, vg.Point{X: x + 11, Y: y}, k.name)
		y -= 12
	}
}

// decades labels the powers of ten.
type decades struct{}

// Ticks implements plot.Ticker.
func (decades) Ticks(low, high float64) (out []plot.Tick) {
	for e := math.Round(math.Log10(low)); e <= math.Round(math.Log10(high)); e++ {
		v := math.Pow(10, e)
		out = append(out, plot.Tick{Value: v, Label: number(v)})
	}
	return out
}

// demandBar is one place of the sizing check.
type demandBar struct {
	name           string
	health, faulty float64
	size           int
}

// demands are the bulkheads and pools of the contained arm: λE[S] in health and
// under the fault, against what they have.
func demands(d *Document) (out []demandBar) {
	a := heldBack(d.Result)
	if a == nil {
		return nil
	}
	slow := map[string]float64{}
	for _, f := range d.Result.Scenario.Faults {
		if f.Latency != nil {
			slow[f.Dependency] = max(slow[f.Dependency], *f.Latency)
		}
	}
	extra := map[string]float64{} // by pool
	for _, dep := range d.Result.Scenario.Dependencies {
		if l := slow[dep.Name]; l > 0 {
			extra[dep.Pool] += dep.Rate * (l - dep.Mean)
		}
	}
	for _, s := range a.Sizing {
		bar := demandBar{name: strings.TrimPrefix(s.Station, "dependency."), health: s.Load, faulty: s.Load, size: s.Permits}
		if owner, _, ok := strings.Cut(bar.name, "."); ok && slow[owner] > 0 && bar.name != s.Station {
			bar.faulty = s.Rate * slow[owner]
		}
		bar.faulty += extra[s.Station]
		out = append(out, bar)
	}
	return out
}

func drawDemand(d *Document, c draw.Canvas) {
	bars := demands(d)
	head := style(9.5, ink, true)
	c.FillText(head, vg.Point{X: c.Min.X, Y: c.Max.Y - 6}, "asked for (rate x latency) and had")
	if len(bars) == 0 {
		c.FillText(style(9, faint, false), vg.Point{X: c.Min.X, Y: c.Max.Y - 24}, "no bulkhead and no pool in this arm")
		return
	}
	most := 1.0
	for _, b := range bars {
		most = max(most, b.faulty, b.health, float64(b.size))
	}
	row := min((c.Max.Y-c.Min.Y-30)/vg.Length(len(bars)), 46)
	wide := c.Max.X - c.Min.X - 118
	// Square roots keep 4.7 and 640 in one picture.
	x := func(v float64) vg.Length { return c.Min.X + wide*vg.Length(math.Sqrt(max(0, v)/most)) }
	y := c.Max.Y - 24
	for _, b := range bars {
		c.FillText(style(8.5, ink, false), vg.Point{X: c.Min.X, Y: y}, fmt.Sprintf("%s: has %d", b.name, b.size))
		y0 := y - 18
		bar := func(v float64, col color.Color, word string) {
			c.SetColor(col)
			c.Fill(vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: y0}, Max: vg.Point{X: x(v), Y: y0 + 8}}.Path())
			c.FillText(style(8, ink, false), vg.Point{X: x(max(v, float64(b.size))) + 5, Y: y0 + 4}, word)
		}
		if b.faulty > b.health {
			bar(b.faulty, colorCached, fmt.Sprintf("%s healthy, %s faulty", number(b.health), FormatCount(math.Round(b.faulty))))
		} else {
			bar(b.health, colorLive, number(b.health))
		}
		c.SetColor(colorLive)
		c.Fill(vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: y0}, Max: vg.Point{X: x(b.health), Y: y0 + 8}}.Path())
		c.StrokeLine2(draw.LineStyle{Color: color.Black, Width: 1.5}, x(float64(b.size)), y0-2, x(float64(b.size)), y0+10)
		y -= row
	}
	c.FillText(style(7.5, faint, false), vg.Point{X: c.Min.X, Y: c.Min.Y + 4}, "square-root scale; tick: permits or size; blue: healthy; red: under the fault")
}
