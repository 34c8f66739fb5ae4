package study

import (
	"maps"
	"math"
	"slices"

	"blastradius/report"
	"blastradius/resilience"
	"blastradius/scenarios"
	"blastradius/sim"
)

// skeleton is the result without its arms: what was simulated.
func (s *study) skeleton() *report.Result {
	f, c := s.file, s.file.Config()
	yaml, json := f.Effective()
	out := &report.Result{
		Schema: 1,
		Tool:   report.Tool{Version: s.options.Version},
		Seed:   f.Seed(),
		Scenario: report.Scenario{
			Name: f.Name(), Title: f.Title(), About: f.About(), Source: s.options.Source,
			Digest: f.Digest(), Effective: json, EffectiveYAML: yaml,
			Duration: c.Duration.Seconds(), Warmup: c.Warmup.Seconds(), Replicas: s.options.Replicates,
		},
	}
	for _, p := range sim.Phases(c) {
		out.Scenario.Phases = append(out.Scenario.Phases, report.Phase{Name: p.Name, From: p.From.Seconds(), To: p.To.Seconds()})
	}
	for _, d := range c.Dependencies {
		out.Scenario.Dependencies = append(out.Scenario.Dependencies, dependencyFacts(c, &d))
		out.Scenario.Faults = append(out.Scenario.Faults, faultFacts(c, &d)...)
	}
	slices.SortStableFunc(out.Scenario.Faults, func(a, b report.Fault) int {
		switch {
		case a.From < b.From:
			return -1
		case a.From > b.From:
			return 1
		}
		return 0
	})
	for _, e := range c.Endpoints {
		facts := endpointFacts(c, &e)
		out.Scenario.Rate += facts.Rate
		out.Scenario.Endpoints = append(out.Scenario.Endpoints, facts)
	}
	add := func(name string, p *sim.Pool) {
		if p != nil {
			out.Scenario.Pools = append(out.Scenario.Pools, report.Pool{Name: name, Size: p.Size})
		}
	}
	add("process.workers", c.Process.Workers)
	add("process.pool", c.Process.Pool)
	for _, name := range sortedKeys(c.Process.Pools) {
		p := c.Process.Pools[name]
		add("pool."+name, &p)
	}
	out.Warnings = append([]string{}, f.ShortWarnings()...)
	out.Arms, out.Expectations, out.Findings = []report.Arm{}, []report.Expectation{}, []report.Finding{}
	return out
}

func dependencyFacts(c *sim.Config, d *sim.Dependency) report.Dependency {
	l := d.Latency.Dist()
	out := report.Dependency{Name: d.Name, Faulted: len(d.Faults) > 0, Mean: l.Mean().Seconds(), P99: l.Quantile(0.99).Seconds()}
	switch {
	case d.Pool != "":
		out.Pool = "pool." + d.Pool
	case c.Process.Pool != nil:
		out.Pool = "process.pool"
	}
	for _, e := range c.Endpoints {
		for _, step := range e.Calls {
			for _, ref := range step {
				if ref.Dependency == d.Name {
					out.Rate += meanRate(c, &e)
				}
			}
		}
	}
	return out
}

func faultFacts(c *sim.Config, d *sim.Dependency) (out []report.Fault) {
	for _, f := range d.Faults {
		for _, w := range f.Windows(c.Duration) {
			fact := report.Fault{Dependency: d.Name, Kind: f.Kind, Text: f.Config.Text(), From: w.From.Seconds(), To: w.To.Seconds()}
			if m, ok := f.Config.MeanLatency(d.Latency.Dist().Mean()); ok {
				seconds := m.Seconds()
				fact.Latency = &seconds
			}
			out = append(out, fact)
		}
	}
	return out
}

func endpointFacts(c *sim.Config, e *sim.Endpoint) report.Endpoint {
	out := report.Endpoint{
		Name: e.Name, Rate: meanRate(c, e), Peak: e.Arrivals.Peak(c.Warmup, c.Duration),
		SLO: e.SLO.Seconds(), Deadline: e.Deadline.Seconds(),
	}
	for _, step := range e.Calls {
		for _, ref := range step {
			if !slices.Contains(out.Calls, ref.Dependency) {
				out.Calls = append(out.Calls, ref.Dependency)
			}
			for _, d := range c.Dependencies {
				if d.Name == ref.Dependency && len(d.Faults) > 0 {
					out.Direct = true
				}
			}
		}
	}
	return out
}

func meanRate(c *sim.Config, e *sim.Endpoint) float64 {
	return e.Arrivals.Mean(c.Warmup, c.Duration) / (c.Duration - c.Warmup).Seconds()
}

// arm turns one arm's run into its part of the result.
func (s *study) arm(a scenarios.Arm, r *sim.Result) report.Arm {
	out := report.Arm{
		Name: a.Name, About: a.About, Digest: hex16(r.Digest),
		Phases: map[string]report.Figures{}, Findings: []report.Finding{},
	}
	for _, d := range a.Config.Dependencies {
		for _, l := range d.Stack {
			layer := report.Layer{Dependency: d.Name, Kind: l.Kind, Name: l.Name, Text: l.Config.Text()}
			switch cfg := l.Config.(type) {
			case *resilience.Bulkhead:
				layer.Permits = cfg.Places()
			case *resilience.Timeout:
				layer.Seconds, layer.Abandons = cfg.After.Seconds(), cfg.Abandons()
			case *resilience.Breaker:
				layer.Seconds = cfg.Cooldown.Seconds()
			}
			out.Layers = append(out.Layers, layer)
		}
	}
	for _, p := range r.Phases {
		if p.Name == sim.PhaseAll {
			out.Metrics, out.Absent = p.Metrics, p.Absent
		} else {
			out.Phases[p.Name] = report.Figures{Metrics: p.Metrics, Absent: p.Absent}
		}
		for _, row := range p.Audit {
			out.Audit = append(out.Audit, auditRow(row))
		}
	}
	out.Series = series(&r.Series)
	for _, c := range r.States {
		out.States = append(out.States, report.StateChange{Breaker: c.Breaker, At: c.At.Seconds(), State: c.To})
	}
	out.Sizing = sizingRows(&a.Config, r)
	if out.Layers == nil {
		out.Layers = []report.Layer{}
	}
	return out
}

func auditRow(a sim.AuditRow) report.AuditRow {
	out := report.AuditRow{Station: a.Station, Phase: a.Phase, Lambda: a.Lambda, W: a.W, L: a.L, Edge: a.Edge, Exact: a.Exact, Note: a.Note}
	if !math.IsNaN(a.Gap) {
		out.Gap = &a.Gap
	}
	return out
}

func series(s *sim.Series) report.Series {
	out := report.Series{Step: s.Step.String(), Names: s.Names}
	for i := range s.Values {
		row := make([]*float64, s.Bins)
		for j := range row {
			if s.Has[i][j] {
				v := rounded(s.Values[i][j])
				row[j] = &v
			}
		}
		out.Values = append(out.Values, row)
	}
	return out
}

// rounded keeps six significant digits: a series is drawn, not computed with.
func rounded(v float64) float64 {
	if v == 0 || v == math.Trunc(v) {
		return v
	}
	scale := math.Pow(10, 6-math.Ceil(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}

func hex16(v uint64) string {
	const digits = "0123456789abcdef"
	var b [16]byte
	for i := range b {
		b[15-i] = digits[v&15]
		v >>= 4
	}
	return string(b[:])
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
