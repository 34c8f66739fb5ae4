// Package findings says what a result means: what happened, why, and what to
// change. Every finding is made from figures of the result, and speaks of the
// effect of a change only after the change was simulated.
package findings

import (
	"slices"

	"blastradius/report"
)

// Try simulates changes, each a --vs argument, and gives the arm that each
// makes; nil where one could not be run.
type Try func(vs []string) []*report.Arm

// The number of findings shown, and of changes simulated for them.
const (
	most  = 5
	tries = 3
)

// candidate is a finding before its change was tried.
type candidate struct {
	report.Finding
	// finish words the change after it was simulated: before is the finding's
	// arm, after the changed one. nil needs no simulation.
	finish func(f *report.Finding, before, after *report.Arm)
}

// rule looks for one kind of trouble. Rules come in the order in which their
// findings are shown; each is one file.
type rule func(v *view) []candidate

var rules = []rule{
	notContained, poolRunsOut, timeoutsFill, blindBreaker, overloaded, retriesAmplify, flapping, lateRecovery, fallbackMisses, permitsOff,
}

// Find applies every rule to r and simulates the first changes. Problems come
// before notes; nothing is found where nothing is wrong.
func Find(r *report.Result, try Try) []report.Finding {
	v := &view{r: r}
	var all []candidate
	for _, rule := range rules {
		all = append(all, rule(v)...)
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return weight(a.Severity) - weight(b.Severity) })
	all = all[:min(len(all), most)]

	var vs []string
	var tried []int
	for i := range all {
		if all[i].finish != nil && len(vs) < tries {
			vs, tried = append(vs, all[i].Vs), append(tried, i)
		}
	}
	var arms []*report.Arm
	if len(vs) > 0 && try != nil {
		arms = try(vs)
	}
	for k, after := range arms {
		c := &all[tried[k]]
		if before := v.arm(c.Arm); after != nil && before != nil {
			c.finish(&c.Finding, before, after)
		}
	}
	out := make([]report.Finding, 0, len(all))
	for _, c := range all {
		if c.Evidence == nil {
			c.Evidence = []report.Evidence{}
		}
		if c.Effects == nil {
			c.Effects = []report.Effect{}
		}
		out = append(out, c.Finding)
	}
	return out
}

// Severities of a finding.
const (
	problem = "problem"
	note    = "note"
)

func weight(severity string) int {
	if severity == problem {
		return 0
	}
	return 1
}
