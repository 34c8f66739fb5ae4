package live

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"blastradius/scenarios"
	"blastradius/sim"
	"blastradius/sim/call"
	"blastradius/sim/dist"
)

// outage is a dependency that takes 8 s for a while, behind the usual stack.
const outage = `version: 1
name: outage
duration: 2m
seed: 7
endpoints:
  checkout: {arrivals: {poisson: 200/s}, deadline: 6.000000123s, calls: [payments]}
dependencies:
  payments:
    latency: {lognormal: {median: 50ms, sigma: 0.5}}
    errors: {server_error: 1%, client_error: 2%}
    faults:
      - slow: {latency: 8s}
        from: 25s
        for: 40s
    stack:
      - fallback: {serve: cached, hit: 90%, max_age: 20s}
      - breaker: {ratio: 50%, window: 20, min_calls: 5, cooldown: 10s}
      - bulkhead: {permits: 20, max_wait: 250ms}
      - retry: {attempts: 2, backoff: {constant: 20ms}, jitter: full}
      - timeout: 1.5s
`

// dependency answers as the one of a simulation does: the same draws, by the
// same keys (sim/draws.go).
type dependency struct {
	config *sim.Dependency
	stream uint64
}

func (d dependency) reply(now time.Duration, request uint64, attempt int) reply {
	const golden = 0x9e3779b97f4a7c15
	var r dist.Rand
	key := func(purpose int) {
		r.Key(d.stream+uint64(purpose)*golden, request<<16|uint64(uint16(attempt)))
	}
	var out call.Reply
	key(0)
	u := r.Float64()
	for _, e := range d.config.Errors {
		if u < e.Share {
			out.Class = e.Class
			break
		}
		u -= e.Share
	}
	out.Latency = d.config.Latency.Dist().Sample(&r)
	for i, f := range d.config.Faults {
		if f.Active(now) {
			key(1 + i)
			f.Config.Fault().Apply(now, &r, &out)
		}
	}
	return reply{ends: call.Outcome{Class: out.Class}, after: out.Latency}
}

// A whole scenario: what sim.Run says of a dependency, real goroutines in a
// bubble do. Parked goroutines are counted in both, never estimated.
func TestSimulationIsWhatGoroutinesDo(t *testing.T) {
	f, err := scenarios.Load("outage.yaml", []byte(outage))
	if err != nil {
		t.Fatal(err)
	}
	config := f.Config()
	want := sim.Run(context.Background(), config).Phases[0].Metrics
	got := map[string]float64{}
	synctest.Test(t, func(t *testing.T) {
		book := newLedger()
		d := &config.Dependencies[0]
		endpoint := &config.Endpoints[0]
		slices.SortFunc(d.Errors, func(a, b sim.ErrorShare) int { return int(a.Class) - int(b.Class) })
		e := New(f.Config().Dependencies[0].Stack, Options{Source: "dependency.payments", Meter: book.under})
		dep := dependency{d, dist.Fold(dist.Fold(config.Seed, dist.Hash(endpoint.Name)), dist.Fold(dist.Hash(d.Name), 0))}
		var arrivals dist.Rand
		arrivals.Key(dist.Fold(config.Seed, dist.Hash("arrivals")), dist.Hash(endpoint.Name))
		stream := endpoint.Arrivals.Arrivals()
		var mu sync.Mutex
		var all sync.WaitGroup
		at := time.Duration(-1)
		for n := uint64(0); ; n++ {
			if at, _ = stream.Next(at, &arrivals); at >= config.Duration {
				break
			}
			<-time.After(at - e.Now())
			all.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), endpoint.Deadline)
				defer cancel()
				o, _ := e.Do(ctx, Key{dep.stream, n}, func(ctx context.Context, a Attempt) error {
					r := dep.reply(e.Now(), n, a.Number)
					return r.work(ctx)
				})
				if e.Now() < config.Duration {
					mu.Lock()
					got["dependency.payments.outcomes."+o.Class.String()]++
					mu.Unlock()
				}
			})
		}
		<-time.After(config.Duration - e.Now())
		mu.Lock()
		e.Read(func(now time.Duration) {
			for name, n := range book.counts {
				got[name] = float64(*n)
			}
			for name, g := range book.levels {
				if !strings.HasSuffix(name, ".state") {
					span := g.Cut(now)
					got[name+"_mean"], got[name+"_max"] = float64(span.Area)/float64(now), float64(span.Max)
				}
			}
		})
		mu.Unlock()
		all.Wait()
		e.Close()
	})
	compared := 0
	for name, g := range got {
		w, ok := want[name]
		if !ok {
			continue // a peak has no mean
		}
		compared++
		if math.Abs(g-w) > 1e-12*math.Abs(w) {
			t.Errorf("%s: live %v, sim %v", name, g, w)
		}
	}
	if compared < 20 || want["dependency.payments.breaker.opens"] < 2 || want["dependency.payments.parked_max"] < 20 {
		t.Errorf("%d figures compared; %v opens, %v parked", compared, want["dependency.payments.breaker.opens"], want["dependency.payments.parked_max"])
	}
	t.Log(fmt.Sprint(compared), "figures agree, among them parked_max", got["dependency.payments.parked_max"])
}
