package resilience

import (
	"context"
	"maps"
	"slices"
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
	ok, failed := call.Outcome{}, call.Outcome{Class: call.ServerError}
	for _, bb := range []struct {
		name   string
		config Config
		end    call.Outcome
	}{
		{"breaker/closed", newBreaker(), ok},
		{"breaker/closed_time_window", breakerOf(func(b *Breaker) { b.Window = &LastSpan{Span: 10 * s} }), ok},
		{"breaker/open", newBreaker(), failed},
		{"bulkhead/granted", &Bulkhead{Permits: 20, Queue: -1}, ok},
		{"bulkhead/full", &Bulkhead{Permits: 0, Queue: -1}, ok},
		{"bulkhead/on_work_done", &Bulkhead{Permits: 20, Queue: -1, Release: OnWorkDone}, ok},
		{"bulkhead/threads", &Bulkhead{Queue: -1, Threads: &Threads{Core: 10, Max: 20, Queue: 10}}, ok},
		{"timeout/in_time", &Timeout{After: s}, ok},
		{"timeout/abandon_in_time", &Timeout{After: s, Mode: ModeAbandon}, ok},
		{"timeout/propagate_in_time", &Timeout{After: s, Propagate: true}, ok},
		{"retry/first_attempt", newRetry(), ok},
		{"retry/three_attempts", newRetry(), failed},
		{"outlier/all_in", newOutlier(), ok},
		{"outlier/failing", newOutlier(), failed},
		{"retry/budget_envoy", retryOf(3, &NoBackoff{}, budgeted("envoy")), ok},
		{"retry/budget_grpc", retryOf(3, &NoBackoff{}, budgeted("grpc")), ok},
		{"retry/budget_aws", retryOf(3, &NoBackoff{}, budgeted("aws")), ok},
		{"retry/budget_failsafe", retryOf(3, &NoBackoff{}, budgeted("failsafe-go")), ok},
		{"retry/budget_linkerd", retryOf(3, &NoBackoff{}, budgeted("linkerd")), ok},
		{"hedge/not_hedged", hedgeOf(s, 1), ok},
		{"hedge/quantile", hedgeOf(s, 1, func(c *Hedge) { c.Delay = &QuantileDelay{Quantile: 0.95, Initial: s, Min: s, Age: 100, MinCalls: 20} }), ok},
		{"fallback/live", newFallback(), ok},
		{"fallback/degraded", newFallback(), failed},
		{"concurrency_limit/aimd", concurrencyOf(newAIMD()), ok},
		{"concurrency_limit/vegas", concurrencyOf(newVegas()), ok},
		{"concurrency_limit/gradient2", concurrencyOf(newGradient2()), ok},
		{"concurrency_limit/full", concurrencyOf(&AIMD{Start: 0, Min: 0, Backoff: 0.9}), ok},
		{"throttle/sre", throttleOf(newSRE()), ok},
		{"throttle/sre_failing", throttleOf(newSRE()), failed},
		{"throttle/admission_control", throttleOf(newAdmissionControl()), ok},
		{"rate_limit/granted", rateLimitOf(&TokenBucket{Rate: 1e9, Burst: 1 << 30}), ok},
		{"rate_limit/full", rateLimitOf(&TokenBucket{Rate: 1e-3, Burst: 1}), ok},
	} {
		b.Run(bb.name, func(b *testing.B) { measureCall(b, bb.config, bb.end) })
	}
}

// BenchmarkDialects measures one call through each dialect of breaker, as
// BenchmarkLayers does: with good answers, and with failures that open it for good where its
// rule counts failures.
func BenchmarkDialects(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(Dialects)) {
		b.Run(name+"/closed", func(b *testing.B) { measureCall(b, NewBreaker(name), call.Outcome{}) })
		b.Run(name+"/failing", func(b *testing.B) {
			c := NewBreaker(name)
			c.Cooldown = 100_000 * time.Hour
			measureCall(b, c, call.Outcome{Class: call.ServerError})
		})
	}
}

