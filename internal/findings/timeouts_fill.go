package findings

import (
	"fmt"
	"math"

	"blastradius/report"
)

// timeoutsFill explains an arm whose timeouts free connections too late: rate
// times timeout is still more than the pool has.
func timeoutsFill(v *view) (out []candidate) {
	phase := v.phase()
	for i := range v.r.Arms {
		a := &v.r.Arms[i]
		if !fileArm(a) {
			continue
		}
		for _, d := range v.faulted() {
			limit := layer(a, d.Name, "timeout")
			p, ok := v.pool(d.Pool)
			held, by := v.held(a, d.Name)
			if limit == nil || !ok || by != "timeout" || layer(a, d.Name, "bulkhead") != nil || layer(a, d.Name, "breaker") != nil {
				continue
			}
			before := value(a, v.health(), p.Name+".in_use_mean")
			free := float64(p.Size) - before
			if _, full := get(a, phase, p.Name+".full_at"); !full || d.Rate*held <= free {
				continue
			}
			shorter := roundDown(free / d.Rate)
			if shorter <= d.P99 {
				continue // a timeout that short would cut good calls
			}
			c := candidate{Finding: report.Finding{ID: "timeouts-fill-the-pool", Severity: problem, Arm: a.Name}}
			c.What = fmt.Sprintf("Timeouts alone fill it too, %s x %s = %s of %d.", report.FormatRate(d.Rate), report.FormatSetting(held), report.FormatCount(d.Rate*held), p.Size)
			c.Why = fmt.Sprintf("%d are in use anyway.", int(math.Round(before)))
			c.Change = fmt.Sprintf("Below %s it would fit.", report.FormatSetting(shorter))
			c.Vs = fmt.Sprintf("%s:%s.%s=%s", a.Name, d.Name, limit.Name, report.FormatSetting(shorter))
			c.Evidence = evidence(a, phase, p.Name+".in_use_max", p.Name+".timeouts", "blast_radius.collateral")
			c.finish = func(f *report.Finding, was, now *report.Arm) {
				if b, n, ok := effect(f, was, now, phase, "blast_radius.collateral"); ok {
					f.Change = fmt.Sprintf("At %s collateral is %s, not %s (simulated).", report.FormatSetting(shorter), report.FormatShare(n), report.FormatShare(b))
				}
			}
			out = append(out, c)
		}
	}
	return out
}

// roundDown keeps two significant digits, downwards.
func roundDown(x float64) float64 {
	if x <= 0 {
		return 0
	}
	scale := math.Pow(10, 1-math.Floor(math.Log10(x)))
	return math.Floor(float64(x*scale)+1e-9) / scale
}
