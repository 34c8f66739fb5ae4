package conformance

import (
	"context"
	"fmt"
	"testing/synctest"
	"time"

	"blastradius/internal/conform"
	"blastradius/sim/call"

	"github.com/slok/goresilience"
	"github.com/slok/goresilience/circuitbreaker"
	goerrors "github.com/slok/goresilience/errors"
	"github.com/slok/goresilience/metrics"
)

const goresilienceModule = "github.com/slok/goresilience"

// goresilienceSubject runs each call in a goroutine of its own. The window
// slides in a goroutine of the library's; before each step it waits until a
// slide due at the same instant has been made.
type goresilienceSubject struct {
	metrics.Recorder // of nothing
	runner           goresilience.Runner
	state            conform.State
	calls            map[int]chan error // of those under way, by id: how to end them
}

var (
	_ subject          = (*goresilienceSubject)(nil)
	_ ender            = (*goresilienceSubject)(nil)
	_ metrics.Recorder = (*goresilienceSubject)(nil)
)

func (s *goresilienceSubject) Admit(id int) bool {
	synctest.Wait()
	begun, end := false, make(chan error)
	refused := make(chan error, 1)
	go func() {
		refused <- s.runner.Run(context.Background(), func(context.Context) error {
			begun = true
			return <-end
		})
	}()
	synctest.Wait()
	if begun {
		s.calls[id] = end
		return true
	}
	if err := <-refused; err != goerrors.ErrCircuitOpen {
		panic(err)
	}
	return false
}

func (s *goresilienceSubject) Complete(id int, class call.Class) {
	synctest.Wait()
	s.calls[id] <- errorOf(class)
	delete(s.calls, id)
	synctest.Wait()
}

// State is what the metrics heard last: the breaker's own is private.
func (s *goresilienceSubject) State() conform.State { return s.state }

// WithID implements metrics.Recorder.
func (s *goresilienceSubject) WithID(string) metrics.Recorder { return s }

// IncCircuitbreakerState implements metrics.Recorder.
func (s *goresilienceSubject) IncCircuitbreakerState(state string) {
	switch state {
	case "closed":
		s.state = conform.Closed
	case "halfopen":
		s.state = conform.HalfOpen
	case "open":
		s.state = conform.Open
	default:
		panic(state)
	}
}

// End ends the calls under way. Nothing ends the goroutine that slides the
// window.
func (s *goresilienceSubject) End() {
	for _, end := range s.calls {
		end <- nil
	}
	synctest.Wait()
}

// goresilienceConfig are the settings that our keys stand for. v0.2.0 compares
// the share of errors with minCalls percent and does not look at ratio; with
// both alike it is as it was meant.
type goresilienceConfig struct {
	ratio    int // percent
	minCalls int
	window   time.Duration
	buckets  int // 2 or more: the first slide of a window of one panics
	cooldown time.Duration
	probes   int
}

func (c goresilienceConfig) settings() string {
	return fmt.Sprintf("{dialect: goresilience, ratio: %d%%, min_calls: %d, window: {buckets: {span: %s, n: %d}}, cooldown: %s, probes: %d}",
		c.ratio, c.minCalls, brief(c.window), c.buckets, brief(c.cooldown), c.probes)
}

func (c goresilienceConfig) build() subject {
	s := &goresilienceSubject{Recorder: metrics.Dummy, state: conform.Closed, calls: map[int]chan error{}}
	s.runner = goresilience.RunnerChain(metrics.NewMiddleware("dependency", s), circuitbreaker.NewMiddleware(circuitbreaker.Config{
		ErrorPercentThresholdToOpen: c.ratio, MinimumRequestToOpen: c.minCalls,
		SuccessfulRequiredOnHalfOpen: c.probes, WaitDurationInOpenState: c.cooldown,
		MetricsSlidingWindowBucketQuantity: c.buckets, MetricsBucketDuration: c.window / time.Duration(c.buckets),
	}))
	return s
}

func (c goresilienceConfig) config() config {
	grid := gcd(c.cooldown, c.window/time.Duration(c.buckets))
	return config{
		settings: c.settings(), unit: grid, grid: grid, cooldown: c.cooldown, edge: 1, failures: call.ServerError,
		more: 2 * c.minCalls, leaks: true, build: c.build,
	}
}