// measureCall is one call through a layer: in, and out with the answer end.
func measureCall(b *testing.B, config Config, end call.Outcome) {
	inner := &held{}
	k := des.NewKernel()
	l := config.Layer(Env{Sched: k, Meter: des.NullMeter{}, Source: "x", Hosts: 10})(inner)
	c := call.Call{Deadline: call.NoDeadline}
	ctx := context.Background()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%1024 == 0 { // time passes, so that a time window forgets
			if err := k.Run(ctx, k.Now()+s); err != nil {
				b.Fatal(err)
			}
		}
		l.Start(&c, nobody{})
		for inner.done != nil {
			d := inner.done
			inner.done = nil
			d.Done(end)
		}
	}
}

// mill is work of every kind without an allocation: at once, later, never.
type mill struct {
	k      *des.Kernel
	pieces []milled
	n      int
	ends   bool // nothing hangs
}

type milled struct {
	k     *des.Kernel
	done  call.Done
	class call.Class
	timer des.Timer
}

func (m *mill) Start(_ *call.Call, d call.Done) call.Canceler {
	m.n++
	p := &m.pieces[m.n%len(m.pieces)]
	*p = milled{k: m.k, done: d, class: []call.Class{call.OK, call.ServerError, call.OK, call.ConnectError, call.Timeout}[m.n%5]}
	switch hangs := m.n%7 == 1 && !m.ends; {
	case m.n%7 == 0:
		d.Done(call.Outcome{Class: p.class})
		return nil
	case hangs:
	default:
		p.timer = m.k.After(time.Duration(m.n%11)*ms, des.Release, p)
	}
	return p
}

func (p *milled) Fire()   { p.done.Done(call.Outcome{Class: p.class}) }
func (p *milled) Cancel() { p.k.Stop(p.timer) }

// miller is a caller with patience for 20 ms.
type miller struct {
	call   call.Call
	cancel call.Canceler
}

func (m *miller) Done(call.Outcome) { m.cancel = nil }

