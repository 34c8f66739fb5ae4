package resilience

import (
	"math"
	"time"
)

// window remembers results and says when the breaker trips. It is asked at
// every result, a success too: the result that fills it up to min_calls may be
// one.
type window interface {
	// add notes one result at now and reports whether the breaker trips.
	add(now time.Duration, failed bool) bool
	reset()
}

// consecutive trips at n failures in a row; a success starts over.
type consecutive struct{ n, run int }

var _ window = (*consecutive)(nil)

func (w *consecutive) add(_ time.Duration, failed bool) bool {
	if !failed {
		w.run = 0
		return false
	}
	w.run++
	return w.run >= w.n
}

func (w *consecutive) reset() { w.run = 0 }

// lastCalls trips when at least a share of the last size results failed, once
// there are min of them.
type lastCalls struct {
	failed   []uint64 // ring of bits
	size     int
	at, n    int // next place, results held
	failures int
	min      int
	ratio    float64
	need     int // failures that trip at n results
}

var _ window = (*lastCalls)(nil)

func newLastCalls(size, minCalls int, ratio float64) *lastCalls {
	return &lastCalls{failed: make([]uint64, (size+63)/64), size: size, min: minCalls, ratio: ratio}
}

func (w *lastCalls) add(_ time.Duration, failed bool) bool {
	word, bit := &w.failed[w.at/64], uint64(1)<<(w.at%64)
	if w.n < w.size {
		w.n++
		w.need = failuresNeeded(w.ratio, w.n)
	} else if *word&bit != 0 {
		w.failures--
	}
	*word &^= bit
	if failed {
		*word |= bit
		w.failures++
	}
	if w.at++; w.at == w.size {
		w.at = 0
	}
	return w.n >= w.min && w.failures >= w.need
}

func (w *lastCalls) reset() { w.at, w.n, w.failures = 0, 0, 0 }

// failuresNeeded is the smallest whole number that is at least ratio of n, and
// at least 1. The tolerance keeps 7 % of 100 at 7, which binary fractions put a
// hair above.
func failuresNeeded(ratio float64, n int) int {
	return max(1, int(math.Ceil(float64(ratio*float64(n))-1e-9)))
}
