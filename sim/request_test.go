package sim

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"blastradius/faults"
	"blastradius/resilience"
	"blastradius/sim/call"
	"blastradius/sim/dist"
	"blastradius/sim/load"
)

// What becomes of a request: small systems in which every instant is known, the
// life of each request in words, and the figures that it leaves.

const ms = time.Millisecond

func at(times ...time.Duration) load.Config { return &load.At{Times: times} }

// step calls the named dependencies in parallel; a name with a ? is optional.
func step(names ...string) Step {
	var out Step
	for _, n := range names {
		name, optional := strings.CutSuffix(n, "?")
		out = append(out, CallRef{Dependency: name, Optional: optional})
	}
	return out
}

// web is the endpoint of a system with no other.
func web(arrivals load.Config, steps ...Step) Endpoint {
	return Endpoint{Name: "web", Arrivals: arrivals, Calls: steps}
}

func (e Endpoint) within(deadline time.Duration) Endpoint {
	e.Deadline = deadline
	return e
}

// answers is a dependency that always answers after latency, with class.
func answers(name string, latency time.Duration, class call.Class, stack ...Layer) Dependency {
	d := Dependency{Name: name, Latency: constant(latency), Stack: stack}
	if class != call.OK {
		d.Errors = []ErrorShare{{Class: class, Share: 1}}
	}
	return d
}

func (d Dependency) with(kind faults.Config, from, length time.Duration) Dependency {
	t := faults.NewTimeline()
	t.From, t.For = from, length
	d.Faults = append(append([]Fault{}, d.Faults...), Fault{Kind: "x", Timeline: t, Config: kind})
	return d
}

func slow(latency time.Duration) faults.Config { return &faults.Slow{Latency: constant(latency)} }

// tenSeconds is a run of ten seconds: a time average of n is n × 10 s of it.
func tenSeconds(e Endpoint, dependencies ...Dependency) *Config {
	return &Config{Name: "test", Seed: 1, Duration: 10 * time.Second, Endpoints: []Endpoint{e}, Dependencies: dependencies}
}

// lives are the ends of the first n requests of web, e.g. "answered after 50ms".
func lives(c *Config, n int) (out []string) {
	for i := range uint64(n) {
		t := RunTraced(context.Background(), c, "web", i).Trace
		if t == nil {
			return append(out, "never came")
		}
		out = append(out, fmt.Sprintf("%s after %v", t.Outcome, t.Took))
	}
	return out
}

// lifeCase is one row of a table of such systems.
type lifeCase struct {
	name    string
	config  *Config
	lives   []string
	figures map[string]float64 // of phase all; a NaN is one that must be absent
}

func (c lifeCase) run(t *testing.T) {
	t.Helper()
	if got := lives(c.config, len(c.lives)); fmt.Sprint(got) != fmt.Sprint(c.lives) {
		t.Errorf("got %q, want %q", got, c.lives)
	}
	all := Run(context.Background(), c.config).Phase(PhaseAll)
	for _, name := range sortedKeys(c.figures) {
		want := c.figures[name]
		got, given := all.Metrics[name]
		switch {
		case math.IsNaN(want):
			if given || all.Absent[name] == "" {
				t.Errorf("%s is %g, want none, with its reason", name, got)
			}
		case !given || math.Abs(got-want) > 1e-9:
			t.Errorf("%s is %g (absent: %q), want %g", name, got, all.Absent[name], want)
		}
	}
}

func runLives(t *testing.T, cases []lifeCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, c.run)
	}
}

