package report

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// mutated draws a result from the sample: arms taken away and doubled, names
// long, wide and hostile, figures missing or absurd, faults and pools anywhere.
func mutated(t *rapid.T, saved []byte) *Result {
	r, err := Read("sample", bytes.NewReader(saved))
	if err != nil {
		t.Fatal(err)
	}
	name := rapid.OneOf(
		rapid.StringMatching(`[a-z][a-z0-9_-]{0,60}`),
		rapid.StringMatching(`[支払いが遅い한국😀é—…]{1,40}`),
		rapid.String(),
	)
	number := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64Range(0, 1e4), rapid.Float64Min(0),
		rapid.SampledFrom([]float64{0, 1, 0.9999999, 1e-12, 59.9999, 0.9996, 3599.9, 99.95, 1e15}))

	s := &r.Scenario
	s.Name, s.Title, s.Source = name.Draw(t, "name"), name.Draw(t, "title"), name.Draw(t, "source")
	s.Args = rapid.SliceOfN(name, 0, 4).Draw(t, "args")
	s.Duration = rapid.SampledFrom([]float64{600, 1e-3, 59.5, 86400, 1e12}).Draw(t, "duration")
	r.Seed = rapid.Uint64().Draw(t, "seed")
	s.Replicas = rapid.IntRange(-1, 1000).Draw(t, "replicates")
	s.Digest, r.Tool.Version = name.Draw(t, "digest"), name.Draw(t, "version")
	s.Rate = number.Draw(t, "rate")
	for range rapid.IntRange(0, 5).Draw(t, "faults") {
		from := rapid.Float64Range(0, 2*s.Duration).Draw(t, "from")
		latency := number.Draw(t, "latency")
		s.Faults = append(s.Faults, Fault{Dependency: name.Draw(t, "dependency"), Kind: rapid.SampledFrom([]string{"slow", "down", "hang", "error", "leak"}).Draw(t, "kind"),
			Text: name.Draw(t, "text"), From: from, To: from + number.Draw(t, "length"), Latency: rapid.SampledFrom([]*float64{nil, &latency}).Draw(t, "mean")})
	}
	if rapid.Bool().Draw(t, "no fault") {
		s.Faults = nil
	}
	s.Pools = append(s.Pools, Pool{rapid.SampledFrom([]string{"process.workers", "pool.db", "pool." + name.Draw(t, "pool")}).Draw(t, "pool kind"), rapid.IntRange(-1, 1e9).Draw(t, "size")})
	s.Pools = s.Pools[rapid.IntRange(0, len(s.Pools)).Draw(t, "pools"):]
	for i := range s.Endpoints {
		s.Endpoints[i].Direct = rapid.Bool().Draw(t, "direct")
		s.Endpoints[i].SLO = number.Draw(t, "slo")
	}
	s.Endpoints = s.Endpoints[rapid.IntRange(0, 2).Draw(t, "endpoints"):]
	s.Dependencies[0].Name = rapid.OneOf(rapid.Just("payments"), name).Draw(t, "renamed")

	for len(r.Arms) < rapid.IntRange(0, 7).Draw(t, "arms") {
		r.Arms = append(r.Arms, r.Arms[len(r.Arms)%3])
	}
	r.Arms = r.Arms[rapid.IntRange(0, len(r.Arms)).Draw(t, "fewer"):]
	for i := range r.Arms {
		a := &r.Arms[i]
		a.Name = rapid.OneOf(rapid.SampledFrom([]string{"contained", "uncontained", "timeouts"}), name).Draw(t, "arm")
		a.Metrics = spoiled(t, a.Metrics, number)
		phases := map[string]Figures{}
		for _, k := range slices.Sorted(maps.Keys(a.Phases)) {
			if rapid.IntRange(0, 5).Draw(t, "phase") > 0 {
				phases[k] = Figures{spoiled(t, a.Phases[k].Metrics, number), map[string]string{"blast_radius.time_to_recover": name.Draw(t, "why")}}
			}
		}
		a.Phases = phases
		for k := range a.Layers {
			if rapid.IntRange(0, 3).Draw(t, "layer") == 0 {
				a.Layers[k] = Layer{Dependency: "payments", Kind: rapid.SampledFrom([]string{"breaker", "fallback", "bulkhead"}).Draw(t, "layer kind"), Name: name.Draw(t, "layer name"), Text: name.Draw(t, "layer text")}
			}
		}
		if rapid.IntRange(0, 3).Draw(t, "series") == 0 {
			a.Series = Series{Step: rapid.SampledFrom([]string{"1s", "1h", "", "7ms"}).Draw(t, "step"), Names: a.Series.Names[:1], Values: [][]*float64{nil}}
		}
	}
	for range rapid.IntRange(0, 4).Draw(t, "findings") {
		r.Findings = append(r.Findings, Finding{What: name.Draw(t, "what"), Why: name.Draw(t, "why"), Change: name.Draw(t, "change"), Vs: name.Draw(t, "vs")})
	}
	for i := range r.Expectations {
		e := &r.Expectations[i]
		v := number.Draw(t, "actual")
		e.Text, e.Arm, e.Why, e.Unit = name.Draw(t, "expect"), name.Draw(t, "expect arm"), name.Draw(t, "expect why"), rapid.SampledFrom([]string{"share", "seconds", "count", "per second", "ratio", ""}).Draw(t, "unit")
		e.OK, e.Actual = rapid.Bool().Draw(t, "ok"), rapid.SampledFrom([]*float64{nil, &v}).Draw(t, "has actual")
		e.Of, e.Holds = rapid.IntRange(0, 30).Draw(t, "of"), rapid.IntRange(0, 30).Draw(t, "holds")
		e.Low, e.High = e.Actual, e.Actual
	}
	r.Warnings = rapid.SliceOfN(name, 0, 3).Draw(t, "warnings")
	r.Partial = rapid.SampledFrom([]string{"", "interrupted"}).Draw(t, "partial")
	return r
}

