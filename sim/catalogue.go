package sim

import (
	"slices"
	"strings"

	"blastradius/resilience"
	"blastradius/sim/call"
	"blastradius/sim/spec"
)

// CatalogueEntry is one figure: its subject, its name there, and what it says.
type CatalogueEntry struct {
	// Subject is the pattern of what reports it: endpoint.X, dependency.X,
	// dependency.X.breaker, process, process.pool, pool.NAME, blast_radius.
	Subject string
	spec.Metric
}

// FullName is the pattern of the whole name, e.g. endpoint.X.slo_rate.
func (c CatalogueEntry) FullName() string { return c.Subject + "." + c.Name }

// Catalogue lists every figure a run can give, by subject in a fixed order and
// in the order of their declaration within it. Every figure of a Result is in
// it, and a test holds that.
func Catalogue() []CatalogueEntry {
	var out []CatalogueEntry
	add := func(subject string, metrics ...spec.Metric) {
		for _, m := range metrics {
			out = append(out, CatalogueEntry{subject, m})
		}
	}
	add("endpoint.X", endpointMetrics()...)
	add("dependency.X", dependencyMetrics()...)
	add("dependency.X.servers", poolMetrics("servers of the dependency", false)...)
	add("dependency.X.hosts", hostMetrics...)
	for _, kind := range sortedKeys(resilience.Layers) {
		metrics := resilience.Layers[kind]().Metrics()
		if kind == "breaker" {
			metrics = append(slices.Clone(metrics), breakerMetrics...)
		}
		add("dependency.X."+kind, metrics...)
	}
	add("process", processMetrics...)
	add("process.pool", poolMetrics("connections of the shared pool", true)...)
	add("process.workers", poolMetrics("workers", true)...)
	add("pool.NAME", poolMetrics("connections of the named pool", true)...)
	add("blast_radius", blastCatalogue...)
	return out
}

// Describe finds the catalogue's entry for a figure of a result, e.g.
// dependency.payments.breaker.opens. A layer with a name of its own is looked
// up by kindOf, which gives the kind of (dependency, layer name), or "".
func Describe(name string, kindOf func(dependency, layer string) string) (CatalogueEntry, bool) {
	parts := strings.Split(name, ".")
	subject, rest := "", ""
	switch {
	case len(parts) < 2:
		return CatalogueEntry{}, false
	case parts[0] == "endpoint" && len(parts) >= 3:
		subject, rest = "endpoint.X", strings.Join(parts[2:], ".")
	case parts[0] == "pool" && len(parts) >= 3:
		subject, rest = "pool.NAME", strings.Join(parts[2:], ".")
	case parts[0] == "dependency" && len(parts) >= 4 && parts[2] != "outcomes":
		kind := parts[2]
		if k := kindOf(parts[1], kind); k != "" {
			kind = k
		}
		subject, rest = "dependency.X."+kind, strings.Join(parts[3:], ".")
	case parts[0] == "dependency" && len(parts) >= 3:
		subject, rest = "dependency.X", strings.Join(parts[2:], ".")
	case parts[0] == "process" && len(parts) >= 3:
		subject, rest = "process."+parts[1], strings.Join(parts[2:], ".")
	default:
		subject, rest = parts[0], strings.Join(parts[1:], ".")
	}
	for _, e := range Catalogue() {
		if e.Subject == subject && e.Name == rest {
			return e, true
		}
	}
	return CatalogueEntry{}, false
}

