package resilience

import "time"

// lastSpan trips when at least a share of the results of the last span failed,
// once there are min of them. The window slides exactly, without buckets: a
// result counts until it is span old, and not when it is. It remembers each
// result of the span, 16 bytes.
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
	w.forget(now)
	if w.n == len(w.results) {
		w.grow()
	}
	w.results[(w.head+w.n)&(len(w.results)-1)] = result{now, failed}
	w.n++
	if failed {
		w.failures++
	}
	return w.n >= w.min && w.failures >= failuresNeeded(w.ratio, w.n)
}

// forget drops the results that are too old at now.
func (w *lastSpan) forget(now time.Duration) {
	for w.n > 0 && now-w.results[w.head].at >= w.span {
		if w.results[w.head].failed {
			w.failures--
		}
		w.head = (w.head + 1) & (len(w.results) - 1)
		w.n--
	}
}

func (w *lastSpan) grow() {
	bigger := make([]result, max(64, 2*len(w.results)))
	for i := range w.n {
		bigger[i] = w.results[(w.head+i)&(len(w.results)-1)]
	}
	w.results, w.head = bigger, 0
}

func (w *lastSpan) reset() { w.head, w.n, w.failures = 0, 0, 0 }
