package findings

import (
	"fmt"

	"blastradius/report"
)

// retriesAmplify finds retries that multiplied the calls to a failing
// dependency, and tries one attempt less.
func retriesAmplify(v *view) (out []candidate) {
	phase := v.phase()
	for i := range v.r.Arms {
		a := &v.r.Arms[i]
		for _, d := range v.r.Scenario.Dependencies {
			l := layer(a, d.Name, "retry")
			name := "dependency." + d.Name
			factor, ok := get(a, phase, name+".amplification")
			if l == nil || !ok || factor < 1.5 || !fileArm(a) {
				continue
			}
			c := candidate{Finding: report.Finding{ID: "retries-amplify", Severity: problem, Arm: a.Name}}
			c.What = fmt.Sprintf("Retries turned %s to %s into %s.", report.FormatRate(d.Rate), d.Name, report.FormatRate(d.Rate*factor))
			c.Why = fmt.Sprintf("%s: what fails together fails again.", l.Text)
			c.Change = "Put the retry inside the breaker, or make fewer attempts."
			c.Vs = fmt.Sprintf("%s:%s.%s.attempts=2", a.Name, d.Name, l.Name)
			c.Evidence = evidence(a, phase, name+".amplification", name+".wire", name+"."+l.Name+".exhausted")
			c.finish = func(f *report.Finding, was, now *report.Arm) {
				if b, n, ok := effect(f, was, now, phase, name+".amplification"); ok {
					f.Change = fmt.Sprintf("With 2 attempts the factor is %s, not %s (simulated).", report.FormatRatio(n), report.FormatRatio(b))
				}
			}
			out = append(out, c)
			break
		}
	}
	return out
}
