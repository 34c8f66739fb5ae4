package sim

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"blastradius/faults"
	"blastradius/resilience"
	"blastradius/sim/call"
)

// The blast radius: scenarios in which it can be counted on one's fingers, and
// a count over the traces of every request.

const sec = time.Second

// sharedPool is pay, which calls payments, slow from 2 s to 6 s, and search,
// which does not; a pool of one connection lets one reach the other.
func sharedPool(pay, search []time.Duration) *Config {
	return &Config{
		Name: "test", Seed: 1, Duration: 20 * sec,
		Process: Process{Pool: places(1, Forever, Unbounded)},
		Endpoints: []Endpoint{
			{Name: "pay", Arrivals: at(pay...), SLO: 100 * ms, Calls: []Step{step("payments")}},
			{Name: "search", Arrivals: at(search...), SLO: 100 * ms, Calls: []Step{step("index")}},
		},
		Dependencies: []Dependency{
			answers("payments", 10*ms, call.OK).with(slow(500*ms), 2*sec, 4*sec),
			answers("index", 10*ms, call.OK),
		},
	}
}

type phased struct{ metric, phase string }

// blastIs compares figures of subject blast_radius; a NaN is one that must be
// absent.
func blastIs(t *testing.T, r *Result, want map[phased]float64) {
	t.Helper()
	for k, v := range want {
		p := r.Phase(k.phase)
		name := "blast_radius." + k.metric
		got, given := p.Metrics[name]
		switch {
		case math.IsNaN(v):
			if given || p.Absent[name] == "" {
				t.Errorf("%s@%s is %g, want none, with its reason", name, k.phase, got)
			}
		case !given || math.Abs(got-v) > 1e-9:
			t.Errorf("%s@%s is %g (absent: %q), want %g", name, k.phase, got, p.Absent[name], v)
		}
	}
}

func TestBlastRadiusByHand(t *testing.T) {
	pay := []time.Duration{1 * sec, 2 * sec, 3 * sec, 4 * sec, 7 * sec}
	// In the fault: 2.1 s, 3.2 s and 4.1 s wait for payments beyond their SLO;
	// 2.45 s waits 50 ms and is in time, 5 s meets nobody.
	search := []time.Duration{1500 * ms, 2100 * ms, 2450 * ms, 3200 * ms, 4100 * ms, 5 * sec, 6500 * ms, 7500 * ms}
	none := math.NaN()
	r := Run(context.Background(), sharedPool(pay, search))
	blastIs(t, r, map[phased]float64{
		{"collateral", "before"}: 0, {"collateral", "fault"}: 0.6, {"collateral", "after"}: 0, {"collateral", "all"}: 0.6,
		{"direct", "before"}: 0, {"direct", "fault"}: 1, {"direct", "after"}: 0, {"direct", "all"}: 1,
		{"time_to_contain", "fault"}: 2.1, {"time_to_contain", "all"}: 2.1, {"time_to_contain", "before"}: none,
		{"time_to_recover", "fault"}: 0, {"time_to_recover", "after"}: none,
	})
	if want := (Hurt{Endpoint: "search", Request: 1, Took: 410 * ms}); r.Worst == nil || *r.Worst != want {
		t.Errorf("worst %+v, want %+v", r.Worst, want)
	}

	t.Run("harm that outlives the fault", func(t *testing.T) {
		c := sharedPool(append(pay[:4:4], 5900*ms), append(search[:6:6], 6100*ms, 6500*ms, 7500*ms))
		blastIs(t, Run(context.Background(), c), map[phased]float64{
			{"collateral", "fault"}: 0.6, {"collateral", "after"}: 1.0 / 3, {"direct", "after"}: none, {"time_to_contain", "fault"}: 2.1,
		})
		r := Run(context.Background(), sharedPool([]time.Duration{5900 * ms}, []time.Duration{6100 * ms}))
		if r.Worst == nil || r.Worst.Endpoint != "pay" { // the worst of the fault, not of what follows
			t.Errorf("worst %+v", r.Worst)
		}
	})
	t.Run("never contained", func(t *testing.T) {
		c := sharedPool(append(pay[:4:4], 5*sec), append(search[:5:5], 5*sec, 7500*ms))
		r := Run(context.Background(), c)
		blastIs(t, r, map[phased]float64{{"collateral", "fault"}: 0.8, {"time_to_contain", "fault"}: none})
		if got := r.Phase(PhaseFault).Absent["blast_radius.time_to_contain"]; got != neverContain {
			t.Errorf("absent because %q", got)
		}
	})
	t.Run("nobody else hurt", func(t *testing.T) {
		c := sharedPool(pay, search)
		c.Process.Pool = nil
		r := Run(context.Background(), c)
		blastIs(t, r, map[phased]float64{{"collateral", "fault"}: 0, {"direct", "fault"}: 1, {"time_to_contain", "fault"}: 0})
		if r.Worst == nil || !r.Worst.Direct || r.Worst.Took != 500*ms {
			t.Errorf("worst %+v", r.Worst)
		}
	})
	t.Run("a degraded answer in time is good", func(t *testing.T) {
		c := sharedPool(pay, search)
		c.Dependencies[0].Stack = []Layer{plainAnswer(), timeout(50 * ms)}
		r := Run(context.Background(), c)
		blastIs(t, r, map[phased]float64{{"collateral", "fault"}: 0, {"direct", "fault"}: 0})
		if got := r.Phase(PhaseFault).Metrics["endpoint.pay.degraded_rate"]; got != 1 {
			t.Errorf("degraded rate %g", got)
		}
	})
	t.Run("what was bad without the fault is not hurt by it", func(t *testing.T) {
		c := sharedPool(pay, search)
		c.Dependencies[1].Errors = []ErrorShare{{Class: call.ServerError, Share: 1}}
		r := Run(context.Background(), c)
		blastIs(t, r, map[phased]float64{{"collateral", "fault"}: 0})
		if r.Worst == nil || r.Worst.Endpoint != "pay" {
			t.Errorf("worst %+v", r.Worst)
		}
	})
	t.Run("the deadline counts where there is no SLO", func(t *testing.T) {
		c := sharedPool(pay, search)
		for i := range c.Endpoints {
			c.Endpoints[i].SLO, c.Endpoints[i].Deadline = 0, 400*ms
		}
		// 2.1 s and 4.1 s wait until payments' deadline at 2.4 s and 4.4 s, no more.
		blastIs(t, Run(context.Background(), c), map[phased]float64{{"collateral", "fault"}: 0, {"direct", "fault"}: 1})
	})
}

