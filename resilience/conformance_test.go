package resilience

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"blastradius/internal/conform"
	"blastradius/sim/call"
)

// subject plays a dialect to a trace.
type subject struct {
	machine  *Machine
	verdicts [call.NumClasses]Verdict
	tokens   []Token
}

func (s *subject) Admit(at time.Duration, _ int) bool {
	t, ok := s.machine.Admit(at)
	if ok {
		s.tokens = append(s.tokens, t)
	}
	return ok
}

func (s *subject) Complete(at time.Duration, id int, class call.Class) {
	s.machine.Record(at, s.tokens[id], s.verdicts[class])
}

func (s *subject) State(at time.Duration) conform.State {
	return map[State]conform.State{Closed: conform.Closed, HalfOpen: conform.HalfOpen, Open: conform.Open}[s.machine.State(at)]
}

func newSubject(t *testing.T, settings string) *subject {
	t.Helper()
	var keys map[string]any
	if err := yaml.Unmarshal([]byte(settings), &keys); err != nil {
		t.Fatal(err)
	}
	c := NewBreaker(keys["dialect"].(string))
	given := map[string]bool{}
	for k := range keys {
		given[k] = true
	}
	c.Chose(given)
	num := func(k string) int { n, _ := strconv.Atoi(fmt.Sprint(keys[k])); return n }
	dur := func(k string) time.Duration { d, _ := time.ParseDuration(fmt.Sprint(keys[k])); return d }
	share := func(k string) float64 {
		f, _ := strconv.ParseFloat(strings.TrimSuffix(fmt.Sprint(keys[k]), "%"), 64)
		return f / 100
	}
	for k := range keys {
		switch k {
		case "consecutive":
			c.Consecutive = num(k)
		case "failures":
			c.Failures = num(k)
		case "ratio":
			c.Ratio = share(k)
		case "min_calls":
			c.MinCalls = num(k)
		case "cooldown":
			c.Cooldown = dur(k)
		case "probes":
			if c.Probes = num(k); c.Probes == 0 {
				c.Probes = 1
			} else if strings.HasPrefix(c.Dialect, "sentinel") {
				c.HalfOpen.Admit = admitEveryone
			}
		case "successes":
			c.HalfOpen.Need = num(k)
		case "slow_ratio":
			c.Slow.Ratio = share(k)
		case "slow_after":
			c.Slow.Over = dur(k)
		case "window":
			switch w := c.Window.(type) {
			case *LastCalls:
				w.N = num(k)
			case *Fixed:
				w.Interval = dur(k)
			case *Buckets:
				w.Span = dur(k)
			case *Lagging:
				w.Span = dur(k)
			}
		case "buckets":
			switch w := c.Window.(type) {
			case *Buckets:
				w.N = num(k)
			case *Lagging:
				w.N = num(k)
			}
		case "verdicts":
			c.Verdicts = map[string]string{}
			for class, v := range keys[k].(map[string]any) {
				c.Verdicts[class] = v.(string)
			}
		case "dialect":
		default:
			t.Fatalf("key %s", k)
		}
	}
	return &subject{machine: c.NewMachine(1), verdicts: verdictsOf(c.Dialect, c.Verdicts)}
}

// divergences are traces of a library that its dialect does not follow; docs
// name them.
var divergences = map[string]bool{"goresilience ratio-is-min-calls": true}

func TestDialectsDoWhatTheirLibrariesDid(t *testing.T) {
	paths, err := filepath.Glob("testdata/conformance/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := conform.Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(f.Dialect, func(t *testing.T) {
			bad, all := 0, 0
			for g, tr := range f.All() {
				all++
				d := conform.Replay(g, tr, newSubject(t, g.Settings))
				if named := divergences[f.Dialect+" "+tr.Name]; named != (d != nil) {
					t.Errorf("%s: named as a divergence: %v, diverges: %v", tr.Name, named, d != nil)
				}
				if d != nil && !divergences[f.Dialect+" "+tr.Name] {
					if bad++; bad <= 3 {
						t.Error(d)
					}
				}
			}
			t.Logf("%d of %d traces differ", bad, all)
			if known := Dialects[f.Dialect].Known; (known == "observed") != (f.Read == "") {
				t.Errorf("the dialect is marked %q, its traces are read in %q", known, f.Read)
			}
		})
	}
}
