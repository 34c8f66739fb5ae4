package sim

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"blastradius/faults"
	"blastradius/resilience"
	"blastradius/sim/call"
	"blastradius/sim/dist"
	"blastradius/sim/load"
)

// randomSystem draws a small system over every kind: layers in any order,
// pools, workers, capacity, parallel and optional calls, faults. All arrivals
// come in the first two seconds.
func randomSystem(t *rapid.T) *Config {
	pick := func(what string, n int) int { return rapid.IntRange(0, n-1).Draw(t, what) }
	millis := func(what string, most int) time.Duration {
		return time.Duration(rapid.IntRange(0, most).Draw(t, what)) * time.Millisecond
	}
	pool := func(what string) *Pool {
		if pick(what, 2) == 0 {
			return nil
		}
		return &Pool{Size: 1 + pick(what+" size", 5), MaxWait: []time.Duration{0, 30 * time.Millisecond, Forever}[pick(what+" wait", 3)], Queue: []int{0, 3, Unbounded}[pick(what+" queue", 3)]}
	}
	c := &Config{Name: "random", Seed: uint64(pick("seed", 1000)), Duration: 60 * time.Second, Warmup: []time.Duration{0, 300 * time.Millisecond}[pick("warm-up", 2)]}
	c.Process.Workers, c.Process.Pool = pool("workers"), pool("pool")
	c.Process.Pools = map[string]Pool{"own": {Size: 2, MaxWait: 50 * time.Millisecond, Queue: Unbounded}}
	c.Phases = []Phase{{"odd", 777 * time.Millisecond, 1999 * time.Millisecond}}
	names := []string{"a", "b", "c"}
	for place, n := range names {
		d := Dependency{Name: n, FinishOnCancel: pick("finish", 2) == 1}
		d.Latency = []dist.Kind{constant(0), constant(20 * time.Millisecond), &dist.Exponential{MeanLatency: 30 * time.Millisecond}, &dist.Lognormal{Median: 20 * time.Millisecond, Sigma: 1}}[pick("latency", 4)]
		if pick("errors", 2) == 1 {
			d.Errors = []ErrorShare{{Class: call.ServerError, Share: 0.2}, {Class: call.ClientError, Share: 0.1}, {Class: call.ConnectError, Share: 0.1}, {Class: call.Throttled, Share: 0.1, RetryAfter: 5 * time.Millisecond}}
		}
		if pick("capacity", 3) == 0 {
			d.Capacity = &Capacity{Servers: 1 + pick("servers", 3), Queue: []int{0, 2, Unbounded}[pick("server queue", 3)]}
		}
		d.Hosts = []int{0, 1, 2, 5}[pick("hosts", 4)]
		if pick("own pool", 4) == 0 {
			d.Pool = "own"
		}
		hanging := false
		for range pick("faults", 3) {
			line := faults.NewTimeline()
			line.From, line.For = millis("from", 2000), 1+millis("for", 1500)
			line.Share = []float64{1, 0.5}[pick("share", 2)]
			line.Hosts = pick("hosts hit", 1+d.HostCount())
			k := []faults.Config{&faults.Slow{Latency: constant(400 * time.Millisecond)}, &faults.Slow{Times: 5}, &faults.Error{Class: "server_error", Rate: 0.7}, &faults.Down{}, &faults.Hang{}}[pick("fault", 5)]
			if _, hang := k.(*faults.Hang); hang {
				hanging = true
				d.FinishOnCancel = false // work that never ends would stay for ever
			}
			d.Faults = append(d.Faults, Fault{Kind: "x", Timeline: line, Config: k})
		}
		layers := []func() Layer{
			func() Layer {
				return breaker(func(b *resilience.Breaker) {
					b.MinCalls, b.Window, b.Cooldown = 3, &resilience.LastCalls{N: 5}, 200*time.Millisecond
					b.Record = []string{resilience.RecordOperation, resilience.RecordAttempt}[pick("record", 2)]
					if pick("ramp", 2) == 1 {
						b.Ramp = &resilience.Ramp{From: 0.2, Over: 300 * time.Millisecond}
					}
				})
			},
			func() Layer {
				l := bulkhead(1+pick("permits", 4), []time.Duration{0, 40 * time.Millisecond, Forever}[pick("max wait", 3)])
				b := l.Config.(*resilience.Bulkhead)
				b.Queue = []int{Unbounded, 1}[pick("bulkhead queue", 2)]
				b.Order = []string{resilience.OrderFIFO, resilience.OrderLIFO}[pick("order", 2)]
				b.Release = []string{resilience.OnCallerReturn, resilience.OnWorkDone}[pick("release", 2)]
				if pick("threads", 4) == 0 {
					b.Threads = &resilience.Threads{Core: b.Permits, Max: b.Permits + pick("beyond core", 3), Queue: pick("thread queue", 4) - 1, KeepAlive: millis("keep alive", 20)}
					b.Permits, b.MaxWait, b.Queue = 0, 0, Unbounded
				}
				return l
			},
			func() Layer {
				l := timeout(time.Duration(1+pick("limit", 120)) * time.Millisecond)
				t := l.Config.(*resilience.Timeout)
				t.Propagate = pick("propagate", 3) == 0
				if pick("useful", 4) == 0 {
					t.Useful = millis("minimum useful", 10)
				}
				if pick("abandon", 3) == 0 && !hangs(d.Faults) { // abandoned work that hangs would stay for ever
					t.Mode = resilience.ModeAbandon
				}
				return l
			},
			func() Layer {
				return retry(1+pick("attempts", 4), []resilience.Backoff{nil, &resilience.ConstantBackoff{Wait: 10 * time.Millisecond}, &resilience.ExponentialBackoff{Base: 5 * time.Millisecond, Factor: 2}}[pick("backoff", 3)])
			},
			func() Layer {
				l := hedge(millis("hedge", 60), 1+pick("hedges", 2))
				l.Config.(*resilience.Hedge).OnFailure = []string{resilience.FailureNext, resilience.FailureWait, resilience.FailureEnd}[pick("on failure", 3)]
				if !hanging { // a loser that hangs would stay for ever
					l.Config.(*resilience.Hedge).Cancel = []string{resilience.CancelLosers, resilience.CancelNone}[pick("cancel", 2)]
				}
				return l
			},
			func() Layer {
				return layer("fallback", func(c resilience.Config) {
					f := c.(*resilience.Fallback)
					f.Serve = []string{resilience.ServeCached, resilience.ServeDegraded, resilience.ServeQueue, resilience.ServeDependency}[pick("serve", 4)]
					f.Hit, f.MaxAge, f.Size, f.Latency = 0.5, time.Second, 2, millis("fallback", 30)
					if pick("keys", 2) == 0 {
						f.Keys = &resilience.Keys{Count: 1 + pick("count", 9), Zipf: float64(pick("zipf", 2))}
					}
					if later := names[place+1:]; len(later) > 0 { // no rings
						f.Dependency = later[pick("other", len(later))]
					} else if f.Serve == resilience.ServeDependency {
						f.Serve = resilience.ServeConstant
					}
				})
			},
			func() Layer {
				return outlier(func(o *resilience.Outlier) {
					o.UsePreset([]string{resilience.DialectEnvoy, resilience.DialectEnvoyOld, resilience.DialectGRPC}[pick("dialect", 3)])
					o.Interval, o.BaseEjectionTime, o.MaxEjectionTime = 100*time.Millisecond, 1+millis("ejection", 300), 500*time.Millisecond
					o.Consecutive, o.MaxEjectionPercent, o.PanicThreshold = 1+pick("in a row", 3), float64(1+pick("percent", 4))/4, []float64{0, 0.5}[pick("panic", 2)]
					o.SuccessRate.MinimumHosts, o.SuccessRate.RequestVolume, o.FailurePercentage.MinimumHosts, o.FailurePercentage.RequestVolume = 2, 2, 1, 3
				})
			},
		}
		for range pick("layers", 6) {
			l := layers[pick("layer", len(layers))]()
			l.Name = l.Kind + string(rune('0'+len(d.Stack)))
			d.Stack = append(d.Stack, l)
		}
		c.Dependencies = append(c.Dependencies, d)
	}
	for i := range 1 + pick("endpoints", 2) {
		e := Endpoint{Name: "e" + string(rune('0'+i)), SLO: []time.Duration{0, 100 * time.Millisecond}[pick("slo", 2)]}
		at := &load.At{}
		now := time.Duration(0)
		for range 20 + pick("requests", 150) {
			now += time.Duration(pick("gap", 20)) * time.Millisecond
			at.Times = append(at.Times, min(now, 2*time.Second))
		}
		e.Arrivals = at
		e.Deadline = 50*time.Millisecond + millis("deadline", 1500)
		for range 1 + pick("steps", 3) {
			var step Step
			for range 1 + pick("parallel", 3) {
				step = append(step, CallRef{Dependency: names[pick("target", 3)], Optional: pick("optional", 3) == 0})
			}
			e.Calls = append(e.Calls, step)
		}
		c.Endpoints = append(c.Endpoints, e)
	}
	return c
}