func TestBlastRadiusThatIsNotThere(t *testing.T) {
	pay, search := []time.Duration{1 * sec, 3 * sec}, []time.Duration{3 * sec, 8 * sec}
	none := math.NaN()
	absent := func(t *testing.T, r *Result, why string, metrics ...string) {
		t.Helper()
		for _, m := range metrics {
			blastIs(t, r, map[phased]float64{{m, PhaseAll}: none})
			if got := r.Phase(PhaseAll).Absent["blast_radius."+m]; got != why {
				t.Errorf("%s is absent because %q, want %q", m, got, why)
			}
		}
	}
	t.Run("no fault", func(t *testing.T) {
		c := sharedPool(pay, search)
		c.Dependencies[0].Faults = nil
		absent(t, Run(context.Background(), c), noFault, blastMetrics...)
	})
	t.Run("every endpoint needs it", func(t *testing.T) {
		c := sharedPool(pay, search)
		c.Endpoints[1].Calls = []Step{step("payments?")}
		absent(t, Run(context.Background(), c), allDirect, "collateral", "time_to_contain")
	})
	t.Run("no endpoint needs it", func(t *testing.T) {
		c := sharedPool(pay, search)
		c.Endpoints[0].Calls = []Step{step("index")}
		absent(t, Run(context.Background(), c), noneDirect, "direct")
	})
	t.Run("a fault to the end", func(t *testing.T) {
		c := sharedPool([]time.Duration{1 * sec, 19 * sec, 19950 * ms}, search)
		c.Dependencies[0].Faults = nil
		c.Dependencies[0] = c.Dependencies[0].with(&faults.Hang{}, 2*sec, 0)
		c.Process.Pool = nil
		r := Run(context.Background(), c)
		// The request at 19 s has missed its SLO; the one at 19.95 s may still make it.
		blastIs(t, r, map[phased]float64{{"direct", "fault"}: 1})
		if got := r.Phase(PhaseFault).Metrics["endpoint.pay.in_flight"]; got != 2 {
			t.Errorf("%g in flight", got)
		}
		absent(t, r, faultToEnd, "time_to_recover")
		c.Endpoints[0].Arrivals = at(19950 * ms)
		absent(t, Run(context.Background(), c), "no request arrived", "direct") // none of which anything is known
	})
}

