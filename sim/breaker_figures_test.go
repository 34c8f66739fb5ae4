package sim

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"blastradius/faults"
	"blastradius/resilience"
	"blastradius/sim/call"
	"blastradius/sim/dist"
)

// The figures of a breaker, from transitions whose instants are known.

func fails() faults.Config { return &faults.Error{Class: "server_error", Rate: 1} }

// transitions are the state changes of a run, e.g. "15ms open".
func transitions(c *Config) (out []string) {
	for _, s := range Run(context.Background(), c).States {
		out = append(out, fmt.Sprintf("%v %s", s.At, []string{"closed", "half-open", "open"}[s.To]))
	}
	return out
}

func transitionsAre(t *testing.T, c *Config, want ...string) {
	t.Helper()
	if got := transitions(c); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("transitions %q, want %q", got, want)
	}
}

func strict(consecutive int, cooldown time.Duration) Layer {
	return breaker(func(b *resilience.Breaker) {
		b.Consecutive, b.Cooldown, b.Lease = consecutive, cooldown, time.Second
	})
}

func TestResultsFromBeforeTheBreakerOpenedDecideNothing(t *testing.T) {
	// The first call outlives the opening at 15 ms; two others fail and open it; the
	// probe of 70 ms takes until 370 ms.
	halfOpen := answers("a", 10*ms, call.OK, strict(2, 50*ms)).with(slow(200*ms), 0, ms).with(fails(), 5*ms, ms).with(slow(300*ms), 70*ms, ms)
	for _, late := range []struct {
		name string
		d    Dependency
		life string
	}{
		{"a late success does not close it", halfOpen, "answered after 200ms"},
		{"a late failure does not open it again", halfOpen.with(fails(), 0, ms), "failed: server_error after 200ms"},
	} {
		t.Run(late.name, func(t *testing.T) {
			c := tenSeconds(web(at(0, 5*ms, 5*ms, 70*ms, 210*ms, 380*ms), step("a")), late.d)
			lifeCase{config: c,
				lives: []string{late.life, "failed: server_error after 10ms", "failed: server_error after 10ms", "answered after 300ms", "failed: rejected after 0s", "answered after 10ms"},
				figures: map[string]float64{
					"dependency.a.breaker.opens": 1, "dependency.a.breaker.closes": 1, "dependency.a.breaker.probes": 1, "dependency.a.breaker.rejected": 1, "dependency.a.breaker.stale": 1,
					"dependency.a.breaker.time_open": 0.055, "dependency.a.breaker.time_open_share": 0.0055, "dependency.a.breaker.stuck_half_open": 0.3,
					"dependency.a.breaker.first_open_at": 0.015, "dependency.a.breaker.detection_delay": 0.015, "dependency.a.breaker.closed_dwell_min": math.NaN(),
				}}.run(t)
			transitionsAre(t, c, "15ms open", "70ms half-open", "370ms closed")
		})
	}
	t.Run("nor does it once it has closed again", func(t *testing.T) {
		d := answers("a", 10*ms, call.OK, strict(1, 50*ms)).with(slow(400*ms), 0, ms).with(fails(), 0, ms).with(fails(), 5*ms, ms)
		c := tenSeconds(web(at(0, 5*ms, 70*ms, 410*ms), step("a")), d)
		lifeCase{config: c, lives: []string{"failed: server_error after 400ms", "failed: server_error after 10ms", "answered after 10ms", "answered after 10ms"},
			figures: map[string]float64{"dependency.a.breaker.stale": 1, "dependency.a.breaker.opens": 1}}.run(t)
		transitionsAre(t, c, "15ms open", "70ms half-open", "80ms closed")
	})
}

func TestFlapsAreShortClosedSpellsBetweenTwoOpens(t *testing.T) {
	flappy := breaker(func(b *resilience.Breaker) { b.Consecutive, b.Cooldown, b.FlapDwell = 1, sec, 1500*ms })
	d := answers("a", 10*ms, call.OK, flappy)
	for _, from := range []time.Duration{0, 1100 * ms, 2200 * ms, 5 * sec} {
		d = d.with(fails(), from, ms)
	}
	// Opens; closes after one probe and opens again 80 ms later, a flap; a failed
	// probe 1.18 s after that closing, which is none; closes and holds 1.7 s, which is none.
	c := tenSeconds(web(at(0, 1020*ms, 1100*ms, 2200*ms, 3300*ms, 5*sec), step("a")), d)
	transitionsAre(t, c, "10ms open", "1.02s half-open", "1.03s closed", "1.11s open", "2.2s half-open", "2.21s open", "3.3s half-open", "3.31s closed", "5.01s open")
	lifeCase{config: c, figures: map[string]float64{
		"dependency.a.breaker.opens": 4, "dependency.a.breaker.closes": 2, "dependency.a.breaker.probes": 3, "dependency.a.breaker.flaps": 1, "dependency.a.breaker.closed_dwell_min": 0.08,
		"dependency.a.breaker.opens_per_hour": 1440, "dependency.a.breaker.flaps_per_hour": 360,
		"dependency.a.breaker.time_open": 8.18, "dependency.a.breaker.time_open_per_hour": 0.818 * 3600, "dependency.a.breaker.stuck_half_open": 0.03,
		"dependency.a.breaker.false_opens": 0, // the window holds the fault's failure, though the fault is over
	}}.run(t)
}

