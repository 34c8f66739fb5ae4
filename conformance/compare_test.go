package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"blastradius/internal/conform"
	"blastradius/sim/call"

	"pgregory.net/rapid"
)

// drawn chooses by rapid, so that a failing trace is made shorter.
type drawn struct{ t *rapid.T }

func (d drawn) IntN(n int) int { return rapid.IntRange(0, n-1).Draw(d.t, "choice") }

// compare records traces that rapid draws, with a drawn configuration of the
// dialect, and replays each to a breaker of the caller's: a dialect of ours
// from its settings. It returns what rapid calls when it checks.
func compare(t *testing.T, d dialect, ours func(settings string) conform.Breaker) func(*rapid.T) {
	return func(rt *rapid.T) {
		c := d.draw(drawn{rt})
		g := conform.Group{Settings: c.settings, Unit: c.unit}
		tr := conform.Trace{Name: "drawn"}
		inBubble(t, c, func(b conform.Breaker) {
			gen := &generator{chooser: drawn{rt}, config: c, classes: d.classes, least: 1}
			tr.Steps = gen.run(b)
		})
		if diff := conform.Replay(&g, &tr, ours(c.settings)); diff != nil {
			rt.Fatalf("%s differs from %s\n%v", d.name, d.module, diff)
		}
	}
}

// twin is gobreaker-consecutive as its documentation reads, for nothing but to
// see that compare agrees where it should and finds what differs.
type twin struct {
	consecutive, minCalls, probes int
	ratio                         float64
	cooldown                      time.Duration
	excludes, forgives            bool

	early      bool // a fault to be found: half-open at exactly the timeout
	keeps      bool // another: results of an earlier state count
	state      conform.State
	since      time.Duration
	generation int
	admitted   map[int]int // generation by id
	requests   int         // of the generation, without those excluded
	results    []bool      // of the generation, true for a success
}

func newTwin(t *testing.T, settings string) *twin {
	find := func(key string) string {
		m := regexp.MustCompile(`\b` + key + `: ([^,}%]+)`).FindStringSubmatch(settings)
		if m == nil {
			return "0"
		}
		return m[1]
	}
	number := func(key string) int {
		n, err := strconv.Atoi(find(key))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	cooldown, err := time.ParseDuration(find("cooldown"))
	if err != nil {
		t.Fatal(err)
	}
	return &twin{
		consecutive: number("consecutive"), minCalls: number("min_calls"), probes: number("probes"), ratio: float64(number("ratio")) / 100,
		cooldown: cooldown, excludes: find("cancelled") == "neutral", forgives: find("client_error") == "success",
		state: conform.Closed, admitted: map[int]int{},
	}
}

func (w *twin) move(to conform.State, at time.Duration) {
	w.state, w.since, w.requests, w.results = to, at, 0, nil
	w.generation++
}

func (w *twin) look(at time.Duration) {
	if end := w.since + w.cooldown; w.state == conform.Open && (at > end || w.early && at == end) {
		w.move(conform.HalfOpen, at)
	}
}

func (w *twin) State(time.Duration) conform.State { return w.state }

func (w *twin) Admit(at time.Duration, id int) bool {
	w.look(at)
	if w.state == conform.Open || w.state == conform.HalfOpen && w.requests >= w.probes {
		return false
	}
	w.requests++
	w.admitted[id] = w.generation
	return true
}

func (w *twin) Complete(at time.Duration, id int, class call.Class) {
	w.look(at)
	if w.admitted[id] != w.generation && !w.keeps {
		return
	}
	if class == call.Cancelled && w.excludes {
		// gobreaker keeps the request and subtracts the excluded where it
		// compares with probes alone; its ratio is over all requests.
		if w.state == conform.HalfOpen {
			w.requests--
		}
		return
	}
	success := class == call.OK || w.forgives && (class == call.ClientError || class == call.Rejected)
	w.results = append(w.results, success)
	failures, row := 0, 0
	for _, ok := range w.results {
		row++
		if !ok {
			failures++
		}
		if ok != success {
			row = 0
		}
	}
	switch {
	case w.state == conform.HalfOpen && !success:
		w.move(conform.Open, at)
	case w.state == conform.HalfOpen && row >= w.probes:
		w.move(conform.Closed, at)
	case w.state == conform.Closed && !success && w.trips(failures, row):
		w.move(conform.Open, at)
	}
}

func (w *twin) trips(failures, row int) bool {
	if w.consecutive > 0 {
		return row >= w.consecutive
	}
	return w.requests >= w.minCalls && float64(failures)/float64(w.requests) >= w.ratio
}

func TestLibraryAgreesWithItsTwin(t *testing.T) {
	rapid.Check(t, compare(t, gobreakerConsecutive(), func(settings string) conform.Breaker { return newTwin(t, settings) }))
}

// The stored traces alone find each fault too: they are what the product is
// tested with.
func TestStoredTracesFindFaults(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(fixtures, "gobreaker-consecutive.txt"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := conform.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	for name, fault := range map[string]func(*twin){
		"none":                   func(*twin) {},
		"cooldown is inclusive":  func(w *twin) { w.early = true },
		"stragglers count":       func(w *twin) { w.keeps = true },
		"one probe too many":     func(w *twin) { w.probes++ },
		"one failure too many":   func(w *twin) { w.consecutive += min(1, w.consecutive) },
		"one result too few":     func(w *twin) { w.minCalls-- },
		"cooldown 1 ns too long": func(w *twin) { w.cooldown++ },
		"excluded is failure":    func(w *twin) { w.excludes = false },
	} {
		found := 0
		for g, tr := range f.All() {
			w := newTwin(t, g.Settings)
			fault(w)
			if conform.Replay(g, tr, w) != nil {
				found++
			}
		}
		t.Logf("%s: %d traces differ", name, found)
		if (found == 0) != (name == "none") {
			t.Errorf("%s: %d traces differ", name, found)
		}
	}
}
