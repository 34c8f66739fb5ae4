package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"blastradius/resilience"
	"blastradius/sim"
)

// check reports what no single field shows: names that nothing has, times
// outside the run, permits beyond their pool.
func (f *File) check(d *decoder) {
	c := &checker{d: d, s: &f.scenario, f: f}
	c.times()
	c.names()
	c.calls()
	c.faults()
	c.permits()
	c.limits()
	if !f.part && !slices.ContainsFunc(d.problems, func(p Problem) bool { return !p.Warning }) {
		c.arms()
		c.expectations()
	}
}

type checker struct {
	d *decoder
	s *Scenario
	f *File
}

// at reports a problem at a path's value, or at the nearest owner the file has.
func (c *checker) at(path, text, hint string) *Problem {
	for p := path; p != ""; {
		if place, ok := c.d.at[p]; ok {
			n := place.value
			if place.key != nil && (p != path || n.Kind != yaml.ScalarNode) {
				n = place.key // of an owner the key says more than the whole block
			}
			return c.d.report(n, text, hint)
		}
		i := strings.LastIndexByte(p, '.')
		if i < 0 {
			break
		}
		p = p[:i]
	}
	return c.d.report(nil, text, hint)
}

func (c *checker) warn(path, text, hint string) { c.at(path, text, hint).Warning = true }

func (c *checker) times() {
	s := c.s
	if s.Duration > 0 && s.Warmup >= s.Duration {
		c.at("warmup", fmt.Sprintf("warmup %s leaves nothing of duration %s", formatDuration(s.Warmup), formatDuration(s.Duration)), "shorten warmup or lengthen duration")
	}
	for _, p := range s.Phases {
		path := "phases." + p.Name
		switch {
		case slices.Contains([]string{sim.PhaseAll, sim.PhaseBefore, sim.PhaseFault, sim.PhaseAfter}, p.Name):
			c.at(path, fmt.Sprintf("phase %q exists already", p.Name), "choose another name")
		case p.To <= p.From:
			c.at(path+".to", fmt.Sprintf("phase %s ends at %s, before it begins at %s", p.Name, formatDuration(p.To), formatDuration(p.From)), "")
		case p.From >= s.Duration || p.To > s.Duration:
			c.at(path+".to", fmt.Sprintf("phase %s reaches beyond the run, which ends at %s", p.Name, formatDuration(s.Duration)), "")
		}
	}
}

func (c *checker) names() {
	if len(c.s.Endpoints) == 0 {
		if _, given := c.d.at["endpoints"]; given {
			c.at("endpoints", "there is no endpoint", "web: {arrivals: {poisson: 80/s}, calls: [db]}")
		}
	}
	for _, dep := range c.s.Dependencies {
		if dep.Pool == "" || slices.ContainsFunc(c.s.Process.Pools, func(p NamedPool) bool { return p.Name == dep.Pool }) {
			continue
		}
		var known []string
		for _, p := range c.s.Process.Pools {
			known = append(known, p.Name)
		}
		u := &UnknownName{What: "pool", Name: dep.Pool, Known: known}
		hint := u.Hint()
		if len(known) == 0 {
			hint = "process.pools names none"
		}
		c.at("dependencies."+dep.Name+".pool", u.Error(), hint)
	}
}

func (c *checker) calls() {
	var known []string
	for _, dep := range c.s.Dependencies {
		known = append(known, dep.Name)
	}
	called := map[string]bool{}
	for _, e := range c.s.Endpoints {
		for _, step := range e.Calls {
			for _, one := range step {
				called[one.Dependency] = true
				if !slices.Contains(known, one.Dependency) {
					u := &UnknownName{What: "dependency", Name: one.Dependency, Known: known}
					hint := u.Hint()
					if len(known) == 0 {
						hint = "dependencies: names none"
					}
					c.at(one.path, u.Error(), hint)
				}
			}
		}
		if len(e.Calls) == 0 {
			c.warn("endpoints."+e.Name, fmt.Sprintf("endpoint %s calls nothing: its requests take no time", e.Name), "calls: [db]")
		}
	}
	for _, dep := range c.s.Dependencies {
		if !called[dep.Name] {
			c.warn("dependencies."+dep.Name, fmt.Sprintf("dependency %s is never called", dep.Name), "add it to the calls of an endpoint")
		}
	}
}

func (c *checker) faults() {
	for _, dep := range c.s.Dependencies {
		for _, f := range dep.Faults {
			switch {
			case f.From >= c.s.Duration:
				c.at(f.path+".from", fmt.Sprintf("the fault begins at %s, and the run ends at %s", formatDuration(f.From), formatDuration(c.s.Duration)), "begin it earlier or lengthen duration")
			case f.For > 0 && f.For > c.s.Duration-f.From:
				c.warn(f.path+".for", fmt.Sprintf("the fault outlives the run by %s", formatDuration(f.For-(c.s.Duration-f.From))), "the run shows no recovery; lengthen duration to see it")
			}
		}
	}
}

