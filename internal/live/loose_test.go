package live

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"blastradius/resilience"
	"blastradius/sim"
	"blastradius/sim/call"
)

// A timeout that abandons lets a real goroutine go on, and the permit waits for
// its end: the same as in virtual time.
func TestAbandonedWorkHoldsItsPermit(t *testing.T) {
	stack := []sim.Layer{
		{Kind: "bulkhead", Name: "bulkhead", Config: &resilience.Bulkhead{Permits: 1, Queue: -1, Release: resilience.OnWorkDone}},
		{Kind: "timeout", Name: "timeout", Config: &resilience.Timeout{After: 10 * time.Millisecond, Mode: resilience.ModeAbandon, Propagate: true}},
	}
	in(t, stack, func(t *testing.T, e *Engine) {
		var numbers atomic.Int64
		work := func(_ context.Context, a Attempt) error {
			numbers.Add(int64(a.Number))
			<-time.After(50 * time.Millisecond)
			return nil
		}
		begun := time.Now()
		try := func(want call.Class, after time.Duration) {
			t.Helper()
			if o, _ := e.Do(context.Background(), Key{}, work); o.Class != want || time.Since(begun) != after {
				t.Errorf("after %v: %v, want %v after %v", time.Since(begun), o.Class, want, after)
			}
		}
		try(call.Timeout, 10*time.Millisecond)
		try(call.Rejected, 10*time.Millisecond)
		<-time.After(41 * time.Millisecond)
		try(call.Timeout, 61*time.Millisecond)
		<-time.After(50 * time.Millisecond)
		if got := numbers.Load(); got != 2 {
			t.Errorf("the sum of the attempts' numbers is %d, want 1 + 1", got)
		}
	})
}
