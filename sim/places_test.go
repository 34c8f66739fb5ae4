package sim

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"blastradius/faults"
	"blastradius/resilience"
	"blastradius/sim/call"
)

// What a request waits for and holds: workers, connections, servers of the
// dependency; and what it leaves behind when it goes early.

func places(size int, maxWait time.Duration, queue int) *Pool {
	return &Pool{Size: size, MaxWait: maxWait, Queue: queue}
}

func (c *Config) workers(p *Pool) *Config {
	c.Process.Workers = p
	return c
}

func (c *Config) connections(p *Pool) *Config {
	c.Process.Pool = p
	return c
}

func (d Dependency) servers(n, queue int) Dependency {
	d.Capacity = &Capacity{Servers: n, Queue: queue}
	return d
}

func (d Dependency) finishes() Dependency {
	d.FinishOnCancel = true
	return d
}

func TestWorkers(t *testing.T) {
	twice := func(deadline time.Duration) Endpoint { return web(at(0, 0), step("a")).within(deadline) }
	takes := answers("a", 100*ms, call.OK)
	queued := tenSeconds(web(at(10*ms, 20*ms, 290*ms, 305*ms), step("a")).within(50*ms), answers("a", 10*ms, call.OK), answers("b", 300*ms, call.OK)).workers(places(1, Forever, Unbounded))
	queued.Endpoints = append(queued.Endpoints, Endpoint{Name: "other", Arrivals: at(0), Calls: []Step{step("b")}})
	runLives(t, []lifeCase{
		{"waiting for a worker counts against the deadline", tenSeconds(twice(150*ms), takes).workers(places(1, Forever, Unbounded)),
			[]string{"answered after 100ms", "failed: deadline after 150ms"},
			map[string]float64{"process.workers.waiting_max": 1, "process.workers.waiting_mean": 0.01, "process.workers.timeouts": 0, "dependency.a.calls": 2, "dependency.a.cancelled": 1,
				// The second starts when it has its worker, and is parked from then on.
				"endpoint.web.parked_max": 1, "endpoint.web.parked_mean": 0.015}},
		{"a deadline in the queue ends the wait", tenSeconds(twice(80*ms), takes).workers(places(1, Forever, Unbounded)),
			[]string{"failed: deadline after 80ms", "failed: deadline after 80ms"},
			// First come, first served at one instant too: the first leaves, its worker
			// goes to the second, and the second's deadline is due.
			map[string]float64{"endpoint.web.failures.deadline": 2, "endpoint.web.failures.workers": 0, "dependency.a.calls": 2, "process.workers.in_use_mean": 0.008}},
		{"one whose deadline comes in the queue is not served later", queued,
			[]string{"failed: deadline after 50ms", "failed: deadline after 50ms", "answered after 20ms", "answered after 15ms"},
			map[string]float64{"process.workers.waiting_max": 2, "process.workers.waiting_mean": 0.0115, "process.workers.timeouts": 2, "dependency.a.calls": 2, "endpoint.web.parked_mean": 0.002}},
		{"max_wait", tenSeconds(twice(0), takes).workers(places(1, 30*ms, Unbounded)),
			[]string{"answered after 100ms", "failed: workers after 30ms"},
			map[string]float64{"endpoint.web.failures.workers": 1, "process.workers.timeouts": 1, "process.workers.refused": 0, "dependency.a.calls": 1}},
		{"no place to wait", tenSeconds(twice(0), takes).workers(places(1, Forever, 0)),
			[]string{"answered after 100ms", "failed: workers after 0s"},
			map[string]float64{"endpoint.web.failures.workers": 1, "process.workers.timeouts": 0, "process.workers.refused": 1, "process.workers.in_use_max": 1, "process.workers.full_at": 0}},
	})
}

