package findings

import (
	"fmt"

	"blastradius/report"
)

// overloaded finds a dependency that is offered more than its servers can do.
func overloaded(v *view) (out []candidate) {
	phase := v.phase()
	for i := range v.r.Arms {
		a := &v.r.Arms[i]
		for _, d := range v.r.Scenario.Dependencies {
			name := "dependency." + d.Name
			busy, ok := get(a, phase, name+".servers.saturation")
			if !ok || busy < 0.95 || !fileArm(a) {
				continue
			}
			c := candidate{Finding: report.Finding{ID: "overloaded", Severity: problem, Arm: a.Name}}
			c.What = fmt.Sprintf("In %s the servers of %s were busy %s of the time, and up to %s calls waited for one.", a.Name, d.Name, report.FormatShare(busy), report.FormatCount(value(a, phase, name+".servers.waiting_max")))
			c.Why = fmt.Sprintf("%s reached it for every call.", report.FormatRatio(value(a, phase, name+".amplification")))
			c.Change = "Shed the excess before it queues: a bulkhead, or a bounded queue."
			c.Evidence = evidence(a, phase, name+".servers.saturation", name+".servers.waiting_max", name+".amplification")
			out = append(out, c)
			break
		}
	}
	return out
}