func spoiled(t *rapid.T, m map[string]float64, number *rapid.Generator[float64]) map[string]float64 {
	out := map[string]float64{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		switch rapid.IntRange(0, 9).Draw(t, "figure") {
		case 0:
		case 1:
			out[k] = number.Draw(t, k)
		default:
			out[k] = m[k]
		}
	}
	return out
}

func TestNoLineExceeds80ColumnsWhateverTheResult(t *testing.T) {
	sample(t)
	saved, err := os.ReadFile(sampleFile)
	must(t, err)
	rapid.Check(t, func(t *rapid.T) {
		r := mutated(t, saved)
		for _, o := range []TextOptions{{}, {ASCII: true}, {Quiet: true}, {Color: true}} {
			text := Text(r, o) + EveryLines(r, 100*time.Second, o)
			if !utf8.ValidString(text) {
				t.Fatalf("%+v: not UTF-8", o)
			}
			for _, line := range strings.Split(text, "\n") {
				if w := displayWidth(line); w > textWidth {
					t.Fatalf("%+v: %d columns: %q", o, w, line)
				}
				if strings.HasSuffix(line, " ") || strings.ContainsAny(line, "\r\t") {
					t.Fatalf("%+v: %q", o, line)
				}
			}
		}
		_ = Text(r, TextOptions{Wide: true})
		_ = Markdown(r)
	})
}

// Cells are figures: they stand whole in the text, whatever their width.
func TestNoFigureOfTheTableIsCut(t *testing.T) {
	sample(t)
	saved, err := os.ReadFile(sampleFile)
	must(t, err)
	rapid.Check(t, func(t *rapid.T) {
		r := mutated(t, saved)
		text := Text(r, TextOptions{})
		for _, row := range NewDocument(r).Table {
			for _, c := range row.Cells {
				if !strings.Contains(text, c.Text) {
					t.Fatalf("%s %s: %q is not in\n%s", row.Subject, row.Label, c.Text, text)
				}
			}
		}
	})
}

func TestMarkdownRowsHaveEveryCell(t *testing.T) {
	sample(t)
	saved, err := os.ReadFile(sampleFile)
	must(t, err)
	rapid.Check(t, func(t *rapid.T) {
		r := mutated(t, saved)
		bars := -1
		for _, line := range strings.Split(Markdown(r), "\n") {
			if !strings.HasPrefix(line, "|") {
				bars = -1
				continue
			}
			n := strings.Count(line, "|") - strings.Count(line, `\|`)
			if bars >= 0 && n != bars {
				t.Fatalf("%d bars after rows of %d: %s", n, bars, line)
			}
			bars = n
		}
	})
}

func TestNoWordOfTheScenarioBecomesMarkup(t *testing.T) {
	for in, want := range map[string]string{
		"@fault":             "&#64;fault",
		"<script>":           "&lt;script\\>",
		"a|b":                `a\|b`,
		"**bold** _it_ `c`":  `\*\*bold\*\* \_it\_ ` + "\\`c\\`",
		"![x](y)":            `!\[x\](y)`,
		"snake_case":         "snake_case",
		"# head\n- list":     `\# head - list`,
		"- list":             `\- list`,
		"www#1 & <!-- -->":   `www\#1 \& &lt;!-- --\>`,
		"\\| already":        `\\\| already`,
		"p99 ~ 3s [note] $x": `p99 \~ 3s \[note\] \$x`,
	} {
		if got := words(in); got != want {
			t.Errorf("words(%q) = %s, want %s", in, got, want)
		}
	}
	if got := code("a`b|c"); got != "``a`b\\|c``" {
		t.Errorf("got %s", got)
	}
}

func ExampleText() {
	r := &Result{Scenario: Scenario{Name: "empty", Duration: 60}, Seed: 1}
	fmt.Print(Text(r, TextOptions{Quiet: true}))
	// Output:
	// empty  1m, 0 requests/s, no arm, seed 1
	// No arm was run.
}
