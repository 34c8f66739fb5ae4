package resilience

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
)

var down = step{class: call.ServerError}

func machine(r *rig, layer int) *Machine { return r.layers[layer].(*breakerLayer).machines[0] }

func TestBreakerRefusesAndTells(t *testing.T) {
	r := newRig(t, &work{steps: []step{down, down, down, {after: 20 * ms}}}, breakerOf(threeInARow))
	for _, at := range []time.Duration{0, 1 * s, 2 * s, 3 * s, 32 * s, 32*s + 10*ms, 33 * s} {
		r.call(at, 0)
	}
	for _, tt := range []struct {
		until time.Duration
		state int64
	}{{2 * s, 0}, {3 * s, 2}, {32*s + ms, 1}, {100 * s, 0}} {
		r.run(tt.until)
		if n := r.layers[0].(*breakerLayer).state.N(); n != tt.state {
			t.Errorf("the state gauge shows %d just before %v, want %d", n, tt.until, tt.state)
		}
	}
	want := "server_error at 0s, server_error at 1s, server_error at 2s, breaker_open at 3s, ok at 32.02s, breaker_open at 32.01s, ok at 33.02s"
	if got := strings.Join(r.got(), ", "); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got, want := strings.Join(r.states, ", "), "2s closed>open, 32s open>half-open, 32.02s half-open>closed"; got != want {
		t.Errorf("transitions %s, want %s", got, want)
	}
}

func TestHalfOpenAdmitsOneProbeUnderAThousandWaitingCallers(t *testing.T) {
	r := newRig(t, &work{steps: []step{down, {after: s}}}, breakerOf(func(b *Breaker) { b.Consecutive = 1 }))
	r.call(0, 0)
	for i := range 1000 {
		r.call(30*s+time.Duration(i%10)*ms, 0)
	}
	r.run(100 * s)
	if r.work.started != 2 || machine(r, 0).Rejected != 999 || machine(r, 0).Closes != 1 {
		t.Errorf("%d started, %d refused, %d closes; want 2, 999, 1", r.work.started, machine(r, 0).Rejected, machine(r, 0).Closes)
	}
}

// What the classes mean by default: to a closed breaker that opens at one
// failure; between two failures, to one that opens at two in a row; to a probe.
func TestVerdictsOfOutcomes(t *testing.T) {
	after := func(row int, steps ...step) State {
		r := newRig(t, &work{steps: steps}, breakerOf(func(b *Breaker) { b.Consecutive = row }))
		for i := range steps {
			r.call(time.Duration(i)*30*s, 0)
		}
		r.run(1000 * s)
		return machine(r, 0).state
	}
	for class, want := range map[call.Class]string{
		call.OK:           "closed, closed, closed",
		call.ClientError:  "closed, open, closed",
		call.ServerError:  "open, open, open",
		call.ConnectError: "open, open, open",
		call.Timeout:      "open, open, open",
		call.Throttled:    "closed, open, half-open",
		call.Cancelled:    "closed, open, half-open",
		call.Rejected:     "closed, open, half-open",
		call.Degraded:     "closed, open, half-open",
	} {
		x := step{class: class}
		got := fmt.Sprintf("%v, %v, %v", after(1, x), after(2, down, x, step{class: call.ServerError, after: ms}), after(1, down, x))
		if got != want {
			t.Errorf("%v: %s, want %s", class, got, want)
		}
	}
}

