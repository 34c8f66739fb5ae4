package sizing

import (
	"fmt"
	"math"
	"testing"
)

// The rule's permits over the exact ones, for 1 % and for 0.1 % shed, at a
// mean of 100 ms. The mixtures have other means: their rates are those of
// calls, their loads follow.
func TestRuleAgainstExactPermits(t *testing.T) {
	rates := []float64{5, 20, 100, 500, 5000}
	for _, row := range []struct {
		name  string
		l     Latency
		tail  float64
		ratio [5][2]float64
	}{
		{"exponential", Exponential(0.1), 4.61,
			[5][2]float64{{0.75, 0.60}, {1.43, 1.25}, {2.61, 2.24}, {3.61, 3.25}, {4.37, 4.15}}},
		{"lognormal 0.5", LognormalFromMean(0.1, 0.5), 2.82,
			[5][2]float64{{0.50, 0.40}, {0.86, 0.75}, {1.61, 1.38}, {2.22, 2.00}, {2.68, 2.55}}},
		{"lognormal 1.0", LognormalFromMean(0.1, 1), 6.21,
			[5][2]float64{{1.00, 0.80}, {1.86, 1.62}, {3.50, 3.00}, {4.86, 4.38}, {5.89, 5.60}}},
		{"lognormal 1.5", LognormalFromMean(0.1, 1.5), 10.64,
			[5][2]float64{{1.50, 1.20}, {3.14, 2.75}, {5.94, 5.10}, {8.31, 7.49}, {10.09, 9.59}}},
		{"95 % 50 ms, 5 % 1 s", Mixture{{0.95, Constant(0.05)}, {0.05, Constant(1)}}, 10.26,
			[5][2]float64{{1.25, 1.00}, {2.86, 2.50}, {5.56, 4.76}, {8.06, 7.14}, {9.73, 9.23}}},
		{"99.5 % 50 ms, 0.5 % 8 s", Mixture{{0.995, Constant(0.05)}, {0.005, Constant(8)}}, 0.56,
			[5][2]float64{{0.33, 0.20}, {0.17, 0.12}, {0.29, 0.25}, {0.43, 0.38}, {0.53, 0.50}}},
	} {
		p99 := row.l.Quantile(0.99)
		wantRounded(t, row.name+" p99/mean", p99/row.l.Mean(), row.tail, 2)
		for i, rate := range rates {
			a, rule := Little(rate, row.l.Mean()), float64(RulePermits(rate, p99))
			for j, target := range []float64{0.01, 0.001} {
				name := fmt.Sprintf("%s at %g/s for %g", row.name, rate, target)
				wantRounded(t, name, rule/float64(ErlangBPermits(a, target)), row.ratio[i][j], 2)
			}
		}
	}
}

func TestRuleIsTooSmallBelowOneErlang(t *testing.T) {
	for _, c := range []struct {
		l    Latency
		rule int
		shed float64 // per cent
	}{{Exponential(0.1), 3, 1.3}, {LognormalFromMean(0.1, 0.5), 2, 7.7}} {
		rule := RulePermits(5, c.l.Quantile(0.99))
		if rule != c.rule {
			t.Errorf("rule for %v: got %d permits, want %d", c.l, rule, c.rule)
		}
		wantRounded(t, "shed in per cent", 100*ErlangB(rule, Little(5, c.l.Mean())), c.shed, 1)
	}
}

// Too many permits are more goroutines parked in an outage: 107 by the rule
// where 21 shed one call in a thousand.
func TestRuleWidensTheBlastRadius(t *testing.T) {
	rule := RulePermits(100, LognormalFromMean(0.1, 1.5).Quantile(0.99))
	exact := ErlangBPermits(10, 0.001)
	if rule != 107 || exact != 21 {
		t.Errorf("got %d by the rule and %d exactly, want 107 and 21", rule, exact)
	}
	wantNear(t, "parked", OutageParked(float64(rule), 100, 1.5)/OutageParked(float64(exact), 100, 1.5), 107./21, 1e-12)
	wantNear(t, "parked, timeout binding", OutageParked(200, 100, 1.5), 150, 0)
}

func TestSquareRootHint(t *testing.T) {
	worst := 0.0
	for a := 0.001; a < 1e5; a *= 1.01 {
		shed := ErlangB(SquareRootPermits(a), a)
		worst = math.Max(worst, shed)
		if shed > 0.0023 || a >= 5 && shed > 0.00052 || a >= 6 && shed >= 0.0005 {
			t.Errorf("a=%g: %d permits shed %g", a, SquareRootPermits(a), shed)
		}
	}
	if worst < 0.0022 {
		t.Errorf("worst shed %g: the doc comment's 0.23 %% is too careful", worst)
	}
	for _, rate := range []float64{5, 20, 100, 500, 5000} { // the grid of the rule, mean 100 ms
		if shed := ErlangB(SquareRootPermits(rate/10), rate/10); shed > 0.0016 {
			t.Errorf("%g/s sheds %g", rate, shed)
		}
	}
}

func TestQueueSavesPermits(t *testing.T) {
	for _, c := range []struct {
		a                          float64
		loose, tight, bare, barest int
	}{{1, 3, 3, 5, 6}, {10, 11, 12, 18, 21}, {100, 100, 101, 117, 128}} {
		rate := c.a / 0.1
		got := [4]int{
			MMcDPermits(rate, 0.1, 0.25, 0.01), MMcDPermits(rate, 0.1, 0.25, 0.001),
			ErlangBPermits(c.a, 0.01), ErlangBPermits(c.a, 0.001),
		}
		if want := [4]int{c.loose, c.tight, c.bare, c.barest}; got != want {
			t.Errorf("a=%g: got %v, want %v", c.a, got, want)
		}
	}
}

