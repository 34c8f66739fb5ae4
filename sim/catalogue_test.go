package sim

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"blastradius/resilience"
	"blastradius/sim/spec"
)

// everyKind is a system in which every subject of the catalogue stands: all
// layers, workers, both sorts of pool, servers, a fault.
func everyKind() *Config {
	c := paymentsSlow()
	c.Duration = 6 * time.Minute
	c.Process.Workers = &Pool{Size: 500, MaxWait: Forever, Queue: Unbounded}
	c.Process.Pools = map[string]Pool{"own": {Size: 5, MaxWait: time.Second, Queue: Unbounded}}
	c.Dependencies[2].Pool = "own"
	c.Dependencies[1].Capacity = &Capacity{Servers: 50, Queue: Unbounded}
	c.Dependencies[1].Stack = append([]Layer{retry(2, nil), hedge(40*time.Millisecond, 1), outlier(nil), rateLimit(&resilience.TokenBucket{Rate: 1000, Burst: 1}), adaptive(&resilience.Vegas{Start: 20, Max: 100, Smoothing: 1, Probe: 30}),
		throttle(&resilience.SRE{K: 2, Window: time.Minute, Buckets: 10, CountAt: resilience.CountAtSend})}, c.Dependencies[1].Stack...)
	c.Dependencies[1].Hosts = 3
	return c
}

// TestEveryFigureIsInTheCatalogue: what a result gives, or says why it cannot,
// has its entry, and every entry is given.
func TestEveryFigureIsInTheCatalogue(t *testing.T) {
	c := everyKind()
	kinds := map[string]bool{}
	for _, d := range c.Dependencies {
		for _, l := range d.Stack {
			kinds[l.Kind] = true
		}
	}
	for kind := range resilience.Layers {
		if !kinds[kind] {
			t.Errorf("no %s in the system: its figures are not looked at", kind)
		}
	}
	r := Run(context.Background(), c)
	said := map[string]bool{}
	for _, p := range r.Phases {
		for name, value := range p.Metrics {
			if _, both := p.Absent[name]; both {
				t.Errorf("%s is given and absent", name)
			}
			if math.IsNaN(value) || math.IsInf(value, 0) {
				t.Errorf("%s@%s is %g", name, p.Name, value)
			}
		}
		for name, why := range p.Absent {
			if why == "" {
				t.Errorf("%s@%s is absent without a reason", name, p.Name)
			}
		}
		names := slices.Concat(slices.Collect(maps.Keys(p.Metrics)), slices.Collect(maps.Keys(p.Absent)))
		for _, name := range names {
			e, ok := Describe(name, noNames)
			if !ok {
				t.Errorf("%s is not in the catalogue", name)
			}
			said[e.FullName()] = true
		}
		// A phase gives or explains the same figures as every other.
		if first := r.Phases[0]; len(names) != len(first.Metrics)+len(first.Absent) {
			t.Errorf("phase %s has %d figures, phase %s %d", p.Name, len(names), first.Name, len(first.Metrics)+len(first.Absent))
		}
	}
	for _, e := range Catalogue() {
		if !said[e.FullName()] {
			t.Errorf("nothing gives %s", e.FullName())
		}
	}
}

func noNames(_, _ string) string { return "" }

func TestCatalogueEntriesExplainThemselves(t *testing.T) {
	units := []spec.Unit{spec.Count, spec.Share, spec.Seconds, spec.PerSec, spec.PerHour, spec.Ratio, spec.Level}
	seen := map[string]bool{}
	for _, e := range Catalogue() {
		name := e.FullName()
		if seen[name] {
			t.Errorf("%s is there twice", name)
		}
		seen[name] = true
		if e.Help == "" || strings.HasSuffix(e.Help, ".") || !slices.Contains(units, e.Unit) {
			t.Errorf("%s: help %q, unit %q", name, e.Help, e.Unit)
		}
	}
}

// Values keep to their units: shares within 0 and 1, nothing below 0, counts
// whole but for means.
func TestFiguresKeepToTheirUnits(t *testing.T) {
	for _, p := range Run(context.Background(), everyKind()).Phases {
		for name, value := range p.Metrics {
			e, _ := Describe(name, noNames)
			if value < 0 || (e.Unit == spec.Share && value > 1) {
				t.Errorf("%s@%s is %g %s", name, p.Name, value, e.Unit)
			}
			if e.Unit == spec.Count && !strings.HasSuffix(name, "_mean") && value != math.Trunc(value) {
				t.Errorf("%s@%s is %g, a count", name, p.Name, value)
			}
		}
	}
}

func TestDescribeKnowsLayersByTheirNames(t *testing.T) {
	kindOf := func(dependency, layer string) string {
		if dependency == "db" && layer == "outer" {
			return "retry"
		}
		return ""
	}
	for name, want := range map[string]string{
		"dependency.db.outer.retries":               "dependency.X.retry.retries",
		"dependency.db.bulkhead.shed":               "dependency.X.bulkhead.shed",
		"dependency.db.servers.in_use_mean":         "dependency.X.servers.in_use_mean",
		"dependency.db.outcomes.ok":                 "dependency.X.outcomes.ok",
		"dependency.db.parked_max":                  "dependency.X.parked_max",
		"endpoint.web.outcomes.client_error":        "endpoint.X.outcomes.client_error",
		"endpoint.web.failures.workers":             "endpoint.X.failures.workers",
		"process.parked_max":                        "process.parked_max",
		"process.pool.timeouts":                     "process.pool.timeouts",
		"pool.own.timeouts":                         "pool.NAME.timeouts",
		"blast_radius.collateral":                   "blast_radius.collateral",
		"dependency.other.outer.retries":            "",
		"dependency.db.outer.opens":                 "",
		"dependency.db.servers.timeouts":            "",
		"endpoint.web":                              "",
		"endpoint.web.opens":                        "",
		"collateral":                                "",
		"":                                          "",
		"dependency.db.breaker.opens.per.fortnight": "",
	} {
		e, ok := Describe(name, kindOf)
		if ok != (want != "") || (ok && e.FullName() != want) {
			t.Errorf("%q is %q, want %q", name, e.FullName(), want)
		}
	}
}
