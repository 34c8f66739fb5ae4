package sim

import (
	"context"
	"strings"
	"testing"
	"time"

	"blastradius/resilience"
	"blastradius/sim/call"
	"blastradius/sim/dist"
)

// otherwise is a fallback to another dependency.
func otherwise(name string) Layer {
	return layer("fallback", func(c resilience.Config) {
		f := c.(*resilience.Fallback)
		f.Serve, f.Dependency = resilience.ServeDependency, name
	})
}

func TestAnotherDependencyAnswers(t *testing.T) {
	broken := func(stack ...Layer) Dependency { return answers("a", 20*ms, call.ServerError, stack...) }
	age := cached(1, 0)
	runLives(t, []lifeCase{
		{"its answer is marked, and counts there", tenSeconds(web(at(0), step("a")), broken(otherwise("b")), answers("b", 30*ms, call.OK)),
			[]string{"degraded after 50ms"},
			map[string]float64{
				"dependency.a.outcomes.degraded": 1, "dependency.a.parked_mean": 0.005, "dependency.a.latency_max": 0.05, "dependency.a.fallback.served": 1, "dependency.a.fallback.detours": 1, "dependency.a.wire": 1,
				"dependency.b.calls": 1, "dependency.b.outcomes.ok": 1, "dependency.b.parked_mean": 0.003, "dependency.b.wire": 1, "process.parked_mean": 0.005, "process.parked_max": 1,
			}},
		{"its stack stands before it", tenSeconds(web(at(0, 0), step("a")), broken(otherwise("b")), answers("b", 30*ms, call.OK, bulkhead(1, 0))),
			[]string{"degraded after 50ms", "failed: server_error after 20ms"},
			map[string]float64{"dependency.b.outcomes.rejected": 1, "dependency.b.bulkhead.shed": 1, "dependency.a.fallback.misses": 1, "dependency.a.outcomes.server_error": 1}},
		{"a call that both refuse fails as the first did", tenSeconds(web(at(0), step("a")), answers("a", 0, call.ConnectError, otherwise("b")), answers("b", 0, call.ServerError)),
			[]string{"failed: connect_error after 0s"},
			map[string]float64{"dependency.a.fallback.misses": 1, "dependency.a.fallback.served": 0, "dependency.b.outcomes.server_error": 1}},
		{"at once and at once", tenSeconds(web(at(0), step("a")), answers("a", 0, call.ConnectError, otherwise("b")), answers("b", 0, call.ClientError)),
			[]string{"degraded after 0s"},
			map[string]float64{"dependency.b.outcomes.client_error": 1, "dependency.a.outcomes.degraded": 1}},
		{"the deadline ends the detour", tenSeconds(web(at(0), step("a")).within(40*ms), broken(otherwise("b")), answers("b", 30*ms, call.OK)),
			[]string{"failed: deadline after 40ms"},
			map[string]float64{"dependency.a.outcomes.cancelled": 1, "dependency.b.outcomes.cancelled": 1, "dependency.b.working_mean": 0.002}},
		{"a retry there knows the deadline", tenSeconds(web(at(0), step("a")).within(100*ms), broken(otherwise("b")), answers("b", 30*ms, call.ServerError, retry(3, &resilience.ConstantBackoff{Wait: 60 * ms}))),
			[]string{"failed: server_error after 50ms"},
			map[string]float64{"dependency.b.attempts": 1, "dependency.b.retry.exhausted": 1}},
		{"the other is called before it was built, and answers from its own cache", tenSeconds(web(at(0, sec), step("a")), broken(otherwise("b")), answers("b", 30*ms, call.OK, age).with(fails(), 500*ms, 0)),
			[]string{"degraded after 50ms", "degraded after 50ms"},
			map[string]float64{"dependency.a.stale_age_max": 1, "dependency.b.stale_age_max": 1, "dependency.b.fallback.served": 1}},
		{"of two the second answers what the first could not", tenSeconds(web(at(0), step("a")), broken(otherwise("b")), answers("b", 30*ms, call.ServerError, otherwise("c")), answers("c", ms, call.OK)),
			[]string{"degraded after 51ms"},
			map[string]float64{"dependency.b.outcomes.degraded": 1, "dependency.c.calls": 1}},
	})
}

// A detour meets the same luck in every arm, and other luck at each try.
func TestDetoursHaveLuckOfTheirOwn(t *testing.T) {
	random := Dependency{Name: "b", Latency: &dist.Exponential{MeanLatency: time.Second}}
	took := func(a Dependency) (out []time.Duration) {
		for i := range uint64(2) {
			out = append(out, RunTraced(context.Background(), tenSeconds(web(at(0, 0), step("a")), a, random), "web", i).Trace.Took)
		}
		return out
	}
	once := took(answers("a", 0, call.ConnectError, otherwise("b")))
	retried := took(answers("a", 0, call.ConnectError, otherwise("b"), retry(3, nil)))
	if once[0] == once[1] || once[0] == 0 {
		t.Errorf("two requests take %v", once)
	}
	if retried[0] != once[0] || retried[1] != once[1] {
		t.Errorf("after three attempts the detours take %v, after one %v", retried, once)
	}
	twice := tenSeconds(web(at(0), step("a"), step("a")), answers("a", 0, call.ConnectError, otherwise("b")), random)
	if both := RunTraced(context.Background(), twice, "web", 0).Trace.Took; both <= once[0] || both == 2*once[0] {
		t.Errorf("one detour takes %v, those of two calls %v", once[0], both)
	}
	random.Stack = []Layer{timeout(200 * ms)}
	always := answers("a", 0, call.ConnectError, retry(50, nil), otherwise("b"))
	r := Run(context.Background(), tenSeconds(web(at(0), step("a")), always, random)).Phase(PhaseAll).Metrics
	if ok := r["dependency.b.outcomes.ok"]; ok != 1 || r["dependency.b.calls"] < 2 {
		t.Errorf("of %g tries %g were answered: each should draw anew, until one is below 200 ms", r["dependency.b.calls"], ok)
	}
}

