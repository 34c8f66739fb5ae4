package sizing

import (
	"fmt"
	"math"
	"testing"
)

var (
	oddFloats = []float64{math.NaN(), math.Inf(-1), -1, 0, math.SmallestNonzeroFloat64, 1e-9, 0.5, 1, 3, 1e6, 1e300, math.Inf(1)}
	oddShares = []float64{math.NaN(), -1, 0, 1e-300, 0.5, 1 - 0x1p-53, 1, 2}
	oddCounts = []int{math.MinInt, -1, 0, 1, 2, 20, 1_000_000, math.MaxInt}
)

// share fails for a value that is neither a share nor NaN.
func share(t *testing.T, v float64, what string, arguments ...any) {
	t.Helper()
	if !math.IsNaN(v) && !(v >= 0 && v <= 1) {
		t.Errorf("%s%v = %g is no share", what, arguments, v)
	}
}

func positive(t *testing.T, v float64, what string, arguments ...any) {
	t.Helper()
	if v < 0 {
		t.Errorf("%s%v = %g is negative", what, arguments, v)
	}
}

// Arguments of any kind give a documented value or NaN, soon, without a panic.
func TestOddArgumentsToQueues(t *testing.T) {
	for _, a := range oddFloats {
		for _, c := range oddCounts {
			share(t, ErlangB(c, a), "ErlangB", c, a)
			share(t, ErlangC(c, a), "ErlangC", c, a)
			share(t, PoissonAtMost(a, min(c, 2_000_000)), "PoissonAtMost", a, c)
			share(t, PoissonProbability(a, c), "PoissonProbability", a, c)
			for _, b := range []float64{math.NaN(), -1, 0, 1e-9, 1, 1e6, math.Inf(1)} {
				q := MMcD{a, 1, c, b}
				share(t, q.Shed(), "MMcD shed", q)
				share(t, q.PWait(), "MMcD wait", q)
				share(t, q.WaitTail(0.5), "MMcD tail", q)
				share(t, q.Probability(0), "MMcD probability", q)
				positive(t, q.MeanQueue(), "MMcD queue", q)
				positive(t, q.MeanBusy(), "MMcD busy", q)
				m := MMc{a, b, c}
				share(t, m.PWait(), "MMc wait", m)
				share(t, m.WaitTail(b), "MMc tail", m)
				positive(t, m.MeanWait(), "MMc mean wait", m)
				positive(t, m.WaitQuantile(0.99), "MMc quantile", m)
				f := Finite{min(c, 1_000_000), a, b, 3}
				share(t, f.Blocking(), "Engset", f)
				positive(t, f.Throughput(), "repair", f)
				positive(t, f.MeanResponse(), "repair", f)
			}
			for _, places := range oddCounts {
				k := MMcK{a, 1, c, places}
				share(t, k.Shed(), "MMcK shed", k)
				share(t, k.PWait(), "MMcK wait", k)
				positive(t, k.MeanQueue(), "MMcK queue", k)
			}
		}
		for _, target := range oddShares {
			if got := ErlangBPermits(a, target); got < NoAnswer {
				t.Errorf("ErlangBPermits(%g, %g) = %d", a, target, got)
			}
			if got := MMcDPermits(a, 1, 0.5, target); got < NoAnswer {
				t.Errorf("MMcDPermits(%g, %g) = %d", a, target, got)
			}
			if got := PoissonQuantile(math.Min(a, 1e13), target); got < NoAnswer {
				t.Errorf("PoissonQuantile(%g, %g) = %d", a, target, got)
			}
			share(t, Saturated{a, 3, target, 1}.Shed(), "Saturated", a, target)
			positive(t, Overload{a, target, 0}.Wait(5), "Overload", a, target)
			positive(t, Slowdown(a, 1, target), "Slowdown", a, target)
			positive(t, ThrottledFailing(a, target), "ThrottledFailing", a, target)
			share(t, ThrottleProbability(5, 3, a), "ThrottleProbability", a)
		}
		if got := SquareRootPermits(a); got < NoAnswer {
			t.Errorf("SquareRootPermits(%g) = %d", a, got)
		}
		for _, b := range oddFloats {
			positive(t, Little(a, b), "Little", a, b)
			positive(t, OutageParked(a, b, 1), "OutageParked", a, b)
			positive(t, FillTime(a, b), "FillTime", a, b)
			positive(t, MG1{a, Constant(b)}.MeanWait(), "MG1", a, b)
			positive(t, ClosedThroughput(3, a, b), "ClosedThroughput", a, b)
			if got := RulePermits(a, b); got < NoAnswer {
				t.Errorf("RulePermits(%g, %g) = %d", a, b, got)
			}
		}
	}
}