func hangs(list []Fault) bool {
	return slices.ContainsFunc(list, func(f Fault) bool { _, ok := f.Config.(*faults.Hang); return ok })
}

// TestLawsHoldInRandomSystems: Little's law to the nanosecond at every station
// and phase, conservation of requests and calls, and everything given back once
// the load is gone.
func TestLawsHoldInRandomSystems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := randomSystem(t)
		r := Run(context.Background(), c)
		if r.Cause != nil {
			t.Fatal(r.Cause)
		}
		for _, p := range r.Phases {
			for _, row := range p.Audit {
				if !row.Exact {
					t.Errorf("%s, phase %s: ∫N dt is not Σ sojourns", row.Station, row.Phase)
				}
				if row.In-row.Out < 0 && p.Name == PhaseAll && c.Warmup == 0 {
					t.Errorf("%s: %d came and %d left", row.Station, row.In, row.Out)
				}
			}
			for _, e := range c.Endpoints {
				m := func(n string) float64 { return p.Metrics["endpoint."+e.Name+"."+n] }
				failed := 0.0
				for _, f := range failureNames {
					failed += m("failures." + f)
				}
				done := m("requests") - m("in_flight")
				if done > 0 {
					if got := m("success_rate")*done + m("degraded_rate")*done + failed; got < done-1e-6 || got > done+1e-6 {
						t.Errorf("phase %s: %s: %g requests ended, %g have an outcome", p.Name, e.Name, done, got)
					}
				}
			}
		}
		all := r.Phase(PhaseAll)
		for _, d := range c.Dependencies {
			sum := 0.0
			for _, class := range call.ClassNames() {
				sum += all.Metrics["dependency."+d.Name+".outcomes."+class]
			}
			if calls := all.Metrics["dependency."+d.Name+".calls"]; c.Warmup == 0 && sum != calls {
				t.Errorf("%s: %g calls, %g outcomes", d.Name, calls, sum)
			}
			for _, l := range d.Stack {
				if b, ok := l.Config.(*resilience.Bulkhead); ok {
					if v := all.Metrics["dependency."+d.Name+"."+l.Name+".in_use_max"]; v > float64(b.Places()) {
						t.Errorf("%s: %g permits of %d", d.Name, v, b.Places())
					}
				}
			}
		}
		if p := c.Process.Pool; p != nil && all.Metrics["process.pool.in_use_max"] > float64(p.Size) {
			t.Errorf("%g connections of %d", all.Metrics["process.pool.in_use_max"], p.Size)
		}
		if r.Left != (Inventory{}) {
			t.Errorf("left behind: %+v", r.Left)
		}
		if again := Run(context.Background(), c); again.Digest != r.Digest || again.Events != r.Events {
			t.Errorf("digest %x, then %x", r.Digest, again.Digest)
		}
	})
}

