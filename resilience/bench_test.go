package resilience

import (
	"testing"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
)

// held is an inner handler that keeps the last call until the benchmark ends
// it, so that a measurement holds the layer and nothing else.
type held struct{ done call.Done }

func (h *held) Start(_ *call.Call, d call.Done) call.Canceler {
	h.done = d
	return h
}

func (h *held) Cancel() {}

type nobody struct{}

func (nobody) Done(call.Outcome) {}

// BenchmarkLayers measures one call through each layer: in, and out with an
// answer. Timers of constant delay are set and stopped, as nearly all are.
func BenchmarkLayers(b *testing.B) {
	bench := func(name string, c Config, end call.Outcome) {
		b.Run(name, func(b *testing.B) {
			inner := &held{}
			l := c.Layer(Env{Sched: des.NewKernel(), Meter: des.NullMeter{}, Source: "x"})(inner)
			var cl call.Call
			cl.Deadline = call.NoDeadline
			b.ReportAllocs()
			for b.Loop() {
				inner.done = nil
				l.Start(&cl, nobody{})
				if inner.done != nil {
					inner.done.Done(end)
				}
			}
		})
	}
	ok, failed := call.Outcome{}, call.Outcome{Class: call.ServerError}
	breaker := newBreaker().(*Breaker)
	bench("breaker/closed", breaker, ok)
	span := *breaker
	span.Window = Window{Span: 10 * time.Second}
	bench("breaker/open", breaker, failed)
	bench("bulkhead/granted", &Bulkhead{Permits: 20, Queue: -1}, ok)
	bench("bulkhead/full", &Bulkhead{Permits: 0, Queue: -1}, ok)
	bench("timeout/in_time", &Timeout{After: time.Second}, ok)
	bench("retry/first", newRetry(), ok)
	bench("fallback/live", newFallback(), ok)
	bench("fallback/degraded", newFallback(), failed)
}
