package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"blastradius/sim"
)

// check reports what no single field shows: names that nothing has, times
// outside the run, permits beyond their pool.
func (f *File) check(d *decoder) {
	c := &checker{d: d, s: &f.scenario, f: f}
	c.times()
	c.names()
	c.calls()
	c.fallbacks()
	c.faults()
	c.hosts()
	c.permits()
	c.limits()
	c.breakers()
	if slices.ContainsFunc(d.problems, func(p Problem) bool { return !p.Warning }) {
		return
	}
	c.retries()
	if !f.part {
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
	standby := c.s.standby()
	for _, dep := range c.s.Dependencies {
		if !called[dep.Name] && !standby[dep.Name] {
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
