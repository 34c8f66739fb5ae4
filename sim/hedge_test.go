package sim

import (
	"context"
	"math"
	"testing"
	"time"

	"blastradius/resilience"
	"blastradius/sim/dist"
)

// What hedging does by theory, in a system of independent exponential servers.

func exponentially(mean time.Duration) dist.Kind { return &dist.Exponential{MeanLatency: mean} }

// Two at once: the smaller of two exponentials has half the mean; each call is
// two attempts, both cancelled at the winner's end, and two goroutines.
func TestHedgeWithoutDelayHalvesTheMean(t *testing.T) {
	const n = 40000
	c := one(even(100), exponentially(100*ms), n*10*ms, hedge(0, 1))
	m := Run(context.Background(), c).Phase(PhaseAll).Metrics
	got, room := m["dependency.db.latency_mean"], 4*0.050/math.Sqrt(n)
	if math.Abs(got-0.050) > room {
		t.Errorf("mean %.5f s, want 0.05 ± %.5f", got, room)
	}
	if m["dependency.db.amplification"] != 2 || m["dependency.db.hedge.hedge_rate"] != 1 {
		t.Errorf("amplification %g, hedge rate %g", m["dependency.db.amplification"], m["dependency.db.hedge.hedge_rate"])
	}
	if wins := m["dependency.db.hedge.hedge_wins"] / n; math.Abs(wins-0.5) > 4*0.5/math.Sqrt(n) {
		t.Errorf("hedges win %.4f of the calls", wins)
	}
	if parked, calls := m["process.parked_mean"], m["dependency.db.parked_mean"]; math.Abs(parked-2*calls) > 1e-9*parked {
		t.Errorf("%g goroutines for %g calls", parked, calls)
	}
	if working, calls := m["dependency.db.working_mean"], m["dependency.db.parked_mean"]; math.Abs(working-2*calls) > 1e-9*working {
		t.Errorf("%g at work for %g calls", working, calls)
	}
}

// A loser that runs on loads the dependency to its end: twice the work of one.
func TestLosersThatRunOnLoadTheDependencyToTheirEnd(t *testing.T) {
	const n = 40000
	h := hedge(0, 1)
	h.Config.(*resilience.Hedge).Cancel = resilience.CancelNone
	m := Run(context.Background(), one(even(100), exponentially(100*ms), n*10*ms, h)).Phase(PhaseAll).Metrics
	if got, room := m["dependency.db.working_mean"], 4*20/math.Sqrt(2*n); math.Abs(got-20) > room {
		t.Errorf("%g at work, want 20 ± %.2f", got, room)
	}
	if working, parked := m["dependency.db.working_mean"], m["process.parked_mean"]; math.Abs(working-parked) > 1e-9*working {
		t.Errorf("%g at work and %g goroutines", working, parked)
	}
}

// At the quantile q of the latency a share 1-q is hedged, and that is all the
// load it adds; the tail beyond it is that of the smaller of what is left and a
// new one: the p99.9 of the exponential at delay ln 20 means is then
// ln 20 + ln(50)/2 means, where P(T > ln 20 + y) = 0.05·e^(-2y).
func TestHedgeAtAQuantileAddsItsShareOfLoad(t *testing.T) {
	const n = 100000
	delay := dist.Log(20) * 0.100
	fixed := hedge(time.Duration(delay*float64(time.Second)), 1)
	running := hedge(0, 1)
	running.Config.(*resilience.Hedge).Delay = &resilience.QuantileDelay{Quantile: 0.95, Initial: 300 * ms, Age: 100, MinCalls: 20}
	for name, tt := range map[string]struct {
		hedge Layer
		bias  float64 // of the running estimate
	}{"fixed": {fixed, 0}, "quantile": {running, 0.005}} {
		m := Run(context.Background(), one(even(100), exponentially(100*ms), n*10*ms, tt.hedge)).Phase(PhaseAll).Metrics
		room := 4*math.Sqrt(0.05*0.95/n) + tt.bias
		if got := m["dependency.db.hedge.hedge_rate"]; math.Abs(got-0.05) > room {
			t.Errorf("%s: %.4f of the calls are hedged, want 0.05 ± %.4f", name, got, room)
		}
		if got := m["dependency.db.amplification"] - 1; math.Abs(got-0.05) > room {
			t.Errorf("%s: %.4f more attempts, want 0.05 ± %.4f", name, got, room)
		}
		want := delay + dist.Log(50)/2*0.100
		if got := m["dependency.db.latency_p999"]; math.Abs(got-want) > 0.06*want {
			t.Errorf("%s: p99.9 %.4f s, want %.4f", name, got, want)
		}
		if got := m["dependency.db.hedge.delay_mean"]; math.Abs(got-delay) > 0.05*delay {
			t.Errorf("%s: mean delay %.4f s, want %.4f", name, got, delay)
		}
	}
}

// Behind a full pool a hedge is no faster: it waits behind its own first attempt,
// gets the connection which that one gives back, and is cancelled by its answer
// at the same instant. It has reached the dependency and taken no time there.
func TestHedgesWaitForConnectionsToo(t *testing.T) {
	c := one(even(9), constant(100*ms), 20*sec, hedge(50*ms, 1)).connections(places(1, Forever, Unbounded))
	lifeCase{config: c, lives: nil, figures: map[string]float64{
		"dependency.db.calls": 180, "dependency.db.attempts": 360, "dependency.db.wire": 360, "dependency.db.hedge.hedge_wins": 0,
		"process.pool.waiting_max": 1, "process.pool.in_use_mean": 0.9, "dependency.db.working_mean": 0.9,
		"process.parked_max": 2, "endpoint.web.parked_max": 1,
	}}.run(t)
}
