package sizing

import "math"

// LargestChain is the largest window for which [RatioWindow.Chain] is exact.
// Its states are all windows of results, so each further call doubles them.
const LargestChain = 20

// RatioWindow is a breaker that opens when at least Ratio of the last Window
// calls failed, and at least MinCalls were made since the start or the last
// close. A MinCalls above the window counts as the window, below 1 as 1. It
// is looked at after every call, so a success may open it: the one that makes
// MinCalls full.
type RatioWindow struct {
	Window   int     // calls, at least 1
	MinCalls int     // calls
	Ratio    float64 // 0 < Ratio ≤ 1
}

// Needed returns the failures among so many remembered calls that open it:
// ceil(Ratio·calls), at least 1. [NoAnswer] for a Ratio or Window out of
// range or calls below 1.
func (w RatioWindow) Needed(calls int) int {
	if !w.valid(0) || calls < 1 {
		return NoAnswer
	}
	return max(1, ceilInt(w.Ratio*float64(calls)))
}

func (w RatioWindow) valid(p float64) bool {
	return w.Window >= 1 && w.Ratio > 0 && w.Ratio <= 1 && p >= 0 && p <= 1
}

func (w RatioWindow) minCalls() int { return min(max(w.MinCalls, 1), w.Window) }

// OpenWithin returns the probability that it has opened by its n-th call after
// a start or a close, each failing with probability p. While the window fills,
// the number of failures is the whole state, so any window will do; for n
// above Window the exact chain is needed, and it is NaN for a window above
// [LargestChain].
func (w RatioWindow) OpenWithin(p float64, n int) float64 {
	switch {
	case !w.valid(p):
		return math.NaN()
	case n > w.Window:
		return w.chain(p, n).opened
	}
	closed := make([]float64, n+2) // by failures
	closed[0] = 1
	opened := 0.0
	for calls := 1; calls <= n; calls++ {
		for f := calls; f > 0; f-- {
			closed[f] = (1-p)*closed[f] + p*closed[f-1]
		}
		closed[0] *= 1 - p
		if calls < w.minCalls() {
			continue
		}
		for f := w.Needed(calls); f <= calls; f++ {
			opened += closed[f]
			closed[f] = 0
		}
	}
	return math.Min(opened, 1)
}

// WindowChain says how a healthy dependency that fails a share p of calls
// opens a [RatioWindow].
type WindowChain struct {
	Warm      float64 // probability of opening within the first Window calls after a start or a close
	Hazard    float64 // probability of opening per call once the window is full, in the limit of a long closed time
	MeanCalls float64 // mean calls until it opens, from a start or a close; +Inf for p = 0
}

// Chain solves the chain over all bit patterns of the window (own derivation).
// Figures are NaN for a window above [LargestChain]. A window of 20 takes some
// tenths of a second. Hazard is 0 for p = 0, and 1 where the first full window
// always opens.
func (w RatioWindow) Chain(p float64) WindowChain {
	c := w.chain(p, 0)
	return WindowChain{Warm: w.OpenWithin(p, w.Window), Hazard: c.hazard, MeanCalls: c.meanCalls}
}

// FalseOpenBound returns an upper bound of the probability per call that a
// full window of any size opens while failures are rare: p(1−p)·C(W−1,h−1)·
// p^(h−1)·(1−p)^(W−h), for a failure that comes, a success that leaves, and
// h−1 failures among the Window−1 calls that stay. Some of those windows would
// have opened earlier, so the true figure is below.
//
// That argument forgets that a window which has not opened yet is not any
// window. Against [RatioWindow.Chain] the bound holds for windows of 10 to 20,
// Ratio from 1/4 to 3/4 and p up to 0.4·Ratio, at 20 and 50 % up to p = 0.4. It
// does not hold for windows of a few calls, for h = 1 or h = W, or near Ratio,
// where it is only of the right order or less.
func (w RatioWindow) FalseOpenBound(p float64) float64 {
	if !w.valid(p) {
		return math.NaN()
	}
	return p * (1 - p) * binomialProbability(w.Window-1, w.Needed(w.Window)-1, p)
}
