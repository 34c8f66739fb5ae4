package report

import (
	"encoding/json"
	"math"

	"blastradius/sim/spec"
)

// nanosecond rounds a number of seconds.
func nanosecond(s float64) float64 {
	if math.Abs(s) > 9e6 { // a float64 has no nanoseconds left here
		return s
	}
	return math.Round(s*1e9) / 1e9
}

func nanosecondOf(p *float64) *float64 {
	if p == nil {
		return nil
	}
	v := nanosecond(*p)
	return &v
}

// mapped copies a list through f; no list becomes an empty one.
func mapped[T any](in []T, f func(*T)) []T {
	out := append(make([]T, 0, len(in)), in...)
	for i := range out {
		f(&out[i])
	}
	return out
}

// same leaves an element as it is.
func same[T any](*T) {}

// tidy is r with every time rounded to the nanosecond and no list or map nil.
// r itself is not changed.
func tidy(r *Result) *Result {
	units := newUnits(r)
	out := *r
	out.Scenario = tidyScenario(r.Scenario)
	out.Arms = mapped(r.Arms, func(a *Arm) { tidyArm(a, units) })
	out.Expectations = mapped(r.Expectations, func(e *Expectation) {
		if e.Unit == string(spec.Seconds) {
			e.Actual = nanosecondOf(e.Actual)
		}
	})
	out.Findings = tidyFindings(r.Findings, units)
	out.Warnings = mapped(r.Warnings, same)
	return &out
}

func tidyScenario(s Scenario) Scenario {
	s.Duration, s.Warmup = nanosecond(s.Duration), nanosecond(s.Warmup)
	s.Phases = mapped(s.Phases, func(p *Phase) { p.From, p.To = nanosecond(p.From), nanosecond(p.To) })
	s.Faults = mapped(s.Faults, func(f *Fault) {
		f.From, f.To, f.Latency = nanosecond(f.From), nanosecond(f.To), nanosecondOf(f.Latency)
	})
	s.Endpoints = mapped(s.Endpoints, func(e *Endpoint) {
		e.SLO, e.Deadline = nanosecond(e.SLO), nanosecond(e.Deadline)
		e.Calls = mapped(e.Calls, same)
	})
	s.Dependencies = mapped(s.Dependencies, func(d *Dependency) { d.Mean, d.P99 = nanosecond(d.Mean), nanosecond(d.P99) })
	s.Pools = mapped(s.Pools, same)
	if len(s.Effective) == 0 {
		s.Effective = json.RawMessage("null")
	}
	return s
}

func tidyArm(a *Arm, units *units) {
	figures := func(m map[string]float64) map[string]float64 {
		out := make(map[string]float64, len(m))
		for name, v := range m {
			if units.of(name) == spec.Seconds {
				v = nanosecond(v)
			}
			out[name] = v
		}
		return out
	}
	reasons := func(m map[string]string) map[string]string {
		if m == nil {
			return map[string]string{}
		}
		return m
	}
	a.Metrics, a.Absent = figures(a.Metrics), reasons(a.Absent)
	phases := make(map[string]Figures, len(a.Phases))
	for name, f := range a.Phases {
		phases[name] = Figures{figures(f.Metrics), reasons(f.Absent)}
	}
	a.Phases = phases
	a.Layers = mapped(a.Layers, func(l *Layer) { l.Seconds = nanosecond(l.Seconds) })
	a.Audit = mapped(a.Audit, func(r *AuditRow) { r.W = nanosecond(r.W) })
	a.Sizing = mapped(a.Sizing, func(s *SizingRow) {
		s.Mean, s.P99, s.Fill = nanosecond(s.Mean), nanosecond(s.P99), nanosecondOf(s.Fill)
		s.Notes = mapped(s.Notes, same)
	})
	a.Series.Names = mapped(a.Series.Names, same)
	a.Series.Values = mapped(a.Series.Values, func(row *[]*float64) {
		if *row == nil {
			*row = []*float64{}
		}
	})
	a.States = mapped(a.States, func(c *StateChange) { c.At = nanosecond(c.At) })
	a.Findings = tidyFindings(a.Findings, units)
	if a.Trace != nil {
		t := *a.Trace
		t.At, t.Took = nanosecond(t.At), nanosecond(t.Took)
		t.Steps = mapped(t.Steps, func(s *TraceStep) { s.At = nanosecond(s.At) })
		a.Trace = &t
	}
}

func tidyFindings(in []Finding, units *units) []Finding {
	return mapped(in, func(f *Finding) {
		f.Evidence = mapped(f.Evidence, func(e *Evidence) {
			if units.of(e.Metric) == spec.Seconds {
				e.Value = nanosecond(e.Value)
			}
		})
		f.Effects = mapped(f.Effects, func(e *Effect) {
			if units.of(e.Metric) == spec.Seconds {
				e.Before, e.After = nanosecondOf(e.Before), nanosecondOf(e.After)
			}
		})
	})
}
