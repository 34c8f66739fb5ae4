package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"regexp"
	"slices"
	"strings"
)

//go:embed page/page.html page/page.css page/page.js
var pageFiles embed.FS

//go:embed third_party/uplot/uPlot.iife.min.js third_party/uplot/uPlot.min.css
var uplotFiles embed.FS

// embedded reads a file that is part of the program.
func embedded(fs embed.FS, name string) string {
	b, err := fs.ReadFile(name)
	if err != nil {
		panic("report: " + err.Error())
	}
	return string(b)
}

// HTML is the whole report as one page: no request to anywhere, readable
// without its script, printable.
func HTML(r *Result) ([]byte, error) {
	d := NewDocument(r)
	p := &page{Document: d, CSS: template.CSS(embedded(uplotFiles, "third_party/uplot/uPlot.min.css") + embedded(pageFiles, "page/page.css"))}
	p.Uplot = template.JS(embedded(uplotFiles, "third_party/uplot/uPlot.iife.min.js"))
	p.Script = template.JS(embedded(pageFiles, "page/page.js"))
	// The page's scripts and styles are allowed by what they are, not by where
	// they stand; nothing may be fetched.
	p.Policy = fmt.Sprintf("default-src 'none'; script-src %s %s; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'", hashSource(string(p.Uplot)), hashSource(string(p.Script)))
	for _, name := range []string{"overview", "fallback", "littles-law"} {
		svg, err := DrawPicture(r, name, "svg")
		if err != nil {
			return nil, err
		}
		p.Pictures = append(p.Pictures, pagePicture{name, template.HTML(inlineSVG(svg, name))})
	}
	p.Tiles = tiles(d)
	p.Verdict = verdictOf(r)
	p.Phases = phaseTables(d)
	p.Ribbons = ribbons(d)
	p.Traces = traces(r)
	data, err := json.Marshal(chartData(d))
	if err != nil {
		return nil, err
	}
	p.Data = template.JS(data)
	every := make([]int, len(r.Arms))
	for i := range every {
		every[i] = i
	}
	remark := template.FuncMap{"remark": func(row Row) string { return row.Remark(every) }}
	t, err := template.New("page").Funcs(pageFuncs).Funcs(remark).Parse(embedded(pageFiles, "page/page.html"))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func hashSource(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// page is what the template shows.
type page struct {
	*Document
	Policy   string
	CSS      template.CSS
	Uplot    template.JS
	Script   template.JS
	Data     template.JS
	Pictures []pagePicture
	Tiles    []tile
	Verdict  verdict
	Phases   []phaseTable
	Ribbons  []ribbonRow
	Traces   []traceColumn
}

type pagePicture struct {
	Name string
	SVG  template.HTML
}

var pageFuncs = template.FuncMap{
	"join":    strings.Join,
	"share":   FormatShare,
	"seconds": FormatDuration,
	"level":   FormatLevel,
	"count":   FormatCount,
	"rate":    FormatRate,
	"optional": func(v *float64, format string) string {
		if v == nil {
			return "–"
		}
		switch format {
		case "share":
			return FormatShare(*v)
		case "seconds":
			return FormatDuration(*v)
		}
		return FormatLevel(*v)
	},
	"gap": func(v *float64) string {
		if v == nil {
			return "–"
		}
		return fmt.Sprintf("%+.2f%%", *v*100)
	},
	"dec": func(i int) int { return i - 1 },
}

var (
	svgNoise  = regexp.MustCompile(`(?s)^.*?<svg`)
	svgTag    = regexp.MustCompile(`<[^>]*>`)
	svgNumber = regexp.MustCompile(`-?\d+\.\d{2,}`)
)

// inlineSVG makes a drawing part of a page: no prologue, no fixed size, numbers
// to a tenth of a point.
func inlineSVG(svg []byte, name string) string {
	s := svgNoise.ReplaceAllString(string(svg), "<svg")
	s = svgWidth.ReplaceAllString(s, `class="picture"`)
	s = strings.NewReplacer("font-variant:normal;", "", "font-style:normal;", "", "font-weight:normal;", "", "\n\t", " ").Replace(s)
	s = strings.Replace(s, "<title>", `<title id="t-`+name+`">`, 1)
	return svgTag.ReplaceAllStringFunc(s, func(tag string) string { // what is written stays as it is
		return svgNumber.ReplaceAllStringFunc(tag, func(n string) string {
			i := strings.IndexByte(n, '.')
			return strings.TrimSuffix(n[:i+2], ".0")
		})
	})
}

// tile is one arm at a glance.
type tile struct {
	Arm, About, Color                 string
	Collateral, Parked, Lost, Verdict string
	Bad                               bool
}

func tiles(d *Document) (out []tile) {
	styles := stylesOf(d.Result)
	for i := range d.Result.Arms {
		a := &d.Result.Arms[i]
		t := tile{Arm: a.Name, About: a.About, Color: styles[i].hex}
		t.Collateral = d.Figure(a, d.Phase.Name, "blast_radius.collateral")
		t.Parked = d.Figure(a, d.Phase.Name, "process.parked_max")
		t.Lost = d.Figure(a, d.Phase.Name, "process.lost_rate")
		c, _, ok := a.Figure(d.Phase.Name, "blast_radius.collateral")
		switch {
		case ok && c >= 0.01:
			t.Bad, t.Verdict = true, "harm spread"
		case ok:
			t.Verdict = "contained"
		default:
			t.Verdict = "no fault"
		}
		out = append(out, t)
	}
	return out
}

// verdict counts the expectations met.
type verdict struct {
	Met, All int
	Text     string
	Bad      bool
}

func verdictOf(r *Result) verdict {
	v := verdict{All: len(r.Expectations)}
	for _, e := range r.Expectations {
		if e.OK {
			v.Met++
		}
	}
	v.Bad = v.Met < v.All
	switch {
	case v.All == 0:
		v.Text = "no expectations"
	case v.Bad:
		v.Text = fmt.Sprintf("%d of %d expectations met", v.Met, v.All)
	default:
		v.Text = fmt.Sprintf("all %d expectations met", v.All)
	}
	if r.Scenario.Replicas > 1 {
		v.Text += fmt.Sprintf(", %d seeds", r.Scenario.Replicas)
	}
	if r.Partial != "" {
		v.Text += ", partial: " + r.Partial
	}
	return v
}

// phaseTable is every figure worth a look of one phase, arms side by side.
type phaseTable struct {
	Name, Span string
	Current    bool
	Rows       []phaseRow
}

type phaseRow struct {
	Subject, Metric, Help string
	Cells                 []string
}

// pageMetrics are the endings shown on the page; the saved result has all.
var pageMetrics = []string{
	"slo_rate", "live_rate", "degraded_rate", "lost_rate", "latency_p50", "latency_p99", "parked_max", "requests", "calls", "wire", "amplification",
	"opens", "time_open", "detection_delay", "rejected", "flaps", "in_use_mean", "in_use_max", "saturation", "waiting_max", "timeouts", "shed", "shed_rate", "served", "misses",
	"retries", "exhausted", "fallback_rate", "parked_mean", "collateral", "direct", "time_to_contain", "time_to_recover", "failures.deadline", "working_max", "stale_age_max",
}

func phaseTables(d *Document) (out []phaseTable) {
	for _, p := range d.Result.Scenario.Phases {
		t := phaseTable{Name: p.Name, Span: FormatSpan(p.From) + "–" + FormatSpan(p.To), Current: p.Name == d.Phase.Name}
		var names []string
		for i := range d.Result.Arms {
			a := &d.Result.Arms[i]
			m := a.Metrics
			if p.Name != phaseAll {
				m = a.Phases[p.Name].Metrics
			}
			for n := range m {
				if !slices.Contains(names, n) && slices.ContainsFunc(pageMetrics, func(s string) bool { return strings.HasSuffix(n, "."+s) }) {
					names = append(names, n)
				}
			}
		}
		slices.Sort(names)
		for _, n := range names {
			row := phaseRow{Metric: n}
			for i := range d.Result.Arms {
				row.Cells = append(row.Cells, d.Figure(&d.Result.Arms[i], p.Name, n))
			}
			t.Rows = append(t.Rows, row)
		}
		out = append(out, t)
	}
	return out
}

// ribbonRow is a breaker's states over the run in one arm.
type ribbonRow struct {
	Arm, Breaker, Words string
	Parts               []ribbonPart
}

// ribbonPart is a stretch of one state, in percent of the run.
type ribbonPart struct {
	From, Width float64
	State       string
	Title       string
}

var stateWords = []string{"closed", "half-open", "open"}

func ribbons(d *Document) (out []ribbonRow) {
	length := d.Result.Scenario.Duration
	for i := range d.Result.Arms {
		a := &d.Result.Arms[i]
		for _, l := range a.Layers {
			if l.Kind != "breaker" {
				continue
			}
			name := "dependency." + l.Dependency + "." + l.Name
			row := ribbonRow{Arm: a.Name, Breaker: l.Dependency + "." + l.Name}
			at, state := 0.0, 0
			add := func(to float64) {
				if to > at || state == 2 {
					row.Parts = append(row.Parts, ribbonPart{From: round1(at / length * 100), Width: round1((to - at) / length * 100), State: stateWords[state], Title: fmt.Sprintf("%s %s to %s", stateWords[state], FormatSpan(at), FormatSpan(to))})
				}
			}
			opens := 0
			for _, s := range a.States {
				if s.Breaker != name || s.State < 0 || s.State > 2 {
					continue
				}
				add(s.At)
				at, state = s.At, s.State
				if state == 2 {
					opens++
				}
			}
			add(length)
			row.Words = "closed throughout"
			if opens > 0 {
				row.Words = fmt.Sprintf("opened %d times", opens)
				if opens == 1 {
					row.Words = "opened once"
				}
				row.Words += ", open for " + d.Figure(a, phaseAll, name+".time_open")
			}
			out = append(out, row)
		}
	}
	return out
}

func round1(v float64) float64 { return math.Round(v*100) / 100 }

// traceColumn is the traced request's life in one arm.
type traceColumn struct {
	Arm, Head string
	Lines     []traceLine
}

type traceLine struct{ At, Where, What string }

func traces(r *Result) (out []traceColumn) {
	for _, a := range r.Arms {
		if a.Trace == nil {
			continue
		}
		c := traceColumn{Arm: a.Name, Head: fmt.Sprintf("%s request %d at %s: %s after %s", a.Trace.Endpoint, a.Trace.Request, FormatSpan(a.Trace.At), a.Trace.Outcome, FormatDuration(a.Trace.Took))}
		for i, s := range a.Trace.Steps {
			if i == 40 {
				c.Lines = append(c.Lines, traceLine{What: fmt.Sprintf("… %d more", len(a.Trace.Steps)-i)})
				break
			}
			c.Lines = append(c.Lines, traceLine{"+" + FormatDuration(s.At), s.Where, s.What})
		}
		out = append(out, c)
	}
	return out
}

// chart is one interactive chart; its lines are arms.
type chart struct {
	ID    string       `json:"id"`
	Title string       `json:"title"`
	Unit  string       `json:"unit"` // "count" or "share"
	Limit float64      `json:"limit,omitempty"`
	Word  string       `json:"word,omitempty"`
	Lines []chartLine  `json:"lines"`
	Y     [][]*float64 `json:"y"`
}

type chartLine struct {
	Arm   string `json:"arm"`
	Color string `json:"color"`
	Dash  []int  `json:"dash,omitempty"`
}

// chartData is what the page's script draws, rounded to what can be seen.
func chartData(d *Document) map[string]any {
	r := d.Result
	styles := stylesOf(r)
	step := binSeconds(r)
	bins := 0
	var charts []chart
	add := func(id, title, unit, series string, limit float64, word string) {
		c := chart{ID: id, Title: title, Unit: unit, Limit: limit, Word: word}
		for i := range r.Arms {
			v := r.Arms[i].series(series)
			if v == nil {
				continue
			}
			bins = max(bins, len(v))
			line := chartLine{Arm: r.Arms[i].Name, Color: styles[i].hex}
			for _, dash := range styles[i].dashes {
				line.Dash = append(line.Dash, int(math.Ceil(float64(dash))))
			}
			row := make([]*float64, len(v))
			for j, x := range v {
				if x != nil {
					y := math.Round(*x*1000) / 1000
					row[j] = &y
				}
			}
			c.Lines, c.Y = append(c.Lines, line), append(c.Y, row)
		}
		if len(c.Lines) > 0 {
			charts = append(charts, c)
		}
	}
	add("parked", "parked goroutines", "count", "process.parked_max", 0, "")
	if p, ok := mainPool(r); ok {
		add("pool", shortPool(p.Name)+" in use", "count", p.Name+".in_use_max", float64(p.Size), fmt.Sprintf("%s %d", shortPool(p.Name), p.Size))
		add("waiting", "callers waiting for the "+shortPool(p.Name), "count", p.Name+".waiting_max", 0, "")
	}
	add("lost", "lost, share of all requests", "share", "process.lost_rate", 0, "")
	add("fallback", "answered by a fallback", "share", "process.fallback_rate", 0, "")
	for _, dep := range r.Scenario.Dependencies {
		if dep.Faulted {
			add("wire-"+dep.Name, dep.Name+": calls that reached it, per bin", "count", "dependency."+dep.Name+".wire", 0, "")
			add("shed-"+dep.Name, dep.Name+": refused by our layers, per bin", "count", "dependency."+dep.Name+".shed", 0, "")
		}
	}
	t := make([]float64, bins)
	for i := range t {
		t[i] = math.Round((float64(i)+0.5)*step*1000) / 1000
	}
	var bands [][]float64
	for _, w := range d.Windows {
		bands = append(bands, []float64{w.From, w.To})
	}
	phases := map[string][]float64{}
	for _, p := range r.Scenario.Phases {
		phases[p.Name] = []float64{p.From, p.To}
	}
	if charts == nil {
		charts = []chart{}
	}
	return map[string]any{"t": t, "charts": charts, "bands": bands, "phases": phases}
}