func TestConnections(t *testing.T) {
	twice := func(steps ...Step) Endpoint { return web(at(0, 0), steps...) }
	takes := answers("a", 100*ms, call.OK)
	own := takes
	own.Name, own.Pool = "b", "b"
	apart := tenSeconds(twice(step("a", "b")), takes, own).connections(places(2, Forever, Unbounded))
	apart.Process.Pools = map[string]Pool{"b": *places(1, Forever, Unbounded)}
	runLives(t, []lifeCase{
		{"max_wait", tenSeconds(twice(step("a")), takes).connections(places(1, 30*ms, Unbounded)),
			[]string{"answered after 100ms", "failed: rejected after 30ms"},
			map[string]float64{"endpoint.web.failures.rejected": 1, "dependency.a.outcomes.rejected": 1, "dependency.a.attempts": 2, "dependency.a.wire": 1, "dependency.a.amplification": 0.5, "process.pool.timeouts": 1, "process.pool.waiting_max": 1}},
		{"a connection that comes free at max_wait is had", tenSeconds(twice(step("a")), takes).connections(places(1, 100*ms, Unbounded)),
			[]string{"answered after 100ms", "answered after 200ms"},
			map[string]float64{"process.pool.timeouts": 0, "process.pool.wait_p99": 0.1}},
		{"no place to wait", tenSeconds(twice(step("a")), takes).connections(places(1, Forever, 0)),
			[]string{"answered after 100ms", "failed: rejected after 0s"},
			map[string]float64{"process.pool.refused": 1, "process.pool.timeouts": 0, "dependency.a.wire": 1}},
		{"a deadline while waiting", tenSeconds(twice(step("a")).within(100*ms), takes).connections(places(1, Forever, Unbounded)),
			[]string{"answered after 100ms", "failed: deadline after 100ms"},
			// The reply at 100 ms comes before the deadlines and hands its connection on.
			map[string]float64{"process.pool.timeouts": 0, "dependency.a.wire": 2, "dependency.a.cancelled": 1}},
		{"a sibling's failure gives the connection back", tenSeconds(web(at(0, 10*ms), step("bad", "a")), answers("bad", 20*ms, call.ServerError), takes).connections(places(3, Forever, Unbounded)),
			[]string{"failed: server_error after 20ms", "failed: server_error after 20ms"},
			map[string]float64{"process.pool.in_use_max": 3, "process.pool.in_use_mean": 0.007, "process.pool.waiting_mean": 0.001}},
		{"whoever gets the connection may end the request that gave it back", tenSeconds(web(at(0, 50*ms, 50*ms), step("a", "refused")), answers("a", 10*ms, call.OK, bulkhead(2, 0), timeout(sec)), answers("refused", 0, call.ConnectError)).connections(places(1, Forever, Unbounded)),
			// The refused call gets the connection of its sibling, whose answer then finds
			// nobody: the request has failed.
			[]string{"failed: connect_error after 10ms", "failed: connect_error after 10ms", "failed: connect_error after 20ms"},
			map[string]float64{"dependency.a.cancelled": 3, "dependency.a.bulkhead.in_use_max": 2, "process.pool.in_use_mean": 0.003}},
		{"a named pool is a pool apart", apart,
			[]string{"answered after 100ms", "answered after 200ms"},
			map[string]float64{"process.pool.in_use_max": 2, "process.pool.waiting_max": 0, "process.pool.in_use_mean": 0.02, "pool.b.in_use_max": 1, "pool.b.waiting_max": 1, "pool.b.in_use_mean": 0.02, "pool.b.saturation": 0.02}},
	})
}

// A timeout that fires while its attempt waits for a connection is a timeout
// like any other: a full pool opens the breaker of a healthy dependency.
func TestAFullPoolOpensTheBreakerOfAHealthyDependency(t *testing.T) {
	patient := breaker(func(b *resilience.Breaker) { b.Consecutive, b.Cooldown = 2, time.Second })
	c := tenSeconds(web(at(10*ms, 20*ms, 30*ms, 200*ms), step("healthy")), answers("slow", 150*ms, call.OK), answers("healthy", ms, call.OK, patient, timeout(40*ms))).connections(places(1, Forever, Unbounded))
	c.Endpoints = append(c.Endpoints, Endpoint{Name: "other", Arrivals: at(0), Calls: []Step{step("slow")}})
	lifeCase{config: c, lives: []string{"failed: timeout after 40ms", "failed: timeout after 40ms", "failed: timeout after 40ms", "failed: rejected after 0s"}, figures: map[string]float64{
		"process.pool.timeouts": 3, "dependency.healthy.attempts": 3, "dependency.healthy.wire": 0, "dependency.healthy.working_max": 0,
		"dependency.healthy.outcomes.timeout": 3, "dependency.healthy.timeout.fired": 3,
		"dependency.healthy.breaker.opens": 1, "dependency.healthy.breaker.first_open_at": 0.06, "dependency.healthy.breaker.rejected": 1,
		"dependency.healthy.breaker.stale": 1, // the third timeout: admitted before it opened
		// The true failure probability of the dependency is far below the ratio.
		"dependency.healthy.breaker.false_opens": 1,
	}}.run(t)
}

