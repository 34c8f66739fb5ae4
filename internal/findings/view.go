package findings

import (
	"math"
	"slices"
	"strings"

	"blastradius/report"
)

// view looks figures up in a result.
type view struct{ r *report.Result }

func (v *view) arm(name string) *report.Arm {
	for i := range v.r.Arms {
		if v.r.Arms[i].Name == name {
			return &v.r.Arms[i]
		}
	}
	return nil
}

// phase is fault where there is one, else all.
func (v *view) phase() string {
	if slices.ContainsFunc(v.r.Scenario.Phases, func(p report.Phase) bool { return p.Name == "fault" }) {
		return "fault"
	}
	return "all"
}

// health is the phase before the faults, or all where there is none; "" when
// the fault begins with the run.
func (v *view) health() string {
	if v.phase() == "all" {
		return "all"
	}
	if slices.ContainsFunc(v.r.Scenario.Phases, func(p report.Phase) bool { return p.Name == "before" }) {
		return "before"
	}
	return ""
}

// get is a figure of an arm; ok is false when there is none.
func get(a *report.Arm, phase, metric string) (float64, bool) {
	m := a.Metrics
	if phase != "all" {
		m = a.Phases[phase].Metrics
	}
	x, ok := m[metric]
	return x, ok
}

// value is a figure, 0 when there is none.
func value(a *report.Arm, phase, metric string) float64 {
	x, _ := get(a, phase, metric)
	return x
}

// evidence collects figures that are there.
func evidence(a *report.Arm, phase string, metrics ...string) (out []report.Evidence) {
	for _, m := range metrics {
		if x, ok := get(a, phase, m); ok {
			out = append(out, report.Evidence{Metric: m, Phase: phase, Value: x})
		}
	}
	return out
}

// effect notes one figure before and after a change.
func effect(f *report.Finding, before, after *report.Arm, phase, metric string) (b, a float64, ok bool) {
	b, okB := get(before, phase, metric)
	a, okA := get(after, phase, metric)
	e := report.Effect{Metric: metric, Phase: phase}
	if okB {
		e.Before = &b
	}
	if okA {
		e.After = &a
	}
	f.Effects = append(f.Effects, e)
	return b, a, okB && okA
}

// layer finds a layer of a kind in a dependency's stack.
func layer(a *report.Arm, dependency, kind string) *report.Layer {
	for i := range a.Layers {
		if l := &a.Layers[i]; l.Dependency == dependency && l.Kind == kind {
			return l
		}
	}
	return nil
}

// firstFault is the first fault on a dependency.
func (v *view) firstFault(dependency string) *report.Fault {
	for i := range v.r.Scenario.Faults {
		if v.r.Scenario.Faults[i].Dependency == dependency {
			return &v.r.Scenario.Faults[i]
		}
	}
	return nil
}

// faulted lists the dependencies that have a fault.
func (v *view) faulted() (out []report.Dependency) {
	for _, d := range v.r.Scenario.Dependencies {
		if d.Faulted {
			out = append(out, d)
		}
	}
	return out
}

func (v *view) pool(name string) (report.Pool, bool) {
	for _, p := range v.r.Scenario.Pools {
		if p.Name == name {
			return p, true
		}
	}
	return report.Pool{}, false
}

// patience is the longest deadline of those who call a dependency, +Inf
// without one.
func (v *view) patience(dependency string) (longest float64) {
	for _, e := range v.r.Scenario.Endpoints {
		if !slices.Contains(e.Calls, dependency) {
			continue
		}
		if e.Deadline == 0 {
			return math.Inf(1)
		}
		longest = max(longest, e.Deadline)
	}
	return longest
}

// held is how long a call of an arm stays at a dependency under its first
// fault: the slow latency, or for ever, cut by a timeout that cancels and the
// callers' deadline. limit says what cuts it, "" when nothing does.
func (v *view) held(a *report.Arm, dependency string) (seconds float64, limit string) {
	f := v.firstFault(dependency)
	if f == nil {
		return 0, ""
	}
	seconds = math.Inf(1)
	if f.Latency != nil {
		seconds = *f.Latency
	} else if f.Kind != "hang" {
		return 0, "" // refused at once
	}
	if l := layer(a, dependency, "timeout"); l != nil && !l.Abandons && l.Seconds > 0 && l.Seconds < seconds {
		seconds, limit = l.Seconds, "timeout"
	}
	if p := v.patience(dependency); p < seconds {
		seconds, limit = p, "deadline"
	}
	return seconds, limit
}

// fileArm reports whether an arm is the scenario's own and not one that the
// command line added.
func fileArm(a *report.Arm) bool { return !strings.Contains(a.Name, "=") }

// contains reports whether the arm kept the harm from bystanders.
func contains(a *report.Arm, phase string) bool {
	c, ok := get(a, phase, "blast_radius.collateral")
	return ok && c < harmful
}

// harmful is the collateral from which an arm counts as not containing.
const harmful = 0.01
