package scenarios

import (
	"slices"

	"blastradius/sim"
)

// build makes the system of a checked scenario.
func build(s *Scenario, arm string) *sim.Config {
	c := &sim.Config{Name: arm, Seed: s.Seed, Duration: s.Duration, Warmup: s.Warmup}
	c.Process.Workers = buildPool(s.Process.Workers)
	c.Process.Pool = buildPool(s.Process.Pool)
	for i := range s.Process.Pools {
		if c.Process.Pools == nil {
			c.Process.Pools = map[string]sim.Pool{}
		}
		c.Process.Pools[s.Process.Pools[i].Name] = *buildPool(&s.Process.Pools[i].Pool)
	}
	for _, e := range s.Endpoints {
		out := sim.Endpoint{Name: e.Name, Arrivals: e.Arrivals, Deadline: e.Deadline, SLO: e.SLO}
		for _, step := range e.Calls {
			var calls sim.Step
			for _, one := range step {
				calls = append(calls, sim.CallRef{Dependency: one.Dependency, Optional: one.Optional})
			}
			out.Calls = append(out.Calls, calls)
		}
		c.Endpoints = append(c.Endpoints, out)
	}
	standby := s.standby()
	for _, d := range s.Dependencies {
		out := sim.Dependency{Standby: standby[d.Name], Name: d.Name, Latency: d.Latency, Hosts: d.Hosts, Pool: d.Pool, FinishOnCancel: d.OnCancel == "finish"}
		// By class, not as the file lists them: the order of a map's keys is no part
		// of what it says.
		errors := slices.Clone(d.Errors)
		slices.SortFunc(errors, func(a, b ErrorShare) int { return int(a.Class) - int(b.Class) })
		for _, e := range errors {
			out.Errors = append(out.Errors, sim.ErrorShare{Class: e.Class, Share: e.Share, RetryAfter: e.RetryAfter})
		}
		for _, f := range d.Faults {
			out.Faults = append(out.Faults, sim.Fault{Kind: f.Kind, Timeline: f.Timeline, Config: f.Config})
		}
		for _, l := range d.Stack {
			out.Stack = append(out.Stack, sim.Layer{Kind: l.Kind, Name: l.Name, Config: l.Config})
		}
		if d.Capacity != nil {
			out.Capacity = &sim.Capacity{Servers: d.Capacity.Servers, Queue: d.Capacity.Queue}
		}
		c.Dependencies = append(c.Dependencies, out)
	}
	for _, p := range s.Phases {
		c.Phases = append(c.Phases, sim.Phase{Name: p.Name, From: p.From, To: p.To})
	}
	return c
}

// standby are the dependencies that fallbacks call and no endpoint does.
func (s *Scenario) standby() map[string]bool {
	out := map[string]bool{}
	for _, d := range s.Dependencies {
		for _, b := range d.Stack.backups() {
			out[b.to] = true
		}
	}
	for _, e := range s.Endpoints {
		for _, step := range e.Calls {
			for _, one := range step {
				delete(out, one.Dependency)
			}
		}
	}
	return out
}

func buildPool(p *Pool) *sim.Pool {
	if p == nil {
		return nil
	}
	return &sim.Pool{Size: p.Size, MaxWait: p.MaxWait, Queue: p.Queue}
}
