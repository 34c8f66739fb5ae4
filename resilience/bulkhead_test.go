package resilience

import (
	"slices"
	"strings"
	"testing"
	"time"

	"blastradius/sim/call"
)

func TestBulkheadTable(t *testing.T) {
	tests := []struct {
		name     string
		config   Bulkhead
		work     []step
		calls    []time.Duration // starts
		patience map[int]time.Duration
		want     string
	}{
		{"turns away at once without a wait", Bulkhead{Permits: 1, Queue: -1}, []step{{after: 10 * ms}},
			[]time.Duration{0, 5 * ms, 10 * ms}, nil, "ok at 10ms, bulkhead_full at 5ms, ok at 20ms"},
		{"queues first come, first served", Bulkhead{Permits: 1, Queue: -1, MaxWait: 100 * ms}, []step{{after: 10 * ms}},
			[]time.Duration{0, 1 * ms, 2 * ms}, nil, "ok at 10ms, ok at 20ms, ok at 30ms"},
		{"a bounded queue turns away the one too many", Bulkhead{Permits: 1, Queue: 1, MaxWait: -1}, []step{{after: 10 * ms}},
			[]time.Duration{0, 1 * ms, 2 * ms}, nil, "ok at 10ms, ok at 20ms, bulkhead_full at 2ms"},
		{"queue 0 is no queue, whatever the wait", Bulkhead{Permits: 1, Queue: 0, MaxWait: -1}, []step{{after: 10 * ms}},
			[]time.Duration{0, 1 * ms}, nil, "ok at 10ms, bulkhead_full at 1ms"},
		{"a wait has an end", Bulkhead{Permits: 1, Queue: -1, MaxWait: 5 * ms}, []step{{after: 10 * ms}},
			[]time.Duration{0, 1 * ms}, nil, "ok at 10ms, bulkhead_wait at 6ms"},
		{"a permit freed at the instant a wait ends goes to the waiter", Bulkhead{Permits: 1, Queue: -1, MaxWait: 9 * ms}, []step{{after: 10 * ms}},
			[]time.Duration{0, 1 * ms}, nil, "ok at 10ms, ok at 20ms"},
		{"for ever is for ever", Bulkhead{Permits: 1, Queue: -1, MaxWait: -1}, []step{{after: 400 * s}, {after: ms}},
			[]time.Duration{0, 0}, nil, "ok at 6m40s, ok at 6m40.001s"},
		{"an error gives the permit back too", Bulkhead{Permits: 1, Queue: -1}, []step{{after: 10 * ms, class: call.ServerError}, {after: ms}},
			[]time.Duration{0, 10 * ms}, nil, "server_error at 10ms, ok at 11ms"},
		{"a caller that leaves gives its permit to the next", Bulkhead{Permits: 1, Queue: -1, MaxWait: -1}, []step{{hang: true}, {after: ms}},
			[]time.Duration{0, 1 * ms}, map[int]time.Duration{0: 5 * ms}, "left, ok at 6ms"},
		{"a waiter that leaves gives up its place", Bulkhead{Permits: 1, Queue: 1, MaxWait: -1}, []step{{after: 10 * ms}},
			[]time.Duration{0, 1 * ms, 4 * ms}, map[int]time.Duration{1: 3 * ms}, "ok at 10ms, left, ok at 20ms"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, &work{steps: tt.work}, &tt.config)
			for i, at := range tt.calls {
				r.call(at, tt.patience[i])
			}
			r.run(1000 * s)
			if got := strings.Join(r.got(), ", "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			p := r.layers[0].(*bulkheadLayer).pool
			if r.work.most > tt.config.Permits || p.InUse.N() != 0 || p.Waiting.N() != 0 || r.k.Live() != 0 {
				t.Errorf("most inside %d, in use %d, waiting %d, timers %d", r.work.most, p.InUse.N(), p.Waiting.N(), r.k.Live())
			}
		})
	}
}

func TestBulkheadCountsWhatItTurnedAway(t *testing.T) {
	r := newRig(t, &work{steps: []step{{after: 10 * ms}}}, &Bulkhead{Permits: 1, Queue: 2, MaxWait: 5 * ms})
	for range 5 {
		r.call(0, 0)
	}
	r.call(6*ms, 0)    // waits 4 ms
	r.call(6*ms, 8*ms) // its caller leaves
	r.run(s)
	l := r.layers[0].(*bulkheadLayer)
	h := l.pool.Waits.Take()
	if l.shed != 4 || l.pool.Asked != 7 || h.Count() != 2 || h.Max() != 4*ms {
		t.Errorf("shed %d of %d, %d granted, longest wait %v; want 4 of 7, 2 and 4ms", l.shed, l.pool.Asked, h.Count(), h.Max())
	}
}

// A queue of 100,000 over work that takes no time must not make a stack as deep
// as the queue is long, and nobody may overtake.
func TestLongQueueOverInstantWorkStaysFlat(t *testing.T) {
	const n = 100_000
	var order []uint64
	w := &work{}
	w.decide = func(c *call.Call) step {
		order = append(order, c.Request)
		if c.Request == 0 {
			return step{after: ms}
		}
		return step{}
	}
	r := newRig(t, w, &Bulkhead{Permits: 1, Queue: -1, MaxWait: -1})
	for range n {
		r.call(0, 0)
	}
	deepest := 0
	inner := w.decide
	w.decide = func(c *call.Call) step {
		if c.Request == n-1 {
			deepest = stackDepth()
		}
		return inner(c)
	}
	r.run(s)
	if len(order) != n || !slices.IsSorted(order) {
		t.Errorf("%d of %d served, in order: %v", len(order), n, slices.IsSorted(order))
	}
	if deepest == 0 || deepest > 100 {
		t.Errorf("the last call ran %d frames deep", deepest)
	}
	if c := r.callers[n-1]; c.at != ms || c.answers != 1 {
		t.Errorf("the last call: %v", c)
	}
}
