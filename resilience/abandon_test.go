package resilience

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
)

func abandon(limit time.Duration) *Timeout { return &Timeout{After: limit, Mode: ModeAbandon} }

func TestAbandonFreesTheCallerAndNotTheWork(t *testing.T) {
	tests := []struct {
		name     string
		work     step
		patience time.Duration
		want     string
		figures  string // fired, late, cancelled work
		working  int    // at 15 ms
	}{
		{"an answer in time passes", step{after: 9 * ms}, 0, "ok at 9ms", "0 0 0", 0},
		{"due exactly at the limit is in time", step{after: 10 * ms}, 0, "ok at 10ms", "0 0 0", 0},
		{"the work goes on to its end", step{after: 30 * ms}, 0, "timeout at 10ms", "1 1 0", 1},
		{"work that hangs is never told of", step{hang: true}, 0, "timeout at 10ms", "1 0 0", 1},
		{"a caller that leaves before still cancels", step{after: 30 * ms}, 4 * ms, "left", "0 0 1", 0},
		{"one that leaves after the limit has nothing to cancel", step{after: 30 * ms}, 12 * ms, "timeout at 10ms", "1 1 0", 1},
		{"at once is at once", step{class: call.ConnectError}, 0, "connect_error at 0s", "0 0 0", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, &work{steps: []step{tt.work}}, abandon(10*ms))
			r.call(0, tt.patience)
			l := r.layers[0].(*looseTimeout)
			r.run(15 * ms)
			if n := l.abandoned.N(); r.work.inside != tt.working || n != int64(tt.working) || l.goroutines.N() != n {
				t.Errorf("at 15ms %d work and %d are abandoned, want %d", r.work.inside, n, tt.working)
			}
			r.run(s)
			if got := strings.Join(r.got(), ", "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if got := fmt.Sprint(l.fired, l.late, r.work.canceled); got != tt.figures {
				t.Errorf("fired, late, cancelled %s, want %s", got, tt.figures)
			}
			if !tt.work.hang && (l.abandoned.N() != 0 || l.goroutines.N() != 0 || r.work.inside != 0) || r.k.Live() != 0 {
				t.Errorf("left: abandoned %d, goroutines %d, work %d, timers %d", l.abandoned.N(), l.goroutines.N(), r.work.inside, r.k.Live())
			}
		})
	}
}

// The growth law: at rate r each call leaves work behind for (work - limit), so
// r·(work - limit) of them stand beside the r·limit whose callers still wait.
func TestAbandonedWorkGrowsByRateTimesWorkBeyondTheLimit(t *testing.T) {
	const gap, limit, length = 50 * ms, 500 * ms, 4 * s // 20 a second
	for _, tt := range []struct {
		release string
		inside  int64 // permits in use in the steady state
	}{{OnCallerReturn, int64(limit / gap)}, {OnWorkDone, int64(length / gap)}} {
		r := newRig(t, &work{steps: []step{{after: length}}}, &Bulkhead{Permits: 1000, Queue: -1, Release: tt.release}, abandon(limit))
		for at := time.Duration(0); at < 10*s; at += gap {
			r.call(at, 0)
		}
		pool, l := r.layers[0].(*bulkheadLayer).pool, r.layers[1].(*looseTimeout)
		r.run(8*s + ms)
		if want := int64((length - limit) / gap); l.abandoned.N() != want || pool.InUse.N() != tt.inside {
			t.Errorf("%s: abandoned %d, permits %d; want %d and %d", tt.release, l.abandoned.N(), pool.InUse.N(), want, tt.inside)
		}
		r.run(100 * s)
		if l.abandoned.N() != 0 || pool.InUse.N() != 0 || l.late != l.fired || l.fired != 200 {
			t.Errorf("%s: in the end abandoned %d, permits %d, %d of %d late", tt.release, l.abandoned.N(), pool.InUse.N(), l.late, l.fired)
		}
	}
}

