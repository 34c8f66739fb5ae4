package findings

import (
	"fmt"
	"math"

	"blastradius/report"
)

// poolRunsOut explains the first arm in which a faulted dependency took a whole
// pool: how fast, and that no larger pool would have saved it.
func poolRunsOut(v *view) []candidate {
	phase := v.phase()
	for i := range v.r.Arms {
		a := &v.r.Arms[i]
		for _, d := range v.faulted() {
			if c, ok := emptied(v, a, d, phase); ok {
				return []candidate{c}
			}
		}
	}
	return nil
}

func emptied(v *view, a *report.Arm, d report.Dependency, phase string) (candidate, bool) {
	p, ok := v.pool(d.Pool)
	fault := v.firstFault(d.Name)
	full, isFull := get(a, phase, d.Pool+".full_at")
	if !ok || fault == nil || !isFull || full < fault.From || layer(a, d.Name, "bulkhead") != nil {
		return candidate{}, false
	}
	held, limit := v.held(a, d.Name)
	demand := d.Rate * held
	before := value(a, v.health(), d.Pool+".in_use_mean")
	if demand <= float64(p.Size)-before {
		return candidate{}, false
	}
	c := candidate{Finding: report.Finding{ID: "pool-runs-out", Severity: problem, Arm: a.Name}}
	name := poolWord(p.Name)
	c.What = fmt.Sprintf("The %s emptied %s into the fault, (%d - %.0f in use) / %s.", name, report.FormatSpan(full-fault.From), p.Size, before, report.FormatRate(d.Rate))
	if math.IsInf(held, 1) {
		c.Why = fmt.Sprintf("%s never answers, so every call of its %s keeps a connection; any larger pool only postpones it.", d.Name, report.FormatRate(d.Rate))
	} else {
		word := "any smaller pool only postpones it."
		if limit != "" {
			word = "that is what the " + limit + " leaves."
		}
		c.Why = fmt.Sprintf("%s asks for %s x %s = %s; %s", d.Name, report.FormatRate(d.Rate), report.FormatSetting(held), report.FormatCount(demand), word)
	}
	c.Change = fmt.Sprintf("Put a bulkhead around %s.", d.Name)
	for i := range v.r.Arms {
		b := &v.r.Arms[i]
		if l := layer(b, d.Name, "bulkhead"); l != nil && contains(b, phase) {
			c.Change = fmt.Sprintf("Keep the bulkhead: its %d permits left %d of the %s free.", l.Permits, p.Size-int(value(b, phase, p.Name+".in_use_max")), name)
			break
		}
	}
	c.Evidence = evidence(a, phase, p.Name+".full_at", p.Name+".in_use_max", p.Name+".waiting_max", "blast_radius.collateral")
	return c, true
}

func poolWord(name string) string {
	switch name {
	case "process.pool":
		return "pool"
	case "process.workers":
		return "workers"
	}
	return name
}
