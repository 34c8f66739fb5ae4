package study

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"blastradius/scenarios"
)

// TestCasesFromPractice runs the situations that people reported, each a
// scenario file with its right values as expectations.
func TestCasesFromPractice(t *testing.T) {
	files, err := filepath.Glob("../../scenarios/testdata/cases/*.yaml")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d case files, %v", len(files), err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			t.Parallel()
			f, err := scenarios.LoadPath(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			meetsExpectations(t, f)
		})
	}
}

// TestBuiltinsMeetTheirExpectations runs what list lists.
func TestBuiltinsMeetTheirExpectations(t *testing.T) {
	for _, name := range scenarios.Builtins() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := scenarios.Builtin(name)
			if err != nil {
				t.Fatal(err)
			}
			meetsExpectations(t, f)
		})
	}
}

// meetsExpectations runs a scenario that expects something and whose audit
// closes.
func meetsExpectations(t *testing.T, f *scenarios.File) {
	t.Helper()
	r, err := Run(context.Background(), f, Options{Version: "test", NoFindings: true, NoTrace: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Expectations) == 0 {
		t.Fatal("it expects nothing")
	}
	for _, e := range r.Expectations {
		if !e.OK {
			actual := math.NaN()
			if e.Actual != nil {
				actual = *e.Actual
			}
			t.Errorf("%s: %s: got %g %s", e.Arm, e.Text, actual, e.Why)
		}
	}
	for _, a := range r.Arms {
		for _, row := range a.Audit {
			if !row.Exact {
				t.Errorf("%s: Little's law does not close at %s in phase %s", a.Name, row.Station, row.Phase)
			}
		}
	}
}

// TestPaymentsSlowOverTwentySeeds is the promise of the built-in scenario:
// harm without containment, less but still harm with timeouts alone, none with
// the stack, whatever the seed.
func TestPaymentsSlowOverTwentySeeds(t *testing.T) {
	f, err := scenarios.Builtin("payments-slow")
	if err != nil {
		t.Fatal(err)
	}
	arms := f.Arms()
	s := &study{file: f, options: Options{Replicates: 20}, arms: arms}
	one := uint64(1)
	for i := range s.arms {
		s.arms[i].Config.Seed = one
	}
	runs := s.replicate(context.Background())
	for k := range 20 {
		collateral := map[string]float64{}
		for i, a := range arms {
			p := runs[i][k].Phase("fault")
			v, ok := p.Metrics["blast_radius.collateral"]
			if !ok {
				t.Fatalf("seed %d: %s has no collateral: %s", k+1, a.Name, p.Absent["blast_radius.collateral"])
			}
			collateral[a.Name] = v
			for _, row := range p.Audit {
				if !row.Exact {
					t.Errorf("seed %d: the audit of %s does not close at %s", k+1, a.Name, row.Station)
				}
			}
		}
		u, m, c := collateral["uncontained"], collateral["timeouts"], collateral["contained"]
		if u < 0.30 || m >= u || m < 0.01 || c >= 0.01 {
			t.Errorf("seed %d: collateral uncontained %.3f, timeouts %.3f, contained %.4f", k+1, u, m, c)
		}
	}
}

func TestSameBytesWhateverTheJobs(t *testing.T) {
	f, err := scenarios.Builtin("payments-slow")
	if err != nil {
		t.Fatal(err)
	}
	f, err = f.WithSet([]string{"duration=3m", "payments.slow.from=1m", "payments.slow.for=1m"})
	if err != nil {
		t.Fatal(err)
	}
	var first string
	for _, jobs := range []int{1, 2, 8} {
		r, err := Run(context.Background(), f, Options{Version: "test", Jobs: jobs, Replicates: 3})
		if err != nil {
			t.Fatal(err)
		}
		digest := ""
		for _, a := range r.Arms {
			digest += a.Digest
		}
		for _, e := range r.Expectations {
			digest += e.Text
			if e.Actual != nil {
				digest += string(rune(int(*e.Actual * 1000)))
			}
		}
		for _, x := range r.Findings {
			digest += x.Text()
		}
		if first == "" {
			first = digest
		} else if digest != first {
			t.Errorf("%d jobs give another result", jobs)
		}
	}
}
