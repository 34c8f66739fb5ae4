package report

import "fmt"

// containedSentence says what the best arm made of it, for bystanders and for
// those who need the faulted dependency.
func (d *Document) containedSentence(t story) string {
	arm := t.hero
	if arm < 0 {
		arm = max(0, d.armNamed("contained"))
	}
	served := d.served(arm)
	if t.hero < 0 || t.worst == 0 {
		if served == "" {
			return ""
		}
		return capital(d.armAsSubject(arm) + " " + served + ".")
	}
	v := *d.hurt(t.metric, arm)
	spread, joint := "", " and "
	switch {
	case v == 0:
		spread = "hurt none of them"
	case v < SpreadLimit:
		spread = "held that to " + FormatShare(v)
	default:
		spread, joint = "did not contain it: "+FormatShare(v), "; it "
		if v >= 0.9*t.worst {
			break
		}
		spread = "cut that to " + FormatShare(v) + ", which is not contained"
		if t.metric == blast+"direct" {
			spread, joint = "cut that to "+FormatShare(v), " and "
		}
	}
	if served != "" {
		spread += joint + served
	}
	return capital(d.armAsSubject(arm) + " " + spread + ".")
}

// served says what those who need the faulted dependency got in an arm.
func (d *Document) served(arm int) string {
	a := &d.Result.Arms[arm]
	direct := d.endpoints(true)
	if len(direct) != 1 {
		if v, _, ok := a.Figure(d.Phase.Name, blast+"direct"); ok && len(d.endpoints(false)) > 0 {
			return "lost " + FormatShare(v) + " of the requests that need " + d.it()
		}
		return ""
	}
	e := direct[0]
	name := "endpoint." + e.Name + "."
	live, inTime := a.pointer(d.Phase.Name, name+"live_rate"), a.pointer(d.Phase.Name, name+"slo_rate")
	if live == nil || inTime == nil {
		return ""
	}
	fallback := *inTime - *live
	how := "from cache"
	if d.fallbackWord(e) != "cached" {
		how = "degraded"
	}
	switch {
	case fallback > *live:
		return fmt.Sprintf("served %s of %s requests %s", FormatShare(fallback), e.Name, how)
	case *inTime == 0:
		return "lost every " + e.Name + " request"
	case fallback > 1e-12:
		return fmt.Sprintf("answered %s of %s requests in time, %s %s", FormatShare(*inTime), e.Name, FormatShare(fallback), how)
	}
	return fmt.Sprintf("answered %s of %s requests in time", FormatShare(*inTime), e.Name)
}

func shareOrNone(v float64) string {
	if v == 0 {
		return "none"
	}
	return FormatShare(v)
}

// armAsSubject names an arm as what acts.
func (d *Document) armAsSubject(i int) string {
	switch a := &d.Result.Arms[i]; a.Name {
	case "contained":
		return "the full stack"
	default:
		return "arm " + a.Name
	}
}
