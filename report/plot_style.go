package report

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The palette is Okabe and Ito's (2008), which colour-blind readers can tell
// apart; dashes tell the arms apart without any colour.
var (
	ink       = rgb(0x222222)
	faint     = rgb(0x8a8a8a)
	gridColor = rgb(0xe6e6e6)
	bandColor = color.NRGBA{0, 0, 0, 0x1a} // grey 10 %

	colorLive   = rgb(0x56b4e9)
	colorCached = rgb(0xcc79a7)
	colorLost   = rgb(0x333333)
)

func rgb(v uint32) color.NRGBA {
	return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 0xff}
}

// armStyle is how one arm is drawn everywhere.
type armStyle struct {
	color  color.NRGBA
	dashes []vg.Length
	hex    string
}

var knownStyles = map[string]armStyle{
	"uncontained": {rgb(0xd55e00), []vg.Length{7, 4}, "#D55E00"},
	"timeouts":    {rgb(0xe69f00), []vg.Length{1.6, 3}, "#E69F00"},
	"contained":   {rgb(0x0072b2), nil, "#0072B2"},
}

var otherStyles = []armStyle{
	{rgb(0x009e73), []vg.Length{9, 3, 2, 3}, "#009E73"},
	{rgb(0xcc79a7), []vg.Length{4, 2}, "#CC79A7"},
	{rgb(0x56b4e9), []vg.Length{12, 3}, "#56B4E9"},
	{rgb(0x000000), []vg.Length{2, 2}, "#000000"},
	{rgb(0x999999), []vg.Length{6, 2, 1, 2}, "#999999"},
}

// stylesOf gives every arm its style: the known arms theirs, the others the
// rest in their order.
func stylesOf(r *Result) []armStyle {
	out := make([]armStyle, len(r.Arms))
	n := 0
	for i, a := range r.Arms {
		s, ok := knownStyles[a.Name]
		if !ok {
			s = otherStyles[n%len(otherStyles)]
			n++
		}
		out[i] = s
	}
	return out
}

func init() {
	plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"}
}

// style is a text style of the pictures.
func style(size float64, c color.Color, bold bool) draw.TextStyle {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}
	if bold {
		f.Weight = 2 // bold, as x/image/font numbers it
	}
	return draw.TextStyle{Color: c, Font: f, Handler: plot.DefaultTextHandler, XAlign: text.XLeft, YAlign: text.YCenter}
}

// frame draws title, subtitle and footer and returns what is left for the plot.
func frame(d *Document, c draw.Canvas, title, subtitle string) draw.Canvas {
	big := style(15, ink, true)
	for big.Width(title) > c.Max.X-c.Min.X-24 && big.Font.Size > 9 {
		big.Font.Size -= 0.5
	}
	c.FillText(big, vg.Point{X: c.Min.X + 12, Y: c.Max.Y - 16}, title)
	c.FillText(style(9.5, faint, false), vg.Point{X: c.Min.X + 12, Y: c.Max.Y - 33}, subtitle)
	foot := style(8, faint, false)
	c.FillText(foot, vg.Point{X: c.Min.X + 12, Y: c.Min.Y + 8}, d.Name+", seed "+strconv.FormatUint(d.Result.Seed, 10)+", blastradius "+d.Result.Tool.Version+", scenario "+d.Result.Scenario.Digest)
	return draw.Crop(c, 8, -8, 18, -46)
}

// niceTicks puts 6 to 8 labelled ticks on round values of an axis whose unit is
// worth scale, and nothing else.
type niceTicks struct {
	scale  float64
	suffix string
	most   int
}

// Ticks implements plot.Ticker.
func (n niceTicks) Ticks(low, high float64) (out []plot.Tick) {
	low, high = low/n.scale, high/n.scale
	step := niceStep(high-low, n.most)
	for k := math.Ceil(low/step - 1e-9); k*step <= high+1e-9*step; k++ {
		v := k * step
		out = append(out, plot.Tick{Value: v * n.scale, Label: trimNumber(v) + n.suffix})
	}
	return out
}

// niceStep is the smallest of 1, 2, 2.5, 5 times a power of ten that cuts span
// into at most most parts.
func niceStep(span float64, most int) float64 {
	if !(span > 0) {
		return 1
	}
	raw := span / float64(most)
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		if m*power >= raw-1e-12 {
			return m * power
		}
	}
	return 10 * power
}

func trimNumber(v float64) string {
	if v != 0 && math.Abs(v) < 1e-9 {
		v = 0
	}
	if v == math.Trunc(v) {
		return FormatCount(v)
	}
	return number(v)
}

// timeUnit chooses minutes, seconds or hours for an axis of a run's length.
func timeUnit(seconds float64) (scale float64, name, suffix string) {
	switch {
	case seconds < 120:
		return 1, "seconds", "s"
	case seconds < 3*3600:
		return 60, "minutes", "m"
	default:
		return 3600, "hours", "h"
	}
}
