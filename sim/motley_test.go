package sim

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"testing"

	"blastradius/faults"
	"blastradius/resilience"
	"blastradius/sim/call"
	"blastradius/sim/dist"
	"blastradius/sim/load"
)

// motley is a short run with every registered kind in it: what must come out
// the same on every processor.
func motley() *Config {
	jitters := []resilience.Jitter{&resilience.FullJitter{}, &resilience.EqualJitter{}, &resilience.DecorrelatedJitter{}, &resilience.SpreadJitter{Share: 0.3}, &resilience.DecorrelatedV2Jitter{}}
	backoffs := []resilience.Backoff{
		&resilience.ExponentialBackoff{Base: 7 * ms, Factor: 1.7, Max: sec}, &resilience.ConstantBackoff{Wait: 11 * ms}, nil,
	}
	retries := func(i int) Layer {
		l := retry(4, backoffs[i%len(backoffs)])
		l.Config.(*resilience.Retry).Jitter = jitters[i%len(jitters)]
		return l
	}
	limits := []resilience.Limiter{
		&resilience.TokenBucket{Rate: 131, Burst: 3}, &resilience.LeakyBucket{Rate: 137, Size: 2}, &resilience.SlidingLog{Calls: 37, Per: 200 * ms},
		&resilience.GCRA{Rate: 400.0 / 3, Burst: 2}, &resilience.FixedWindow{Calls: 39, Per: 300 * ms},
	}
	limited := func(i int) Layer {
		l := rateLimit(limits[i%len(limits)])
		if r := l.Config.(*resilience.RateLimit); i%2 == 0 {
			r.WhenFull, r.MaxWait = resilience.WhenFullWait, 40*ms
		}
		return l
	}
	algorithms := []resilience.Algorithm{
		&resilience.Vegas{Start: 3, Max: 40, Smoothing: 0.7, Probe: 5}, &resilience.AIMD{Start: 4, Min: 2, Max: 30, Backoff: 0.8, Timeout: 100 * ms},
		&resilience.Gradient2{Start: 5, Min: 3, Max: 30, Smoothing: 0.3, Queue: 2, Tolerance: 1.1, LongWindow: 70},
	}
	rules := []resilience.ThrottleRule{
		&resilience.SRE{K: 1.3, Window: 3 * sec, Buckets: 7, CountAt: resilience.CountAtSend},
		&resilience.AdmissionControl{Window: 3 * sec, Buckets: 7, Threshold: 0.97, Aggression: 1.7, MinRate: 3, Max: 0.6},
	}
	hedges := func(i int) Layer {
		return layer("hedge", func(c resilience.Config) {
			h := c.(*resilience.Hedge)
			h.Delay, h.Max = &resilience.QuantileDelay{Quantile: 0.8, Initial: 60 * ms, Age: 50, MinCalls: 10}, 2
			if i == 3 {
				h.Cancel, h.OnFailure = resilience.CancelNone, resilience.FailureWait
			}
		})
	}
	latencies := []dist.Kind{
		constant(20 * ms),
		&dist.Exponential{MeanLatency: 30 * ms},
		&dist.Lognormal{Median: 20 * ms, Sigma: 0.9},
		&dist.Percentiles{P50: 30 * ms, P99: 170 * ms},
		&dist.MeanP99{MeanLatency: 30 * ms, P99: 150 * ms},
		&dist.Uniform{Low: 3 * ms, High: 50 * ms},
		&dist.Mix{Parts: []dist.Part{{Weight: 0.9, Latency: &dist.Exponential{MeanLatency: 20 * ms}}, {Weight: 0.1, Latency: &dist.Uniform{Low: 100 * ms, High: 300 * ms}}}},
		&dist.Quantiles{Points: []dist.Point{{P: 0.5, Value: 20 * ms}, {P: 0.99, Value: 180 * ms}, {P: 1, Value: 900 * ms}}},
	}
	trouble := []faults.Config{
		&faults.Slow{Latency: &dist.Exponential{MeanLatency: sec}}, &faults.Slow{Times: 3.7}, &faults.Slow{Add: &dist.Uniform{High: 200 * ms}},
		&faults.Error{Class: "server_error", Rate: 0.6}, &faults.Down{}, &faults.Hang{},
	}
	arrivals := []load.Config{
		poisson(70), even(37),
		&load.Steps{Steps: []load.Step{{Rate: 30, For: 7 * sec}, {Rate: 130, For: 9 * sec}, {Rate: 20, For: sec}}, Process: load.Poisson},
		&load.Ramp{From: 3, To: 111, Over: 20 * sec, Process: load.Poisson},
		&load.Ramp{From: 17, To: 5, Over: 13 * sec, Process: load.Even},
		at(0, 0, sec, 5*sec, 5*sec),
	}
	c := &Config{Name: "motley", Seed: 7, Duration: 30 * sec, Warmup: 2 * sec, Process: Process{Pool: places(40, 300*ms, Unbounded), Workers: places(90, sec, 50)}}
	for i, latency := range latencies {
		bound, limit := bulkhead(5+i, 50*ms), timeout(150*ms)
		switch b, t := bound.Config.(*resilience.Bulkhead), limit.Config.(*resilience.Timeout); i % 4 {
		case 1:
			b.Order, b.Release, t.Mode = resilience.OrderLIFO, resilience.OnWorkDone, resilience.ModeAbandon
		case 2:
			b.Permits, b.MaxWait, t.Propagate, t.Useful = 0, 0, true, 30*ms
			b.Threads = &resilience.Threads{Core: 4, Max: 8, Queue: 5, KeepAlive: 20 * ms}
		}
		answer := cached(0.7, 2*sec)
		switch f := answer.Config.(*resilience.Fallback); i {
		case 3:
			f.Keys = &resilience.Keys{Count: 50, Zipf: 1.1}
		case 0:
			f.Serve, f.Dependency = resilience.ServeDependency, "d1"
		}
		stack := []Layer{
			answer,
			breaker(func(b *resilience.Breaker) {
				b.Cooldown, b.Record = 3*sec, resilience.RecordAttempt
				b.Ramp = &resilience.Ramp{From: 0.2, Over: 2 * sec}
			}),
			bound, retries(i), limit, limited(i),
		}
		if i%2 == 1 {
			stack = append(stack, adaptive(algorithms[i/2%len(algorithms)]), throttle(rules[i/2%len(rules)]))
		}
		if i%2 == 1 {
			stack = append(stack, hedges(i))
		}
		d := Dependency{Name: fmt.Sprintf("d%d", i), Latency: latency, Stack: stack[i%3:], FinishOnCancel: i%2 == 1,
			Errors: []ErrorShare{{Class: call.ServerError, Share: 0.04}, {Class: call.Throttled, Share: 0.01, RetryAfter: 20 * ms}, {Class: call.ConnectError, Share: 0.05}}}
		if i%3 == 0 {
			d = d.servers(6, 4)
		}
		if i%2 == 0 {
			d.Hosts = 5 + i
			d.Stack = append(append([]Layer{}, d.Stack[:len(d.Stack)-1]...), outlier(func(o *resilience.Outlier) {
				o.UsePreset([]string{resilience.DialectEnvoy, resilience.DialectGRPC}[i/2%2])
				o.Interval, o.BaseEjectionTime, o.Jitter, o.MaxEjectionPercent = sec, 2*sec, 300*ms, 0.3
				o.SuccessRate.RequestVolume, o.SuccessRate.StdevFactor, o.SuccessRate.Enforcing = 5, 1.3, 0.9
				o.FailurePercentage.RequestVolume, o.FailurePercentage.Threshold = 5, 0.3
			}), d.Stack[len(d.Stack)-1])
		}
		d = d.with(trouble[i%len(trouble)], 10*sec, 8*sec)
		d.Faults[0].Share = 0.8
		d.Faults[0].Hosts = d.Hosts / 3
		c.Dependencies = append(c.Dependencies, d)
	}
	for i, a := range arrivals {
		name := func(n int) string { return fmt.Sprintf("d%d", (i+n)%len(latencies)) }
		e := Endpoint{Name: fmt.Sprintf("e%d", i), Arrivals: a, SLO: 200 * ms, Deadline: 400 * ms, Calls: []Step{step(name(0)), step(name(1), name(2)+"?"), step(name(7))}}
		c.Endpoints = append(c.Endpoints, e)
	}
	return budgeted(c)
}