// Recovery is within 1 % of the twin over 10 s: the breaker that refuses until
// 15.2 s still counts against windows in which more than 2 of 200 are lost.
func TestTimeToRecover(t *testing.T) {
	system := func(cooldown time.Duration) *Config {
		c := one(even(20), constant(10*ms), 60*sec, breaker(func(b *resilience.Breaker) { b.Consecutive, b.Cooldown = 5, cooldown }))
		c.Dependencies[0] = c.Dependencies[0].with(&faults.Down{}, 10*sec, 2*sec)
		return c
	}
	r := Run(context.Background(), system(5*sec))
	blastIs(t, r, map[phased]float64{{"time_to_recover", "fault"}: 3.1})
	if got := r.Phase(PhaseAll).Metrics["dependency.db.breaker.first_open_at"]; got != 10.2 {
		t.Errorf("opened at %g s", got)
	}
	r = Run(context.Background(), system(45*sec))
	if got := r.Phase(PhaseAll).Absent["blast_radius.time_to_recover"]; got != neverRecover {
		t.Errorf("with a breaker open to the end, absent because %q", got)
	}
}

// TestBlastRadiusIsWhatTracesShow counts again, request by request, from the
// traces of the run and of one without faults.
func TestBlastRadiusIsWhatTracesShow(t *testing.T) {
	c := sharedPool(nil, nil)
	c.Duration = 12 * sec
	c.Process.Pool = places(2, 300*ms, Unbounded)
	c.Endpoints[0].Arrivals, c.Endpoints[1].Arrivals = poisson(6), poisson(9)
	c.Endpoints[0].Deadline = sec
	c.Dependencies[0].Stack = []Layer{cached(0.5, 0), timeout(400 * ms)}
	c.Dependencies[0].Faults[0].Share = 0.6
	c.Dependencies[1].Errors = []ErrorShare{{Class: call.ServerError, Share: 0.1}}
	healthy := *c
	healthy.Dependencies = append([]Dependency{}, c.Dependencies...)
	healthy.Dependencies[0].Faults = nil

	// fate is good, bad, or "" while it is open.
	fate := func(c *Config, e Endpoint, n uint64) (string, time.Duration, bool) {
		tr := RunTraced(context.Background(), c, e.Name, n).Trace
		switch {
		case tr == nil:
			return "", 0, false
		case tr.Outcome == "in flight" && tr.Took <= e.SLO:
			return "", tr.At, true
		case tr.Outcome == "in flight" || strings.HasPrefix(tr.Outcome, "failed") || strings.HasSuffix(tr.Outcome, "late"):
			return "bad", tr.At, true
		}
		return "good", tr.At, true
	}
	r := Run(context.Background(), c)
	for i, metric := range []string{"direct", "collateral"} {
		hurt, all, contain := 0.0, 0.0, 0.0
		for n := uint64(0); ; n++ {
			without, at, came := fate(&healthy, c.Endpoints[i], n)
			if !came {
				break
			}
			with, _, _ := fate(c, c.Endpoints[i], n)
			if at < 2*sec || at >= 6*sec || with == "" || without == "" {
				continue
			}
			all++
			if without == "good" && with == "bad" {
				hurt++
				contain = (at - 2*sec).Seconds()
			}
		}
		t.Logf("%s: %g of %g", metric, hurt, all)
		if hurt < 3 || hurt == all {
			t.Errorf("%s: %g of %g hurt decides little", metric, hurt, all)
		}
		blastIs(t, r, map[phased]float64{{metric, PhaseFault}: hurt / all})
		if metric == "collateral" {
			if contain >= 3 { // in the last second of the fault: never
				contain = math.NaN()
			}
			blastIs(t, r, map[phased]float64{{"time_to_contain", PhaseFault}: contain})
		}
	}
}