func TestOddArgumentsToBreakersAndRetries(t *testing.T) {
	for _, n := range oddCounts {
		for _, p := range oddShares {
			positive(t, Consecutive(n).MeanCalls(p), "MeanCalls", n, p)
			share(t, Consecutive(n).OpenWithin(p, 3), "OpenWithin", n, p)
			share(t, RetrySuccess(n, p), "RetrySuccess", n, p)
			positive(t, RetryAttempts(n, p), "RetryAttempts", n, p)
			share(t, FanOut(n, p), "FanOut", n, p)
			positive(t, RetryBudget{0.1, n}.Retries(p), "Retries", n, p)
			share(t, RetryBudget{0.1, n}.Success(p), "Success", n, p)
			positive(t, SuccessBudgetRetries(0.5, p), "SuccessBudgetRetries", p)
			w := RatioWindow{n, n, 0.5}
			share(t, w.FalseOpenBound(p), "FalseOpenBound", n, p)
			share(t, w.OpenWithin(p, 3), "OpenWithin", n, p)
			if n < LargestChain {
				share(t, w.Chain(p).Hazard, "Chain", n, p)
				share(t, w.Chain(p).Warm, "Chain", n, p)
			}
		}
		for _, timeout := range oddFloats {
			positive(t, RetryHeld(n, timeout, 1), "RetryHeld", n, timeout)
			positive(t, Consecutive(n).DetectionEven(10, timeout)-min(0, timeout), "DetectionEven", n, timeout)
		}
	}
	large := RatioWindow{21, 5, 0.5}
	if c := large.Chain(0.3); !math.IsNaN(c.Hazard) || !math.IsNaN(c.MeanCalls) || !math.IsNaN(large.OpenWithin(0.3, 22)) {
		t.Errorf("a window of 21 is beyond the chain: %+v", c)
	}
	share(t, large.OpenWithin(0.3, 21), "OpenWithin while the window fills")
	for _, a := range oddFloats {
		for _, p := range oddShares {
			c := Cycle{a, p, 5, 30, 1}
			share(t, c.Rejected(), "Rejected", c)
			share(t, c.ShareOpenLazy(), "ShareOpenLazy", c)
			share(t, c.ShareOpenTimer(), "ShareOpenTimer", c)
			positive(t, c.OpensPerHour(), "OpensPerHour", c)
			positive(t, c.Length(), "Length", c)
		}
	}
}

// wilsonLow is the lower end of the interval.
func wilsonLow(hits, n int, level float64) float64 {
	low, _ := Wilson(hits, n, level)
	return low
}