func TestParkedCallsAreMostlySlowOnes(t *testing.T) {
	for _, c := range []struct {
		l       Latency
		percent float64
	}{
		{LognormalFromMedian(0.05, 0.5), 3.4}, {LognormalFromMedian(0.05, 1), 9.2},
		{LognormalFromMedian(0.05, 1.5), 20.4}, {Exponential(0.05), 5.6},
	} {
		wantRounded(t, fmt.Sprintf("%v", c.l), 100*ShareHeldAbove(c.l, c.l.Quantile(0.99)), c.percent, 1)
	}
	for _, s := range []float64{0.5, 1, 1.5} { // the lognormal's own closed form, Φ(σ − z)
		l := LognormalFromMedian(0.05, s)
		wantNear(t, "Φ(σ−z)", ShareHeldAbove(l, l.Quantile(0.99)), normalBelow(s-z99), 1e-9)
	}
}

func TestWindowTable(t *testing.T) {
	for _, c := range []struct{ p, warm5, warm20, hazard, mean float64 }{
		{0.05, 0.00232, 1.1e-8, 4.86e-9, 2.05e8},
		{0.1, 0.01712, 7.2e-6, 2.58e-6, 3.81e5},
		{0.3, 0.32128, 0.04796, 7.57e-3, 105.2},
		{0.4, 0.59205, 0.24466, 3.06e-2, 25.17},
	} {
		w := RatioWindow{20, 5, 0.5}
		chain := w.Chain(c.p)
		name := fmt.Sprintf("p=%g ", c.p)
		wantRounded(t, name+"warm, min 5", chain.Warm, c.warm5, 5)
		wantNear(t, name+"warm, min 20", RatioWindow{20, 20, 0.5}.OpenWithin(c.p, 20), c.warm20, 0.04)
		wantNear(t, name+"hazard", chain.Hazard, c.hazard, 0.002)
		wantNear(t, name+"mean", chain.MeanCalls, c.mean, 0.002)
	}
}

func TestFalseOpensOfABigWindow(t *testing.T) {
	w := RatioWindow{Window: 100, MinCalls: 100, Ratio: 0.5}
	wantNear(t, "p=0.3", w.FalseOpenBound(0.3), 4.6e-6, 0.01)
	wantNear(t, "p=0.4", w.FalseOpenBound(0.4), 3.1e-3, 0.01)
}

func TestFlappingFigures(t *testing.T) {
	c := Cycle{Rate: 10, P: 0.5, MeanCalls: Consecutive(5).MeanCalls(0.5), Cooldown: 30}
	wantRounded(t, "trips", c.TripsPerHour(), 54.2, 1)
	wantRounded(t, "open", 100*c.ShareOpenLazy(), 90.7, 1)
	wantRounded(t, "rejected", 100*c.Rejected(), 90.4, 1)

	// A sixfold cooldown: about a fifth of the transitions, far more refused.
	short := c
	short.Cooldown = 5
	if ratio := short.TransitionsPerHour() / c.TransitionsPerHour(); ratio < 4 || ratio > 5.5 {
		t.Errorf("transitions fall %.2f times with a sixfold cooldown, want about 5", ratio)
	}
	if c.Rejected() < short.Rejected()+0.2 {
		t.Errorf("rejected %.3f with 30 s, %.3f with 5 s", c.Rejected(), short.Rejected())
	}
}

func TestRetryFigures(t *testing.T) {
	wantNear(t, "3 attempts of 1.5 s with backoffs", RetryHeld(3, 1.5, 0.1, 0.2), 4.8, 1e-12)
	wantRounded(t, "knee", RetryBudget{Fraction: 0.1}.Knee(), 0.0909, 4)
	wantRounded(t, "fan-out of 100 at 1 %", 100*FanOut(100, 0.01), 63.4, 1)
	wantRounded(t, "fan-out of 2000 at 0.01 %", 100*FanOut(2000, 0.0001), 18.1, 1)

	wantNear(t, "throttled, K=2", ThrottledOverload(2)-1, 1, 1e-12)
	wantNear(t, "throttled, K=1.1", ThrottledOverload(1.1)-1, 0.1, 1e-12)

	l := LognormalFromMean(0.05, 1)
	h := Hedged{l, l.Quantile(0.95)}
	for _, c := range []struct{ p, alone, hedged float64 }{{0.99, 0.3106, 0.2022}, {0.999, 0.6665, 0.2824}} {
		wantNear(t, "alone", l.Quantile(c.p), c.alone, 3e-4)
		wantNear(t, "hedged", h.Quantile(c.p), c.hedged, 3e-4)
	}
	wantNear(t, "extra load", h.ExtraLoad(), 0.05, 1e-9)
}

func TestOverloadFigures(t *testing.T) {
	o := Overload{Rate: 120, Capacity: 100}
	wantNear(t, "queue after 60 s", o.Queue(60), 1200, 1e-12)
	wantNear(t, "wait after 60 s", o.Wait(60), 12, 1e-12)
	wantNear(t, "drain at 80/s", Overload{Rate: 80, Capacity: 100}.Drain(1200), 60, 1e-12)
	o.MaxWait = 0.25
	wantNear(t, "queue with max_wait", o.Queue(60), 30, 1e-12)
	wantNear(t, "wait with max_wait", o.Wait(60), 0.25, 0)
	wantNear(t, "slowdown", Slowdown(50, 0.1, 0.01), 0.2, 1e-12)
	wantNear(t, "slowdown without a fixed point", Slowdown(100, 0.1, 0.01), math.Inf(1), 0)
}
