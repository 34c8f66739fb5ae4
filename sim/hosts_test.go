package sim

import (
	"math"
	"testing"
	"time"

	"blastradius/faults"
	"blastradius/sim/call"
	"blastradius/sim/dist"
	"blastradius/sizing"
)

// hosts makes d so many copies.
func (d Dependency) hosts(n int) Dependency {
	d.Hosts = n
	return d
}

// onHosts confines the last fault of d to the first n hosts.
func (d Dependency) onHosts(n int) Dependency {
	d.Faults[len(d.Faults)-1].Hosts = n
	return d
}

func figure1(t *testing.T, c *Config, name string) float64 {
	t.Helper()
	p := Run(t.Context(), c).Phase(PhaseAll)
	v, ok := p.Metrics[name]
	if !ok {
		t.Fatalf("no %s: %q", name, p.Absent[name])
	}
	return v
}

func TestAttemptsAreSpreadOverTheHosts(t *testing.T) {
	for _, n := range []int{2, 3, 10} {
		c := one(even(1000), constant(ms), 20*time.Second)
		c.Dependencies[0] = c.Dependencies[0].hosts(n)
		s := build(c, nil)
		if err := s.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		squares := 0.0
		for i, w := range s.deps[0].wired {
			want := 20_000 / float64(n)
			if z := (float64(w) - want) / math.Sqrt(want*(1-1/float64(n))); math.Abs(z) > 4 {
				t.Errorf("host %d of %d has %d attempts, %g expected", i+1, n, w, want)
			}
			squares += (float64(w) - want) * (float64(w) - want) / want
		}
		if limit := float64(n-1) + 4*math.Sqrt(2*float64(n-1)); squares > limit {
			t.Errorf("%d hosts: chi-square %g, at most %g expected", n, squares, limit)
		}
		if got := s.result(nil, false, 0).Phase(PhaseAll).Metrics["dependency.db.hosts.busiest_share"]; got < 1/float64(n) || got > 1.1/float64(n) {
			t.Errorf("the busiest of %d hosts has %g of the attempts", n, got)
		}
	}
}

func TestAFaultHitsTheFirstHosts(t *testing.T) {
	for _, c := range []struct {
		hosts, hit int
		want       float64
	}{{4, 1, 0.25}, {4, 3, 0.75}, {4, 4, 1}, {4, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}} {
		cfg := one(even(1000), constant(ms), 10*time.Second)
		cfg.Dependencies[0] = cfg.Dependencies[0].with(&faults.Down{}, 0, 0).hosts(c.hosts).onHosts(c.hit)
		got := figure1(t, cfg, "endpoint.web.failure_rate")
		if sigma := math.Sqrt(c.want * (1 - c.want) / 10_000); math.Abs(got-c.want) > 4*sigma+1e-12 {
			t.Errorf("a fault on %d of %d hosts fails %g, want %g ± %.4f", c.hit, c.hosts, got, c.want, sigma)
		}
	}
}

// A retry meets another host most of the time: with one of n hosts down two
// attempts fail with probability 1/n².
func TestEachAttemptChoosesAnew(t *testing.T) {
	cfg := one(even(1000), constant(ms), 20*time.Second, retry(2, nil))
	cfg.Dependencies[0] = cfg.Dependencies[0].with(&faults.Down{}, 0, 0).hosts(4).onHosts(1)
	got, want := figure1(t, cfg, "endpoint.web.failure_rate"), 1.0/16
	if sigma := math.Sqrt(want * (1 - want) / 20_000); math.Abs(got-want) > 4*sigma {
		t.Errorf("two attempts fail %g, want %g ± %.4f", got, want, sigma)
	}
}

// What a host is good for is a fault or a queue of its own. Without either a
// dependency of ten hosts is to the last request what it is with one.
func TestHostsAloneChangeNothing(t *testing.T) {
	want := Run(t.Context(), short())
	c := short()
	for i := range c.Dependencies {
		c.Dependencies[i] = c.Dependencies[i].hosts(10)
	}
	if got := Run(t.Context(), c); got.Digest != want.Digest || got.Events != want.Events {
		t.Errorf("digest %x with ten hosts, %x with one", got.Digest, want.Digest)
	}
}

func TestHostsOfAnotherDependencyChangeNobodysLuck(t *testing.T) {
	system := func(hosts int) *Config {
		c := short()
		c.Process.Pool = nil
		c.Dependencies[2] = c.Dependencies[2].servers(3, Unbounded).hosts(hosts) // index, for search alone
		return c
	}
	a, b := Run(t.Context(), system(1)), Run(t.Context(), system(4))
	if a.EndpointDigests["checkout"] != b.EndpointDigests["checkout"] {
		t.Error("the hosts of index change the luck of checkout")
	}
	if a.EndpointDigests["search"] == b.EndpointDigests["search"] {
		t.Error("four hosts of index are like one: this test sees nothing")
	}
}

// Each host has servers and a queue of its own: Poisson arrivals that choose at
// random make n queues M/M/1, which wait ρ/(μ−λ) each and not what M/M/n waits.
func TestCapacityIsOfEachHost(t *testing.T) {
	const n, rate, mean = 4, 200.0, 10 * time.Millisecond
	c := one(poisson(rate), &dist.Exponential{MeanLatency: mean}, 1000*time.Second)
	c.Dependencies[0] = c.Dependencies[0].servers(1, Unbounded).hosts(n)
	all := Run(t.Context(), c).Phase(PhaseAll)
	q := sizing.MMc{Rate: rate / n, Mean: mean.Seconds(), Servers: 1}
	if got, want := all.Metrics["dependency.db.latency_mean"], q.MeanWait()+mean.Seconds(); math.Abs(got/want-1) > 0.02 {
		t.Errorf("mean latency %g, %d queues M/M/1 give %g", got, n, want)
	}
	if got, want := all.Metrics["dependency.db.servers.saturation"], rate/n*mean.Seconds(); math.Abs(got/want-1) > 0.02 {
		t.Errorf("saturation %g, want %g: over the servers of all hosts", got, want)
	}
	if got := all.Metrics["dependency.db.servers.in_use_max"]; got != n {
		t.Errorf("%g servers in use at most, there are %d", got, n)
	}
	for _, row := range all.Audit {
		if !row.Exact {
			t.Errorf("%s: ∫N dt is not Σ sojourns", row.Station)
		}
	}
}

// A host whose queue is full refuses while another is idle.
func TestQueuesAreOfEachHost(t *testing.T) {
	c := tenSeconds(web(at(0, 0, 0, 0, 0, 0, 0, 0), step("a")), answers("a", time.Second, call.OK).servers(1, 0).hosts(2))
	all := Run(t.Context(), c).Phase(PhaseAll)
	if served, refused := all.Metrics["dependency.a.outcomes.ok"], all.Metrics["dependency.a.outcomes.server_error"]; served != 2 || refused != 6 {
		t.Errorf("%g served, %g refused; two hosts have one server each", served, refused)
	}
}

func TestATraceNamesTheHost(t *testing.T) {
	c := tenSeconds(web(at(0), step("a")), answers("a", ms, call.OK).hosts(1000))
	found := false
	for _, s := range RunTraced(t.Context(), c, "web", 0).Trace.Steps {
		found = found || s.Where == "a.attempt" && len(s.What) > len("goes to host ") && s.What[:len("goes to host ")] == "goes to host "
	}
	if !found {
		t.Error("no step names the host")
	}
}