func TestCallsInOrderAndInParallel(t *testing.T) {
	ok, broken := call.OK, call.ServerError
	runLives(t, []lifeCase{
		{"one after the other", tenSeconds(web(at(0), step("a"), step("b")), answers("a", 20*ms, ok), answers("b", 30*ms, ok)),
			[]string{"answered after 50ms"},
			map[string]float64{"endpoint.web.success_rate": 1, "process.parked_max": 1, "process.parked_mean": 0.005, "dependency.b.parked_mean": 0.003}},
		{"a parallel step takes as long as its longest call", tenSeconds(web(at(0), step("a", "b"), step("a")), answers("a", 20*ms, ok), answers("b", 30*ms, ok)),
			[]string{"answered after 50ms"},
			// Two goroutines until a returns, then the request's own.
			map[string]float64{"process.parked_max": 2, "process.parked_mean": 0.007, "endpoint.web.parked_max": 1, "endpoint.web.parked_mean": 0.005, "dependency.a.calls": 2}},
		{"the first failure ends the step", tenSeconds(web(at(0), step("a", "b"), step("c")), answers("a", 20*ms, broken), answers("b", time.Second, ok), answers("c", 0, ok)),
			[]string{"failed: server_error after 20ms"},
			map[string]float64{
				"endpoint.web.failures.server_error": 1, "endpoint.web.failure_rate": 1, "endpoint.web.success_rate": 0,
				"dependency.b.outcomes.cancelled": 1, "dependency.b.cancelled": 1, "dependency.b.latency_max": 0.02, "dependency.b.working_mean": 0.002,
				"dependency.c.calls": 0, "process.parked_mean": 0.004,
			}},
		{"a refusal at once leaves the rest of its step uncalled", tenSeconds(web(at(0), step("a", "b")), answers("a", 0, call.ConnectError), answers("b", time.Second, ok)),
			[]string{"failed: connect_error after 0s"},
			map[string]float64{"dependency.a.outcomes.connect_error": 1, "dependency.b.calls": 0, "process.parked_mean": 0, "process.parked_max": 2}},
		{"a refusal at once ends what its step has begun", tenSeconds(web(at(0), step("b", "a")), answers("a", 0, call.ConnectError), answers("b", time.Second, ok)),
			[]string{"failed: connect_error after 0s"},
			map[string]float64{"dependency.b.outcomes.cancelled": 1, "dependency.b.working_mean": 0, "process.parked_mean": 0}},
		{"a failure leaves the later steps uncalled", tenSeconds(web(at(0), step("a"), step("b")), answers("a", 20*ms, broken), answers("b", 0, ok)),
			[]string{"failed: server_error after 20ms"},
			map[string]float64{"dependency.a.calls": 1, "dependency.b.calls": 0}},
		{"an optional failure degrades, and the rest goes on", tenSeconds(web(at(0), step("a?", "b"), step("c")), answers("a", 20*ms, broken), answers("b", 30*ms, ok), answers("c", 5*ms, ok)),
			[]string{"degraded after 35ms"},
			map[string]float64{
				"endpoint.web.degraded_rate": 1, "endpoint.web.success_rate": 0, "endpoint.web.answered_rate": 1, "endpoint.web.failure_rate": 0, "endpoint.web.slo_rate": 1, "endpoint.web.live_rate": 0,
				"dependency.b.outcomes.ok": 1, "dependency.c.calls": 1, "process.fallback_rate": math.NaN(),
			}},
		{"every class fails under its name", tenSeconds(web(at(0), step("a")), answers("a", 5*ms, call.Throttled)),
			[]string{"failed: throttled after 5ms"},
			map[string]float64{"endpoint.web.failures.throttled": 1, "dependency.a.outcomes.throttled": 1}},
		{"client_error is served", tenSeconds(web(at(0), step("a"), step("b")), answers("a", 20*ms, call.ClientError), answers("b", 30*ms, ok)),
			[]string{"answered after 50ms"},
			map[string]float64{"endpoint.web.success_rate": 1, "endpoint.web.failure_rate": 0, "endpoint.web.outcomes.client_error": 1, "dependency.a.outcomes.client_error": 1, "dependency.b.calls": 1}},
		{"a fallback's answer degrades", tenSeconds(web(at(0), step("a")), answers("a", 20*ms, broken, plainAnswer())),
			[]string{"degraded after 20ms"},
			map[string]float64{"process.fallback_rate": 1, "dependency.a.fallback_rate": 1, "dependency.a.outcomes.degraded": 1, "dependency.a.fallback.degraded": 1}},
	})
}

func plainAnswer() Layer {
	return layer("fallback", func(c resilience.Config) { c.(*resilience.Fallback).Serve = resilience.ServeDegraded })
}

