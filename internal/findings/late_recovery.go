package findings

import (
	"fmt"
	"math"

	"blastradius/report"
)

// lateRecovery explains an arm that is back long after the fault because its
// breaker still cools down, and tries a third of the cooldown.
func lateRecovery(v *view) (out []candidate) {
	for i := range v.r.Arms {
		a := &v.r.Arms[i]
		late, ok := get(a, v.phase(), "blast_radius.time_to_recover")
		if !ok || late < 2 || !fileArm(a) {
			continue
		}
		for _, d := range v.faulted() {
			b := layer(a, d.Name, "breaker")
			if b == nil || b.Seconds == 0 || late > 2*b.Seconds || value(a, "all", "dependency."+d.Name+"."+b.Name+".opens") == 0 {
				continue
			}
			shorter := math.Max(1, math.Round(b.Seconds/3))
			if shorter >= b.Seconds {
				continue
			}
			opens := "dependency." + d.Name + "." + b.Name + ".opens"
			c := candidate{Finding: report.Finding{ID: "late-recovery", Severity: note, Arm: a.Name}}
			c.What = fmt.Sprintf("Back %s late", report.FormatSpan(late))
			c.Why = fmt.Sprintf("the %s cooldown of %s had to end.", report.FormatSetting(b.Seconds), d.Name)
			c.Change = fmt.Sprintf("A shorter one probes more often: try %s.", report.FormatSetting(shorter))
			c.Vs = fmt.Sprintf("%s:%s.%s.cooldown=%s", a.Name, d.Name, b.Name, report.FormatSetting(shorter))
			c.Evidence = evidence(a, v.phase(), "blast_radius.time_to_recover", opens)
			c.finish = func(f *report.Finding, was, now *report.Arm) {
				_, n, ok := effect(f, was, now, v.phase(), "blast_radius.time_to_recover")
				ob, on, okOpens := effect(f, was, now, "all", opens)
				if ok && okOpens {
					f.Change = fmt.Sprintf("%s: %s late, but %s instead of %s (simulated).", report.FormatSetting(shorter), report.FormatSpan(n), opened(on), report.FormatCount(ob))
					if n >= late {
						f.Change = fmt.Sprintf("%s does not help: %s late, with %s instead of %s (simulated).", report.FormatSetting(shorter), report.FormatSpan(n), opened(on), report.FormatCount(ob))
					}
				}
			}
			out = append(out, c)
			break
		}
	}
	return out
}

func opened(n float64) string {
	if n == 1 {
		return "1 open"
	}
	return report.FormatCount(n) + " opens"
}
