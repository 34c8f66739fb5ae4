package resilience

import (
	"math"
	"time"
)

// window remembers results and says when the breaker trips.
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
	failed   []bool // ring
	at, n    int
	failures int
	min      int
	need     []int // failures that trip, by the number of results
}

var _ window = (*lastCalls)(nil)

func newLastCalls(size, minCalls int, ratio float64) *lastCalls {
	w := &lastCalls{failed: make([]bool, size), min: minCalls, need: make([]int, size+1)}
	for n := range w.need {
		w.need[n] = failuresNeeded(ratio, n)
	}
	return w
}

// failuresNeeded is the smallest count that is at least ratio of n: at least 1.
// The tolerance keeps 7 % of 100 at 7, which binary fractions put a hair above.
func failuresNeeded(ratio float64, n int) int {
	return max(1, int(math.Ceil(float64(ratio*float64(n))-1e-9)))
}

func (w *lastCalls) add(_ time.Duration, failed bool) bool {
	if w.n == len(w.failed) {
		if w.failed[w.at] {
			w.failures--
		}
	} else {
		w.n++
	}
	w.failed[w.at] = failed
	if failed {
		w.failures++
	}
	if w.at++; w.at == len(w.failed) {
		w.at = 0
	}
	return w.n >= w.min && w.failures >= w.need[w.n]
}

func (w *lastCalls) reset() {
	clear(w.failed)
	w.at, w.n, w.failures = 0, 0, 0
}

// lastSpan trips when at least a share of the results of the last span failed,
// once there are min of them. The window slides exactly: a result counts until
// it is span old.
type lastSpan struct {
	span     time.Duration
	min      int
	ratio    float64
	results  []result // ring of a power of two
	head, n  int
	failures int
}

type result struct {
	at     time.Duration
	failed bool
}

var _ window = (*lastSpan)(nil)

func (w *lastSpan) add(now time.Duration, failed bool) bool {
	for w.n > 0 && now-w.results[w.head].at >= w.span {
		if w.results[w.head].failed {
			w.failures--
		}
		w.head = (w.head + 1) & (len(w.results) - 1)
		w.n--
	}
	if w.n == len(w.results) {
		bigger := make([]result, max(64, 2*w.n))
		for i := range w.n {
			bigger[i] = w.results[(w.head+i)&(len(w.results)-1)]
		}
		w.results, w.head = bigger, 0
	}
	w.results[(w.head+w.n)&(len(w.results)-1)] = result{now, failed}
	w.n++
	if failed {
		w.failures++
	}
	return w.n >= w.min && w.failures >= failuresNeeded(w.ratio, w.n)
}

func (w *lastSpan) reset() { w.head, w.n, w.failures = 0, 0, 0 }
