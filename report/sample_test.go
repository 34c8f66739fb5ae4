package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files again")

const sampleFile = "testdata/sample.json"

// regime is how an arm of the sample behaves while payments takes 8 s: levels
// that a fluid balance gives for a pool of 100 with 1 s of patience.
type regime struct {
	name, about          string
	held                 float64 // seconds that a payments call holds its connection
	searchLost, payLost  float64 // shares of search and checkout not answered in time
	cached               float64
	searchP50, searchP99 float64
	contain, recover     float64 // seconds; -1 is never
	wirePerSec           float64
	opens                float64 // -1 is no breaker
}

var regimes = []regime{
	{"uncontained", "remove: all", 8, 0.956, 1, 0, 0.71, 1.07, -1, 5.9, 12.7, -1},
	{"timeouts", "keep: timeout", 1.5, 0.663, 1, 0, 0.401, 0.753, -1, 0, 79.9, -1},
	{"contained", "the file as it stands", 0, 0, 0.1, 0.9, 0.03, 0.119, 1.6, 9.3, 0.25, 6},
}

const (
	sampleBins = 120
	sampleStep = 5.0
	faultFrom  = 120.0
	faultTo    = 300.0
)

// newSample makes the result of payments-slow from a fluid model with a little
// seeded noise: figures like a run's, small enough to look at.
func newSample() *Result {
	latency := 8.0
	r := &Result{
		Schema: Schema, Tool: Tool{Version: "v0.2.0"}, Seed: 42,
		Scenario: Scenario{
			Name: "payments-slow", Source: "payments-slow", Digest: "7c1e90ab5d21",
			About:     "Payments goes from 50 ms to 8 s for three minutes; search must not notice.",
			Effective: json.RawMessage(`{"name":"payments-slow","duration":"10m"}`), EffectiveYAML: "name: payments-slow\nduration: 10m\n",
			Duration: 600, Warmup: 30, Rate: 200,
			Phases: []Phase{{"all", 30, 600}, {"before", 30, faultFrom}, {"fault", faultFrom, faultTo}, {"after", faultTo, 600}},
			Faults: []Fault{{Dependency: "payments", Kind: "slow", Text: "slow: 8s", From: faultFrom, To: faultTo, Latency: &latency}},
			Endpoints: []Endpoint{
				{Name: "search", Rate: 120, Peak: 120, SLO: 0.3, Deadline: 2, Calls: []string{"index"}},
				{Name: "checkout", Rate: 80, Peak: 80, SLO: 1, Deadline: 10, Calls: []string{"profiles", "payments"}, Direct: true},
			},
			Dependencies: []Dependency{
				{Name: "payments", Faulted: true, Rate: 80, Mean: 0.05, P99: 0.18, Pool: "process.pool"},
				{Name: "profiles", Rate: 80, Mean: 0.02, P99: 0.02, Pool: "process.pool"},
				{Name: "index", Rate: 120, Mean: 0.035, P99: 0.12, Pool: "process.pool"},
			},
			Pools: []Pool{{"process.pool", 100}},
		},
		Findings: []Finding{
			{ID: "pool-exhausted", Severity: "problem", Arm: "uncontained", What: "The pool emptied 1.1s into the fault, (100 - 10 in use) / 80/s.", Why: "payments asks for 80/s × 8s = 640; any smaller pool only postpones it", Change: "Keep the bulkhead", Evidence: []Evidence{{"process.pool.in_use_max", "fault", 100}}},
			{ID: "timeout-too-long", Severity: "problem", Arm: "timeouts", What: "Timeouts alone fill it too, 80/s × 1.5s = 120 > 100", Change: "At 1.2s collateral is 0.2%, not 66.3% (simulated)", Vs: "timeouts:payments.timeout=1.2s"},
			{ID: "late-recovery", Severity: "note", Arm: "contained", What: "Back 9.3s late", Why: "the 30s cooldown had to end", Change: "10s: 4.4s late, but 16 opens instead of 6 (simulated)", Vs: "contained:payments.breaker.cooldown=10s"},
		},
		Warnings: []string{},
	}
	for i, g := range regimes {
		r.Arms = append(r.Arms, g.arm(rand.New(rand.NewPCG(42, uint64(i)))))
	}
	number := func(v float64) *float64 { return &v }
	r.Expectations = []Expectation{
		{Text: "endpoint.search.slo_rate@fault >= 99.9%", Arm: "contained", OK: true, Actual: number(1), Unit: "share", Line: 57},
		{Text: "dependency.payments.breaker.opens <= 8", Arm: "contained", OK: true, Actual: number(6), Unit: "count", Line: 58},
		{Text: "blast_radius.collateral >= 30%", Arm: "uncontained", OK: true, Actual: number(0.956), Unit: "share", Line: 60},
	}
	return r
}

