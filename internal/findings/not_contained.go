package findings

import (
	"fmt"
	"strings"

	"blastradius/report"
)

// notContained explains an arm with a breaker or a bulkhead around the faulted
// dependency whose bystanders were hurt all the same: what ran out.
func notContained(v *view) (out []candidate) {
	phase := v.phase()
	for i := range v.r.Arms {
		a := &v.r.Arms[i]
		hurt, ok := get(a, phase, "blast_radius.collateral")
		if !ok || hurt < harmful || !fileArm(a) {
			continue
		}
		for _, d := range v.faulted() {
			breaker, bulkhead := layer(a, d.Name, "breaker"), layer(a, d.Name, "bulkhead")
			if breaker == nil && bulkhead == nil {
				continue
			}
			out = append(out, leaking(v, a, d, bulkhead, hurt, phase))
			break
		}
	}
	return out
}

func leaking(v *view, a *report.Arm, d report.Dependency, bulkhead *report.Layer, hurt float64, phase string) candidate {
	c := candidate{Finding: report.Finding{ID: "not-contained", Severity: problem, Arm: a.Name}}
	c.What = fmt.Sprintf("%s does not contain it: %s of the requests that never need %s were hurt.", a.Name, report.FormatShare(hurt), d.Name)
	c.Evidence = evidence(a, phase, "blast_radius.collateral")
	for _, p := range v.r.Scenario.Pools {
		if _, full := get(a, phase, p.Name+".full_at"); !full {
			continue
		}
		c.Evidence = append(c.Evidence, evidence(a, phase, p.Name+".in_use_max", p.Name+".waiting_max")...)
		c.Why = fmt.Sprintf("The %s ran full at %d", poolWord(p.Name), p.Size)
		if sum := permitSum(v, a, p.Name); sum > p.Size {
			c.Why += fmt.Sprintf(", and the bulkheads on it allow %d", sum)
		}
		c.Why += "."
		switch {
		case bulkhead == nil && p.Name == d.Pool:
			c.Change = fmt.Sprintf("The breaker alone lets %s of calls in before it opens: put a bulkhead inside it.", d.Name)
		case bulkhead != nil && p.Name == d.Pool:
			fewer := max(1, bulkhead.Permits/2)
			c.Change = fmt.Sprintf("Fewer permits for %s: try %d.", d.Name, fewer)
			c.Vs = fmt.Sprintf("%s:%s.%s.permits=%d", a.Name, d.Name, bulkhead.Name, fewer)
			c.finish = func(f *report.Finding, was, now *report.Arm) {
				if b, n, ok := effect(f, was, now, phase, "blast_radius.collateral"); ok {
					f.Change = fmt.Sprintf("With %d permits for %s collateral is %s, not %s (simulated).", fewer, d.Name, report.FormatShare(n), report.FormatShare(b))
				}
			}
		default:
			c.Change = fmt.Sprintf("Requests hold %s while they wait for %s: bound that wait, or give the bystanders %s of their own.", poolWord(p.Name), d.Name, poolWord(p.Name))
		}
		return c
	}
	c.Why = "No pool ran full: what the endpoints share besides is the dependencies they both call."
	c.Change = "Look at the calls they have in common: " + strings.Join(shared(v), ", ") + "."
	return c
}

func permitSum(v *view, a *report.Arm, pool string) (sum int) {
	for _, d := range v.r.Scenario.Dependencies {
		if d.Pool == pool {
			if l := layer(a, d.Name, "bulkhead"); l != nil {
				sum += l.Permits
			}
		}
	}
	return sum
}

// shared are the dependencies that direct and other endpoints both call.
func shared(v *view) (out []string) {
	uses := map[string][2]bool{}
	for _, e := range v.r.Scenario.Endpoints {
		for _, c := range e.Calls {
			u := uses[c]
			if e.Direct {
				u[0] = true
			} else {
				u[1] = true
			}
			uses[c] = u
		}
	}
	for _, d := range v.r.Scenario.Dependencies {
		if uses[d.Name] == [2]bool{true, true} {
			out = append(out, d.Name)
		}
	}
	if len(out) == 0 {
		out = []string{"none"}
	}
	return out
}
