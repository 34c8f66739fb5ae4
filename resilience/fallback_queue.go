package resilience

import "time"

// drainQueue is a bounded queue of writes that a worker of its own does one by
// one at a fixed rate, the first a full gap after the queue was empty. What it
// has done is worked out when the next write comes, so it needs no events.
type drainQueue struct {
	size, level int64
	gap         time.Duration // between two writes done
	next        time.Duration // when the next one is done, while level > 0
}

// newDrainQueue makes a queue of size that is drained at perSec, which is above
// 0: from one write a nanosecond down to one in 36 years.
func newDrainQueue(size int, perSec float64) drainQueue {
	gap := time.Nanosecond
	if ns := 1e9 / perSec; ns >= float64(longestPause) {
		gap = longestPause
	} else if ns > 1 {
		gap = time.Duration(ns + 0.5)
	}
	return drainQueue{size: int64(size), gap: gap}
}

// offer reports whether there was a place for one more write at now. A write
// that is done exactly now has left its place.
func (q *drainQueue) offer(now time.Duration) bool {
	if q.level > 0 && now >= q.next {
		done := int64((now-q.next)/q.gap) + 1
		q.level = max(0, q.level-done)
		q.next += time.Duration(done) * q.gap
	}
	if q.level >= q.size {
		return false
	}
	if q.level == 0 {
		q.next = now + q.gap
	}
	q.level++
	return true
}
