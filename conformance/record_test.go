package conformance

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"blastradius/internal/conform"
)

var update = flag.Bool("update", false, "rewrite the traces in ../resilience/testdata/conformance")

const fixtures = "../resilience/testdata/conformance"

// The traces that the product is tested with are those that the libraries
// give today.
func TestFixturesAreWhatTheLibrariesDo(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d.name, func(t *testing.T) {
			f := record(t, d)
			got, path := f.Encode(), filepath.Join(fixtures, d.name+".txt")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v: run go test -update", err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s is not what %s %s does: run go test -update and read the diff", path, f.Library, f.Version)
			}
			traces, steps := f.Count()
			t.Logf("%d traces, %d steps, %d bytes", traces, steps, len(got))
		})
	}
}

// A recording that never leaves a state, or never meets an edge, proves
// nothing.
func TestFixturesVisitEverything(t *testing.T) {
	for _, d := range dialects() {
		text, err := os.ReadFile(filepath.Join(fixtures, d.name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		f, err := conform.Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		moves := map[[2]conform.State]int{}
		refused, late, traces := 0, 0, 0
		opens := map[*conform.Group]int{}
		for g, tr := range f.All() {
			traces++
			state, opened := conform.Closed, 0
			admittedAt := []int{} // openings before the admission, by id
			for _, s := range tr.Steps {
				switch {
				case s.Op == conform.Admit && s.OK:
					admittedAt = append(admittedAt, opened)
				case s.Op == conform.Admit:
					refused++
				case s.Op == conform.Complete && admittedAt[s.ID] < opened:
					late++
				}
				if s.State == conform.Open && state != conform.Open {
					opened++
					opens[g]++
				}
				if s.State != state {
					moves[[2]conform.State{state, s.State}]++
				}
				state = s.State
			}
		}
		for i := range f.Groups {
			if g := &f.Groups[i]; len(g.Traces) >= tracesPerDialect/len(d.configs) && opens[g] < len(g.Traces)/4 {
				t.Errorf("%s opens %d times only in %d traces", g.Settings, opens[g], len(g.Traces))
			}
		}
		t.Logf("%s: %d traces, %d refused, %d late results, moves %v", d.name, traces, refused, late, moves)
		if traces < 1000 || refused < 500 || late < 500 {
			t.Errorf("%s: %d traces, %d refused, %d late results: too few", d.name, traces, refused, late)
		}
		expected := [][2]conform.State{{conform.Closed, conform.Open}, {conform.Open, conform.HalfOpen}, {conform.HalfOpen, conform.Open}, {conform.HalfOpen, conform.Closed}}
		if d.flat {
			expected = [][2]conform.State{{conform.Closed, conform.Open}, {conform.Open, conform.Closed}}
		}
		for _, m := range expected {
			if moves[m] < 100 {
				t.Errorf("%s moves from %v to %v %d times only", d.name, m[0], m[1], moves[m])
			}
		}
	}
}