// A bulkhead of 2 around a timeout of 10 ms that abandons work of 50 ms.
func TestWhoHoldsThePermitOfAbandonedWork(t *testing.T) {
	calls := []time.Duration{0, 1 * ms, 12 * ms, 13 * ms, 49 * ms, 50 * ms, 51 * ms}
	tests := []struct {
		name   string
		config Bulkhead
		want   string
		most   int // work at once
	}{
		{"the caller's return frees it", Bulkhead{Permits: 2, Queue: -1},
			"timeout at 10ms, timeout at 11ms, timeout at 22ms, timeout at 23ms, timeout at 59ms, timeout at 60ms, bulkhead_full at 51ms", 5},
		{"the end of the work frees it", Bulkhead{Permits: 2, Queue: -1, Release: OnWorkDone},
			"timeout at 10ms, timeout at 11ms, bulkhead_full at 12ms, bulkhead_full at 13ms, bulkhead_full at 49ms, timeout at 60ms, timeout at 61ms", 2},
		{"who waits gets it then", Bulkhead{Permits: 2, Queue: 2, MaxWait: -1, Release: OnWorkDone},
			"timeout at 10ms, timeout at 11ms, timeout at 60ms, timeout at 61ms, bulkhead_full at 49ms, timeout at 110ms, timeout at 111ms", 2},
		{"a thread is held by its work", Bulkhead{Queue: -1, Threads: &Threads{Core: 1, Max: 2}},
			"timeout at 10ms, timeout at 11ms, bulkhead_full at 12ms, bulkhead_full at 13ms, bulkhead_full at 49ms, timeout at 60ms, timeout at 61ms", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, &work{steps: []step{{after: 50 * ms}}}, &tt.config, abandon(10*ms))
			for _, at := range calls {
				r.call(at, 0)
			}
			r.run(s)
			if got := strings.Join(r.got(), ", "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			p := r.layers[0].(*bulkheadLayer).pool
			if f := p.InUse.CutFlow(r.k.Now()); r.work.most != tt.most || f.End != 0 || f.Area != f.Sojourn || r.k.Live() != 0 {
				t.Errorf("most work at once %d, want %d; permits left %d, ∫N dt %d, Σ sojourns %d, timers %d", r.work.most, tt.most, f.End, f.Area, f.Sojourn, r.k.Live())
			}
		})
	}
}

// The permit waits for the last of several attempts, whichever ends first.
func TestThePermitWaitsForTheLastAttempt(t *testing.T) {
	for _, tt := range []struct {
		steps    []step
		patience time.Duration
		want     string
		free     time.Duration // the permit
	}{
		{[]step{{after: 100 * ms}, {after: 30 * ms}, {after: 5 * ms}}, 0, "ok at 25ms", 100 * ms},
		{[]step{{after: 30 * ms}, {after: 100 * ms}, {after: 5 * ms}}, 0, "ok at 25ms", 110 * ms},
		{[]step{{after: 12 * ms}, {after: 12 * ms}, {after: 5 * ms}}, 0, "ok at 25ms", 25 * ms},
		{[]step{{after: 50 * ms}, {after: 50 * ms}, {after: 50 * ms}}, 0, "timeout at 30ms", 70 * ms},
		{[]step{{after: 50 * ms}, {hang: true}}, 15 * ms, "left", 50 * ms}, // the caller leaves: what runs is cancelled, what was abandoned is not
	} {
		r := newRig(t, &work{steps: tt.steps}, &Bulkhead{Permits: 1, Queue: -1, Release: OnWorkDone}, retryOf(3, &NoBackoff{}), abandon(10*ms))
		r.call(0, tt.patience)
		p := r.layers[0].(*bulkheadLayer).pool
		r.run(tt.free)
		if p.InUse.N() != 1 {
			t.Errorf("%v: the permit is back before %v", tt.steps, tt.free)
		}
		r.run(tt.free + 1)
		if p.InUse.N() != 0 {
			t.Errorf("%v: the permit is not back at %v", tt.steps, tt.free)
		}
		if got := r.callers[0].String(); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.steps, got, tt.want)
		}
	}
}

