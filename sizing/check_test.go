package sizing

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// payments is the dependency of the built-in scenario: 80/s, 50 ms median,
// 180 ms p99, a timeout of 1.5 s, 20 permits with a wait of 250 ms.
func payments() CheckInput {
	l := LognormalFromMedianP99(0.05, 0.18)
	return CheckInput{
		PeakRate: 80, Mean: l.Mean(), MeanHeld: l.MeanMin(1.5), P99: 0.18, Timeout: 1.5,
		Permits: 20, MaxWait: 0.25, ShedTarget: 0.001,
	}
}

func TestCheckOfABulkhead(t *testing.T) {
	c := NewCheck(payments())
	a := 80 * LognormalFromMedianP99(0.05, 0.18).MeanMin(1.5)
	for _, f := range []struct {
		name  string
		got   Figure
		value float64
		exact bool
	}{
		{"load", c.Load, a, true},
		{"peak load", c.PeakLoad, a, true},
		{"tail", c.Tail, 0.18 / LognormalFromMedianP99(0.05, 0.18).Mean(), true},
		{"rule", c.Rule, 15, false},
		{"shed under the rule", c.RuleShed, ErlangB(15, a), true},
		{"hint", c.Hint, 14, false},
		{"1 %", c.Loose, 11, true},
		{"0.1 %", c.Tight, 13, true},
		{"target", c.Target, 13, true},
		{"target with the queue", c.Queued, 6, false},
		{"shed", c.Shed, MMcD{80, a / 80, 20, 0.25}.Shed(), false},
		{"fill", c.Fill, 0.25, true},
		{"outage", c.Outage, 20, true},
		{"waiting", c.Waiting, 20, false},
	} {
		wantNear(t, f.name, f.got.Value, f.value, 1e-9)
		if f.got.Exact != f.exact {
			t.Errorf("%s: exact is %t", f.name, f.got.Exact)
		}
	}
	if c.ShedModel != "M/M/c+D" || len(c.Notes) != 0 {
		t.Errorf("model %q, notes %q", c.ShedModel, c.Notes)
	}
}

func TestEveryFigureOfACheckNamesItsSource(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range NewCheck(payments()).Figures() {
		if f.Name == "" || f.Unit == "" || f.Source == "" || strings.Contains(f.Source, "\n") || seen[f.Name] {
			t.Errorf("%+v lacks a name, unit or source of its own", f)
		}
		seen[f.Name] = true
	}
	if len(seen) != 14 {
		t.Errorf("got %d figures, want 14", len(seen))
	}
}