func TestNoAllocationsInSteadyState(t *testing.T) {
	settings := map[string][]Config{
		"breaker": {
			newBreaker(), breakerOf(func(b *Breaker) { b.Cooldown = 50 * ms }),
			breakerOf(func(b *Breaker) { b.Cooldown, b.Probes, b.Ramp = 5*ms, 3, &Ramp{From: 0.5, Over: 40 * ms} }),
			breakerOf(func(b *Breaker) { b.Window, b.Cooldown, b.Record = &LastSpan{Span: 50 * ms}, 5*ms, RecordAttempt }),
		},
		"bulkhead": {
			&Bulkhead{Permits: 30, Queue: -1, Release: OnWorkDone}, &Bulkhead{Queue: -1, Threads: &Threads{Core: 3, Max: 9, Queue: 4, KeepAlive: 2 * ms}}, &Bulkhead{Permits: 3, Queue: 5, MaxWait: 4 * ms, Order: OrderLIFO},
			&Bulkhead{Permits: 3, Queue: -1}, &Bulkhead{Permits: 3, Queue: 5, MaxWait: 4 * ms}, &Bulkhead{Permits: 3, Queue: -1, MaxWait: -1},
		},
		"timeout": {
			&Timeout{After: 5 * ms}, &Timeout{After: 5 * ms, Propagate: true, Useful: 2 * ms},
		},
		"concurrency_limit": {concurrencyOf(&AIMD{Start: 5, Min: 2, Max: 60, Backoff: 0.9, Timeout: 5 * ms}), concurrencyOf(newVegas()), concurrencyOf(newGradient2()),
			concurrencyOf(newVegas(), func(c *ConcurrencyLimit) { c.Window = 7 * ms })},
		"throttle": {throttleOf(newSRE()), throttleOf(sreOf(func(c *SRE) { c.Window, c.CountAt = 50*ms, CountAtCompletion })),
			throttleOf(admissionOf(func(c *AdmissionControl) { c.Window, c.Aggression = 50*ms, 2 }))},
		"rate_limit": {rateLimitOf(&TokenBucket{Rate: 1000, Burst: 5}), rateLimitOf(&LeakyBucket{Rate: 1000, Size: 9}),
			rateLimitOf(&GCRA{Rate: 1000, Burst: 5}, waiting10), rateLimitOf(&FixedWindow{Calls: 9, Per: 7 * ms}, waiting10), rateLimitOf(&SlidingLog{Calls: 9, Per: 7 * ms}, waiting10)},
		"outlier": {newOutlier(), outlierOf(func(c *Outlier) {
			c.Interval, c.BaseEjectionTime, c.MaxEjectionTime, c.Consecutive, c.MaxEjectionPercent = 5*ms, 5*ms, 10*ms, 1, 1
			c.SuccessRate.RequestVolume, c.FailurePercentage.RequestVolume, c.FailurePercentage.Enforcing = 1, 1, 0.5
		})},
		"retry": {newRetry(), retryOf(4, &ExponentialBackoff{Base: ms, Factor: 2, Max: 3 * ms}, func(c *Retry) { c.Jitter = &DecorrelatedJitter{} }),
			retryOf(2, &ConstantBackoff{Wait: ms}),
			retryOf(3, &EnvoyBackoff{Base: ms, Max: 5 * ms}, budgeted("envoy"), func(c *Retry) { c.Jitter = &FullJitter{} }), retryOf(3, &LinearBackoff{Base: ms}, budgeted("grpc"), func(c *Retry) { c.Jitter = &SpreadJitter{Share: 0.2} }),
			retryOf(3, &ExponentialBackoff{Base: ms, Factor: 2}, budgeted("aws"), func(c *Retry) { c.Jitter = &DecorrelatedV2Jitter{} }), retryOf(3, &ConstantBackoff{Wait: ms}, budgeted("failsafe-go")), retryOf(3, &NoBackoff{}, budgeted("linkerd"))},
		"hedge": {
			hedgeOf(2*ms, 2), hedgeOf(0, 1, func(c *Hedge) { c.OnFailure = FailureWait }), hedgeOf(ms, 3, func(c *Hedge) { c.Budget = Budgets["failsafe-go"]() }),
			hedgeOf(0, 2, func(c *Hedge) { c.Delay = &QuantileDelay{Quantile: 0.7, Initial: ms, Age: 50, MinCalls: 10} }),
		},
		"fallback": {newFallback(), fallbackOf(func(c *Fallback) { c.Serve, c.Hit, c.Latency = ServeCached, 0.5, ms }), fallbackOf(func(c *Fallback) { c.Serve, c.Size = ServeQueue, 5 })},
	}
	for _, kind := range slices.Sorted(maps.Keys(Layers)) {
		if len(settings[kind]) == 0 {
			t.Errorf("%s has no settings in this test", kind)
		}
		for _, config := range settings[kind] {
			k := des.NewKernel()
			work := &mill{k: k, pieces: make([]milled, 4096)}
			// Every layer once with a retry inside, which reports attempts.
			env := Env{Sched: k, Meter: des.NullMeter{}, Source: "x", Hosts: 10, CountsAttempts: true}
			inside := retryOf(2, &NoBackoff{}).Layer(env)(work)
			l := config.Layer(env)(inside)
			callers := make([]miller, 64)
			ctx := context.Background()
			round := func() {
				for i := range callers {
					c := &callers[i]
					c.call = call.Call{Request: uint64(i), Deadline: k.Now() + 20*ms}
					if x := l.Start(&c.call, c); x != nil {
						c.cancel = x
					}
				}
				if err := k.Run(ctx, k.Now()+20*ms); err != nil {
					t.Fatal(err)
				}
				for i := range callers {
					if x := callers[i].cancel; x != nil {
						callers[i].cancel = nil
						x.Cancel()
					}
				}
			}
			for range 20 {
				round()
			}
			if n := testing.AllocsPerRun(50, round); n != 0 {
				t.Errorf("%s %s: %v allocations in 64 calls", kind, config.Text(), n)
			}
		}
	}
}
