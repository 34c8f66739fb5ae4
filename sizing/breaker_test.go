package sizing

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

// enumerated sums the weights of all sequences of n results after which a
// breaker has opened: every window, no thought.
func enumerated(n int, p float64, opens func(failed []bool) bool) float64 {
	sum := 0.0
	for s := range 1 << n {
		failed := make([]bool, n)
		for i := range failed {
			failed[i] = s>>i&1 == 1
		}
		for calls := 1; calls <= n; calls++ {
			if opens(failed[:calls]) {
				k := bits.OnesCount(uint(s))
				sum += math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k))
				break
			}
		}
	}
	return sum
}

func TestConsecutiveAgainstAllSequences(t *testing.T) {
	for n := 1; n <= 4; n++ {
		for _, p := range []float64{0, 0.05, 0.5, 0.9, 1} {
			for _, k := range []int{0, 1, n, n + 1, 2 * n, 2*n + 1, 3*n + 2, 13} {
				want := enumerated(k, p, func(failed []bool) bool {
					run := 0
					for i := len(failed) - 1; i >= 0 && failed[i]; i-- {
						run++
					}
					return run >= n
				})
				if got := Consecutive(n).OpenWithin(p, k); !(math.Abs(got-want) <= 1e-13) {
					t.Errorf("%d consecutive at %g within %d: got %.15g, want %.15g", n, p, k, got, want)
				}
			}
		}
	}
}

// Σ P(not open after k) is the mean, and far out the chain is geometric.
func TestConsecutiveMeanIsTheSumOfItsTail(t *testing.T) {
	for _, c := range []struct {
		n Consecutive
		p float64
	}{{1, 0.2}, {2, 0.5}, {5, 0.5}, {3, 0.9}, {4, 1}} {
		sum := 0.0
		for k := range 4000 {
			sum += 1 - c.n.OpenWithin(c.p, k)
		}
		wantNear(t, fmt.Sprint(c), c.n.MeanCalls(c.p), sum, 1e-9)
	}
	// In the limit of rare opens the time to the first is exponential.
	mean := Consecutive(10).MeanCalls(0.1)
	for _, share := range []float64{0.001, 0.1, 1, 3} {
		wantNear(t, "exponential", Consecutive(10).OpenWithin(0.1, int(share*mean)), -math.Expm1(-share), 1e-6)
	}
	wantNear(t, "no failures", Consecutive(3).MeanCalls(0), math.Inf(1), 0)
	wantNear(t, "one in a row", Consecutive(1).MeanCalls(0.25), 4, 1e-12)
	wantNear(t, "near certainty", Consecutive(1000).MeanCalls(1-1e-12), 1000, 1e-8)
}

// The tail past the calls that are counted one by one continues them.
func TestConsecutiveFarOutContinuesTheChain(t *testing.T) {
	n, p := Consecutive(6), 0.1
	limit := 64*6 + 1_000_000
	at := n.OpenWithin(p, limit)
	step := at - n.OpenWithin(p, limit-1)
	wantNear(t, "next call", n.OpenWithin(p, limit+1)-at, step, 1e-4)
	if far := n.OpenWithin(p, math.MaxInt); far != 1 {
		t.Errorf("for ever: %g", far)
	}
}

func TestRatioWindowAgainstAllSequences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := RatioWindow{
			Window:   rapid.IntRange(1, 7).Draw(t, "window"),
			MinCalls: rapid.IntRange(0, 9).Draw(t, "min_calls"),
			Ratio:    rapid.SampledFrom([]float64{0.01, 0.25, 0.3, 0.5, 0.6, 2. / 3, 0.9, 1}).Draw(t, "ratio"),
		}
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		n := rapid.IntRange(0, 11).Draw(t, "calls")
		want := enumerated(n, p, func(failed []bool) bool {
			if len(failed) < min(max(w.MinCalls, 1), w.Window) {
				return false
			}
			last := failed[max(0, len(failed)-w.Window):]
			failures := 0
			for _, f := range last {
				if f {
					failures++
				}
			}
			return float64(failures)/float64(len(last)) >= w.Ratio
		})
		if got := w.OpenWithin(p, n); !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("%+v at %g within %d: got %.15g, want %.15g", w, p, n, got, want)
		}
	})
}