// Which law predicts the shed depends on who may wait, and whether it is exact
// on the shape of the time held.
func TestCheckChoosesTheModel(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*CheckInput)
		model  string
		exact  bool
		shed   float64
	}{
		{"no wait", func(in *CheckInput) { in.MaxWait = 0 }, "Erlang B", true, ErlangB(10, 10)},
		{"even arrivals", func(in *CheckInput) { in.MaxWait, in.NotPoisson = 0, true }, "Erlang B", false, ErlangB(10, 10)},
		{"a rate curve", func(in *CheckInput) { in.MaxWait, in.Rate = 0, 80 }, "Erlang B", false, ErlangB(10, 8)},
		{"wait", func(*CheckInput) {}, "M/M/c+D", false, MMcD{100, 0.1, 10, 0.25}.Shed()},
		{"wait, exponential", func(in *CheckInput) { in.Exponential = true }, "M/M/c+D", true, MMcD{100, 0.1, 10, 0.25}.Shed()},
		{"wait, exponential behind a timeout", func(in *CheckInput) { in.Exponential, in.Timeout = true, 1 }, "M/M/c+D", false, MMcD{100, 0.1, 10, 0.25}.Shed()},
		{"wait for ever", func(in *CheckInput) { in.MaxWait = -1 }, "no limit", true, 0},
		{"wait for ever in a queue of 5", func(in *CheckInput) { in.MaxWait, in.QueueLimit = -1, 5 }, "M/M/c/K", false, MMcK{100, 0.1, 10, 5}.Shed()},
		{"the queue binds", func(in *CheckInput) { in.QueueLimit = 5 }, "M/M/c+D, M/M/c/K", false, MMcK{100, 0.1, 10, 5}.Shed()},
		{"the wait binds", func(in *CheckInput) { in.QueueLimit, in.Exponential = 500, true }, "M/M/c+D, M/M/c/K", false, MMcD{100, 0.1, 10, 0.25}.Shed()},
		{"one permit", func(in *CheckInput) { in.Permits, in.MaxWait = 1, 0 }, "Erlang B", true, 10. / 11},
		{"no permits yet", func(in *CheckInput) { in.Permits = 0 }, "M/M/c+D", false, math.NaN()},
	} {
		in := CheckInput{PeakRate: 100, Mean: 0.1, P99: 0.46, Permits: 10, MaxWait: 0.25, ShedTarget: 0.01}
		c.change(&in)
		got := NewCheck(in)
		if got.ShedModel != c.model || got.Shed.Exact != c.exact {
			t.Errorf("%s: %s, exact %t; want %s, %t", c.name, got.ShedModel, got.Shed.Exact, c.model, c.exact)
		}
		wantNear(t, c.name, got.Shed.Value, c.shed, 1e-12)
	}
}

// Permits are for the peak of a rate curve, the shed predicted for its mean.
func TestCheckSizesForThePeak(t *testing.T) {
	c := NewCheck(CheckInput{PeakRate: 300, Rate: 100, Mean: 0.1, P99: 0.5, Permits: 20, ShedTarget: 0.01})
	wantNear(t, "load", c.Load.Value, 10, 1e-12)
	wantNear(t, "peak load", c.PeakLoad.Value, 30, 1e-12)
	wantNear(t, "permits", c.Target.Value, float64(ErlangBPermits(30, 0.01)), 0)
	wantNear(t, "shed", c.Shed.Value, ErlangB(20, 10), 1e-12)
	wantNear(t, "held without a timeout", c.Outage.Value, 20, 0)
	wantNear(t, "no queue to size", c.Queued.Value, math.NaN(), 0)
}

func TestCheckSaysWhatIsStriking(t *testing.T) {
	for want, change := range map[string]func(*CheckInput){
		"does not fit into 20 permits":  func(in *CheckInput) { in.PeakRate = 400 },
		"the permits never bind":        func(in *CheckInput) { in.Permits = 120 },
		"the mean is above the p99":     func(in *CheckInput) { in.P99 = 0.05 },
		"max_wait is longer than the t": func(in *CheckInput) { in.MaxWait = 2 },
	} {
		in := payments()
		change(&in)
		notes := NewCheck(in).Notes
		if !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, want) }) || len(notes) != 1 {
			t.Errorf("want one note %q, got %q", want, notes)
		}
	}
}

func TestCheckOfNonsenseIsUnknown(t *testing.T) {
	for _, v := range oddFloats {
		for _, change := range []func(*CheckInput){
			func(in *CheckInput) { in.PeakRate = v }, func(in *CheckInput) { in.Mean, in.MeanHeld = v, 0 },
			func(in *CheckInput) { in.P99 = v }, func(in *CheckInput) { in.Timeout = v },
			func(in *CheckInput) { in.MaxWait = v }, func(in *CheckInput) { in.ShedTarget = v }, func(in *CheckInput) { in.Rate = v },
		} {
			in := payments()
			change(&in)
			for _, f := range NewCheck(in).Figures() {
				if f.Value < 0 && f.Unit != "ratio" || f.Unit == "share" && f.Value > 1 {
					t.Errorf("%+v: %s is %g", in, f.Name, f.Value)
				}
			}
		}
	}
}
