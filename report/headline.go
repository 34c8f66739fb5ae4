package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// headline says in sentences, made by rules from the figures of the phase in
// focus, what broke, how far it spread, what contained it and what ran out.
func (d *Document) headline() (out []string) {
	add := func(s string) {
		if s != "" {
			out = append(out, s)
		}
	}
	if len(d.Result.Arms) == 0 {
		return []string{"No arm was run."}
	}
	if len(d.Windows) == 0 {
		add("No fault was injected.")
		add(d.worstEndpoint())
		add(d.ranOut(false))
		return out
	}
	add(d.whatBroke())
	t := d.tell()
	add(d.spreadSentence(t))
	add(d.containedSentence(t))
	add(d.ranOut(t.worst > 0))
	return out
}

// story is what the sentences about the spread share.
type story struct {
	metric  string  // collateral, or direct when every endpoint is hit directly
	victims string  // "search requests, which never call it,"
	missed  string  // "missed their 300ms because of it"
	hero    int     // the arm told last, as what contains; -1 when there is one arm only
	worst   float64 // the largest share hurt over the arms
	absent  string  // why there is no figure at all
}

// tell picks the metric, the words and the arm that is held up as containment:
// the one called contained, else the one least hurt.
func (d *Document) tell() story {
	t := story{metric: blast + "collateral", hero: -1}
	bystanders := d.endpoints(false)
	if len(bystanders) == 0 {
		t.metric, bystanders = blast+"direct", d.endpoints(true)
	}
	t.victims, t.missed = d.victims(bystanders, t.metric == blast+"collateral")
	figures := 0
	for i := range d.Result.Arms {
		v, why, ok := d.Result.Arms[i].Figure(d.Phase.Name, t.metric)
		if !ok {
			t.absent = why
			continue
		}
		figures++
		t.worst = max(t.worst, v)
		if t.hero < 0 || v < *d.hurt(t.metric, t.hero) {
			t.hero = i
		}
	}
	if figures > 0 {
		t.absent = ""
	}
	if i := d.armNamed("contained"); i >= 0 && d.hurt(t.metric, i) != nil {
		t.hero = i
	}
	if figures < 2 {
		t.hero = -1
	}
	return t
}

// armNamed is the index of an arm, -1 when there is none of the name.
func (d *Document) armNamed(name string) int {
	return slices.IndexFunc(d.Result.Arms, func(a Arm) bool { return a.Name == name })
}

func (d *Document) hurt(metric string, arm int) *float64 {
	return d.Result.Arms[arm].pointer(d.Phase.Name, metric)
}

// endpoints are those that call a faulted dependency, or those that do not.
func (d *Document) endpoints(direct bool) (out []*Endpoint) {
	for i := range d.Result.Scenario.Endpoints {
		if e := &d.Result.Scenario.Endpoints[i]; e.Direct == direct {
			out = append(out, e)
		}
	}
	return out
}

// faulted are the dependencies that had a fault.
func (d *Document) faulted() (names []string) {
	for _, w := range d.Windows {
		if !slices.Contains(names, w.Dependency) {
			names = append(names, w.Dependency)
		}
	}
	return names
}

// it is the pronoun for what broke.
func (d *Document) it() string {
	if len(d.faulted()) == 1 {
		return "it"
	}
	return "them"
}

// victims are the words for the requests of some endpoints and for what they
// missed.
func (d *Document) victims(endpoints []*Endpoint, bystanders bool) (who, missed string) {
	names := make([]string, len(endpoints))
	limits := map[string]bool{}
	for i, e := range endpoints {
		names[i] = e.Name
		switch {
		case e.SLO > 0:
			limits["their "+FormatSetting(e.SLO)] = true
		case e.Deadline > 0:
			limits["their deadline of "+FormatSetting(e.Deadline)] = true
		default:
			limits["their answer"] = true
		}
	}
	who = list(names, "and") + " requests"
	if len(names) > 3 {
		who = fmt.Sprintf("the requests of %d endpoints", len(names))
	}
	if bystanders {
		switch n := len(d.faulted()); n {
		case 1:
			who += ", which never call it,"
		case 2:
			who += ", which call neither,"
		default:
			who += ", which call none of them,"
		}
	}
	missed = "missed their SLO"
	if len(limits) == 1 {
		for words := range limits {
			missed = "missed " + words
		}
	}
	return who, missed + " because of " + d.it()
}

// spreadSentence says whom the fault hurt in the arms that do not contain it,
// worst first, at most three of them.
func (d *Document) spreadSentence(t story) string {
	if t.absent != "" {
		return fmt.Sprintf("How far it spread cannot be said: %s.", t.absent)
	}
	everyone := ""
	if t.metric == blast+"direct" {
		if everyone = "Every endpoint calls it: "; d.it() == "them" {
			everyone = "Every endpoint calls one of them: "
		}
	}
	if t.worst == 0 {
		where := ""
		if len(d.Result.Arms) > 1 {
			where = " in any arm"
		}
		if everyone != "" {
			return everyone + "none of the requests " + t.missed + where + "."
		}
		return "Nothing spread: none of the " + strings.TrimPrefix(t.victims, "the ") + " " + t.missed + where + "."
	}
	var arms []int
	for i := range d.Result.Arms {
		if v := d.hurt(t.metric, i); v != nil && i != t.hero {
			arms = append(arms, i)
		}
	}
	slices.SortStableFunc(arms, func(a, b int) int {
		return cmp.Compare(*d.hurt(t.metric, b), *d.hurt(t.metric, a))
	})
	if len(arms) == 0 {
		return ""
	}
	worst := FormatShare(*d.hurt(t.metric, arms[0]))
	out := worst + " of " + t.victims + " " + t.missed
	if len(d.Result.Arms) > 1 {
		out = d.inArm(arms[0]) + ", " + out
	}
	for _, i := range arms[1:min(3, len(arms))] {
		out += "; " + d.inArm(i) + ", " + shareOrNone(*d.hurt(t.metric, i))
	}
	if more := len(arms) - 3; more > 0 {
		out += fmt.Sprintf("; in %s, at most that", plural(more, "more arm", "more arms"))
	}
	return capital(everyone + out + ".")
}

// inArm places a figure in an arm.
func (d *Document) inArm(i int) string {
	a := &d.Result.Arms[i]
	switch {
	case a.Name == "uncontained":
		return "uncontained"
	case a.About == "keep: timeout":
		return "with timeouts alone"
	}
	return "in " + a.Name
}

// capital begins a sentence.
func capital(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
