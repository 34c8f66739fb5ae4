package resilience

import (
	"strings"
	"testing"
	"time"

	"blastradius/sim/call"
)

// A probe has a limit of its own, other calls have not.
func TestHalfOpenTimeout(t *testing.T) {
	config := breakerOf(quick(func(b *Breaker) { b.HalfOpen.Timeout = 100 * ms }))
	r := newRig(t, &work{steps: []step{{after: 500 * ms, class: call.ServerError}, {hang: true}, {after: 100 * ms}, {after: 500 * ms}}}, config)
	r.call(0, 0)         // opens at 500 ms, with no limit
	r.call(2*s, 0)       // hangs, and is given up at 2.1 s
	r.call(4*s, 0)       // an answer at the limit is in time
	r.call(5*s, 0)       // closed: no limit again
	r.call(6*s, 6100*ms) // leaves before its answer
	r.run(10 * s)
	want := "server_error at 500ms, timeout at 2.1s, ok at 4.1s, ok at 5.5s, left"
	if got := strings.Join(r.got(), ", "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	want = "500ms closed>open, 2s open>half-open, 2.1s half-open>open, 4s open>half-open, 4.1s half-open>closed"
	if got := strings.Join(r.states, ", "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if r.work.canceled != 2 || r.work.inside != 0 || r.k.Live() != 0 {
		t.Errorf("%d cancelled, %d still inside, %d timers left", r.work.canceled, r.work.inside, r.k.Live())
	}
}

// A probe whose caller leaves stops its limit.
func TestHalfOpenTimeoutOfACallerWhoLeaves(t *testing.T) {
	config := breakerOf(quick(func(b *Breaker) { b.HalfOpen.Timeout = 100 * ms }))
	r := newRig(t, &work{steps: []step{down, {hang: true}}}, config)
	r.call(0, 0)
	r.call(s, s+50*ms)
	r.run(10 * s)
	if got, want := strings.Join(r.states, ", "), "0s closed>open, 1s open>half-open"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if r.k.Live() != 0 || r.work.canceled != 1 {
		t.Errorf("%d timers left, %d cancelled", r.k.Live(), r.work.canceled)
	}
}

// The breaker's own moves happen at their instant, and once nothing is to come
// no timer is left.
func TestBreakerAlarm(t *testing.T) {
	config := breakerOf(quick(func(b *Breaker) {
		b.Open.Wake, b.HalfOpen.MaxStay, b.HalfOpen.Then = wakeTimer, 5*s, "closed"
	}))
	r := newRig(t, &work{steps: []step{down, {}}}, config)
	r.call(3*s, 0)
	r.run(100 * s)
	if got, want := strings.Join(r.states, ", "), "3s closed>open, 4s open>half-open, 9s half-open>closed"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if r.k.Live() != 0 {
		t.Errorf("%d timers left", r.k.Live())
	}

	// A tick is waited for only while there is something to decide.
	config = breakerOf(func(b *Breaker) { b.Evaluate, b.Tick, b.Window = atTick, 500*ms, &LastSpan{Span: 2 * s} })
	r = newRig(t, &work{steps: []step{{}, {}, down, {}}}, config)
	for i := range 4 {
		r.call(time.Duration(i)*s, 0)
	}
	r.run(1000 * s)
	// 4 calls, and the ticks from the failure at 2 s until it is forgotten.
	if fired := r.k.Fired(); r.k.Live() != 0 || fired > 4+5 {
		t.Errorf("%d timers left, %d events", r.k.Live(), fired)
	}

	// Ages: a call that hangs is slow at its instant, one that returns leaves nothing.
	config = breakerOf(func(b *Breaker) { b.Ratio, b.MinCalls, b.Slow = 0, 2, Slow{Over: s, Ratio: 1, InFlight: true} })
	r = newRig(t, &work{steps: []step{{hang: true}, {hang: true}}}, config)
	r.call(0, 0)
	r.call(250*ms, 0)
	r.run(100 * s)
	if got, want := strings.Join(r.states, ", "), "1.25s closed>open"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