// Bulkheads in bulkheads each keep their permit; a timeout outside of a thread
// pool abandons a call that still queues, and it runs for nobody.
func TestAbandonThroughSeveralLayers(t *testing.T) {
	r := newRig(t, &work{steps: []step{{after: 100 * ms}}}, &Bulkhead{Permits: 5, Queue: -1, Release: OnWorkDone}, abandon(30*ms), &Bulkhead{Permits: 5, Queue: -1, Release: OnWorkDone}, abandon(20*ms))
	r.call(0, 0)
	outer, inner := r.layers[0].(*bulkheadLayer).pool, r.layers[2].(*bulkheadLayer).pool
	r.run(99 * ms)
	if outer.InUse.N() != 1 || inner.InUse.N() != 1 || r.callers[0].String() != "timeout at 20ms" {
		t.Errorf("permits %d and %d, %v", outer.InUse.N(), inner.InUse.N(), r.callers[0])
	}
	r.run(s)
	if outer.InUse.N() != 0 || inner.InUse.N() != 0 {
		t.Errorf("in the end permits %d and %d", outer.InUse.N(), inner.InUse.N())
	}

	r = newRig(t, &work{steps: []step{{after: 50 * ms}}}, abandon(10*ms), &Bulkhead{Queue: -1, Threads: &Threads{Core: 1, Queue: 5}})
	r.call(0, 0)
	r.call(1*ms, 0)
	r.run(s)
	l := r.layers[0].(*looseTimeout)
	if got := strings.Join(r.got(), ", "); got != "timeout at 10ms, timeout at 11ms" || r.work.started != 2 || l.late != 2 || !slices.Equal(r.work.seen, []time.Duration{0, 50 * ms}) {
		t.Errorf("%s; %d started at %v, %d late", got, r.work.started, r.work.seen, l.late)
	}
}

// A retry in abandoned work goes on by itself: a breaker that records attempts
// hears of those before the limit and of no other, and their numbers are their own.
func TestNobodyHearsOfAttemptsOfAbandonedWork(t *testing.T) {
	var heard sink
	var numbers []uint16
	w := &work{}
	w.decide = func(c *call.Call) step { return step{after: 8 * ms, class: call.ServerError} }
	r := newRig(t, w, abandon(20*ms), retryOf(4, &NoBackoff{}))
	c := r.call(0, 0)
	c.call.Sink = &heard
	r.at(21*ms, func() { numbers = append(numbers, c.call.NextAttempt()) })
	r.run(s)
	if len(heard.heard) != 2 || w.started != 4 || c.String() != "timeout at 20ms" {
		t.Errorf("heard of %d attempts of %d, %v", len(heard.heard), w.started, c)
	}
	if !slices.Equal(numbers, []uint16{4}) { // three were begun before the limit
		t.Errorf("the caller's next attempt is number %v", numbers)
	}
}

func TestPropagatedDeadlineTable(t *testing.T) {
	tests := []struct {
		name     string
		config   Timeout
		patience time.Duration
		work     step
		want     string
		seen     time.Duration // the deadline inside
		fired    int64
		refused  int64
	}{
		{"without it the caller's deadline stands inside", Timeout{After: 10 * ms, Mode: ModeAbandon}, 50 * ms, step{after: ms}, "ok at 6ms", 50 * ms, 0, 0},
		{"its own limit is the smaller", Timeout{After: 10 * ms, Propagate: true}, 50 * ms, step{after: 20 * ms}, "timeout at 15ms", 15 * ms, 1, 0},
		{"what the caller has left is the smaller", Timeout{After: 10 * ms, Propagate: true}, 12 * ms, step{after: 20 * ms}, "left", 12 * ms, 0, 0},
		{"no deadline leaves its own limit", Timeout{After: 10 * ms, Propagate: true}, 0, step{after: 20 * ms}, "timeout at 15ms", 15 * ms, 1, 0},
		{"a huge limit does not wrap", Timeout{After: call.NoDeadline, Propagate: true}, 0, step{after: 20 * ms}, "ok at 25ms", call.NoDeadline, 0, 0},
		{"less than is useful is refused", Timeout{After: 20 * ms, Useful: 8 * ms}, 13*ms - 1, step{after: ms}, "no_time_left at 5ms", -1, 0, 1},
		{"exactly what is useful is not", Timeout{After: 20 * ms, Useful: 8 * ms}, 13 * ms, step{after: ms}, "ok at 6ms", 13 * ms, 0, 0},
		{"no deadline is enough", Timeout{After: 20 * ms, Useful: 8 * ms}, 0, step{after: ms}, "ok at 6ms", call.NoDeadline, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			seen := time.Duration(-1)
			w := &work{}
			w.decide = func(c *call.Call) step { seen = c.Deadline; return tt.work }
			r := newRig(t, w, &tt.config)
			r.call(5*ms, tt.patience)
			r.run(s)
			l := r.layers[0].(*looseTimeout)
			if got := r.callers[0].String(); got != tt.want || seen != tt.seen || l.fired != tt.fired || l.refused != tt.refused {
				t.Errorf("%s, deadline inside %v, fired %d, refused %d; want %s, %v, %d, %d", got, seen, l.fired, l.refused, tt.want, tt.seen, tt.fired, tt.refused)
			}
			if r.k.Live() != 0 || w.inside != 0 {
				t.Errorf("%d timers, %d work left", r.k.Live(), w.inside)
			}
		})
	}
}

