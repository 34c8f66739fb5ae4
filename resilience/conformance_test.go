package resilience_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"blastradius/internal/conform"
	"blastradius/resilience"
	"blastradius/scenarios"
	"blastradius/sim/call"
)

// subject plays a dialect to a trace.
type subject struct {
	config  *resilience.Breaker
	machine *resilience.Machine
	tokens  []resilience.Token
}

func (s *subject) Admit(at time.Duration, _ int) bool {
	t, ok := s.machine.Admit(at)
	if ok {
		s.tokens = append(s.tokens, t)
	}
	return ok
}

func (s *subject) Complete(at time.Duration, id int, class call.Class) {
	s.machine.Record(at, s.tokens[id], s.config.Judges(class))
}

func (s *subject) State(at time.Duration) conform.State {
	return [...]conform.State{
		resilience.Closed: conform.Closed, resilience.HalfOpen: conform.HalfOpen, resilience.Open: conform.Open,
	}[s.machine.State(at)]
}

// configOf reads the settings of a trace as a scenario has them.
func configOf(t *testing.T, settings string) *resilience.Breaker {
	t.Helper()
	text := fmt.Sprintf(`endpoints: {e: {arrivals: {even: 1/s}, calls: [d]}}
dependencies: {d: {latency: 1ms, stack: [{breaker: %s}]}}
arms: {it: {}}
`, settings)
	f, err := scenarios.Load("trace", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f.Arms()[0].Config.Dependencies[0].Stack[0].Config.(*resilience.Breaker)
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
			t.Fatalf("%s: %v", path, err)
		}
		t.Run(f.Dialect, func(t *testing.T) {
			bad, all := 0, 0
			configs := map[*conform.Group]*resilience.Breaker{}
			for g, tr := range f.All() {
				all++
				if configs[g] == nil {
					configs[g] = configOf(t, g.Settings)
				}
				d := conform.Replay(g, tr, &subject{config: configs[g], machine: configs[g].NewMachine(1)})
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
			if known := resilience.Dialects[f.Dialect].Known; (known == "observed") != (f.Read == "") {
				t.Errorf("the dialect is marked %q, its traces are read in %q", known, f.Read)
			}
		})
	}
}

// Every dialect that is some library's has traces.
func TestEveryDialectHasTraces(t *testing.T) {
	for name := range resilience.Dialects {
		if name == resilience.OwnDialect {
			continue
		}
		if _, err := os.Stat(filepath.Join("testdata/conformance", name+".txt")); err != nil {
			t.Error(err)
		}
	}
}
