package findings

import (
	"fmt"

	"blastradius/report"
)

// flapping finds a breaker that keeps closing too early, and tries a longer
// cooldown.
func flapping(v *view) (out []candidate) {
	for i := range v.r.Arms {
		a := &v.r.Arms[i]
		for _, d := range v.r.Scenario.Dependencies {
			b := layer(a, d.Name, "breaker")
			if b == nil || b.Seconds == 0 || !fileArm(a) {
				continue
			}
			name := "dependency." + d.Name + "." + b.Name
			flaps := value(a, "all", name+".flaps")
			if flaps < 3 {
				continue
			}
			longer := 3 * b.Seconds
			c := candidate{Finding: report.Finding{ID: "flapping", Severity: problem, Arm: a.Name}}
			c.What = fmt.Sprintf("The breaker of %s flapped %s times.", d.Name, report.FormatCount(flaps))
			c.Why = "One good probe lets everything back on a dependency that is not well."
			c.Change = "A longer cooldown, or a ramp after closing."
			c.Vs = fmt.Sprintf("%s:%s.%s.cooldown=%s", a.Name, d.Name, b.Name, report.FormatSetting(longer))
			c.Evidence = evidence(a, "all", name+".flaps", name+".opens", name+".rejected")
			c.finish = func(f *report.Finding, was, now *report.Arm) {
				fb, fn, ok := effect(f, was, now, "all", name+".flaps")
				rb, rn, okR := effect(f, was, now, "all", name+".rejected")
				if ok && okR {
					f.Change = fmt.Sprintf("Cooldown %s: flaps %s instead of %s, refused %s instead of %s (simulated).", report.FormatSetting(longer), report.FormatCount(fn), report.FormatCount(fb), report.FormatCount(rn), report.FormatCount(rb))
				}
			}
			out = append(out, c)
		}
	}
	return out
}
