package sizing

import (
	"encoding/json"
	"os"
	"testing"
)

type reference struct {
	ID     string  `json:"id"`
	Suite  string  `json:"suite"`
	Value  float64 `json:"value"`
	Method string  `json:"method"`
}

// The stationary chain of the reference was iterated a little less far than
// ours: its two hazards, which have one limit, differ from each other by 1e-9.
const unsettled = 4e-9

// Every exact figure of the suites give-01 to give-09 has its closed form here.
func TestReferenceFigures(t *testing.T) {
	bimodal := Mixture{{0.95, Exponential(0.05)}, {0.05, Constant(8)}}
	delay := MMc{Rate: 40, Mean: 0.2, Servers: 10}
	timed := MMcD{Rate: 100, Mean: 0.2, Servers: 20, MaxWait: 0.25}
	warm5, warm20 := RatioWindow{20, 5, 0.5}, RatioWindow{20, 20, 0.5}
	chain5, chain20 := warm5.Chain(0.3), warm20.Chain(0.3)
	cycle := Cycle{Rate: 10, P: 0.5, MeanCalls: Consecutive(5).MeanCalls(0.5), Cooldown: 30}
	stepped := func(at float64) float64 { return ParkedAfterStep(100, at, Constant(0.05), Constant(8)) }
	exhaustion, _ := PoolExhaustion(100, 100)

	type figure struct {
		value, relative float64
	}
	exact := func(v float64) figure { return figure{v, 1e-9} }
	integer := func(v int) figure { return figure{float64(v), 0} }
	figures := map[string]figure{
		"L-exp-parked":       exact(Parked(100, Exponential(0.2), 1.5)),
		"L-exp-ptimeout":     exact(Exponential(0.2).Tail(1.5)),
		"L-exp-held":         exact(Exponential(0.2).MeanMin(1.5)),
		"L-exp-p99":          integer(ParkedQuantile(100, Exponential(0.2), 1.5, 0.99)),
		"L-bimodal-parked":   exact(Parked(100, bimodal, 1.5)),
		"L-bimodal-ptimeout": exact(bimodal.Tail(1.5)),
		"L-bimodal-held":     exact(bimodal.MeanMin(1.5)),
		"L-bimodal-p99":      integer(ParkedQuantile(100, bimodal, 1.5, 0.99)),

		"MM10-08-p_wait":     exact(delay.PWait()),
		"MM10-08-mean_wait":  exact(delay.MeanWait()),
		"MM10-08-mean_queue": exact(delay.MeanQueue()),
		"MM10-08-p90_wait":   exact(delay.WaitQuantile(0.9)),
		"MM10-08-p95_wait":   exact(delay.WaitQuantile(0.95)),
		"MM10-08-p99_wait":   exact(delay.WaitQuantile(0.99)),
		"MM10-08-p999_wait":  exact(delay.WaitQuantile(0.999)),

		"EB-20-100-exp": exact(ErlangB(20, Little(100, Exponential(0.2).Mean()))),
		"EB-20-100-log": exact(ErlangB(20, Little(100, LognormalFromMean(0.2, 1.5).Mean()))),
		"EB-20-100-use": exact(20 * (1 - ErlangB(20, 20))), // a(1 − B)

		"MMcD-20-100-p_abandon":        exact(timed.Shed()),
		"MMcD-20-100-mean_wait_served": exact(timed.MeanWaitServed()),
		"MMcD-20-100-mean_queue":       exact(timed.MeanQueue()),
		"MMcD-20-100-mean_busy":        exact(timed.MeanBusy()),
		"MMcD-20-100-parked":           exact(timed.Parked()),

		"run-5-0.3-calls":   exact(Consecutive(5).MeanCalls(0.3)),
		"run-5-0.3-by100":   exact(Consecutive(5).OpenWithin(0.3, 100)),
		"run-5-0.3-by1000":  exact(Consecutive(5).OpenWithin(0.3, 1000)),
		"run-5-0.3-by10000": exact(Consecutive(5).OpenWithin(0.3, 10000)),

		"win-20-5-0.3-warm":   exact(chain5.Warm),
		"win-20-5-0.3-haz":    {chain5.Hazard, unsettled},
		"win-20-5-0.3-calls":  {chain5.MeanCalls, unsettled},
		"win-20-20-0.3-warm":  exact(chain20.Warm),
		"win-20-20-0.3-haz":   {chain20.Hazard, unsettled},
		"win-20-20-0.3-calls": {chain20.MeanCalls, unsettled},

		"cycle-a-trips_from_closed_per_hour": exact(cycle.TripsPerHour()),
		"cycle-a-opens_per_hour":             exact(cycle.OpensPerHour()),
		"cycle-a-frac_open":                  exact(cycle.ShareOpenLazy()),
		"cycle-a-rejected_fraction":          exact(cycle.Rejected()),
		"cycle-a-transitions":                exact(cycle.TransitionsPerHour()),
		"cycle-a-timer":                      exact(cycle.ShareOpenTimer()),

		"layers-4-3": exact(LayerAttempts(4, 3)),

		"step-parked-0.5":   exact(stepped(0.5)),
		"step-parked-1":     exact(stepped(1)),
		"step-parked-2":     exact(stepped(2)),
		"step-parked-4":     exact(stepped(4)),
		"step-parked-8":     exact(stepped(8)),
		"step-parked-10":    exact(stepped(10)),
		"step-parked-exp-4": exact(ParkedAfterStep(100, 4, Exponential(0.05), Exponential(8))),
		"exhaust-100-100":   exact(exhaustion),
	}
	for name, p := range map[string]float64{"0.01": 0.01, "0.05": 0.05, "0.1": 0.1, "0.2": 0.2, "0.5": 0.5, "0.9": 0.9, "1.0": 1} {
		figures["retry4-"+name+"-amp"] = exact(RetryAttempts(4, p))
		if p < 1 {
			figures["retry4-"+name+"-ok"] = exact(RetrySuccess(4, p))
		}
	}

	for _, r := range references(t) {
		if r.Method != "exact" || r.Suite > "give-09" {
			continue
		}
		got, ok := figures[r.ID]
		if !ok {
			t.Errorf("%s has no closed form here", r.ID)
			continue
		}
		wantNear(t, r.ID, got.value, r.Value, got.relative)
		delete(figures, r.ID)
	}
	for id := range figures {
		t.Errorf("%s is not in the reference", id)
	}
}

func references(t *testing.T) []reference {
	t.Helper()
	data, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ References []reference }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.References
}
