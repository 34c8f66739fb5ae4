package report

import (
	"fmt"
	"strings"
)

// whatBroke is the first sentence: each dependency with what happened to it, a
// fault that comes back told once; more than three are only counted.
func (d *Document) whatBroke() string {
	type group struct {
		first Fault
		total float64
		times int
	}
	var groups []*group
	for _, f := range d.Result.Scenario.Faults {
		found := false
		for _, g := range groups {
			if g.first.Dependency == f.Dependency && g.first.Text == f.Text && g.first.Kind == f.Kind {
				g.total += f.To - f.From
				g.times++
				found = true
			}
		}
		if !found {
			groups = append(groups, &group{f, f.To - f.From, 1})
		}
	}
	if len(groups) > 3 {
		names := d.faulted()
		if len(names) == 1 {
			return fmt.Sprintf("%s had %d kinds of fault.", names[0], len(groups))
		}
		who := list(names, "and")
		if len(names) > 4 {
			who = fmt.Sprintf("%d dependencies", len(names))
		}
		return who + " had faults."
	}
	parts := make([]string, len(groups))
	for i, g := range groups {
		when := " for " + FormatSetting(g.total)
		if g.times > 1 {
			when = fmt.Sprintf(" %d times, %s in all", g.times, FormatSetting(g.total))
		}
		parts[i] = g.first.Dependency + " " + d.happened(&g.first) + when
	}
	return list(parts, "and") + "."
}

// happened is the predicate of a fault.
func (d *Document) happened(f *Fault) string {
	switch f.Kind {
	case "down":
		return "was down"
	case "hang":
		return "hung"
	case "error":
		if what := strings.TrimPrefix(f.Text, "error: "); what != "" {
			return "answered with errors (" + what + ")"
		}
		return "answered with errors"
	case "slow":
		before, known := d.meanOf(f.Dependency)
		switch {
		case f.Latency == nil || !known:
		case *f.Latency > before:
			return fmt.Sprintf("slowed from %s to %s", FormatSetting(before), FormatSetting(*f.Latency))
		case *f.Latency < before:
			return fmt.Sprintf("went from %s to %s", FormatSetting(before), FormatSetting(*f.Latency))
		}
	}
	if f.Text == "" {
		return "had a fault"
	}
	return "had a fault (" + f.Text + ")"
}

// meanOf is a dependency's mean latency without faults.
func (d *Document) meanOf(dependency string) (float64, bool) {
	for _, dep := range d.Result.Scenario.Dependencies {
		if dep.Name == dependency {
			return dep.Mean, true
		}
	}
	return 0, false
}