func TestACancelledProbeGivesItsSlotBack(t *testing.T) {
	r := newRig(t, &work{steps: []step{down, {hang: true}, {}}}, breakerOf(func(b *Breaker) { b.Consecutive = 1 }))
	r.call(0, 0)
	r.call(30*s, 31*s)
	r.call(31*s, 0)
	r.run(100 * s)
	if got, want := strings.Join(r.states, ", "), "0s closed>open, 30s open>half-open, 31s half-open>closed"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestVerdictsCanBeChanged(t *testing.T) {
	r := newRig(t, &work{steps: []step{{class: call.ClientError}}}, breakerOf(func(b *Breaker) {
		b.Consecutive, b.Verdicts = 1, map[string]string{"client_error": "failure", "server_error": "success"}
	}))
	r.call(0, 0)
	r.run(s)
	if machine(r, 0).state != Open {
		t.Error("a client error that counts as a failure does not open it")
	}
	r = newRig(t, &work{steps: []step{down}}, breakerOf(func(b *Breaker) {
		b.Consecutive, b.Verdicts = 1, map[string]string{"server_error": "neutral"}
	}))
	r.call(0, 0)
	r.run(s)
	if machine(r, 0).state != Closed {
		t.Error("a neutral server error opens it")
	}
}

// C12 of practice: callers that hang up say nothing about the dependency.
func TestCancelledCallsDoNotOpen(t *testing.T) {
	config := breakerOf(func(b *Breaker) { b.Window, b.MinCalls = &LastSpan{Span: 10 * s}, 5 })
	r := newRig(t, &work{steps: []step{{after: 200 * ms}}}, config)
	for i := range 400 {
		at := time.Duration(i) * 50 * ms
		deadline := time.Duration(0)
		if i >= 200 && i < 212 {
			deadline = at + 50*ms
		}
		r.call(at, deadline)
	}
	r.run(100 * s)
	left, ok := 0, 0
	for _, c := range r.callers {
		switch {
		case c.left:
			left++
		case c.out.Class == call.OK:
			ok++
		}
	}
	if machine(r, 0).Opens != 0 || left != 12 || ok != 388 {
		t.Errorf("opens %d, left %d, ok %d; want 0, 12, 388", machine(r, 0).Opens, left, ok)
	}
}

// C06 of practice: the probe is lost for as long as the call timeout or the
// lease, and no longer; and one refused by a bulkhead inside gives its slot back.
func TestALostProbeDoesNotStickTheBreaker(t *testing.T) {
	run := func(stack ...Config) *rig {
		w := &work{}
		w.decide = func(*call.Call) step {
			if w.k.Now() < 60*s {
				return step{hang: true}
			}
			return step{after: 20 * ms}
		}
		r := newRig(t, w, stack...)
		for i := range 1200 {
			r.call(time.Duration(i)*100*ms, 0)
		}
		r.run(200 * s)
		return r
	}
	r := run(breakerOf(threeInARow), &Timeout{After: 10 * s})
	want := "10.2s closed>open, 40.2s open>half-open, 50.2s half-open>open, 1m20.2s open>half-open, 1m20.22s half-open>closed"
	if got := strings.Join(r.states, ", "); got != want {
		t.Errorf("with a timeout: %s\nwant %s", got, want)
	}

	// The first three calls fail, the probe at 30.3 s hangs for good; without a
	// timeout the lease takes its place.
	w := &work{steps: []step{down, down, down, {hang: true}, {after: 20 * ms}}}
	r = newRig(t, w, breakerOf(threeInARow))
	for i := range 1200 {
		r.call(time.Duration(i)*100*ms, 0)
	}
	r.run(200 * s)
	want = "200ms closed>open, 30.2s open>half-open, 1m0.22s half-open>closed"
	if got := strings.Join(r.states, ", "); got != want {
		t.Errorf("with a lease: %s\nwant %s", got, want)
	}

	// The bulkhead inside is full when the probe comes: refused there, it gives
	// its slot back and the next call probes.
	r = newRig(t, &work{steps: []step{{after: ms, class: call.ServerError}, {after: 4 * s}, {after: ms}}},
		breakerOf(func(b *Breaker) { b.Consecutive = 1 }), &Bulkhead{Permits: 1, Queue: -1})
	r.call(0, 0) // opens it
	other := &caller{k: r.k, call: call.Call{Deadline: call.NoDeadline}}
	r.at(29*s, func() { other.start(r.layers[1]) }) // holds the permit until 33 s
	r.call(31*s, 0)
	r.call(34*s, 0)
	r.run(100 * s)
	if got, want := strings.Join(r.got(), ", "), "server_error at 1ms, bulkhead_full at 31s, ok at 34.001s"; got != want {
		t.Errorf("with a full bulkhead: %s, want %s", got, want)
	}
	want = "1ms closed>open, 31s open>half-open, 34.001s half-open>closed"
	if got := strings.Join(r.states, ", "); got != want {
		t.Errorf("with a full bulkhead: %s\nwant %s", got, want)
	}
}

// C13 of practice: what our own bulkhead turns away says nothing about the
// dependency.
func TestShedCallsDoNotOpen(t *testing.T) {
	r := newRig(t, &work{steps: []step{{after: 200 * ms}}}, breakerOf(func(b *Breaker) { b.Ratio = 0.25 }), &Bulkhead{Permits: 10, Queue: -1})
	for i := range 1000 {
		r.call(time.Duration(i)*10*ms, 0)
	}
	r.run(100 * s)
	if shed := r.layers[1].(*bulkheadLayer).shed; machine(r, 0).Opens != 0 || shed != 500 {
		t.Errorf("opens %d, shed %d; want 0 and half of 1000", machine(r, 0).Opens, shed)
	}
}

// With record: attempt each attempt of a retry inside counts, and the operation
// does not count again.
func TestRecordAttempt(t *testing.T) {
	tests := []struct {
		name     string
		record   string
		inside   []Config
		work     []step
		calls    int
		states   string
		attempts int
	}{
		{"operations: three calls of three attempts", RecordOperation, []Config{retryOf(3, &NoBackoff{})}, []step{down}, 3,
			"2s closed>open", 9},
		{"attempts: the third attempt of the first call", RecordAttempt, []Config{retryOf(3, &NoBackoff{})}, []step{down}, 1,
			"0s closed>open", 3},
		{"two bad attempts and a good one", RecordAttempt, []Config{retryOf(3, &NoBackoff{})}, []step{down, down, {}, down, down, {}}, 2,
			"", 6},
		{"a call without an attempt in it counts as one", RecordAttempt, nil, []step{down}, 3,
			"2s closed>open", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			config := breakerOf(func(b *Breaker) { b.Consecutive, b.Record = 3, tt.record })
			r := newRig(t, &work{steps: tt.work}, append([]Config{config}, tt.inside...)...)
			for i := range tt.calls {
				r.call(time.Duration(i)*s, 0)
			}
			r.run(10 * s)
			if got := strings.Join(r.states, ", "); got != tt.states {
				t.Errorf("transitions %q, want %q", got, tt.states)
			}
			if r.work.started != tt.attempts {
				t.Errorf("%d attempts, want %d", r.work.started, tt.attempts)
			}
			for i, c := range r.callers {
				if c.call.Sink != nil {
					t.Errorf("call %d came back with a sink in it", i)
				}
			}
		})
	}
}

