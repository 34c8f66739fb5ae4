package findings

import (
	"fmt"

	"blastradius/report"
)

// blindBreaker finds a breaker that saw its dependency fail and never opened.
func blindBreaker(v *view) (out []candidate) {
	phase := v.phase()
	for i := range v.r.Arms {
		a := &v.r.Arms[i]
		for _, d := range v.faulted() {
			b := layer(a, d.Name, "breaker")
			if b == nil || !fileArm(a) {
				continue
			}
			name := "dependency." + d.Name
			opens, known := get(a, "all", name+"."+b.Name+".opens")
			calls := value(a, phase, name+".calls")
			bad := calls - value(a, phase, name+".outcomes.ok") - value(a, phase, name+".outcomes.client_error")
			if !known || opens > 0 || calls < enoughCalls || bad/calls < 0.2 {
				continue
			}
			c := candidate{Finding: report.Finding{ID: "blind-breaker", Severity: problem, Arm: a.Name}}
			c.What = fmt.Sprintf("The breaker of %s never opened, though %s of its calls were not answered.", d.Name, report.FormatShare(bad/calls))
			c.Why, c.Change = "It had too few failures in its window.", "Lower min_calls or the ratio, or widen the window."
			if value(a, phase, name+".cancelled") > bad/2 {
				c.Why = "They ended by their callers' deadline, which says nothing to a breaker."
				c.Change = "Put a timeout below that deadline inside the breaker."
			}
			c.Evidence = evidence(a, phase, name+".calls", name+".outcomes.ok", name+".cancelled", name+"."+b.Name+".rejected")
			out = append(out, c)
		}
	}
	return out
}

// enoughCalls is the number of calls below which a share says little.
const enoughCalls = 20