// sampleLine is one line of the series while it grows.
type sampleLine struct {
	names []string
	rows  map[string][]*float64
}

func (l *sampleLine) add(name string, v float64) {
	if l.rows[name] == nil {
		l.names = append(l.names, name)
	}
	v = math.Round(v*1e4) / 1e4
	l.rows[name] = append(l.rows[name], &v)
}

// over is the mean and the maximum of a line over [from, to).
func (l *sampleLine) over(name string, from, to float64) (mean, high float64) {
	n := 0.0
	for i, v := range l.rows[name] {
		if t := float64(i) * sampleStep; t >= from && t < to {
			mean += *v
			high = max(high, *v)
			n++
		}
	}
	return mean / max(1, n), high
}

// arm plays one regime bin by bin and sums its figures up by phase.
func (g regime) arm(noise *rand.Rand) Arm {
	l := &sampleLine{rows: map[string][]*float64{}}
	states := []StateChange{}
	for i := range sampleBins {
		t := float64(i) * sampleStep
		wobble := 0.95 + 0.1*noise.Float64()
		in := t >= faultFrom && t < faultTo
		wanted := 80*0.02 + 80*0.05 + 120*0.035
		searchLost, payLost, cached, wire := 0.0, 0.0, 0.0, 80.0
		if in {
			wanted += 80 * g.held
			searchLost, payLost, cached, wire = g.searchLost, g.payLost, g.cached, g.wirePerSec
		}
		used := min(100, wanted*wobble)
		waiting := 0.0
		if wanted > 100 {
			waiting = min(wanted-100, 200*wobble) // a second of patience at 200/s
		}
		l.add("process.parked_mean", used+waiting)
		l.add("process.parked_max", math.Round((used+waiting)*1.3))
		l.add("process.pool.in_use_mean", used)
		l.add("process.pool.in_use_max", math.Round(min(100, used*1.8)))
		l.add("process.pool.waiting_max", math.Round(waiting))
		l.add("endpoint.search.rate", 120*wobble)
		l.add("endpoint.search.live_rate", 1-searchLost)
		l.add("endpoint.search.degraded_rate", 0)
		l.add("endpoint.search.lost_rate", searchLost)
		l.add("endpoint.checkout.rate", 80*wobble)
		l.add("endpoint.checkout.live_rate", 1-payLost-cached)
		l.add("endpoint.checkout.degraded_rate", cached)
		l.add("endpoint.checkout.lost_rate", payLost)
		l.add("process.lost_rate", 0.6*searchLost+0.4*payLost)
		if g.opens >= 0 {
			l.add("process.fallback_rate", 0.4*cached)
		}
		l.add("dependency.payments.calls", math.Round(400*wobble))
		l.add("dependency.payments.wire", math.Round(5*wire))
		l.add("dependency.payments.failed", math.Round(400*wobble*(payLost+cached)))
		l.add("dependency.payments.shed", math.Round(400*wobble*cached))
		if g.opens >= 0 {
			l.add("dependency.payments.fallback", math.Round(400*wobble*cached))
			l.add("dependency.payments.bulkhead.in_use_max", math.Round(min(20, 4*wobble+wire)))
		}
	}
	if g.opens >= 0 {
		for k := range int(g.opens) {
			at := faultFrom + 1.6 + 30*float64(k)
			states = append(states, StateChange{"dependency.payments.breaker", at, 2}, StateChange{"dependency.payments.breaker", at + 29.9, 1})
		}
		states = append(states, StateChange{"dependency.payments.breaker", faultTo + 9.3, 0})
	}
	a := Arm{Name: g.name, About: g.about, Digest: "0123456789abcdef", Phases: map[string]Figures{}, States: states}
	if g.held != 8 {
		a.Layers = append(a.Layers, Layer{Dependency: "payments", Kind: "timeout", Name: "timeout", Text: "1.5s"})
	}
	if g.opens >= 0 {
		a.Layers = append([]Layer{
			{Dependency: "payments", Kind: "fallback", Name: "fallback", Text: "cached, hit 90%, max_age 10m"},
			{Dependency: "payments", Kind: "breaker", Name: "breaker", Text: "50% of 20, min_calls 5, cooldown 30s"},
			{Dependency: "payments", Kind: "bulkhead", Name: "bulkhead", Text: "20 permits, wait 250ms", Permits: 20},
		}, a.Layers...)
	}
	for _, p := range []Phase{{"all", 30, 600}, {"before", 30, faultFrom}, {"fault", faultFrom, faultTo}, {"after", faultTo, 600}} {
		f := g.figures(l, p)
		if p.Name == phaseAll {
			a.Metrics, a.Absent = f.Metrics, f.Absent
		} else {
			a.Phases[p.Name] = f
		}
	}
	a.Series = Series{Step: "5s", Names: l.names}
	for _, name := range l.names {
		a.Series.Values = append(a.Series.Values, l.rows[name])
	}
	return a
}