// The values that the doc comments promise at the edges.
func TestPromisedEdges(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for i, c := range []struct{ got, want float64 }{
		{ErlangB(0, 5), 1}, {ErlangB(3, 0), 0}, {ErlangB(3, inf), 1}, {ErlangB(-1, 1), nan}, {ErlangB(3, -1), nan}, {ErlangB(math.MaxInt, 1e6), 0},
		{ErlangC(2, 2), 1}, {ErlangC(0, 0), 1}, {ErlangC(2, 0), 0},
		{ErlangBLoad(1, 0.5), 1}, {ErlangBLoad(5, 1), inf}, {ErlangBLoad(0, 0.5), nan}, {ErlangBLoad(5, 1.5), nan},
		{float64(ErlangBPermits(10, 1)), 0}, {float64(ErlangBPermits(10, 0)), NoAnswer}, {float64(ErlangBPermits(inf, 0.1)), NoAnswer},
		{float64(ErlangBPermits(0, 0.1)), 1}, {float64(MMcDPermits(10, 1, -1, 0.1)), NoAnswer}, {float64(MMcDPermits(10, 1, inf, 0.001)), 10},
		{Little(0, inf), 0}, {Little(inf, 0), 0}, {Little(-1, 1), nan},
		{MMc{10, 1, 10}.MeanWait(), inf}, {MMc{10, inf, 10}.MeanWait(), inf}, {MMc{10, 0, 10}.MeanWait(), 0}, {MMc{0, 1, 1}.MeanWait(), 0}, {MMc{1, 0.1, 1}.WaitTail(-1), 1},
		{MMcD{20, 1, 10, inf}.Shed(), 0.5}, {MMcD{20, 1, 10, inf}.MeanQueue(), inf}, {MMcD{5, 1, 10, inf}.Shed(), 0}, {MMcD{5, 1, 10, 1}.Probability(10), nan},
		{MMcD{5, 1, 10, 0.5}.WaitTail(0.5), 0}, {MMcD{20, 1, 10, inf}.WaitTail(9), 1}, {MMcD{inf, 1, 3, 1}.Shed(), 1}, {MMcD{5, 1, 0, 1}.Shed(), nan},
		{MMcK{inf, 1, 3, 4}.Shed(), 1}, {MMcK{inf, 1, 3, 4}.MeanQueue(), 4}, {MMcK{0, 1, 3, 4}.MeanWait(), nan},
		{MG1{10, Constant(0.1)}.MeanWait(), inf}, {Finite{0, 1, 1, 1}.Blocking(), nan}, {Finite{1, 0, 0, 1}.Throughput(), nan},
		{float64(PoissonQuantile(5, 1)), math.MaxInt}, {float64(PoissonQuantile(0, 1)), 0}, {float64(PoissonQuantile(5, 0)), 0}, {float64(PoissonQuantile(-1, 0.5)), NoAnswer},
		{FillTime(10, 0), inf}, {FillTime(0, 0), 0}, {OutageParked(10, 100, inf), 10}, {OutageParked(10, 0, inf), 0}, {OutageParked(inf, 100, 2), 200},
		{float64(RulePermits(100, 0.07)), 7}, {float64(RulePermits(inf, 1)), math.MaxInt}, {float64(RulePermits(0, 1)), 0}, {float64(RulePermits(-1, 1)), NoAnswer},
		{float64(SquareRootPermits(4)), 12}, {float64(SquareRootPermits(inf)), math.MaxInt}, {float64(SquareRootPermits(nan)), NoAnswer},
		{Consecutive(5).MeanCalls(1), 5}, {Consecutive(0).MeanCalls(0.5), nan}, {Consecutive(2_000_000).OpenWithin(0.5, 4_000_001), nan}, {Consecutive(2_000_000).OpenWithin(1, 2_000_000), 1},
		{RetryAttempts(4, 1), 4}, {RetryAttempts(0, 0.5), nan}, {RetrySuccess(3, 0), 1}, {RetryBudget{0.1, 0}.Demand(1), inf}, {RetryBudget{0.1, 0}.Success(1), 0},
		{RetryHeld(1, 2, 9), 2}, {RetryHeld(4, 1, 0.5), 5.5}, {RetryHeld(3, 1), 3}, {ThrottledFailing(2, 0.5), inf}, {ThrottledFailing(2, 1), 1}, {ThrottledFailing(2, 0.75), 2},
		{SuccessBudgetRetries(0.1, 0.9), 0.01 / 0.99}, {SuccessBudgetRetries(0.1, 0.01), 0.01 / 0.99}, {SuccessBudgetRetries(0.5, 1), 0}, {ThrottleProbability(100, 30, 2), 40. / 101},
		{RetryBudget{0.1, 0}.Success(0.5), 0.55}, {RetryBudget{0.1, 3}.Success(0.05), 1 - 0.05*0.05*0.05}, {RetryBudget{0.1, 3}.Retries(0.5), 0.1},
		{Overload{Rate: 10}.Wait(1), inf}, {Overload{Rate: 10, Capacity: 20}.Queue(5), 0}, {Overload{Rate: 10, Capacity: 10}.Drain(1), inf}, {Overload{}.Drain(0), 0},
		{Overload{Rate: 10, Capacity: 20}.Wait(5), 0}, {Overload{Rate: 10, Capacity: 5}.Wait(-1), 0}, {SuccessBudgetRetries(0.1, 2), nan}, {SuccessBudgetRetries(-1, 0.5), nan},
		{ThrottleProbability(-1, 3, 2), nan}, {ThrottleProbability(100, 3, -2), nan}, {ThrottleProbability(5, 100, 2), 0}, {ThrottledOverload(0.5), 1},
		{Consecutive(1).DetectionEven(10, 2), 2}, {Consecutive(1).ParkedAtDetection(10, 2), 21}, {Consecutive(0).ParkedAtDetection(10, 2), nan}, {Consecutive(0).DetectionEven(10, 2), nan},
		{Exponential(1).MeanMin(1), 1 - math.Exp(-1)}, {Exponential(1).SquareMin(1), 2 - 4*math.Exp(-1)}, {Exponential(0).MeanMin(1), 0}, {Exponential(0).Tail(0), 0}, {Exponential(0).Quantile(0.9), 0},
		{Cycle{10, 0.5, 10, 0, 0}.OpensPerHour(), 3600 / 0.6}, {Cycle{0, 0.5, 10, 1, 0}.Rejected(), nan}, {Finite{3, 1, 2, 3}.Blocking(), 0}, {ClosedThroughput(0, 0, 0), 0}, {ClosedThroughput(-1, 1, 0), nan}, {ClosedThroughput(1, 0, 0), inf},
		{binomialProbability(3, 4, 0.5), 0}, {binomialProbability(3, -1, 0.5), 0}, {MMc{1, 0, 0}.WaitQuantile(0.5), inf}, {MMc{1, 0.1, 20}.WaitQuantile(1.5), nan}, {MMc{1, 0.1, 20}.WaitQuantile(0.5), 0},
		{LayerAttempts(0, 1), nan}, {LayerAttempts(4, 0), 1}, {FanOut(0, 0.5), 0}, {FanOut(3, 1), 1}, {wilsonLow(0, 10, 1), nan}, {wilsonLow(3, 2, 0.95), nan},
		{SuccessBudgetRetries(3, 0.5), 1}, {Saturated{10, 20, 1, 1}.Waiting(), 0}, {Saturated{10, 20, 1, 1}.Carried(), 10}, {ShareHeldAbove(Exponential(1), inf), 0}, {ShareHeldAbove(Exponential(1), -1), 1},
	} {
		if !near(c.got, c.want, 1e-12) {
			t.Errorf("edge %d: got %g, want %g", i, c.got, c.want)
		}
	}
	if one := Consecutive(1); one.OpenWithin(0.3, 1) != 0.3 {
		t.Errorf("one failure in one call: %g", one.OpenWithin(0.3, 1))
	}
	if mean, sd := Consecutive(1).Detection(10, 2); !near(mean, 2.1, 1e-12) || !near(sd, 0.1, 1e-12) {
		t.Errorf("detection by one failure: %g, %g", mean, sd)
	}
	if mean, sd := Consecutive(0).Detection(10, 2); !math.IsNaN(mean) || !math.IsNaN(sd) {
		t.Errorf("detection by no failure: %g, %g", mean, sd)
	}
	if low, high := StickyRegion(-1, 3); !math.IsNaN(low) || !math.IsNaN(high) {
		t.Errorf("sticky region of no capacity: %g, %g", low, high)
	}
	if b := (RetryBudget{Fraction: 0.25}); b.Short(0.2) || !b.Short(0.21) { // 0.2/0.8 is the budget
		t.Error("a budget of 0.25 lasts to a fifth of failures, and no longer")
	}
	if sum, excess := PermitSum(100, 60, 70); sum != 130 || excess != 30 {
		t.Errorf("PermitSum: got %d and %d", sum, excess)
	}
	if mean, sd := PoolExhaustion(0, 5); !math.IsInf(mean, 1) || !math.IsNaN(sd) {
		t.Errorf("nobody empties a pool: %s", fmt.Sprint(mean, sd))
	}
}