// goresilienceConfigs crosses the trips with the rest. A share of few percent
// asks for one failure at first, and for two when many calls have passed.
func goresilienceConfigs() (out []config) {
	windows := []goresilienceConfig{
		{window: 10 * time.Second, buckets: 10}, {window: 4 * time.Second, buckets: 2}, {window: 6 * time.Second, buckets: 3},
	}
	rest := []goresilienceConfig{
		{cooldown: time.Second, probes: 1}, {cooldown: 3 * time.Second, probes: 2},
		{cooldown: 5 * time.Second, probes: 3}, {cooldown: 10 * time.Second, probes: 5},
	}
	for _, calls := range []int{1, 2, 4, 8, 12, 15, 20} {
		for _, c := range windows {
			r := rest[len(out)%len(rest)]
			c.ratio, c.minCalls, c.cooldown, c.probes = calls, calls, r.cooldown, r.probes
			out = append(out, c.config())
		}
	}
	return out
}

func goresilienceDialect() dialect {
	with := func(ratio, minCalls, probes int) config {
		return goresilienceConfig{
			ratio: ratio, minCalls: minCalls, window: 10 * time.Second, buckets: 10, cooldown: 5 * time.Second, probes: probes,
		}.config()
	}
	half, three, alike := with(50, 4, 1), with(50, 4, 3), with(20, 20, 1)
	return dialect{
		name: "goresilience", module: goresilienceModule, classes: gobreakerClasses,
		configs: goresilienceConfigs(),
		draw: func(c chooser) config {
			calls := among(c, 1, 2, 3, 5, 8, 12, 16, 20)
			g := goresilienceConfig{
				ratio: calls, minCalls: calls, buckets: among(c, 2, 3, 5, 10),
				cooldown: time.Duration(1+c.IntN(12)) * time.Second, probes: 1 + c.IntN(5),
			}
			g.window = time.Duration(g.buckets) * among(c, 100*time.Millisecond, time.Second, 4*time.Second)
			return g.config()
		},
		hand: []handTrace{
			{"ratio-is-min-calls", "the ratio compared is min_calls in percent, 4% here, and not the one configured; corrected after v0.2.0 in the repository only", half, "a o0 a o1 a o2 a s3O"},
			{"no-failure", "without any failure it stays closed", half, "a o0 a o1 a o2 a o3 a"},
			{"success-trips", "a success that completes the minimum opens it", half, "a s0 a s1 a s2 a o3O"},
			{"wait-is-strict", "at exactly the wait it is still open, 1 ns later half-open", half, "a s0 a s1 a s2 a s3O 5r +1aH o4C"},
			{"everyone-passes", "half-open admits everyone", half, "a s0 a s1 a s2 a s3O 5+1aH a a a o4C"},
			{"straggler-closes", "a late success closes it in place of the probe", half, "a a a a a s0 s1 s2 s3O 5+1aH o4C"},
			{"straggler-reopens", "a late failure opens it again in place of the probe", half, "a a a a a s0 s1 s2 s3O 5+1aH s4O 5r +1aH"},
			{"straggler-while-open", "while open a late result moves nothing, and it is forgotten at half-open", half, "a a a a a s0 s1 s2 s3O s4 5r +1aH o5C"},
			{"refused-are-forgotten", "a refused call is counted as an error while open, and half-open forgets it", half, "a s0 a s1 a s2 a s3O r r r 5+1aH o4C"},
			{"bucket-stays", "buckets are those of a ticker that began with the breaker: 9 s later the first is there", half, "a s0 a s1 a s2 9+1a s3O"},
			{"bucket-stays-to-the-end", "and 1 ns before 10 s", half, "a s0 a s1 a s2 10-1a s3O"},
			{"bucket-leaves-at-tick", "at exactly 10 s it has been replaced, if the ticker comes first", half, "a s0 a s1 a s2 10a s3"},
			{"bucket-leaves", "and then it is gone", half, "a s0 a s1 a s2 10+1a s3"},
			{"closes-at-results", "half-open decides at so many results: all succeeded", three, "a s0 a s1 a s2 a s3O 5+1aH a a a o4 o5 o6C"},
			{"reopens-at-results", "or any failed, and not before", three, "a s0 a s1 a s2 a s3O 5+1aH a a s4 o5 o6O"},
			{"half-open-forgets", "in half-open the window slides: what is older than it does not count", three, "a s0 a s1 a s2 a s3O 5+1aH s4 10a o5 a o6 a o7C"},
			{"default-trip", "4 of 20 open it with the library's defaults", alike, results(16, 4) + "O"},
			{"default-stays", "3 of 20 do not", alike, results(17, 3) + " a"},
		},
	}
}
