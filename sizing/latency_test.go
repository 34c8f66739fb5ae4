package sizing

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

func shapes() map[string]Latency {
	return map[string]Latency{
		"constant":      Constant(0.3),
		"exponential":   Exponential(0.2),
		"lognormal":     LognormalFromMedianP99(0.05, 0.18),
		"heavy":         LognormalFromMean(0.2, 1.5),
		"no spread":     LognormalFromMedian(0.3, 0),
		"mixture":       Mixture{{95, Exponential(0.05)}, {5, Constant(8)}},
		"of lognormals": Mixture{{1, LognormalFromMedian(0.02, 0.3)}, {0, Constant(99)}, {3, LognormalFromMedian(1, 0.5)}},
		"timed out":     Limited{LognormalFromMean(0.2, 1.5), 1.5},
		"never limited": Limited{Exponential(0.2), math.Inf(1)},
	}
}

// E[min(S,t)] and E[min(S,t)²] are integrals of the tail.
func TestMomentsAreIntegralsOfTheTail(t *testing.T) {
	for name, l := range shapes() {
		for _, limit := range []float64{0.01, 0.1, 1} {
			// Step by step between the jumps that the constants make.
			mean, square := 0.0, 0.0
			for _, piece := range [][2]float64{{0, 0.3}, {0.3, 8}} {
				if from, to := piece[0], math.Min(piece[1], limit); from < to {
					inside := func(x float64) float64 { return l.Tail(math.Min(x, to*(1-1e-15))) }
					mean += integral(inside, from, to, 4000)
					square += integral(func(x float64) float64 { return 2 * x * inside(x) }, from, to, 4000)
				}
			}
			wantNear(t, fmt.Sprint(name, " E[min(S,", limit, ")]"), l.MeanMin(limit), mean, 1e-9)
			wantNear(t, fmt.Sprint(name, " E[min(S,", limit, ")²]"), l.SquareMin(limit), square, 1e-9)
		}
		wantNear(t, name+" mean", l.MeanMin(math.Inf(1)), l.Mean(), 1e-12)
		wantNear(t, name+" far out", l.MeanMin(1e9), l.Mean(), 1e-9)
		wantNear(t, name+" second moment", l.SquareMin(1e9), l.SquareMin(math.Inf(1)), 1e-9)
		if l.MeanMin(0) != 0 || l.MeanMin(-1) != 0 || l.SquareMin(-1) != 0 || l.Tail(-1) != 1 || l.Tail(math.Inf(1)) != 0 {
			t.Errorf("%s: wrong below 0 or at infinity", name)
		}
	}
}

func TestQuantileIsTheFirstThatReaches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := shapes()
		name := rapid.SampledFrom([]string{"constant", "exponential", "lognormal", "heavy", "no spread", "mixture", "of lognormals", "timed out"}).Draw(t, "shape")
		l, p := all[name], rapid.Float64Range(0.0001, 0.9999).Draw(t, "p")
		q := l.Quantile(p)
		if below := 1 - l.Tail(q*(1+1e-9)); below < p-1e-12 {
			t.Errorf("%s: only %g is within the %g-quantile %g", name, below, p, q)
		}
		if below := 1 - l.Tail(q*(1-1e-9)); below > p+1e-12 {
			t.Errorf("%s: %g is before the %g-quantile %g", name, below, p, q)
		}
	})
	mixture := shapes()["mixture"]
	wantNear(t, "share of the mixture that its weights meet", Mixture{{0.95, Constant(0.05)}, {0.05, Constant(1)}}.Quantile(0.95), 0.05, 0)
	wantNear(t, "the slow path", mixture.Quantile(0.96), 8, 0)
	wantNear(t, "all of it", mixture.Quantile(1), math.Inf(1), 0)
	for name, l := range shapes() {
		for _, p := range []float64{-0.1, 1.1, math.NaN()} {
			if q := l.Quantile(p); !math.IsNaN(q) {
				t.Errorf("%s: %g-quantile is %g", name, p, q)
			}
		}
	}
}