func TestDeadlines(t *testing.T) {
	hangs := answers("a", 20*ms, call.OK).with(&faults.Hang{}, 0, 0)
	withFallback := hangs
	withFallback.Stack = []Layer{plainAnswer()}
	slo := web(at(0, 100*ms), step("a")).within(time.Second)
	slo.SLO = 100 * ms
	runLives(t, []lifeCase{
		{"a reply at the deadline is in time", tenSeconds(web(at(0), step("a")).within(100*ms), answers("a", 100*ms, call.OK)),
			[]string{"answered after 100ms"},
			map[string]float64{"endpoint.web.slo_rate": 1, "endpoint.web.latency_max": 0.1}},
		{"one nanosecond later it is not", tenSeconds(web(at(0), step("a")).within(100*ms-1), answers("a", 100*ms, call.OK)),
			[]string{"failed: deadline after 99.999999ms"},
			map[string]float64{"endpoint.web.slo_rate": 0, "endpoint.web.failures.deadline": 1, "dependency.a.outcomes.cancelled": 1, "dependency.a.outcomes.ok": 0}},
		{"a last call without length at the deadline is in time", tenSeconds(web(at(0), step("a"), step("b")).within(100*ms), answers("a", 100*ms, call.OK), answers("b", 0, call.OK)),
			[]string{"answered after 100ms"}, nil},
		{"a reply at the attempt's timeout is in time", tenSeconds(web(at(0), step("a")), answers("a", 100*ms, call.OK, timeout(100*ms))),
			[]string{"answered after 100ms"}, map[string]float64{"dependency.a.timeout.fired": 0}},
		{"the attempt's timeout is a failure of its own", tenSeconds(web(at(0), step("a")).within(time.Second), answers("a", 100*ms, call.OK, timeout(100*ms-1))),
			[]string{"failed: timeout after 99.999999ms"}, map[string]float64{"dependency.a.outcomes.timeout": 1, "endpoint.web.failures.timeout": 1, "endpoint.web.failures.deadline": 0}},
		{"of a timeout and a deadline at one instant the one set first comes first", tenSeconds(web(at(0), step("a")).within(50*ms), answers("a", 100*ms, call.OK, timeout(50*ms))),
			[]string{"failed: deadline after 50ms"}, nil},
		{"the deadline ends the whole request", tenSeconds(web(at(0), step("a", "b")).within(50*ms), answers("a", 20*ms, call.OK), answers("b", time.Second, call.OK)),
			[]string{"failed: deadline after 50ms"},
			map[string]float64{"dependency.a.outcomes.ok": 1, "dependency.b.outcomes.cancelled": 1, "process.parked_mean": 0.007}},
		{"no fallback runs once the deadline has passed", tenSeconds(web(at(0), step("a")).within(50*ms), withFallback),
			[]string{"failed: deadline after 50ms"},
			map[string]float64{"dependency.a.fallback.served": 0, "dependency.a.fallback.degraded": 0, "dependency.a.fallback.misses": 0}},
		{"a retry that would come after the deadline is not waited for", tenSeconds(web(at(0), step("a"), step("b")).within(100*ms), answers("a", 50*ms, call.OK), answers("b", 0, call.ServerError, retry(3, &resilience.ConstantBackoff{Wait: 60 * ms}))),
			[]string{"failed: server_error after 50ms"}, map[string]float64{"dependency.b.attempts": 1}},
		{"a hanging call without a deadline is in flight to the end", tenSeconds(web(at(0), step("a")), hangs),
			[]string{"in flight after 10s"},
			map[string]float64{"endpoint.web.requests": 1, "endpoint.web.in_flight": 1, "endpoint.web.success_rate": math.NaN(), "endpoint.web.latency_p50": math.NaN(), "dependency.a.parked_mean": 1}},
		{"an answer at the SLO is good, one after it is late", tenSeconds(slo, answers("a", 100*ms, call.OK).with(slow(100*ms+1), 50*ms, 0)),
			[]string{"answered after 100ms", "answered late after 100.000001ms"},
			map[string]float64{"endpoint.web.success_rate": 1, "endpoint.web.slo_rate": 0.5, "endpoint.web.live_rate": 0.5, "endpoint.web.lost_rate": 0.5, "endpoint.web.goodput": 0.1}},
	})
}

// A request still in flight at the end of the run is in no share, unless it has
// missed its SLO already.
func TestRequestsInFlightAtTheEnd(t *testing.T) {
	e := web(at(9*time.Second, 9700*ms, 9900*ms), step("a"))
	e.SLO = 200 * ms
	c := tenSeconds(e, answers("a", time.Second, call.OK))
	alone := *c // at its SLO exactly: a reply at this instant would be in time
	alone.Endpoints = []Endpoint{e}
	alone.Endpoints[0].Arrivals = at(9800 * ms)
	lifeCase{config: &alone, lives: []string{"in flight after 200ms"}, figures: map[string]float64{"endpoint.web.slo_rate": math.NaN()}}.run(t)
	lifeCase{config: c, lives: []string{"in flight after 1s", "in flight after 300ms", "in flight after 100ms"}, figures: map[string]float64{
		"endpoint.web.in_flight": 3, "endpoint.web.slo_rate": 0, "endpoint.web.lost_rate": 1, "endpoint.web.success_rate": math.NaN(), "process.lost_rate": 1,
	}}.run(t)
	left := Run(context.Background(), c).Left
	if left.Requests != 3 || left.Timers != 3 {
		t.Errorf("left behind: %+v, want 3 requests and their replies", left)
	}
}

// Two calls of one dependency are two draws, and each is the same whatever
// else the request does.
func TestEachCallOfARequestHasItsOwnLuck(t *testing.T) {
	random := Dependency{Name: "a", Latency: &dist.Exponential{MeanLatency: time.Second}}
	took := func(steps ...Step) time.Duration {
		return RunTraced(context.Background(), tenSeconds(web(at(0), steps...), random, answers("b", ms, call.OK)), "web", 0).Trace.Took
	}
	first, both := took(step("a")), took(step("a"), step("a"))
	if both == 2*first || both <= first {
		t.Errorf("one call takes %v, two take %v", first, both)
	}
	if got := took(step("b"), step("a")); got != first+ms {
		t.Errorf("after another call it takes %v, want %v", got-ms, first)
	}
}