func endpointMetrics() []spec.Metric {
	m := []spec.Metric{
		{Name: "requests", Unit: spec.Count, Help: "requests that arrived"},
		{Name: "rate", Unit: spec.PerSec, Help: "requests that arrived, per second"},
		{Name: "in_flight", Unit: spec.Count, Help: "requests that had not ended when the run did; they are in no share"},
		{Name: "success_rate", Unit: spec.Share, Good: spec.HigherBetter, Help: "share of the ended requests answered undegraded, whenever that was"},
		{Name: "degraded_rate", Unit: spec.Share, Good: spec.LowerBetter, Help: "share answered degraded: by a fallback, or without an optional call"},
		{Name: "answered_rate", Unit: spec.Share, Good: spec.HigherBetter, Help: "share answered at all, degraded or not"},
		{Name: "failure_rate", Unit: spec.Share, Good: spec.LowerBetter, Help: "share that failed"},
		{Name: "slo_rate", Unit: spec.Share, Good: spec.HigherBetter, Help: "share answered, degraded or not, within the SLO, or the deadline where there is no SLO"},
		{Name: "live_rate", Unit: spec.Share, Good: spec.HigherBetter, Help: "share answered undegraded within the SLO, or the deadline"},
		{Name: "lost_rate", Unit: spec.Share, Good: spec.LowerBetter, Help: "share not answered within the SLO, or the deadline: 1 - slo_rate"},
		{Name: "goodput", Unit: spec.PerSec, Good: spec.HigherBetter, Help: "requests answered within the SLO, or the deadline, per second"},
		{Name: "outcomes.client_error", Unit: spec.Count, Help: "served requests of which a call was answered with client_error"},
	}
	for _, s := range latencyStats {
		m = append(m, spec.Metric{Name: "latency_" + s, Unit: spec.Seconds, Good: spec.LowerBetter, Help: statWords[s] + " time from the intended arrival to the return, failed requests included"})
	}
	for _, f := range failureNames {
		m = append(m, spec.Metric{Name: "failures." + f, Unit: spec.Count, Good: spec.LowerBetter, Help: failureWords[f]})
	}
	return append(m,
		spec.Metric{Name: "parked_mean", Unit: spec.Count, Good: spec.LowerBetter, Help: "time average of requests started and not returned"},
		spec.Metric{Name: "parked_max", Unit: spec.Count, Good: spec.LowerBetter, Help: "most requests started and not returned at once"})
}

var statWords = map[string]string{"mean": "mean", "p50": "median", "p90": "90th percentile of the", "p95": "95th percentile of the", "p99": "99th percentile of the", "p999": "99.9th percentile of the", "max": "longest"}

var failureWords = map[string]string{
	"deadline":      "requests that the endpoint's deadline ended",
	"server_error":  "requests that a call failed with server_error",
	"throttled":     "requests that a call failed with throttled",
	"connect_error": "requests that a call failed with connect_error",
	"timeout":       "requests that a call failed with timeout",
	"rejected":      "requests that a layer or pool of ours refused",
	"workers":       "requests that got no worker",
}

func dependencyMetrics() []spec.Metric {
	m := []spec.Metric{
		{Name: "calls", Unit: spec.Count, Help: "calls that entered the outermost layer"},
		{Name: "attempts", Unit: spec.Count, Help: "entries into the innermost layer: each retry is one more"},
		{Name: "wire", Unit: spec.Count, Help: "attempts that got a connection and reached the dependency"},
		{Name: "amplification", Unit: spec.Ratio, Good: spec.LowerBetter, Help: "wire over calls"},
	}
	for _, c := range call.ClassNames() {
		m = append(m, spec.Metric{Name: "outcomes." + c, Unit: spec.Count, Help: "calls that returned " + c + " to the endpoint"})
	}
	m = append(m,
		spec.Metric{Name: "cancelled", Unit: spec.Count, Help: "calls that their request's deadline, or a failed sibling, ended"},
		spec.Metric{Name: "parked_mean", Unit: spec.Count, Good: spec.LowerBetter, Help: "time average of calls that entered the stack and have not returned"},
		spec.Metric{Name: "parked_max", Unit: spec.Count, Good: spec.LowerBetter, Help: "most calls in the stack at once"},
		spec.Metric{Name: "working_mean", Unit: spec.Count, Help: "time average of work at the dependency, its queue and abandoned work included"},
		spec.Metric{Name: "working_max", Unit: spec.Count, Help: "most work at the dependency at once"})
	for _, s := range latencyStats {
		m = append(m, spec.Metric{Name: "latency_" + s, Unit: spec.Seconds, Good: spec.LowerBetter, Help: statWords[s] + " time from the entry into the stack to the return"})
	}
	return append(m,
		spec.Metric{Name: "fallback_rate", Unit: spec.Share, Good: spec.LowerBetter, Help: "share of the calls that a fallback answered"},
		spec.Metric{Name: "stale_age_max", Unit: spec.Seconds, Good: spec.LowerBetter, Help: "age of the oldest cached answer served"})
}

var hostMetrics = []spec.Metric{
	{Name: "busiest_share", Unit: spec.Share, Good: spec.LowerBetter, Help: "share of the attempts on the wire that went to the host with most of them; for several hosts"},
}