func v(r *Result, name string) float64 { return r.Phase(PhaseAll).Metrics[name] }

func TestFalseOpens(t *testing.T) {
	opens := func(p float64, latency dist.Kind, stack ...Layer) (opened, closed, wrong float64) {
		c := one(even(50), latency, time.Hour, append([]Layer{breaker(func(b *resilience.Breaker) { b.Cooldown = 5 * sec })}, stack...)...)
		c.Dependencies[0].Errors = []ErrorShare{{Class: call.ServerError, Share: p}, {Class: call.ClientError, Share: 1 - p}}
		r := Run(context.Background(), c)
		for _, s := range r.States {
			if s.To == stateOpen && s.From == stateClosed {
				closed++
			}
		}
		return v(r, "dependency.db.breaker.opens"), closed, v(r, "dependency.db.breaker.false_opens")
	}
	// Below the trip ratio every opening from closed is false; failed probes are none.
	if all, closed, wrong := opens(0.45, constant(0)); wrong != closed || closed == 0 || all <= closed {
		t.Errorf("at 45%%: %g opens, %g from closed, %g false", all, closed, wrong)
	}
	if _, closed, wrong := opens(0.5, constant(0)); wrong != 0 || closed == 0 {
		t.Errorf("at 50%%: %g from closed, %g false", closed, wrong)
	}
	// What the innermost timeout ends counts as failure: 10 % errors and e^(-0.5) =
	// 61 % slower.
	outer := timeout(sec)
	outer.Name = "outer"
	if _, closed, wrong := opens(0.1, &dist.Exponential{MeanLatency: 100 * ms}, outer, timeout(50*ms)); wrong != 0 || closed == 0 {
		t.Errorf("with timeouts: %g from closed, %g false", closed, wrong)
	}
}

// A fault makes an opening true while it is active, and afterwards as far as the
// breaker's window reaches; touching an attempt without harm is enough.
func TestFaultsMakeOpeningsTrueAsFarAsTheWindowReaches(t *testing.T) {
	opens := func(length time.Duration) (late, wrong float64) {
		c := one(even(50), constant(0), time.Hour, breaker(func(b *resilience.Breaker) { b.Cooldown = 5 * sec }))
		c.Dependencies[0].Errors = []ErrorShare{{Class: call.ServerError, Share: 0.45}}
		c.Dependencies[0] = c.Dependencies[0].with(&faults.Slow{Times: 1}, 0, length)
		r := Run(context.Background(), c)
		for _, s := range r.States {
			if s.To == stateOpen && s.From == stateClosed && s.At > 5*time.Minute {
				late++
			}
		}
		return late, v(r, "dependency.db.breaker.false_opens")
	}
	// A minute of it, and twenty attempts after: five minutes on, all are false again.
	if late, wrong := opens(time.Minute); wrong < late || late == 0 {
		t.Errorf("%g openings after the fault, %g false", late, wrong)
	}
	if late, wrong := opens(0); wrong != 0 || late == 0 {
		t.Errorf("%g openings in the fault, %g false", late, wrong)
	}
}

func TestDetectionDelay(t *testing.T) {
	system := func(from time.Duration) *Config {
		d := answers("a", 10*ms, call.OK, strict(3, sec)).with(fails(), from, 2*sec)
		return tenSeconds(web(even(10), step("a")), d)
	}
	r := Run(context.Background(), system(4*sec))
	for _, phase := range []string{PhaseAll, PhaseFault} { // calls of 4.0, 4.1 and 4.2 s
		if got := r.Phase(phase).Metrics["dependency.a.breaker.detection_delay"]; math.Abs(got-0.21) > 1e-9 {
			t.Errorf("phase %s: %g s", phase, got)
		}
	}
	if why := r.Phase(PhaseAfter).Absent["dependency.a.breaker.detection_delay"]; why == "" {
		t.Error("given for the time after the fault")
	}
	// The first fault counts, wherever it stands in the file; an open before it does not.
	c := system(4 * sec)
	c.Dependencies[0].Faults = append(c.Dependencies[0].with(fails(), 8050*ms, sec).Faults[1:], c.Dependencies[0].Faults...)
	lifeCase{config: c, figures: map[string]float64{"dependency.a.breaker.detection_delay": 0.21}}.run(t)
	c = system(4 * sec)
	c.Dependencies[0].Errors = []ErrorShare{{Class: call.ServerError, Share: 1}}
	// Failing from the start: open at 0.21 s, and at 1.31, 2.41, 3.51, 4.61 s after a probe.
	lifeCase{config: c, figures: map[string]float64{"dependency.a.breaker.first_open_at": 0.21, "dependency.a.breaker.detection_delay": 0.61}}.run(t)

	c = system(4 * sec)
	c.Dependencies[0].Stack = []Layer{strict(1000, sec)}
	lifeCase{config: c, figures: map[string]float64{"dependency.a.breaker.detection_delay": math.NaN(), "dependency.a.breaker.first_open_at": math.NaN(), "dependency.a.breaker.opens": 0, "dependency.a.breaker.time_open": 0}}.run(t)
	c.Dependencies[0].Faults = nil
	lifeCase{config: c, figures: map[string]float64{"dependency.a.breaker.detection_delay": math.NaN()}}.run(t)
}