func TestLognormalThroughItsFigures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		median := math.Exp(rapid.Float64Range(-8, 4).Draw(t, "ln median"))
		l := LognormalFromMedianP99(median, median*math.Exp(rapid.Float64Range(0, 6).Draw(t, "spread")))
		twin := LognormalFromMeanP99(l.Mean(), l.Quantile(0.99))
		if l.Sigma < z99-0.01 && !(math.Abs(twin.Sigma-l.Sigma) <= 1e-9 && math.Abs(twin.Mu-l.Mu) <= 1e-9) {
			t.Errorf("%+v has the mean and p99 of %+v", twin, l)
		}
		if !near(l.Quantile(0.5), median, 1e-12) {
			t.Errorf("median %g, want %g", l.Quantile(0.5), median)
		}
		gonum := distuv.LogNormal{Mu: l.Mu, Sigma: math.Max(l.Sigma, 1e-12)}
		if x := l.Quantile(0.9); l.Sigma > 0.01 && (!near(x, gonum.Quantile(0.9), 1e-9) || !(math.Abs(l.Tail(2*x)-gonum.Survival(2*x)) <= 1e-13)) {
			t.Errorf("%+v differs from gonum", l)
		}
	})
	for _, c := range []struct{ got Lognormal }{
		{LognormalFromMeanP99(1, 0.9)}, {LognormalFromMeanP99(1, 15)}, {LognormalFromMedianP99(1, 0.9)},
		{LognormalFromMedianP99(0, 1)}, {LognormalFromMean(-1, 1)}, {LognormalFromMedian(1, -1)}, {LognormalFromMeanP99(0, 0)},
	} {
		if !math.IsNaN(c.got.Mean()) || !math.IsNaN(c.got.Quantile(0.5)) {
			t.Errorf("%+v stands for figures that no lognormal has", c.got)
		}
	}
}

func TestMixtureNeedsWeights(t *testing.T) {
	for _, m := range []Mixture{nil, {{0, Constant(1)}}, {{-1, Constant(1)}, {2, Constant(1)}}} {
		if !math.IsNaN(m.Mean()) || !math.IsNaN(m.Quantile(0.5)) || !math.IsNaN(m.Tail(1)) {
			t.Errorf("%v: mean %g, median %g", m, m.Mean(), m.Quantile(0.5))
		}
	}
}

func TestHedgedCallIsTheMinimumOfTwo(t *testing.T) {
	h := Hedged{Exponential(0.1), 0}
	wantNear(t, "two exponentials at once", h.Quantile(0.9), Exponential(0.05).Quantile(0.9), 1e-12)
	late := Hedged{Exponential(0.1), 0.2}
	wantNear(t, "before the delay", late.Quantile(0.5), Exponential(0.1).Quantile(0.5), 1e-12)
	wantNear(t, "after it", late.Tail(late.Quantile(0.99)), 0.01, 1e-12)
	wantNear(t, "a second call that cannot help", Hedged{Constant(0.3), 0.2}.Quantile(0.99), 0.3, 0)
	wantNear(t, "never sent", Hedged{Exponential(0.1), math.Inf(1)}.ExtraLoad(), 0, 0)
}

// λ·E[min(S,t)] arrivals of the new kind, the residual life of the old.
func TestParkedAfterAStep(t *testing.T) {
	before, after := LognormalFromMean(0.1, 0.5), Limited{Exponential(5), 1.5}
	wantNear(t, "at the step", ParkedAfterStep(80, 0, before, after), Parked(80, before, math.Inf(1)), 1e-12)
	wantNear(t, "earlier", ParkedAfterStep(80, -3, before, after), Parked(80, before, math.Inf(1)), 1e-12)
	wantNear(t, "long after", ParkedAfterStep(80, 100, before, after), Parked(80, Exponential(5), 1.5), 1e-12)
	at := 0.07
	fresh := integral(after.Tail, 0, at, 2000)
	old := integral(before.Tail, at, 10, 200_000)
	wantNear(t, "between", ParkedAfterStep(80, at, before, after), 80*(fresh+old), 1e-8)
}
