package findings

import (
	"fmt"

	"blastradius/report"
)

// enoughCalls is the number of calls below which a share says little.
const enoughCalls = 20

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