// budgeted gives each retry of c another budget.
func budgeted(c *Config) *Config {
	kinds := sortedKeys(resilience.Budgets)
	for i, d := range c.Dependencies {
		for _, l := range d.Stack {
			if r, ok := l.Config.(*resilience.Retry); ok {
				r.Budget = resilience.Budgets[kinds[i%len(kinds)]]()
			}
		}
	}
	return c
}

// fingerprint is a hash of everything a result holds, to the last bit of every
// figure.
func fingerprint(r *Result) string {
	var b bytes.Buffer
	number := func(v float64) { _ = binary.Write(&b, binary.LittleEndian, math.Float64bits(v)) }
	for _, p := range r.Phases {
		for _, name := range sortedKeys(p.Metrics) {
			b.WriteString(name)
			number(p.Metrics[name])
		}
		for _, name := range sortedKeys(p.Absent) {
			b.WriteString(name + p.Absent[name])
		}
		for _, a := range p.Audit {
			b.WriteString(a.Station + a.Note)
			for _, v := range []float64{float64(a.In), float64(a.Out), a.Lambda, a.W, a.L, a.Edge, a.Gap} {
				number(v)
			}
		}
	}
	for i, name := range r.Series.Names {
		b.WriteString(name)
		for _, v := range r.Series.Values[i] {
			number(v)
		}
	}
	fmt.Fprint(&b, r.States, r.Digest, r.Requests, r.Events, r.Left, r.Warnings, r.Worst)
	sum := sha256.Sum256(b.Bytes())
	return fmt.Sprintf("%x", sum[:8])
}