func TestWhatAbandonedWorkOccupies(t *testing.T) {
	// The first attempt takes 100 ms and is given up after 30; the second, at 40 ms,
	// takes 10 where there is a server for it.
	system := func(d Dependency) *Config {
		return tenSeconds(web(at(0, 40*ms), step("a")), d).connections(places(1, Forever, Unbounded))
	}
	d := answers("a", 10*ms, call.OK, timeout(30*ms)).with(slow(100*ms), 0, 20*ms)
	busy := tenSeconds(web(at(10*ms, 95*ms), step("a")).within(50*ms), answers("a", 10*ms, call.OK).with(slow(100*ms), 0, 20*ms).servers(1, Unbounded))
	busy.Endpoints = append(busy.Endpoints, Endpoint{Name: "other", Arrivals: at(0), Calls: []Step{step("a")}})
	runLives(t, []lifeCase{
		{"on_cancel stop frees the server at once", system(d.servers(1, Unbounded)),
			[]string{"failed: timeout after 30ms", "answered after 10ms"},
			map[string]float64{"dependency.a.working_mean": 0.004, "dependency.a.servers.in_use_mean": 0.004, "process.pool.in_use_mean": 0.004}},
		{"on_cancel finish keeps it to the work's end", system(d.servers(1, Unbounded).finishes()),
			[]string{"failed: timeout after 30ms", "failed: timeout after 30ms"},
			// Work at the dependency: 0 to 100 ms and, queued, 40 to 110 ms.
			map[string]float64{"dependency.a.working_max": 2, "dependency.a.working_mean": 0.017, "dependency.a.servers.in_use_mean": 0.011, "dependency.a.servers.waiting_mean": 0.006,
				// The connection is ours and comes back with the timeout.
				"process.pool.in_use_mean": 0.006, "process.pool.waiting_max": 0, "dependency.a.parked_mean": 0.006}},
		{"without servers nobody waits for abandoned work", system(d.finishes()),
			[]string{"failed: timeout after 30ms", "answered after 10ms"},
			map[string]float64{"dependency.a.working_mean": 0.011, "dependency.a.parked_mean": 0.004}},
		{"work that is abandoned in the queue leaves it", busy,
			[]string{"failed: deadline after 50ms", "answered after 15ms"},
			map[string]float64{"dependency.a.working_mean": 0.0165, "dependency.a.servers.in_use_mean": 0.011, "dependency.a.servers.waiting_mean": 0.0055}},
	})
}

func TestTheDependencysQueue(t *testing.T) {
	three := web(at(0, 0, 0), step("a"))
	takes := answers("a", 100*ms, call.OK)
	runLives(t, []lifeCase{
		{"a full queue answers server_error at once", tenSeconds(three, takes.servers(1, 1)),
			[]string{"answered after 100ms", "answered after 200ms", "failed: server_error after 0s"},
			map[string]float64{"dependency.a.outcomes.server_error": 1, "dependency.a.wire": 3, "dependency.a.working_max": 2, "dependency.a.servers.waiting_max": 1}},
		{"no queue", tenSeconds(three, takes.servers(2, 0)),
			[]string{"answered after 100ms", "answered after 100ms", "failed: server_error after 0s"}, nil},
		{"unbounded, first come first served", tenSeconds(three, takes.servers(1, Unbounded)),
			[]string{"answered after 100ms", "answered after 200ms", "answered after 300ms"},
			map[string]float64{"dependency.a.working_mean": 0.06, "dependency.a.servers.in_use_mean": 0.03, "dependency.a.servers.wait_p99": 0.2}},
		{"a refused connection takes no server", tenSeconds(three, takes.servers(1, 0).with(&faults.Down{}, 0, 0)),
			slices.Repeat([]string{"failed: connect_error after 0s"}, 3),
			map[string]float64{"dependency.a.working_max": 0, "dependency.a.wire": 3, "dependency.a.servers.in_use_max": 0}},
		{"one refused after a latency does", tenSeconds(three, takes.servers(1, 1).with(&faults.Down{Latency: constant(30 * ms)}, 0, 0)),
			[]string{"failed: connect_error after 30ms", "failed: connect_error after 60ms", "failed: server_error after 0s"}, nil},
	})
}

// A fault changes work that starts while it is active, also where the work then
// waits for a server.
func TestFaultsChangeWorkThatStartsWhileTheyAreActive(t *testing.T) {
	d := answers("a", 10*ms, call.OK).with(slow(50*ms), 100*ms, 100*ms)
	lifeCase{config: tenSeconds(web(at(95*ms, 100*ms, 200*ms-1, 200*ms), step("a")), d),
		lives: []string{"answered after 10ms", "answered after 50ms", "answered after 50ms", "answered after 10ms"}}.run(t)
	// One that meets no call says so; a share of no request is none.
	r := Run(context.Background(), tenSeconds(web(at(0), step("a")), d))
	if want := "[fault x of a was armed and met no call]"; fmt.Sprint(r.Warnings) != want {
		t.Errorf("warnings %q, want %q", r.Warnings, want)
	}
	fault := r.Phase(PhaseFault)
	if share, given := fault.Metrics["endpoint.web.slo_rate"]; given || fault.Absent["endpoint.web.slo_rate"] == "" || fault.Metrics["endpoint.web.requests"] != 0 {
		t.Errorf("share %g of no request, absent for %q", share, fault.Absent["endpoint.web.slo_rate"])
	}
}