func (g regime) figures(l *sampleLine, p Phase) Figures {
	f := Figures{Metrics: map[string]float64{}, Absent: map[string]string{}}
	put := func(name string, v float64) { f.Metrics[name] = math.Round(v*1e6) / 1e6 }
	level := func(name string) {
		mean, _ := l.over(name+"_mean", p.From, p.To)
		_, high := l.over(name+"_max", p.From, p.To)
		put(name+"_mean", mean)
		put(name+"_max", high)
	}
	level("process.parked")
	level("process.pool.in_use")
	share := (min(p.To, faultTo) - max(p.From, faultFrom)) / (p.To - p.From)
	share = max(0, share)
	for _, e := range []string{"search", "checkout"} {
		lost, _ := l.over("endpoint."+e+".lost_rate", p.From, p.To)
		live, _ := l.over("endpoint."+e+".live_rate", p.From, p.To)
		degraded, _ := l.over("endpoint."+e+".degraded_rate", p.From, p.To)
		put("endpoint."+e+".lost_rate", lost)
		put("endpoint."+e+".slo_rate", 1-lost)
		put("endpoint."+e+".live_rate", live)
		put("endpoint."+e+".degraded_rate", degraded)
	}
	p50, p99 := 0.03, 0.119
	if share > 0.5 {
		p50, p99 = g.searchP50, g.searchP99
	}
	put("endpoint.search.latency_p50", p50)
	put("endpoint.search.latency_p99", p99)
	wire, _ := l.over("dependency.payments.wire", p.From, p.To)
	put("dependency.payments.wire", math.Round(wire*(p.To-p.From)/sampleStep))
	lost, _ := l.over("process.lost_rate", p.From, p.To)
	put("process.lost_rate", lost)
	if g.opens >= 0 {
		fallback, _ := l.over("process.fallback_rate", p.From, p.To)
		put("process.fallback_rate", fallback)
		opens, open := 0.0, 0.0
		if share > 0 {
			opens, open = g.opens, 6*29.9
		}
		put("dependency.payments.breaker.opens", opens)
		put("dependency.payments.breaker.time_open", open)
	} else {
		f.Absent["process.fallback_rate"] = "no fallback layer"
	}
	const none = "only given for the whole run and for phase fault"
	if p.Name != phaseAll && p.Name != phaseFault {
		f.Absent["blast_radius.time_to_contain"] = none
		f.Absent["blast_radius.time_to_recover"] = none
		put("blast_radius.collateral", 0)
		put("blast_radius.direct", 0)
		return f
	}
	if g.opens >= 0 {
		put("dependency.payments.breaker.detection_delay", 1.6)
	}
	put("blast_radius.collateral", g.searchLost)
	put("blast_radius.direct", g.payLost)
	put("blast_radius.time_to_recover", g.recover)
	if g.contain < 0 {
		f.Absent["blast_radius.time_to_contain"] = "never: requests that do not need it were hurt until the fault ended"
	} else {
		put("blast_radius.time_to_contain", g.contain)
	}
	return f
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sample reads the saved sample; -update makes it again.
func sample(t testing.TB) *Result {
	t.Helper()
	if *update {
		data, err := JSON(newSample())
		must(t, err)
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(sampleFile, data, 0o644))
	}
	data, err := os.ReadFile(sampleFile)
	must(t, err)
	r, err := Read(sampleFile, bytes.NewReader(data))
	must(t, err)
	return r
}

// renamed is the sample with words replaced everywhere, names of metrics too.
func renamed(t testing.TB, pairs ...string) *Result {
	t.Helper()
	data, err := os.ReadFile(sampleFile)
	must(t, err)
	r, err := Read("renamed", strings.NewReader(strings.NewReplacer(pairs...).Replace(string(data))))
	must(t, err)
	return r
}

// golden holds got against testdata/name; -update writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		must(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if got != string(want) {
		t.Errorf("%s differs; go test ./report -update writes it again\n got:\n%s\nwant:\n%s", path, got, want)
	}
}
