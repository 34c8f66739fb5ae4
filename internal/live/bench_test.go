package live

import (
	"context"
	"errors"
	"testing"
	"time"

	"blastradius/resilience"
	"blastradius/sim"
	"blastradius/sim/call"
	"blastradius/sim/des"
)

func breaker() *resilience.Breaker { return resilience.Layers["breaker"]().(*resilience.Breaker) }

func stackOf(configs ...resilience.Config) (out []sim.Layer) {
	for _, c := range configs {
		kind := kindOf(c)
		out = append(out, sim.Layer{Kind: kind, Name: kind, Config: c})
	}
	return out
}

var errFails = errors.New("fails")

func fine(context.Context, Attempt) error  { return nil }
func fails(context.Context, Attempt) error { return errFails }

// BenchmarkClock is what two looks at the clock and two turns at the mutex cost,
// below which no closed call can be.
func BenchmarkClock(b *testing.B) {
	e := New(nil, Options{})
	for b.Loop() {
		e.enter(0)
		e.exit()
		e.enter(1)
		e.exit()
	}
}

// BenchmarkRoundTrip is one message to another goroutine and back: what a loop
// that owns the policies would cost twice a call.
func BenchmarkRoundTrip(b *testing.B) {
	there, back := make(chan int), make(chan int)
	go func() {
		for x := range there {
			back <- x
		}
	}()
	for b.Loop() {
		there <- 1
		<-back
	}
	close(there)
}

// BenchmarkCancelContext is what the context of work that a layer may end costs.
func BenchmarkCancelContext(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, cancel := context.WithCancel(context.Background())
		cancel()
	}
}

// policies are the stacks of the comparison with other libraries.
var policies = []struct {
	name  string
	stack func() []sim.Layer
}{
	{"breaker", func() []sim.Layer { return stackOf(breaker()) }},
	{"breaker+bulkhead", func() []sim.Layer { return stackOf(breaker(), &resilience.Bulkhead{Permits: 64, Queue: -1}) }},
	{"breaker+bulkhead+timeout", func() []sim.Layer {
		return stackOf(breaker(), &resilience.Bulkhead{Permits: 64, Queue: -1}, &resilience.Timeout{After: 1500 * time.Millisecond})
	}},
}

// BenchmarkLive is a call from entry to return whose work does nothing, by one
// caller (serial) and by one for each processor.
func BenchmarkLive(b *testing.B) {
	ctx := context.Background()
	for _, p := range policies {
		for _, state := range []string{"closed", "open"} {
			work := Work(fine)
			engine := func(b *testing.B) *Engine {
				e := New(p.stack(), Options{})
				b.Cleanup(e.Close)
				for state == "open" && e.failUntilOpen() {
				}
				return e
			}
			name := p.name + "/" + state
			b.Run(name+"/serial", func(b *testing.B) {
				e := engine(b)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := e.Do(ctx, Key{}, work); (err == nil) != (state == "closed") {
						b.Fatal(err)
					}
				}
			})
			b.Run(name+"/parallel", func(b *testing.B) {
				e := engine(b)
				b.ReportAllocs()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if _, err := e.Do(ctx, Key{}, work); (err == nil) != (state == "closed") {
							b.Error(err)
						}
					}
				})
			})
		}
	}
}

func (e *Engine) failUntilOpen() bool {
	out, _ := e.Do(context.Background(), Key{}, fails)
	return out.Reason != call.BreakerOpen
}

// BenchmarkVirtual is the same in virtual time.
func BenchmarkVirtual(b *testing.B) {
	for _, p := range policies {
		for _, state := range []string{"closed", "open"} {
			b.Run(p.name+"/"+state, func(b *testing.B) {
				k := des.NewKernel()
				inner := &atOnce{}
				h := build(k, p.stack(), inner)
				c := call.Call{Deadline: call.NoDeadline}
				d := &heard{}
				for state == "open" && d.out.Reason != call.BreakerOpen {
					inner.out.Class = call.ServerError
					h.Start(&c, d)
				}
				b.ReportAllocs()
				for b.Loop() {
					h.Start(&c, d)
				}
			})
		}
	}
}

type atOnce struct{ out call.Outcome }

func (a *atOnce) Start(_ *call.Call, d call.Done) call.Canceler {
	d.Done(a.out)
	return nil
}

type heard struct{ out call.Outcome }

func (h *heard) Done(o call.Outcome) { h.out = o }
