package sim

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"blastradius/sim/call"
)

// What a run counts, warns of and records over time.

// What a fault hits is drawn apart from the reply that it changes.
func TestAFaultsShareIsIndependentOfTheReply(t *testing.T) {
	const n = 20_000
	c := one(even(n/10), constant(0), 10*time.Second)
	c.Dependencies[0].Errors = []ErrorShare{{Class: call.ServerError, Share: 0.2}, {Class: call.ClientError, Share: 0.3}}
	c.Dependencies[0] = c.Dependencies[0].with(slow(ms), 0, 5*time.Second)
	c.Dependencies[0].Faults[0].Share = 0.3
	c.Endpoints[0].SLO = ms - 1
	within := func(what string, got, share, of float64) {
		t.Helper()
		if z := (got - share*of) / math.Sqrt(share*(1-share)*of); math.Abs(z) > 4 {
			t.Errorf("%s: %g of %g, want %g%% (z %.1f)", what, got, of, share*100, z)
		}
	}
	for _, phase := range []struct {
		name string
		slow float64
	}{{PhaseFault, 0.3}, {PhaseAfter, 0}} {
		m := Run(context.Background(), c).Phase(phase.name).Metrics
		requests := m["endpoint.web.requests"]
		served := requests * m["endpoint.web.success_rate"]
		within(phase.name+": server_error", m["dependency.db.outcomes.server_error"], 0.2, requests)
		within(phase.name+": client_error", m["dependency.db.outcomes.client_error"], 0.3, requests)
		if late := served - requests*m["endpoint.web.slo_rate"]; phase.slow == 0 && late > 0.5 {
			t.Errorf("%s: %g late", phase.name, late)
		} else if phase.slow > 0 {
			within(phase.name+": slow answers", late, phase.slow, served)
		}
	}
}

func TestWarnings(t *testing.T) {
	c := tenSeconds(web(at(11*time.Second), step("a")), answers("a", ms, call.OK), answers("idle", ms, call.OK))
	want := "[dependency a was never called dependency idle was never called endpoint web had no request]"
	if got := fmt.Sprint(Run(context.Background(), c).Warnings); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Series count what their names say: shed is what we refused, failed what the
// dependency or a timeout of ours did.
func TestSeriesOfADependency(t *testing.T) {
	d := answers("a", 20*ms, call.OK, plainAnswer(), strict(3, sec), bulkhead(2, 0), timeout(50*ms)).with(fails(), 2*sec, sec).with(slow(sec), 5*sec, sec)
	c := tenSeconds(web(poisson(60), step("a")), d).connections(places(2, 10*ms, Unbounded))
	c.Endpoints = append(c.Endpoints, Endpoint{Name: "other", Arrivals: poisson(30), Calls: []Step{step("b")}})
	c.Dependencies = append(c.Dependencies, answers("b", 20*ms, call.OK))
	c.Bins = 7 // not a divisor of anything here
	r := Run(context.Background(), c)
	m := r.Phase(PhaseAll).Metrics
	sum := map[string]float64{}
	for i, name := range r.Series.Names {
		for _, v := range r.Series.Values[i] {
			sum[name] += v
		}
	}
	refused := m["process.pool.timeouts"] - m["dependency.b.outcomes.rejected"]
	for name, want := range map[string]float64{
		"dependency.a.calls":    m["dependency.a.calls"],
		"dependency.a.wire":     m["dependency.a.wire"],
		"dependency.a.fallback": m["dependency.a.outcomes.degraded"],
		"dependency.a.shed":     m["dependency.a.breaker.rejected"] + m["dependency.a.bulkhead.shed"] + refused,
		// What is neither served, nor refused, nor ended by the run.
		"dependency.a.failed": m["dependency.a.outcomes.degraded"] - m["dependency.a.breaker.rejected"] - m["dependency.a.bulkhead.shed"] - refused,
	} {
		if sum[name] != want || want == 0 {
			t.Errorf("%s: %g in the bins, want %g", name, sum[name], want)
		}
	}
	if m["dependency.a.breaker.rejected"] == 0 || m["dependency.a.bulkhead.shed"] == 0 || refused == 0 || m["dependency.a.timeout.fired"] == 0 {
		t.Errorf("nothing refused or timed out somewhere: %v", m)
	}
}