// TestMotleyHasEveryKind keeps it motley: a kind that is registered later and
// missing here fails.
func TestMotleyHasEveryKind(t *testing.T) {
	c := motley()
	have := map[reflect.Type]bool{}
	note := func(v any) { have[reflect.TypeOf(v)] = true }
	for _, d := range c.Dependencies {
		note(d.Latency)
		for _, f := range d.Faults {
			note(f.Config)
		}
		for _, l := range d.Stack {
			note(l.Config)
		}
	}
	for _, e := range c.Endpoints {
		note(e.Arrivals)
	}
	missing := func(kind string, v any) {
		if !have[reflect.TypeOf(v)] {
			t.Errorf("no %s in it", kind)
		}
	}
	for kind, make := range dist.Kinds {
		missing(kind, make())
	}
	for kind, make := range faults.Kinds {
		missing(kind, make())
	}
	for kind, make := range resilience.Layers {
		missing(kind, make())
	}
	for kind, make := range load.Kinds {
		missing(kind, make())
	}
}

// The parts of motley that could lie idle do not.
func TestMotleyIsBusy(t *testing.T) {
	m := Run(t.Context(), motley()).Phase(PhaseAll).Metrics
	busy := map[string]float64{}
	for name, value := range m {
		if e, ok := Describe(name, noNames); ok {
			busy[e.FullName()] += value
		}
	}
	for _, name := range []string{
		"dependency.X.breaker.opens", "dependency.X.breaker.closes", "dependency.X.breaker.rejected", "dependency.X.bulkhead.shed", "dependency.X.retry.retries", "dependency.X.timeout.fired", "dependency.X.timeout.late", "dependency.X.timeout.refused", "dependency.X.timeout.abandoned_max",
		"dependency.X.fallback.served", "dependency.X.fallback.detours", "dependency.X.fallback.misses", "dependency.X.rate_limit.limited", "dependency.X.rate_limit.waiting_max", "dependency.X.concurrency_limit.limited", "dependency.X.concurrency_limit.drops", "dependency.X.throttle.throttled", "dependency.X.outcomes.connect_error", "dependency.X.outlier.ejections", "dependency.X.outlier.overflow", "dependency.X.servers.waiting_max", "process.pool.in_use_max", "endpoint.X.failures.deadline", "endpoint.X.degraded_rate",
		"dependency.X.hedge.hedges", "dependency.X.hedge.hedge_wins",
	} {
		if busy[name] == 0 {
			t.Errorf("%s is 0", name)
		}
	}
}
