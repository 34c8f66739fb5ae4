package report

import (
	"strings"
	"testing"
)

// told is the headline after a change of the sample.
func told(t *testing.T, change func(r *Result)) string {
	r := sample(t)
	change(r)
	return strings.Join(NewDocument(r).Headline, " ")
}

// set gives every arm a figure in phase fault, in the order of the arms.
func set(r *Result, metric string, values ...float64) {
	for i, v := range values {
		r.Arms[i].Phases["fault"].Metrics[metric] = v
	}
}

func TestHeadlineFollowsTheFigures(t *testing.T) {
	const collateral, direct = "blast_radius.collateral", "blast_radius.direct"
	for _, c := range []struct {
		name   string
		change func(r *Result)
		want   string
	}{
		{"as it is", func(*Result) {},
			"payments slowed from 50ms to 8s for 3m. Uncontained, 95.6% of search requests, which never call it, missed their 300ms because of it; with timeouts alone, 66.3%. The full stack hurt none of them and served 90.0% of checkout requests from cache. What ran out was the shared pool."},
		{"nothing hurt", func(r *Result) { set(r, collateral, 0, 0, 0) },
			"Nothing spread: none of the search requests, which never call it, missed their 300ms because of it in any arm. The full stack served 90.0% of checkout requests from cache."},
		{"held", func(r *Result) { set(r, collateral, 0.5, 0.2, 0.004) },
			"The full stack held that to 0.4% and served 90.0%"},
		{"contained does not contain", func(r *Result) { set(r, collateral, 0.5, 0.2, 0.49) },
			"The full stack did not contain it: 49.0%; it served 90.0%"},
		{"contained helps too little", func(r *Result) { set(r, collateral, 0.5, 0.2, 0.1) },
			"The full stack cut that to 10.0%, which is not contained; it served 90.0%"},
		{"one arm", func(r *Result) { r.Arms = r.Arms[:1] },
			"for 3m. 95.6% of search requests, which never call it, missed their 300ms because of it. Arm uncontained lost every checkout request. What ran out was the shared pool."},
		{"other names", func(r *Result) {
			r.Arms = r.Arms[1:]
			r.Arms[0].Name = "today"
			r.Arms[1].Name = "idea"
			r.Arms[0].About = ""
		},
			"In today, 66.3% of search requests, which never call it, missed their 300ms because of it. Arm idea hurt none of them"},
		{"no arm", func(r *Result) { r.Arms = nil }, "No arm was run."},
		{"no SLO", func(r *Result) { r.Scenario.Endpoints[0].SLO = 0 }, "missed their deadline of 2s because of it"},
		{"no limit at all", func(r *Result) { r.Scenario.Endpoints[0].SLO, r.Scenario.Endpoints[0].Deadline = 0, 0 }, "missed their answer because of it"},
		{"no pool", func(r *Result) { r.Scenario.Pools = nil }, "The process has no pool or worker limit that could run out."},
		{"pool not full", func(r *Result) { r.Scenario.Pools[0].Size = 1000 }, "Nothing ran out: the shared pool peaked at 100 of 1,000."},
		{"two pools", func(r *Result) {
			r.Scenario.Pools = append(r.Scenario.Pools, Pool{"process.workers", 50})
			set(r, "process.workers.in_use_max", 50, 12, 50)
		}, "What ran out were the shared pool and the workers, in every arm."},
		{"workers alone", func(r *Result) {
			r.Scenario.Pools = []Pool{{"process.workers", 50}}
			set(r, "process.workers.in_use_max", 50, 12, 9)
		}, "What ran out were the workers."},
		{"named pool", func(r *Result) {
			r.Scenario.Pools = []Pool{{"pool.db", 50}}
			set(r, "pool.db.in_use_max", 50, 12, 9)
		}, "What ran out was pool db."},
		{"no fallback", func(r *Result) {
			r.Arms[2].Layers = r.Arms[2].Layers[1:]
			set(r, "endpoint.checkout.live_rate", 0, 0, 0.25)
			set(r, "endpoint.checkout.slo_rate", 0, 0, 0.25)
		}, "The full stack hurt none of them and answered 25.0% of checkout requests in time."},
		{"optional call left out", func(r *Result) { r.Arms[2].Layers = r.Arms[2].Layers[1:] }, "served 90.0% of checkout requests degraded"},
		{"live more than cached", func(r *Result) {
			set(r, "endpoint.checkout.live_rate", 0, 0, 0.65)
			set(r, "endpoint.checkout.slo_rate", 0, 0, 0.67)
		}, "The full stack hurt none of them and answered 67.0% of checkout requests in time, 2.0% from cache."},
		{"an arm that hurts none beside one that does", func(r *Result) { set(r, collateral, 0.086, 0, 0) },
			"Uncontained, 8.6% of search requests, which never call it, missed their 300ms because of it; with timeouts alone, none. The full stack hurt none of them"},
		{"queued", func(r *Result) { r.Arms[2].Layers[0].Text = "queue of 100, drained at 10/s" }, "served 90.0% of checkout requests degraded"},
		{"everyone calls it", func(r *Result) { r.Scenario.Endpoints = r.Scenario.Endpoints[1:]; set(r, direct, 1, 0.995, 0.1) },
			"Every endpoint calls it: uncontained, 100.0% of checkout requests missed their 1s because of it; with timeouts alone, 99.5%. The full stack cut that to 10.0% and served 90.0%"},
		{"two are hit directly", func(r *Result) {
			r.Scenario.Endpoints = append(r.Scenario.Endpoints, Endpoint{Name: "refund", Direct: true})
		},
			"The full stack hurt none of them and lost 10.0% of the requests that need it."},
		{"two bystanders", func(r *Result) {
			r.Scenario.Endpoints = append(r.Scenario.Endpoints, Endpoint{Name: "health", SLO: 0.1})
		},
			"95.6% of search and health requests, which never call it, missed their SLO because of it"},
		{"five bystanders", func(r *Result) {
			for _, n := range []string{"a", "b", "c", "d"} {
				r.Scenario.Endpoints = append(r.Scenario.Endpoints, Endpoint{Name: n, SLO: 0.3})
			}
		}, "95.6% of the requests of 5 endpoints, which never call it, missed their 300ms"},
		{"five bystanders unhurt", func(r *Result) {
			for _, n := range []string{"a", "b", "c", "d"} {
				r.Scenario.Endpoints = append(r.Scenario.Endpoints, Endpoint{Name: n, SLO: 0.3})
			}
			set(r, collateral, 0, 0, 0)
		}, "Nothing spread: none of the requests of 5 endpoints, which never call it,"},
		{"closed load", func(r *Result) {
			for i := range r.Arms {
				delete(r.Arms[i].Phases["fault"].Metrics, collateral)
				r.Arms[i].Phases["fault"].Absent[collateral] = "closed load has no request-by-request twin"
			}
		}, "How far it spread cannot be said: closed load has no request-by-request twin. The full stack served"},
		{"one arm has no figure", func(r *Result) { delete(r.Arms[0].Phases["fault"].Metrics, collateral) },
			"With timeouts alone, 66.3% of search requests"},
		{"down", func(r *Result) { r.Scenario.Faults[0].Kind, r.Scenario.Faults[0].Text = "down", "down" }, "payments was down for 3m."},
		{"hang", func(r *Result) { r.Scenario.Faults[0].Kind, r.Scenario.Faults[0].Text = "hang", "hang" }, "payments hung for 3m."},
		{"errors", func(r *Result) {
			r.Scenario.Faults[0].Kind, r.Scenario.Faults[0].Text = "error", "error: 40% server_error"
		}, "payments answered with errors (40% server_error) for 3m."},
		{"faster", func(r *Result) { v := 0.01; r.Scenario.Faults[0].Latency = &v }, "payments went from 50ms to 10ms for 3m."},
		{"a kind of later", func(r *Result) {
			r.Scenario.Faults[0].Kind, r.Scenario.Faults[0].Text = "brownout", "brownout: 30%"
		}, "payments had a fault (brownout: 30%) for 3m."},
		{"comes back", func(r *Result) {
			f := r.Scenario.Faults[0]
			f.From, f.To = 400, 430
			r.Scenario.Faults = append(r.Scenario.Faults, f)
		}, "payments slowed from 50ms to 8s 2 times, 3m30s in all."},
		{"many faults", func(r *Result) {
			for _, n := range []string{"a", "b", "c"} {
				r.Scenario.Faults = append(r.Scenario.Faults, Fault{Dependency: n, Kind: "down", Text: "down", From: 1, To: 2})
			}
		}, "a, b, c and payments had faults."},
	} {
		if got := told(t, c.change); !strings.Contains(got, c.want) {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestHeadlineWithoutAFault(t *testing.T) {
	for _, c := range []struct {
		slo  float64
		want string
	}{
		{1, "No fault was injected. Every request was answered in time. Nothing ran out: the shared pool peaked at"},
		{0.9996, "Every endpoint kept its SLO: at worst 99.96% of search requests were within 300ms, with timeouts alone."},
		{0.5, "Only 50.0% of search requests were within 300ms, with timeouts alone."},
		{0, "No search request was within 300ms, with timeouts alone."},
	} {
		r := noFault(t)
		r.Arms[1].Metrics["endpoint.search.slo_rate"] = c.slo
		if got := strings.Join(NewDocument(r).Headline, " "); !strings.Contains(got, c.want) {
			t.Errorf("%v:\n got %s\nwant %s", c.slo, got, c.want)
		}
	}
}
