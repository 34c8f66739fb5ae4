package resilience

import (
	"encoding/json"
	"math"
	"math/bits"
	"os"
	"testing"

	"blastradius/sim/dist"
)

// reference is one figure to be met, copied from the project's collection of
// exact results.
type reference struct {
	ID, Suite, Metric string
	Value             float64
	Sigma             float64 // standard deviation of one run
	SE                float64 `json:"se_of_value"` // of the value, when it was simulated
	Params            struct {
		Kind    string
		N       int
		P       float64
		Calls   int
		Window  int
		Ratio   float64
		Minimum int
		Clients int
		Backoff string
		BaseMs  float64 `json:"base_ms"`
		CapMs   float64 `json:"cap_ms"`
	}
}

func references(t *testing.T, suite string) (out []reference) {
	t.Helper()
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ References []reference }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, r := range file.References {
		if r.Suite == suite {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		t.Fatalf("no reference of %s", suite)
	}
	return out
}

// machineOf is the breaker of a reference.
func machineOf(r reference) *Machine {
	c := newBreaker().(*Breaker)
	if r.Params.Kind == "consecutive" {
		c.Consecutive = r.Params.N
	} else {
		c.Ratio, c.Window, c.MinCalls = r.Params.Ratio, &LastCalls{N: r.Params.Window}, r.Params.Minimum
	}
	return c.NewMachine(0)
}

// callsToOpen runs a new machine on independent failures of probability p until
// it opens, or most calls have passed; then ok is false.
func callsToOpen(m *Machine, p float64, most int, r *dist.Rand) (calls int, ok bool) {
	for calls = 1; calls <= most; calls++ {
		token, _ := m.Admit(0)
		v := Success
		if r.Float64() < p {
			v = Failure
		}
		if m.Record(0, token, v); m.state == Open {
			return calls, true
		}
	}
	return most, false
}

// sample holds what many runs gave.
type sample struct {
	n   int
	sum float64
}

func (s *sample) add(x float64) {
	s.n++
	s.sum += x
}

func (s *sample) mean() float64 { return s.sum / float64(s.n) }

// scores are the |z| of several figures.
type scores struct{ sample }

// within checks |z| < 4 and prints the interval.
func (all *scores) within(t *testing.T, r reference, got, se float64) {
	t.Helper()
	z := (got - r.Value) / se
	t.Logf("%s: %.6g ± %.2g, reference %.6g, z %+.2f", r.ID, got, 4*se, r.Value, z)
	all.add(math.Abs(z))
	if !(math.Abs(z) < 4) {
		t.Errorf("%s, %s: %.6g ± %.2g (4 se), reference %.6g, z %+.2f", r.ID, r.Metric, got, 4*se, r.Value, z)
	}
}

// settle checks the mean |z|: figures that are all a little off are off.
func (all *scores) settle(t *testing.T) {
	t.Helper()
	if m := all.mean(); !(m < 1.5) {
		t.Errorf("mean |z| of %d figures: %.2f, want below 1.5", all.n, m)
	}
}

// The exact chains of breakers over independent failures: runs of failures
// (give-05) and ratio windows (give-06).
func TestBreakerMeetsItsExactChain(t *testing.T) {
	var all scores
	defer all.settle(t)
	for _, r := range append(references(t, "give-05"), references(t, "give-06")...) {
		var rand dist.Rand
		rand.Key(11, dist.Hash(r.ID))
		var s sample
		const never = 1 << 30
		limit, runs := never, 8000
		switch r.Metric {
		case "P(open within calls)":
			limit = r.Params.Calls
		case "P(open within the first 20 calls after start or close)":
			limit = 20
			if got := openWithin20(r); math.Abs(got-r.Value) > 1e-12 {
				t.Errorf("%s over all 2^20 histories: %.16g, want %.16g", r.ID, got, r.Value)
			}
		case "false opens per call once the window is full (limit)":
			opens, calls := hazard(r, &rand)
			rate := opens / calls
			all.within(t, r, rate, rate/math.Sqrt(opens))
			continue
		}
		for range runs {
			calls, ok := callsToOpen(machineOf(r), r.Params.P, limit, &rand)
			switch {
			case limit == never:
				s.add(float64(calls))
			case ok:
				s.add(1)
			default:
				s.add(0)
			}
		}
		// At least one run in all: a figure next to 1 has next to no deviation.
		se := max(r.Sigma/math.Sqrt(float64(s.n)), 1/float64(s.n))
		all.within(t, r, s.mean(), se)
	}
}

// openWithin20 is exact: it puts each of the 2^20 histories through a window and
// adds up the probabilities of those that trip it.
func openWithin20(r reference) (p float64) {
	w := lastCallsOf(r.Params.Window, r.Params.Minimum, r.Params.Ratio)
	var trips [21]int // by number of failures in the history
	for history := range uint32(1 << 20) {
		w.clear()
		for i := range 20 {
			if w.add(0, history>>i&1 == 1) {
				trips[bits.OnesCount32(history)]++
				break
			}
		}
	}
	for failures, n := range trips {
		p += float64(n) * math.Pow(r.Params.P, float64(failures)) * math.Pow(1-r.Params.P, float64(20-failures))
	}
	return p
}

// hazard measures the chance of opening per call, long after the start: over
// machines that did not open in their first calls, opens and calls.
func hazard(r reference, rand *dist.Rand) (opens, calls float64) {
	const warm, window = 200, 400
	for range 12000 {
		m := machineOf(r)
		if _, ok := callsToOpen(m, r.Params.P, warm, rand); ok {
			continue
		}
		n, ok := callsToOpen(m, r.Params.P, window, rand)
		calls += float64(n)
		if ok {
			opens++
		}
	}
	return opens, calls
}