var breakerMetrics = []spec.Metric{
	{Name: "opens_per_hour", Unit: spec.PerHour, Help: "openings per hour, for steady scenarios"},
	{Name: "time_open", Unit: spec.Seconds, Help: "time in state open; half-open begins with the first call after the cooldown"},
	{Name: "time_open_share", Unit: spec.Share, Help: "share of the time in state open"},
	{Name: "time_open_per_hour", Unit: spec.Seconds, Help: "seconds open per hour, for steady scenarios"},
	{Name: "flaps", Unit: spec.Count, Good: spec.LowerBetter, Help: "closed spells between two opens that were shorter than flap_dwell"},
	{Name: "flaps_per_hour", Unit: spec.PerHour, Good: spec.LowerBetter, Help: "flaps per hour, for steady scenarios"},
	{Name: "closed_dwell_min", Unit: spec.Seconds, Good: spec.HigherBetter, Help: "shortest closed spell between two opens"},
	{Name: "false_opens", Unit: spec.Count, Good: spec.LowerBetter, Help: "openings from closed while no fault was active and the true failure probability over the window was below the trip ratio"},
	{Name: "detection_delay", Unit: spec.Seconds, Good: spec.LowerBetter, Help: "time from the dependency's first fault to the first open after it"},
	{Name: "stuck_half_open", Unit: spec.Seconds, Good: spec.LowerBetter, Help: "time in state half-open"},
	{Name: "first_open_at", Unit: spec.Seconds, Help: "instant of the first open in the phase, since the start of the run"},
}

var processMetrics = []spec.Metric{
	{Name: "parked_mean", Unit: spec.Count, Good: spec.LowerBetter, Help: "time average of goroutines: one for each request started and not returned, one more for each further parallel branch or hedged attempt, and one for each attempt that a timeout abandoned and that goes on"},
	{Name: "parked_max", Unit: spec.Count, Good: spec.LowerBetter, Help: "most goroutines at once"},
	{Name: "fallback_rate", Unit: spec.Share, Good: spec.LowerBetter, Help: "share of the requests, over all endpoints, answered degraded"},
	{Name: "lost_rate", Unit: spec.Share, Good: spec.LowerBetter, Help: "share of the requests, over all endpoints, not answered within the SLO, or the deadline"},
}

func poolMetrics(what string, outsiders bool) []spec.Metric {
	m := []spec.Metric{
		{Name: "in_use_mean", Unit: spec.Count, Help: "time average of " + what + " in use"},
		{Name: "in_use_max", Unit: spec.Count, Help: "most " + what + " in use at once"},
		{Name: "saturation", Unit: spec.Share, Good: spec.LowerBetter, Help: "in_use_mean over the size"},
		{Name: "waiting_mean", Unit: spec.Count, Good: spec.LowerBetter, Help: "time average of those who wait"},
		{Name: "waiting_max", Unit: spec.Count, Good: spec.LowerBetter, Help: "most who waited at once"},
		{Name: "wait_p99", Unit: spec.Seconds, Good: spec.LowerBetter, Help: "99th percentile of the wait of those who got one, 0 included"},
		{Name: "full_at", Unit: spec.Seconds, Help: "first instant of the phase at which all were in use, since the start of the run"},
	}
	if outsiders {
		m = append(m,
			spec.Metric{Name: "timeouts", Unit: spec.Count, Good: spec.LowerBetter, Help: "waits that ended without one: max_wait, the attempt's timeout or the caller's deadline came first"},
			spec.Metric{Name: "refused", Unit: spec.Count, Good: spec.LowerBetter, Help: "refused at once: none free and no place to wait"})
	}
	return m
}

var blastCatalogue = []spec.Metric{
	{Name: "collateral", Unit: spec.Share, Good: spec.LowerBetter, Help: "share of the requests of endpoints that never need a faulted dependency that were good without the fault and are not with it; of phase fault where no phase is named"},
	{Name: "direct", Unit: spec.Share, Good: spec.LowerBetter, Help: "the same over the endpoints that do need one"},
	{Name: "time_to_contain", Unit: spec.Seconds, Good: spec.LowerBetter, Help: "fault start to the last request hurt that never needed the faulted dependency; 0 when none was"},
	{Name: "time_to_recover", Unit: spec.Seconds, Good: spec.LowerBetter, Help: "last fault end until every endpoint is within 1% of its twin's success rate for 10 s"},
}
