package sim

import (
	"time"

	"blastradius/faults"
	"blastradius/resilience"
	"blastradius/sim/call"
	"blastradius/sim/dist"
	"blastradius/sim/load"
)

// Short ways to write a system in a test.

func constant(d time.Duration) dist.Kind { return &dist.Constant{Value: d} }

func layer(kind string, set func(resilience.Config)) Layer {
	c := resilience.Layers[kind]()
	set(c)
	return Layer{Kind: kind, Name: kind, Config: c}
}

func breaker(set func(*resilience.Breaker)) Layer {
	return layer("breaker", func(c resilience.Config) { set(c.(*resilience.Breaker)) })
}

func bulkhead(permits int, maxWait time.Duration) Layer {
	return layer("bulkhead", func(c resilience.Config) {
		b := c.(*resilience.Bulkhead)
		b.Permits, b.MaxWait = permits, maxWait
	})
}

func timeout(d time.Duration) Layer {
	return layer("timeout", func(c resilience.Config) { c.(*resilience.Timeout).After = d })
}

func retry(attempts int, b resilience.Backoff) Layer {
	return layer("retry", func(c resilience.Config) {
		r := c.(*resilience.Retry)
		r.Attempts = attempts
		if b != nil {
			r.Backoff = b
		}
	})
}

func rateLimit(limit resilience.Limiter) Layer {
	return layer("rate_limit", func(c resilience.Config) { c.(*resilience.RateLimit).Limit = limit })
}

func adaptive(algorithm resilience.Algorithm) Layer {
	return layer("concurrency_limit", func(c resilience.Config) { c.(*resilience.ConcurrencyLimit).Algorithm = algorithm })
}

func throttle(rule resilience.ThrottleRule) Layer {
	return layer("throttle", func(c resilience.Config) { c.(*resilience.Throttle).Rule = rule })
}
func hedge(after time.Duration, most int) Layer {
	return layer("hedge", func(c resilience.Config) {
		h := c.(*resilience.Hedge)
		h.Delay, h.Max = &resilience.FixedDelay{After: after}, most
	})
}

func cached(hit float64, maxAge time.Duration) Layer {
	return layer("fallback", func(c resilience.Config) {
		f := c.(*resilience.Fallback)
		f.Serve, f.Hit, f.MaxAge = resilience.ServeCached, hit, maxAge
	})
}

func outlier(set func(*resilience.Outlier)) Layer {
	return layer("outlier", func(c resilience.Config) {
		if set != nil {
			set(c.(*resilience.Outlier))
		}
	})
}

func poisson(perSec float64) load.Config { return &load.PoissonRate{Rate: perSec} }
func even(perSec float64) load.Config    { return &load.EvenRate{Rate: perSec} }

func slowTo(d time.Duration, from, length time.Duration) Fault {
	t := faults.NewTimeline()
	t.From, t.For = from, length
	return Fault{Kind: "slow", Timeline: t, Config: &faults.Slow{Latency: constant(d)}}
}

// one is a system of one endpoint that calls one dependency.
func one(arrivals load.Config, latency dist.Kind, duration time.Duration, stack ...Layer) *Config {
	return &Config{
		Name: "test", Seed: 42, Duration: duration,
		Endpoints:    []Endpoint{{Name: "web", Arrivals: arrivals, Calls: []Step{{{Dependency: "db"}}}}},
		Dependencies: []Dependency{{Name: "db", Latency: latency, Stack: stack}},
	}
}

// paymentsSlow is the scenario of DESIGN.md section 3, as it stands.
func paymentsSlow() *Config {
	stack := func(permits int, after time.Duration) []Layer {
		return []Layer{
			breaker(func(b *resilience.Breaker) {}), bulkhead(permits, 250*time.Millisecond), timeout(after),
		}
	}
	pool := &Pool{Size: 100, MaxWait: time.Second, Queue: Unbounded}
	return &Config{
		Name: "contained", Seed: 42, Duration: 10 * time.Minute, Warmup: 30 * time.Second,
		Process: Process{Pool: pool},
		Endpoints: []Endpoint{
			{Name: "checkout", Arrivals: poisson(80), Deadline: 10 * time.Second, SLO: time.Second, Calls: []Step{{{Dependency: "profiles"}}, {{Dependency: "payments"}}}},
			{Name: "search", Arrivals: poisson(120), Deadline: 2 * time.Second, SLO: 300 * time.Millisecond, Calls: []Step{{{Dependency: "index"}}}},
		},
		Dependencies: []Dependency{
			{Name: "payments", Latency: &dist.Percentiles{P50: 50 * time.Millisecond, P99: 180 * time.Millisecond},
				Errors: []ErrorShare{{Class: call.ClientError, Share: 0.02}, {Class: call.ServerError, Share: 0.001}},
				Faults: []Fault{slowTo(8*time.Second, 2*time.Minute, 3*time.Minute)},
				Stack:  append([]Layer{cached(0.9, 10*time.Minute)}, stack(20, 1500*time.Millisecond)...)},
			{Name: "profiles", Latency: constant(20 * time.Millisecond), Stack: stack(10, 500*time.Millisecond)},
			{Name: "index", Latency: &dist.Percentiles{P50: 30 * time.Millisecond, P99: 120 * time.Millisecond}, Stack: stack(20, time.Second)},
		},
	}
}

// without returns c with only the layers of the given kinds.
func without(c *Config, keep ...string) *Config {
	out := *c
	out.Dependencies = append([]Dependency{}, c.Dependencies...)
	for i := range out.Dependencies {
		var stack []Layer
		for _, l := range out.Dependencies[i].Stack {
			for _, k := range keep {
				if l.Kind == k {
					stack = append(stack, l)
				}
			}
		}
		out.Dependencies[i].Stack = stack
	}
	return &out
}
