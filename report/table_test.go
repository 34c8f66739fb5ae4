package report

import (
	"strings"
	"testing"
)

// cellsOf finds the texts of a row by its subject and label.
func cellsOf(t *testing.T, r *Result, phase, subject, label string) []string {
	t.Helper()
	for _, row := range NewDocument(r).Rows(phase) {
		if row.Subject == subject && row.Label == label {
			var out []string
			for _, c := range row.Cells {
				text := c.Text
				if c.Bad {
					text = "! " + text
				}
				out = append(out, text)
			}
			return out
		}
	}
	return nil
}

func TestCells(t *testing.T) {
	for _, c := range []struct {
		name, subject, label string
		change               func(r *Result)
		want                 string
	}{
		{"never and a span", "blast radius", "contain / recover", func(*Result) {}, "never/5.9s|never/0.0s|1.6s/9.3s"},
		{"no recovery", "blast radius", "contain / recover", func(r *Result) {
			f := r.Arms[2].Phases["fault"]
			delete(f.Metrics, "blast_radius.time_to_recover")
			f.Absent["blast_radius.time_to_recover"] = "never: not within 1% of the twin for 10 s before the run ended"
			f = r.Arms[1].Phases["fault"]
			delete(f.Metrics, "blast_radius.time_to_recover")
			f.Absent["blast_radius.time_to_recover"] = "the fault lasts until the run ends"
		}, "never/5.9s|never/–|1.6s/never"},
		{"collateral that does not count", "blast radius", "collateral", func(r *Result) { set(r, "blast_radius.collateral", 0.01, 0.0099, 0.0004) }, "! 1.0%|1.0%|0.04%"},
		{"all is direct", "blast radius", "collateral", func(r *Result) { delete(r.Arms[1].Phases["fault"].Metrics, "blast_radius.collateral") }, "! 95.6%|–|0.0%"},
		{"SLO at the edge", "search", "within 300ms", func(r *Result) { set(r, "endpoint.search.slo_rate", 0.99, 0.98999, 1) }, "99.0%|! 99.0%|100.0%"},
		{"quantiles of nothing", "search", "p50 / p99", func(r *Result) {
			delete(r.Arms[0].Phases["fault"].Metrics, "endpoint.search.latency_p50")
			delete(r.Arms[1].Phases["fault"].Metrics, "endpoint.search.latency_p99")
		}, "–|401ms/–|30ms/119ms"},
		{"hit and without a cache", "checkout", "within 1s", func(r *Result) {
			r.Arms[2].Layers = r.Arms[2].Layers[1:]
			for i := range r.Arms {
				for _, f := range []map[string]float64{r.Arms[i].Metrics, r.Arms[i].Phases["fault"].Metrics} {
					f["endpoint.checkout.degraded_rate"] = 0
				}
			}
		}, "! 0.0%|! 0.0%|! 90.0%"},
		{"no breaker", "payments", "opens / time open", func(*Result) {}, "no breaker|no breaker|6 / 2m59s"},
		{"breaker that never opened", "payments", "opens / time open", func(r *Result) {
			f := r.Arms[2].Phases["fault"].Metrics
			f["dependency.payments.breaker.opens"], f["dependency.payments.breaker.time_open"] = 0, 0
		}, "no breaker|no breaker|0 / 0.0s"},
		{"breaker of its own name", "payments", "outer opens/open", func(r *Result) {
			r.Arms[2].Layers[1].Name = "outer"
			f := r.Arms[2].Phases["fault"].Metrics
			f["dependency.payments.outer.opens"], f["dependency.payments.outer.time_open"] = 1234, 3900
		}, "no breaker|no breaker|1,234 / 1h05m"},
		{"healthy one that opened", "index", "opens / time open", func(r *Result) {
			r.Arms[1].Layers = append(r.Arms[1].Layers, Layer{Dependency: "index", Kind: "breaker", Name: "breaker"})
			r.Arms[1].Phases["fault"].Metrics["dependency.index.breaker.opens"] = 3
			r.Arms[1].Phases["fault"].Metrics["dependency.index.breaker.time_open"] = 90
		}, "no breaker|3 / 1m30s|no breaker"},
		{"healthy one that did not", "index", "opens / time open", func(r *Result) {
			r.Arms[1].Layers = append(r.Arms[1].Layers, Layer{Dependency: "index", Kind: "breaker", Name: "breaker"})
			r.Arms[1].Phases["fault"].Metrics["dependency.index.breaker.opens"] = 0
		}, ""},
		{"seen at different times", "payments", "fault seen after", func(r *Result) {
			r.Arms[1].Layers = r.Arms[2].Layers
			f := r.Arms[1].Phases["fault"].Metrics
			f["dependency.payments.breaker.opens"], f["dependency.payments.breaker.detection_delay"] = 1, 0.045
		}, "–|45ms|1.6s"},
		{"seen in one of two", "payments", "fault seen after", func(r *Result) {
			r.Arms[1].Layers = r.Arms[2].Layers
			r.Arms[1].Phases["fault"].Metrics["dependency.payments.breaker.opens"] = 0
			r.Arms[0].Layers = r.Arms[2].Layers
			f := r.Arms[0].Phases["fault"].Metrics
			f["dependency.payments.breaker.opens"], f["dependency.payments.breaker.detection_delay"] = 1, 3.5
		}, "3.5s|never|1.6s"},
		{"named pool", "db", "in use mean/max", func(r *Result) {
			r.Scenario.Pools = append(r.Scenario.Pools, Pool{"pool.db", 10})
			set(r, "pool.db.in_use_mean", 0.25, 2, 3)
			set(r, "pool.db.in_use_max", 9, 10, 3)
		}, "0.2 / 9|! 2 / 10|3 / 3"},
	} {
		r := sample(t)
		c.change(r)
		if got := strings.Join(cellsOf(t, r, "fault", c.subject, c.label), "|"); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestRemarksSayWhatTheSignsOfTheArmsShownMean(t *testing.T) {
	for _, row := range NewDocument(sample(t)).Table {
		all, contained := row.Remark([]int{0, 1, 2}), row.Remark([]int{2})
		want := map[string][2]string{
			"within 300ms": {"! SLO missed", ""}, "pool, mean/max": {"! full at 100", ""}, "collateral": {"! spread", ""},
			"parked mean/max": {"goroutines", "goroutines"}, "opens / time open": {"seen in 1.6s", "seen in 1.6s"}, "live/cached/lost": {"late = lost", "late = lost"},
		}[row.Label]
		if all != want[0] || contained != want[1] {
			t.Errorf("%s: got %q and %q, want %q", row.Label, all, contained, want)
		}
	}
}

func TestEveryFigureOfTheTableIsNamed(t *testing.T) {
	r := sample(t)
	for _, phase := range []string{"all", "before", "fault", "after"} {
		for _, row := range NewDocument(r).Rows(phase) {
			if len(row.Metrics) == 0 || len(row.Cells) != len(r.Arms) {
				t.Errorf("%s: row %s has %d metrics and %d cells", phase, row.Label, len(row.Metrics), len(row.Cells))
			}
			for i, c := range row.Cells {
				if len(c.Values) != len(row.Metrics) {
					t.Fatalf("%s: row %s: %d values of %d metrics", phase, row.Label, len(c.Values), len(row.Metrics))
				}
				for k, m := range row.Metrics {
					if want := r.Arms[i].pointer(phase, m); (want == nil) != (c.Values[k] == nil) || want != nil && *want != *c.Values[k] {
						t.Errorf("%s: %s of %s is not the figure", phase, m, r.Arms[i].Name)
					}
				}
			}
		}
	}
}

func TestTimesOfTheFaultStandInNoOtherPhase(t *testing.T) {
	for phase, want := range map[string]bool{"all": true, "fault": true, "before": false, "after": false} {
		if got := cellsOf(t, sample(t), phase, "blast radius", "contain / recover") != nil; got != want {
			t.Errorf("%s: got %v, want %v", phase, got, want)
		}
	}
}