// TestLawsHoldWhereverARunIsCut: the same in the middle of things, where
// requests wait at every place, and where the event budget ends the run.
func TestLawsHoldWhereverARunIsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := randomSystem(t)
		c.Duration = 400*time.Millisecond + time.Duration(rapid.IntRange(0, 2_000_000_000).Draw(t, "end"))
		c.Bins = rapid.IntRange(1, 50).Draw(t, "bins")
		if rapid.Bool().Draw(t, "budget") {
			c.Events = uint64(rapid.IntRange(1, 500).Draw(t, "events"))
		}
		for i := range c.Dependencies { // abandoned work that hangs is still inside at the end
			c.Dependencies[i].FinishOnCancel = rapid.Bool().Draw(t, "finish")
		}
		for i := range c.Endpoints {
			if rapid.Bool().Draw(t, "random arrivals") {
				c.Endpoints[i].Arrivals = poisson(float64(rapid.IntRange(1, 200).Draw(t, "rate")))
			}
		}
		s := build(c, nil)
		cause := s.run(context.Background())
		r := s.result(cause, false, 0)
		for _, p := range r.Phases {
			for _, row := range p.Audit {
				if !row.Exact {
					t.Errorf("%s, phase %s: ∫N dt is not Σ sojourns", row.Station, row.Phase)
				}
				if wrong := row.L - float64(row.W*float64(row.Out))/(p.To-p.From).Seconds() - row.Edge; cause == nil && math.Abs(wrong) > 1e-9*(1+row.L) {
					t.Errorf("%s, phase %s: L is %g from W·Out/T + edge", row.Station, row.Phase, wrong)
				}
			}
		}
		inFlight := int64(0)
		for _, e := range s.endpoints {
			done, active := e.warm.done, int64(0)
			for _, a := range e.accounts {
				done += a.done
			}
			e.requests.Each(func(r *request) {
				if r.active {
					active++
				}
			})
			inFlight += active
			if int64(e.next) != done+active {
				t.Errorf("%s: %d requests, %d ended and %d in flight", e.name, e.next, done, active)
			}
		}
		if r.Left.Requests != inFlight {
			t.Errorf("%d requests left, %d in flight", r.Left.Requests, inFlight)
		}
		for _, d := range s.deps {
			sum := d.parked.N()
			for _, n := range d.outcomes {
				sum += n
			}
			if d.calls != sum {
				t.Errorf("%s: %d calls, %d returned or parked", d.name, d.calls, sum)
			}
			if d.wire > d.attempts || d.working.N() < 0 || d.working.N() > d.wire {
				t.Errorf("%s: %d attempts, %d reached it, %d work", d.name, d.attempts, d.wire, d.working.N())
			}
		}
		if cause == nil {
			seriesAddUp(t, s, r)
		}
		request := rapid.Uint64Range(0, 20).Draw(t, "traced")
		if traced := RunTraced(context.Background(), c, "e0", request); traced.Digest != r.Digest || traced.Left != r.Left {
			t.Errorf("request %d traced: digest %x, %x without", request, traced.Digest, r.Digest)
		}
	})
}

// seriesAddUp: the mean over the bins of a series is the mean of the run, and
// its maximum the run's.
func seriesAddUp(t *rapid.T, s *system, r *Result) {
	if s.config.Warmup > 0 {
		return
	}
	all := r.Phase(PhaseAll)
	for i, name := range r.Series.Names {
		area, high := 0.0, 0.0
		for bin, value := range r.Series.Values[i] {
			area += float64(value * s.recorder.binWidth(bin).Seconds())
			high = max(high, value)
		}
		want, given := all.Metrics[name]
		switch {
		case !given:
		case strings.HasSuffix(name, "_mean") && math.Abs(area/s.config.Duration.Seconds()-want) > 1e-9*(1+want):
			t.Errorf("%s: %g over the bins, %g over the run", name, area/s.config.Duration.Seconds(), want)
		case strings.HasSuffix(name, "_max") && high != want:
			t.Errorf("%s: %g over the bins, %g over the run", name, high, want)
		}
	}
}
