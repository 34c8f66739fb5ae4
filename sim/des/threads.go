package des

import "time"

// threads are the threads of a thread pool, by the rule of Java's
// ThreadPoolExecutor (Javadoc of java.util.concurrent.ThreadPoolExecutor, "Core
// and maximum pool sizes" and "Queuing"): a task gets an idle thread, or a new
// one while there are fewer than core; else it queues; only when the queue is
// full does a new thread take it, up to max. So a thread beyond core runs a
// newer task than those that queue. A thread beyond core ends when it has been
// idle for keep.
type threads struct {
	core, max int64
	keep      time.Duration
	alive     int64           // busy or idle
	idle      []time.Duration // since when, longest first: a ring
	first, n  int
}

// NewThreads returns a pool of threads. queue bounds the tasks that wait
// (negative: no bound); they wait as long as it takes. 1 <= core <= max; keep is
// at least 0.
func NewThreads(s Scheduler, core, most, queue int, keep time.Duration) *Pool {
	p := NewPool(s, most, queue, -1)
	p.threads = &threads{core: int64(core), max: int64(most), keep: keep}
	return p
}

// assign gives a task an idle thread, or a new one below core, and reports
// whether it did.
func (t *threads) assign(now time.Duration) bool {
	t.end(now)
	if t.n > 0 {
		t.pop()
		return true
	}
	if t.alive < t.core {
		t.alive++
		return true
	}
	return false
}

// grow starts a thread beyond core, and reports whether it could.
func (t *threads) grow() bool {
	if t.alive >= t.max {
		return false
	}
	t.alive++
	return true
}

// rest makes a busy thread idle.
func (t *threads) rest(now time.Duration) {
	t.end(now)
	if t.n == len(t.idle) {
		ring := make([]time.Duration, max(8, 2*t.n))
		for i := range t.n {
			ring[i] = t.idle[(t.first+i)%t.n]
		}
		t.idle, t.first = ring, 0
	}
	t.idle[(t.first+t.n)%len(t.idle)] = now
	t.n++
}

// end lets the threads beyond core go that have been idle for long enough. It
// is asked before the idle ones are counted, so no timer is needed.
func (t *threads) end(now time.Duration) {
	for t.n > 0 && t.alive > t.core && now-t.idle[t.first] > t.keep {
		t.pop()
		t.alive--
	}
}

func (t *threads) pop() {
	t.first = (t.first + 1) % len(t.idle)
	t.n--
}
