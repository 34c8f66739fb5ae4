package resilience

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"blastradius/sim/call"
)

func TestSharedBreaker(t *testing.T) {
	shared := func(change func(*Breaker)) *Breaker {
		return breakerOf(quick(func(b *Breaker) {
			b.Scope = Scope{Kind: scopeShared, Copies: 3, RoundTrip: 10 * ms, OnFailure: storeAdmits}
			change(b)
		}))
	}
	t.Run("each call first asks the store", func(t *testing.T) {
		r := newRig(t, &work{steps: []step{{after: 5 * ms, class: call.ServerError}, {after: 5 * ms}}}, shared(func(*Breaker) {}))
		r.call(0, 0)
		r.call(100*ms, 0)
		r.call(6*ms, 0)    // asked before it opened, answered after
		r.call(1005*ms, 0) // is told at 1.015 s, when the cooldown is over
		r.run(10 * s)
		want := "server_error at 15ms, breaker_open at 110ms, breaker_open at 16ms, ok at 1.02s"
		if got := strings.Join(r.got(), ", "); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		if r.k.Live() != 0 {
			t.Errorf("%d timers left", r.k.Live())
		}
	})
	t.Run("a caller that leaves while it asks", func(t *testing.T) {
		r := newRig(t, &work{steps: []step{{after: 5 * ms}}}, shared(func(*Breaker) {}))
		r.call(0, 4*ms)
		r.call(0, 10*ms) // leaves when the answer comes, and goes before it
		r.call(0, 12*ms)
		r.run(10 * s)
		if got, want := strings.Join(r.got(), ", "), "left, left, left"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if r.work.started != 1 || r.work.canceled != 1 || r.k.Live() != 0 {
			t.Errorf("%d started, %d cancelled, %d timers left", r.work.started, r.work.canceled, r.k.Live())
		}
	})
	t.Run("all copies have one state", func(t *testing.T) {
		r := newRig(t, &work{steps: []step{down}}, shared(func(b *Breaker) { b.Scope.RoundTrip = 0 }))
		for i := range 10 {
			r.call(time.Duration(i)*ms, 0)
		}
		r.run(s)
		if r.work.started != 1 || machine(r, 0).Rejected != 9 {
			t.Errorf("%d started, %d refused; want 1, 9", r.work.started, machine(r, 0).Rejected)
		}
	})
	for _, tt := range []struct {
		name      string
		onFailure string
		open      bool
		want      string
	}{
		{"a store that does not answer admits, an open breaker too", storeAdmits, true, "server_error"},
		{"or refuses, a closed breaker too", storeRefuses, false, "store_failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			config := shared(func(b *Breaker) { b.Scope.Fails, b.Scope.OnFailure, b.Consecutive = 1, tt.onFailure, 1 })
			r := newRig(t, &work{steps: []step{down}}, config)
			for i := range 5 {
				r.call(time.Duration(i)*s, 0)
			}
			r.run(100 * s)
			for i, c := range r.callers {
				if got := c.String(); !strings.HasPrefix(got, tt.want) {
					t.Errorf("call %d: %s, want %s", i, got, tt.want)
				}
			}
			l := r.layers[0].(*breakerLayer)
			// What passes unwatched says nothing: the breaker stays closed.
			if l.storeFailures != 5 || machine(r, 0).Opens != 0 || machine(r, 0).Rejected != 0 {
				t.Errorf("store failures %d, opens %d, refused %d; want 5, 0, 0", l.storeFailures, machine(r, 0).Opens, machine(r, 0).Rejected)
			}
		})
	}
	t.Run("a share of the questions fails, the same ones each time", func(t *testing.T) {
		run := func() (int64, string) {
			r := newRig(t, &work{steps: []step{{}}}, shared(func(b *Breaker) { b.Scope.Fails, b.Scope.OnFailure = 0.1, storeRefuses }))
			for i := range 10_000 {
				r.call(time.Duration(i)*ms, 0)
			}
			r.run(100 * s)
			return r.layers[0].(*breakerLayer).storeFailures, fmt.Sprint(r.got())
		}
		n, first := run()
		if m, again := run(); n < 850 || n > 1150 || m != n || again != first { // 10,000 · 10 %, 5 standard deviations
			t.Errorf("%d, then %d of 10,000 failed", n, m)
		}
	})
}

// Copies have a state each: one that saw failures refuses, the others do not
// know. The gauge shows the worst of them.
func TestCopiesOfABreaker(t *testing.T) {
	config := breakerOf(func(b *Breaker) {
		b.Consecutive, b.Cooldown, b.Scope.Copies = 1, 1000*s, 4
	})
	r := newRig(t, &work{steps: []step{down}}, config)
	for i := range 400 {
		r.call(time.Duration(i)*ms, 0)
	}
	r.run(10 * s)
	l := r.layers[0].(*breakerLayer)
	if len(l.machines) != 4 || r.work.started != 4 || l.machines[0].Opens != 4 || l.machines[0].Rejected != 396 {
		t.Errorf("%d machines, %d started, %d opens, %d refused; want 4, 4, 4, 396", len(l.machines), r.work.started, l.machines[0].Opens, l.machines[0].Rejected)
	}
	if got, want := strings.Join(r.states, ", "), "0s closed>open"; got != want {
		t.Errorf("told %s, want %s: the worst of them", got, want)
	}
	// Each copy gets its share of the calls: 100 of 400, within 5 standard deviations.
	got := map[*Machine]int{}
	for i := range 400 {
		got[l.machineOf(&call.Call{Request: uint64(i)})]++
	}
	for _, m := range l.machines {
		if got[m] < 57 || got[m] > 143 {
			t.Errorf("a copy gets %d of 400 calls", got[m])
		}
	}
}