// One admission in half-open is one probe, however many attempts it makes: the
// operation's outcome decides, and a failed attempt before it does not.
func TestAProbeWithRetriesIsOneProbe(t *testing.T) {
	config := breakerOf(func(b *Breaker) { b.Consecutive, b.Record = 3, RecordAttempt })
	r := newRig(t, &work{steps: []step{down, down, down, down, {}}}, config, retryOf(3, &NoBackoff{}))
	r.call(0, 0)    // three failed attempts: open
	r.call(30*s, 0) // a failed attempt and a good one: closed
	r.run(100 * s)
	if got, want := strings.Join(r.states, ", "), "0s closed>open, 30s open>half-open, 30s half-open>closed"; got != want {
		t.Errorf("transitions %s, want %s", got, want)
	}
	if m := machine(r, 0); m.Probes != 1 || m.Stale != 0 {
		t.Errorf("probes %d, stale %d; want 1, 0", m.Probes, m.Stale)
	}
}

// Attempts of a call that opened the breaker itself are late from then on.
func TestAttemptsAfterOpeningAreStale(t *testing.T) {
	config := breakerOf(func(b *Breaker) { b.Consecutive, b.Record = 2, RecordAttempt })
	r := newRig(t, &work{steps: []step{down}}, config, retryOf(5, &NoBackoff{}))
	r.call(0, 0)
	r.run(s)
	if m := machine(r, 0); m.Opens != 1 || m.Stale != 3 {
		t.Errorf("opens %d, stale %d; want 1, 3", m.Opens, m.Stale)
	}
}

// Two breakers that count attempts both hear of every attempt, and the sink
// they found is put back.
func TestSinksNest(t *testing.T) {
	outer := breakerOf(func(b *Breaker) { b.Consecutive, b.Record = 9, RecordAttempt })
	inner := breakerOf(func(b *Breaker) { b.Consecutive, b.Record = 3, RecordAttempt })
	r := newRig(t, &work{steps: []step{down}}, outer, inner, retryOf(3, &NoBackoff{}))
	r.call(0, 0)
	c := r.call(0, 0)
	heard := &sink{}
	c.call.Sink = heard
	r.run(s)
	if got, want := strings.Join(r.states, ", "), "0s closed>open"; got != want {
		t.Errorf("transitions %s, want %s of the inner one", got, want)
	}
	if row := machine(r, 0).window.counts().row; row != 3 {
		t.Errorf("the outer one heard of %d failures, want 3 and nothing of the refusal", row)
	}
	if c.call.Sink != call.AttemptSink(heard) {
		t.Error("the caller's own sink was not put back")
	}
}

type sink struct{ heard []call.Class }

func (s *sink) AttemptDone(o call.Outcome) { s.heard = append(s.heard, o.Class) }

// A retry tells the call's sink of every attempt, the last one too, when it is
// the one that counts attempts.
func TestRetryReportsEveryAttempt(t *testing.T) {
	r := newRig(t, &work{steps: []step{down, {after: ms, class: call.Timeout}, {}}}, retryOf(3, &NoBackoff{}, on("server_error", "timeout")))
	heard := &sink{}
	r.call(0, 0).call.Sink = heard
	r.run(s)
	if got, want := fmt.Sprint(heard.heard), "[server_error timeout ok]"; got != want {
		t.Errorf("heard %s, want %s", got, want)
	}

	// One that does not count attempts leaves that to the retry further inside.
	silent := &sink{}
	c := &caller{k: r.k, call: call.Call{Deadline: call.NoDeadline, Sink: silent}}
	c.start(newRetry().Layer(Env{Sched: r.k, Meter: des.NullMeter{}, Source: "x"})(r.work))
	if len(silent.heard) != 0 {
		t.Errorf("heard %v", silent.heard)
	}
}