func TestATraceFollowsTheDetour(t *testing.T) {
	c := tenSeconds(web(at(0), step("a")), answers("a", 20*ms, call.ServerError, otherwise("b")), answers("b", 30*ms, call.OK, timeout(sec)))
	var got []string
	for _, s := range RunTraced(context.Background(), c, "web", 0).Trace.Steps {
		got = append(got, s.Where+" "+s.What)
	}
	want := "a.fallback enters, a.attempt enters, a.attempt server_error, b.timeout enters, b.attempt enters, b.attempt ok, b.timeout ok, a.fallback degraded, request degraded"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
}

// leaver is a caller of detours that may have left.
type leaver struct{ answers int }

func (l *leaver) Done(call.Outcome) { l.answers++ }

// Frames of detours are used again, whichever way the call ended.
func TestDetoursReuseTheirFrames(t *testing.T) {
	c := tenSeconds(web(at(), step("a")), answers("a", ms, call.OK), answers("b", 3*ms, call.OK, bulkhead(2, 0)))
	s := build(c, nil)
	w := s.detoursTo("b").(*detours)
	var l leaver
	for i := range 600 {
		var out []call.Canceler
		for range 4 { // two are let in, two refused at once
			if x := w.Start(&call.Call{Request: uint64(i), Deadline: call.NoDeadline}, &l); x != nil {
				out = append(out, x)
			}
		}
		if len(out) != 2 {
			t.Fatalf("%d let in", len(out))
		}
		if i%2 == 0 {
			out[0].Cancel()
		}
		if err := s.kernel.Run(t.Context(), s.kernel.Now()+5*ms); err != nil {
			t.Fatal(err)
		}
	}
	made := 0
	w.frames.Each(func(*detour) { made++ })
	d := s.byName["b"]
	if made > 64 || l.answers != 2100 || d.calls != 2400 || d.parked.N() != 0 || d.outcomes[call.Cancelled] != 300 {
		t.Errorf("%d frames, %d answers, %d calls, %d parked, %d cancelled", made, l.answers, d.calls, d.parked.N(), d.outcomes[call.Cancelled])
	}
}

func TestAStandbyNeedsNoCall(t *testing.T) {
	idle := answers("idle", ms, call.OK)
	idle.Standby = true
	if w := Run(context.Background(), tenSeconds(web(at(0), step("a")), answers("a", ms, call.OK), idle)).Warnings; len(w) != 0 {
		t.Errorf("warnings %q", w)
	}
}

// What abandoned work holds: the connection and a goroutine to the end of the
// work, the permit as the bulkhead says.
func TestWhatWorkHoldsWhoseCallerWasFreed(t *testing.T) {
	abandons := func(d time.Duration) Layer {
		l := timeout(d)
		l.Config.(*resilience.Timeout).Mode = resilience.ModeAbandon
		return l
	}
	held := bulkhead(1, 0)
	held.Config.(*resilience.Bulkhead).Release = resilience.OnWorkDone
	system := func(stack ...Layer) *Config {
		return tenSeconds(web(at(0, 40*ms), step("a")), answers("a", 10*ms, call.OK, stack...).with(slow(100*ms), 0, 20*ms)).connections(places(1, Forever, Unbounded))
	}
	runLives(t, []lifeCase{
		{"the next call waits for its connection", system(abandons(30 * ms)),
			// The first to 100 ms, then the second, whose caller left at 70 ms, to 110 ms.
			[]string{"failed: timeout after 30ms", "failed: timeout after 30ms"},
			map[string]float64{
				"process.pool.in_use_mean": 0.011, "process.pool.waiting_mean": 0.006, "dependency.a.working_mean": 0.011, "process.pool.timeouts": 0,
				// Callers: 0 to 30 and 40 to 70 ms. Goroutines: 0 to 100 and 40 to 110 ms.
				"dependency.a.parked_mean": 0.006, "process.parked_mean": 0.017, "process.parked_max": 2, "endpoint.web.parked_mean": 0.006,
				"dependency.a.timeout.abandoned_mean": 0.011, "dependency.a.timeout.abandoned_max": 2, "dependency.a.timeout.late": 2, "dependency.a.outcomes.timeout": 2,
			}},
		{"a permit that the caller's return frees", system(bulkhead(1, 0), abandons(30*ms)),
			[]string{"failed: timeout after 30ms", "failed: timeout after 30ms"},
			map[string]float64{"dependency.a.bulkhead.in_use_mean": 0.006, "dependency.a.bulkhead.shed": 0}},
		{"a permit that the end of the work frees", system(held, abandons(30*ms)),
			[]string{"failed: timeout after 30ms", "failed: rejected after 0s"},
			map[string]float64{"dependency.a.bulkhead.in_use_mean": 0.01, "dependency.a.bulkhead.shed": 1}},
	})
}
