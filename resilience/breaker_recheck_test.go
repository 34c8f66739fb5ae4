package resilience

import (
	"strings"
	"testing"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
)

// Calls that wait for a permit while the breaker opens are sent to a dependency
// that is down, unless they ask again. The one that gets the permit of the call
// that opens it comes before the breaker has heard, so it passes all the same.
func TestRecheckAfterAWait(t *testing.T) {
	run := func(recheck bool) *rig {
		r := newRig(t, &work{steps: []step{{after: 100 * ms, class: call.ServerError}, {after: 100 * ms, class: call.ServerError}, {after: 100 * ms}}})
		config := breakerOf(func(b *Breaker) { b.Consecutive, b.Cooldown, b.Recheck = 1, s, recheck })
		bulkhead := &Bulkhead{Permits: 1, MaxWait: time.Hour, Queue: 10}
		asks := &Recheck{}
		env := Env{Sched: r.k, Meter: des.NullMeter{}, Source: "x"}
		inner := call.Handler(r.work)
		if recheck {
			inner = asks.Layer(inner)
			env.Recheck = asks
		}
		r.stack = bulkhead.Layer(Env{Sched: r.k, Meter: des.NullMeter{}, Source: "y"})(inner)
		r.stack = config.Layer(env)(r.stack)
		r.layers = []call.Handler{r.stack}
		for range 3 {
			r.call(0, 0)
		}
		r.call(1500*ms, 0)
		r.run(10 * s)
		return r
	}
	for _, tt := range []struct {
		recheck  bool
		want     string
		rejected int64
	}{
		{false, "server_error at 100ms, server_error at 200ms, ok at 300ms, ok at 1.6s", 0},
		{true, "server_error at 100ms, server_error at 200ms, breaker_open at 200ms, ok at 1.6s", 1},
	} {
		r := run(tt.recheck)
		if got := strings.Join(r.got(), ", "); got != tt.want {
			t.Errorf("recheck %v: %s\nwant %s", tt.recheck, got, tt.want)
		}
		if n := machine(r, 0).Rejected; n != tt.rejected || r.k.Live() != 0 {
			t.Errorf("recheck %v: %d refused, want %d; %d timers left", tt.recheck, n, tt.rejected, r.k.Live())
		}
	}
}
