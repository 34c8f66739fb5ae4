package resilience

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"blastradius/sim/call"
)

func fallbackOf(change func(*Fallback)) *Fallback {
	c := newFallback().(*Fallback)
	change(c)
	return c
}

func cached(c *Fallback) { c.Serve = ServeCached }

func figures(l *fallbackLayer) string {
	return fmt.Sprintf("served %d, degraded %d, queued %d, lost %d, misses %d", l.served, l.degraded, l.queued, l.lost, l.misses)
}

func TestFallbackReplacesEveryFailureAndNothingElse(t *testing.T) {
	for class := range call.NumClasses {
		c := call.Class(class)
		if c == call.Cancelled {
			continue // comes as a cancellation, never as an answer
		}
		want := call.Degraded
		if c == call.OK || c == call.ClientError {
			want = c
		}
		for _, after := range []time.Duration{0, 5 * ms} {
			r := newRig(t, &work{steps: []step{{after: after, class: c}}}, newFallback())
			x := r.call(0, 0)
			r.run(s)
			if x.out.Class != want || x.at != after {
				t.Errorf("%v after %v: answered %v", c, after, x)
			}
			if l := r.layers[0].(*fallbackLayer); (l.served == 1) != (want == call.Degraded && c != call.Degraded) {
				t.Errorf("%v: %s", c, figures(l))
			}
		}
	}
}

func TestFallbackTable(t *testing.T) {
	down := step{class: call.ConnectError}
	tests := []struct {
		name     string
		config   *Fallback
		work     []step
		calls    []time.Duration
		deadline time.Duration
		want     string
		figures  string
		ages     string
	}{
		{"a cache that was never filled has no answer", fallbackOf(cached), []step{down}, []time.Duration{0, s}, 0,
			"connect_error at 0s, connect_error at 1s", "served 0, degraded 0, queued 0, lost 0, misses 2", "[0s 0s]"},
		{"it serves the last live answer, ageing", fallbackOf(cached), []step{{after: 100 * ms}, down}, []time.Duration{0, s, 5 * s}, 0,
			"ok at 100ms, degraded at 1s, degraded at 5s", "served 2, degraded 0, queued 0, lost 0, misses 0", "[0s 900ms 4.9s]"},
		{"a client error fills no cache", fallbackOf(cached), []step{{class: call.ClientError}, down}, []time.Duration{0, s}, 0,
			"client_error at 0s, connect_error at 1s", "served 0, degraded 0, queued 0, lost 0, misses 1", "[0s 0s]"},
		{"an answer of exactly max_age is served, an older one is not", fallbackOf(func(c *Fallback) { c.Serve, c.MaxAge = ServeCached, 10*s }), []step{{}, down}, []time.Duration{0, 10 * s, 10*s + 1}, 0,
			"ok at 0s, degraded at 10s, connect_error at 10.000000001s", "served 1, degraded 0, queued 0, lost 0, misses 1", "[0s 10s 0s]"},
		{"a live answer makes the cache new", fallbackOf(func(c *Fallback) { c.Serve, c.MaxAge = ServeCached, 10*s }), []step{{}, down, {}, down}, []time.Duration{0, 8 * s, 9 * s, 19 * s}, 0,
			"ok at 0s, degraded at 8s, ok at 9s, degraded at 19s", "served 2, degraded 0, queued 0, lost 0, misses 0", "[0s 8s 0s 10s]"},
		{"hit 0% is no cache", fallbackOf(func(c *Fallback) { c.Serve, c.Hit = ServeCached, 0 }), []step{{}, down}, []time.Duration{0, s}, 0,
			"ok at 0s, connect_error at 1s", "served 0, degraded 0, queued 0, lost 0, misses 1", "[0s 0s]"},
		{"degraded is always there", newFallback().(*Fallback), []step{down}, []time.Duration{0, s}, 0,
			"degraded at 0s, degraded at 1s", "served 2, degraded 2, queued 0, lost 0, misses 0", "[0s 0s]"},
		{"a fallback takes its time", fallbackOf(func(c *Fallback) { c.Latency = 36 * ms }), []step{{after: 10 * ms, class: call.Timeout}}, []time.Duration{0}, 0,
			"degraded at 46ms", "served 1, degraded 1, queued 0, lost 0, misses 0", "[0s]"},
		{"also after a failure within Start", fallbackOf(func(c *Fallback) { c.Latency = 36 * ms }), []step{down}, []time.Duration{0}, 0,
			"degraded at 36ms", "served 1, degraded 1, queued 0, lost 0, misses 0", "[0s]"},
		{"an answer due exactly at the deadline is in time", fallbackOf(func(c *Fallback) { c.Latency = 36 * ms }), []step{{after: 10 * ms, class: call.ServerError}}, []time.Duration{0}, 46 * ms,
			"degraded at 46ms", "served 1, degraded 1, queued 0, lost 0, misses 0", "[0s]"},
		{"at the deadline itself it still answers", newFallback().(*Fallback), []step{{after: 10 * ms, class: call.ServerError}}, []time.Duration{0}, 10 * ms,
			"degraded at 10ms", "served 1, degraded 1, queued 0, lost 0, misses 0", "[0s]"},
		{"a caller that leaves while it works was not served", fallbackOf(func(c *Fallback) { c.Latency = 36 * ms }), []step{{after: 10 * ms, class: call.ServerError}}, []time.Duration{0}, 20 * ms,
			"left", "served 0, degraded 0, queued 0, lost 0, misses 0", "[0s]"},
		{"a caller that leaves gets none", newFallback().(*Fallback), []step{{hang: true}}, []time.Duration{0}, 20 * ms,
			"left", "served 0, degraded 0, queued 0, lost 0, misses 0", "[0s]"},
		{"a bounded queue of writes, drained two a second", fallbackOf(func(c *Fallback) { c.Serve, c.Size, c.Drain = ServeQueue, 2, 2 }), []step{down}, []time.Duration{0, 0, 0, 500*ms - 1, 500 * ms, 500 * ms, 60 * s}, 0,
			"degraded at 0s, degraded at 0s, connect_error at 0s, connect_error at 499.999999ms, degraded at 500ms, connect_error at 500ms, degraded at 1m0s",
			"served 4, degraded 0, queued 4, lost 3, misses 0", "[0s 0s 0s 0s 0s 0s 0s]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, &work{steps: tt.work}, tt.config)
			for _, at := range tt.calls {
				r.call(at, tt.deadline)
			}
			r.run(1000 * s)
			if got := strings.Join(r.got(), ", "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if got := figures(r.layers[0].(*fallbackLayer)); got != tt.figures {
				t.Errorf("%s, want %s", got, tt.figures)
			}
			var ages []time.Duration
			for _, c := range r.callers {
				ages = append(ages, c.out.Age)
			}
			if got := fmt.Sprint(ages); got != tt.ages {
				t.Errorf("ages %s, want %s", got, tt.ages)
			}
			served, oldest := int64(0), time.Duration(0)
			for _, c := range r.callers {
				if c.out.Age > 0 {
					served++
				}
				oldest = max(oldest, c.out.Age)
			}
			if h := r.layers[0].(*fallbackLayer).ages.Take(); h.Count() != served || h.Max() != oldest {
				t.Errorf("figures: %d cached answers, the oldest %v; served %d, %v", h.Count(), h.Max(), served, oldest)
			}
			if r.k.Live() != 0 {
				t.Errorf("%d timers left", r.k.Live())
			}
		})
	}
}