// A total limit that hands its deadline on makes the retry inside stop before a
// pause that nobody would wait for, and refuses an attempt that cannot finish.
func TestARetryInsideSeesThePropagatedDeadline(t *testing.T) {
	for _, tt := range []struct {
		propagate bool
		want      string
		started   int
	}{{true, "server_error at 55ms", 2}, {false, "timeout at 100ms", 2}} {
		r := newRig(t, &work{steps: []step{{after: 5 * ms, class: call.ServerError}}}, &Timeout{After: 100 * ms, Propagate: tt.propagate}, retryOf(5, &ConstantBackoff{Wait: 45 * ms}))
		r.call(0, 0)
		r.run(s)
		if got := r.callers[0].String(); got != tt.want || r.work.started != tt.started {
			t.Errorf("propagate %v: %s with %d attempts, want %s with %d", tt.propagate, got, r.work.started, tt.want, tt.started)
		}
	}
}

func TestLooseTimeoutIsBuiltOnlyWhereItIsNeeded(t *testing.T) {
	for _, tt := range []struct {
		config Timeout
		loose  bool
	}{{Timeout{After: s}, false}, {Timeout{After: s, Mode: ModeCancel}, false}, {Timeout{After: s, Propagate: true}, true}, {Timeout{After: s, Useful: 1}, true}, {Timeout{After: s, Mode: ModeAbandon}, true}} {
		_, loose := tt.config.Layer(Env{Sched: des.NewKernel(), Meter: des.NullMeter{}})(&held{}).(*looseTimeout)
		if loose != tt.loose {
			t.Errorf("%s: loose %v", tt.config.Text(), loose)
		}
	}
}

// Abandoned work, kept permits and queued calls reuse their frames too.
func TestAbandonAllocatesNothingInSteadyState(t *testing.T) {
	k := des.NewKernel()
	work := &mill{k: k, pieces: make([]milled, 4096), ends: true}
	env := Env{Sched: k, Meter: des.NullMeter{}, Source: "x"}
	for _, b := range []*Bulkhead{{Permits: 20, Queue: 30, MaxWait: 4 * ms, Release: OnWorkDone}, {Queue: -1, Threads: &Threads{Core: 5, Max: 20, Queue: 20, KeepAlive: ms}}} {
		l := b.Layer(env)(abandon(3 * ms).Layer(env)(retryOf(2, &NoBackoff{}).Layer(env)(work)))
		callers := make([]miller, 64)
		round := func() {
			for i := range callers {
				c := &callers[i]
				c.call = call.Call{Request: uint64(i), Deadline: call.NoDeadline}
				l.Start(&c.call, c)
			}
			if err := k.Run(t.Context(), k.Now()+40*ms); err != nil {
				t.Fatal(err)
			}
		}
		for range 20 {
			round()
		}
		if n := testing.AllocsPerRun(50, round); n != 0 {
			t.Errorf("%s: %v allocations in 64 calls", b.Text(), n)
		}
	}
}