// permits warns when the bulkheads on one pool allow more than it has.
func (c *checker) permits() {
	type draw struct {
		path    string
		permits int
	}
	byPool := map[string][]draw{}
	for _, dep := range c.s.Dependencies {
		for _, l := range dep.Stack {
			if b, ok := l.Config.(*resilience.Bulkhead); ok {
				byPool[dep.Pool] = append(byPool[dep.Pool], draw{l.path + ".permits", b.Permits})
			}
		}
	}
	for _, name := range sortedKeys(byPool) {
		size, label := 0, "process.pool"
		if name == "" && c.s.Process.Pool != nil {
			size = c.s.Process.Pool.Size
		}
		for _, p := range c.s.Process.Pools {
			if p.Name == name {
				size, label = p.Size, "pool "+name
			}
		}
		sum, largest := 0, byPool[name][0]
		var others []string
		for _, x := range byPool[name] {
			sum += x.permits
			if x.permits > largest.permits {
				largest = x
			}
		}
		if size == 0 || sum <= size {
			continue
		}
		for _, x := range byPool[name] {
			if p, ok := c.d.at[x.path]; ok && x != largest {
				others = append(others, fmt.Sprintf("%d:%d", p.value.Line, p.value.Column))
			}
		}
		hint := "lower permits or raise " + label + " size"
		if len(others) > 0 {
			hint = "also " + strings.Join(others, ", ") + "; " + hint
		}
		c.warn(largest.path, fmt.Sprintf("%s allow %d, %s: %d", plural(len(byPool[name]), "bulkhead"), sum, label, size), hint)
	}
}

// limits warns of a timeout that the caller's deadline always beats.
func (c *checker) limits() {
	for _, dep := range c.s.Dependencies {
		patience := c.patience(dep.Name)
		if patience == 0 {
			continue
		}
		for _, l := range dep.Stack {
			if t, ok := l.Config.(*resilience.Timeout); ok && t.After >= patience {
				c.warn(l.path+".after", fmt.Sprintf("timeout %s is not below the deadline %s of its callers: it never fires first", formatDuration(t.After), formatDuration(patience)), "lower the timeout")
			}
		}
	}
}

// patience is the longest deadline of the endpoints that call a dependency; 0
// when one of them has none.
func (c *checker) patience(dependency string) (most time.Duration) {
	for _, e := range c.s.Endpoints {
		uses := slices.ContainsFunc(e.Calls, func(s Step) bool {
			return slices.ContainsFunc(s, func(one Call) bool { return one.Dependency == dependency })
		})
		switch {
		case !uses:
		case e.Deadline == 0:
			return 0
		default:
			most = max(most, e.Deadline)
		}
	}
	return most
}

// arms checks that what an arm removes, keeps or sets is there.
func (c *checker) arms() {
	has := func(name string) bool {
		return slices.ContainsFunc(c.s.Dependencies, func(d Dependency) bool {
			return slices.ContainsFunc(d.Stack, func(l LayerSpec) bool { return l.Kind == name || l.Name == name })
		})
	}
	known := sortedKeys(resilience.Layers)
	for _, d := range c.s.Dependencies {
		for _, l := range d.Stack {
			if !slices.Contains(known, l.Name) {
				known = append(known, l.Name)
			}
		}
	}
	for _, a := range c.s.Arms {
		path := "arms." + a.Name
		for list, names := range map[string][]string{".remove": a.Remove.Names, ".keep": a.Keep.Names} {
			for i, n := range names {
				at := fmt.Sprintf("%s%s.%d", path, list, i+1)
				switch {
				case !slices.Contains(known, n):
					c.at(at, fmt.Sprintf("no layer is called %q", n), (&UnknownName{Name: n, Known: known}).Hint())
				case !has(n):
					c.at(at, fmt.Sprintf("no stack has a %s", n), "drop it from the arm")
				}
			}
		}
		if a.Remove.Given && a.Keep.Given {
			c.at(path+".keep", "an arm takes remove or keep, not both", "")
		}
		for i, x := range a.Set {
			at := fmt.Sprintf("%s.set.%d", path, i+1)
			if _, err := c.f.with([]Assignment{x}, true); err != nil {
				hint := ""
				if h, ok := err.(interface{ Hint() string }); ok {
					hint = h.Hint()
				}
				c.at(at, err.Error(), hint)
			}
		}
	}
}

func (c *checker) expectations() {
	for _, x := range c.s.Expect {
		if _, err := c.f.expectation(x); err != nil {
			p := c.at(x.path, err.Error(), err.Hint())
			if place := c.d.at[x.path]; place.value != nil && place.value.Style == 0 && place.value.Value == x.That && err.Pos > 0 {
				p.Col += len([]rune(x.That[:err.Pos]))
				p.Width = max(1, err.Len)
			}
		}
	}
}