// A failure that arrives when the caller's deadline has passed gets no
// fallback. In virtual time the caller has left by then; on real goroutines the
// answer may be a moment faster than the caller.
func TestNoFallbackPastTheDeadline(t *testing.T) {
	r := newRig(t, &work{steps: []step{{after: 10 * ms, class: call.ServerError}}}, newFallback())
	c := r.call(0, 0)
	c.call.Deadline = 10*ms - 1
	r.run(s)
	if got, want := c.String(), "server_error at 10ms"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestHitShareIsDrawnByRequest(t *testing.T) {
	run := func() (hits []bool) {
		r := newRig(t, &work{steps: []step{{}, {class: call.ServerError}}}, fallbackOf(func(c *Fallback) { c.Serve, c.Hit = ServeCached, 0.9 }))
		for range 20001 {
			r.call(0, 0)
		}
		r.run(s)
		for _, c := range r.callers[1:] {
			hits = append(hits, c.out.Class == call.Degraded)
		}
		return hits
	}
	a, b := run(), run()
	n := 0
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("request %d hit in one run and missed in the other", i)
		}
		if a[i] {
			n++
		}
	}
	// 4 standard deviations of a binomial share: 4·sqrt(0.9·0.1/20000) = 0.0085.
	if share := float64(n) / 20000; share < 0.9-0.0085 || share > 0.9+0.0085 {
		t.Errorf("hit share %.4f, want 0.9 ± 0.0085", share)
	}
}

// The queue's arithmetic against one that does every write by itself.
func TestDrainQueueIsDrainedAtItsRate(t *testing.T) {
	q := newDrainQueue(3, 4) // a write every 250 ms
	var done []time.Duration // of the writes in the queue
	for now := time.Duration(0); now < 20*s; now += 37 * ms {
		for len(done) > 0 && done[0] <= now {
			done = done[1:]
		}
		if now%(3*s) < 1500*ms { // bursts with pauses between
			want := len(done) < 3
			if got := q.offer(now); got != want {
				t.Fatalf("at %v with %v in the queue: taken %v", now, done, got)
			}
			if want {
				start := now
				if len(done) > 0 {
					start = done[len(done)-1]
				}
				done = append(done, start+250*ms)
			}
		}
	}
	for perSec, want := range map[float64]time.Duration{1e-12: longestPause, 3: 333333333, 6e8: 2, 1e9: 1, 1e30: 1} {
		if got := newDrainQueue(1, perSec).gap; got != want {
			t.Errorf("%g/s: a write every %v, want %v", perSec, got, want)
		}
	}
}
