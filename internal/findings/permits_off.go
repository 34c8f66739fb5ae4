package findings

import (
	"fmt"

	"blastradius/report"
)

// permitsOff finds a bulkhead that sheds in health because it has fewer permits
// than its load needs.
func permitsOff(v *view) (out []candidate) {
	for i := range v.r.Arms {
		a := &v.r.Arms[i]
		for _, s := range a.Sizing {
			if s.ShedSeen == nil || *s.ShedSeen < 5*s.ShedTarget || s.Permits >= s.Exact || !fileArm(a) {
				continue
			}
			c := candidate{Finding: report.Finding{ID: "too-few-permits", Severity: problem, Arm: a.Name}}
			c.What = fmt.Sprintf("%s sheds %s in health.", s.Station, report.FormatShare(*s.ShedSeen))
			c.Why = fmt.Sprintf("Load %.3g on %d permits; Erlang B asks for %d to shed %s.", s.Load, s.Permits, s.Exact, report.FormatShare(s.ShedTarget))
			c.Change = fmt.Sprintf("Try %d permits.", s.Exact)
			c.Vs = fmt.Sprintf("%s:%s.permits=%d", a.Name, trimSubject(s.Station), s.Exact)
			c.Evidence = evidence(a, v.health(), s.Station+".shed_rate", s.Station+".in_use_max")
			c.finish = func(f *report.Finding, was, now *report.Arm) {
				if b, n, ok := effect(f, was, now, v.health(), s.Station+".shed_rate"); ok {
					f.Change = fmt.Sprintf("With %d permits it sheds %s, not %s (simulated).", s.Exact, report.FormatShare(n), report.FormatShare(b))
				}
			}
			out = append(out, c)
		}
	}
	return out
}

func trimSubject(station string) string {
	const prefix = "dependency."
	if len(station) > len(prefix) && station[:len(prefix)] == prefix {
		return station[len(prefix):]
	}
	return station
}
