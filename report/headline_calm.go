package report

import "fmt"

// worstEndpoint is the sentence of a run without a fault.
func (d *Document) worstEndpoint() string {
	var worst *float64
	var of *Endpoint
	arm := 0
	for i := range d.Result.Arms {
		for k := range d.Result.Scenario.Endpoints {
			e := &d.Result.Scenario.Endpoints[k]
			if v := d.Result.Arms[i].pointer(d.Phase.Name, "endpoint."+e.Name+".slo_rate"); v != nil && (worst == nil || *v < *worst) {
				worst, of, arm = v, e, i
			}
		}
	}
	if worst == nil {
		return ""
	}
	where := ""
	if len(d.Result.Arms) > 1 {
		where = ", " + d.inArm(arm)
	}
	if *worst == 1 {
		return "Every request was answered in time."
	}
	if *worst == 0 {
		return fmt.Sprintf("No %s request was %s%s.", of.Name, goodWords(of), where)
	}
	if *worst >= SLOTarget {
		return fmt.Sprintf("Every endpoint kept its SLO: at worst %s of %s requests were %s%s.", FormatShare(*worst), of.Name, goodWords(of), where)
	}
	return fmt.Sprintf("Only %s of %s requests were %s%s.", FormatShare(*worst), of.Name, goodWords(of), where)
}