// The mean is the sum of the tail, the hazard what it falls by in the end.
func TestRatioWindowChainAgainstItsTail(t *testing.T) {
	for _, w := range []RatioWindow{{1, 1, 1}, {2, 1, 0.5}, {2, 2, 1}, {3, 2, 0.6}, {6, 3, 0.5}, {6, 6, 0.5}, {8, 5, 0.75}} {
		for _, p := range []float64{0.2, 0.5, 0.95} {
			sum, before := 0.0, 1.0
			n := 0
			for ; before > 1e-7 && n < 400; n++ {
				sum += before
				before = 1 - w.OpenWithin(p, n+1)
			}
			chain := w.Chain(p)
			name := fmt.Sprintf("%+v at %g", w, p)
			wantNear(t, name+" mean", chain.MeanCalls, sum+before/chain.Hazard, 1e-6)
			if before > 1e-7 {
				after := 1 - w.OpenWithin(p, n+1)
				wantNear(t, name+" hazard", chain.Hazard, 1-after/before, 1e-6)
			}
			wantNear(t, name+" warm", chain.Warm, w.OpenWithin(p, w.Window), 1e-12)
		}
	}
	consecutive := RatioWindow{5, 5, 1} // a full window of failures is five in a row
	wantNear(t, "all of five", consecutive.Chain(0.3).MeanCalls, Consecutive(5).MeanCalls(0.3), 1e-10)
	never := RatioWindow{20, 5, 0.5}.Chain(0)
	if never != (WindowChain{0, 0, math.Inf(1)}) {
		t.Errorf("without failures: %+v", never)
	}
	if always := (RatioWindow{20, 5, 0.5}).Chain(1); always.Warm != 1 || always.MeanCalls != 5 {
		t.Errorf("with nothing but failures: %+v, want to open at call 5", always)
	}
}

func TestRatioWindowNeeds(t *testing.T) {
	for _, c := range []struct {
		ratio       float64
		calls, want int
	}{{0.5, 20, 10}, {0.5, 5, 3}, {0.3, 10, 3}, {0.07, 100, 7}, {1, 7, 7}, {1e-9, 5, 1}, {0.5, 0, NoAnswer}, {0, 5, NoAnswer}, {1.1, 5, NoAnswer}} {
		if got := (RatioWindow{20, 5, c.ratio}).Needed(c.calls); got != c.want {
			t.Errorf("%g of %d calls: got %d, want %d", c.ratio, c.calls, got, c.want)
		}
	}
}

func TestFalseOpenBoundIsABound(t *testing.T) {
	check := func(w RatioWindow, p float64) {
		if hazard, bound := w.Chain(p).Hazard, w.FalseOpenBound(p); hazard > bound || hazard < bound/2 {
			t.Errorf("%+v at %g: hazard %g, bound %g", w, p, hazard, bound)
		}
	}
	for window := 10; window <= 14; window++ {
		for _, ratio := range []float64{0.25, 0.5, 0.75} {
			for _, p := range []float64{0.02, 0.2 * ratio, 0.4 * ratio} {
				check(RatioWindow{window, window, ratio}, p)
			}
		}
	}
	check(RatioWindow{20, 20, 0.5}, 0.4)
}

// The parts of a cycle added up one by one: closed, then k openings with
// probability p^(k−1)(1−p).
func TestCycleAgainstARenewalSum(t *testing.T) {
	c := Cycle{Rate: 8, P: 0.4, MeanCalls: Consecutive(3).MeanCalls(0.4), Cooldown: 5, Probe: 0.7}
	closed, openings := c.MeanCalls/c.Rate, 0.0
	for k := 1; k < 400; k++ {
		openings += float64(k) * math.Pow(c.P, float64(k-1)) * (1 - c.P)
	}
	length := closed + openings*(c.Cooldown+1/c.Rate+c.Probe)
	wantNear(t, "length", c.Length(), length, 1e-12)
	wantNear(t, "opens", c.OpensPerHour(), 3600*openings/length, 1e-12)
	wantNear(t, "trips", c.TripsPerHour(), 3600/length, 1e-12)
	// Each opening is left for half-open, each half-open for open or closed.
	wantNear(t, "transitions", c.TransitionsPerHour(), 3600*(1+2*openings)/length, 1e-12)
	wantNear(t, "open, lazy", c.ShareOpenLazy(), openings*(c.Cooldown+1/c.Rate)/length, 1e-12)
	wantNear(t, "open, timer", c.ShareOpenTimer(), openings*c.Cooldown/length, 1e-12)
	refused := c.Rate * openings * (c.Cooldown + c.Probe)
	wantNear(t, "rejected", c.Rejected(), refused/(refused+c.MeanCalls+openings), 1e-12)

	dead := Cycle{Rate: 10, P: 1, MeanCalls: 5, Cooldown: 30, Probe: 1.5}
	wantNear(t, "probes of a dead dependency", dead.OpensPerHour(), 3600/31.6, 1e-12)
	wantNear(t, "its length", dead.Length(), math.Inf(1), 0)
	wantNear(t, "its trips", dead.TripsPerHour(), 0, 0)
	mean, worst := dead.RecoveryLag()
	wantNear(t, "lag", mean, 15.8, 1e-12)
	wantNear(t, "worst lag", worst, 31.6, 1e-12)

	well := Cycle{Rate: 10, MeanCalls: Consecutive(5).MeanCalls(0), Cooldown: 30}
	if well.OpensPerHour() != 0 || well.Rejected() != 0 || well.ShareOpenLazy() != 0 {
		t.Errorf("without failures: %+v", well)
	}
}

func BenchmarkWindow20Chain(b *testing.B) {
	for b.Loop() {
		RatioWindow{20, 5, 0.5}.Chain(0.3)
	}
}
