package findings

import (
	"fmt"

	"blastradius/report"
)

// fallbackMisses finds calls that a fallback had no answer for.
func fallbackMisses(v *view) (out []candidate) {
	phase := v.phase()
	for i := range v.r.Arms {
		a := &v.r.Arms[i]
		for _, d := range v.r.Scenario.Dependencies {
			l := layer(a, d.Name, "fallback")
			if l == nil || !fileArm(a) {
				continue
			}
			name := "dependency." + d.Name
			misses := value(a, phase, name+"."+l.Name+".misses") + value(a, phase, name+"."+l.Name+".queue_lost")
			calls := value(a, phase, name+".calls")
			if calls == 0 || misses/calls < 0.01 {
				continue
			}
			c := candidate{Finding: report.Finding{ID: "fallback-misses", Severity: note, Arm: a.Name}}
			c.What = fmt.Sprintf("%s of %s calls to %s got no fallback either.", report.FormatCount(misses), report.FormatCount(calls), d.Name)
			c.Why = fmt.Sprintf("The fallback is %s.", l.Text)
			c.Change = "A plain answer behind the cache (serve: degraded) would catch them."
			c.Evidence = evidence(a, phase, name+"."+l.Name+".misses", name+"."+l.Name+".queue_lost", name+"."+l.Name+".served")
			out = append(out, c)
		}
	}
	return out
}
