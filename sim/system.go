package sim

import (
	"math"
	"slices"
	"time"

	"blastradius/resilience"
	"blastradius/sim/call"
	"blastradius/sim/des"
	"blastradius/sim/dist"
)

// system is a Config built and ready to run.
type system struct {
	config    *Config
	kernel    *des.Kernel
	recorder  *recorder
	phases    []Phase
	pool      *des.Pool
	pools     map[string]*des.Pool
	workers   *des.Pool
	endpoints []*endpoint
	deps      []*dependency
	byName    map[string]*dependency
	parked    des.Gauge
	tracer    *tracer
}

// build makes the system of c. c is valid; whatever it names exists.
func build(c *Config, t *tracer) *system {
	s := &system{config: c, kernel: des.NewKernel(), pools: map[string]*des.Pool{}, byName: map[string]*dependency{}, tracer: t}
	s.kernel.Budget = c.Events
	s.phases = phasesOf(c)
	s.recorder = newRecorder(c, s.phases)
	if t != nil {
		t.kernel = s.kernel
	}
	for i := range c.Endpoints {
		if d := c.Endpoints[i].Deadline; d > 0 {
			s.kernel.Constant(d, des.Expire)
		}
	}
	s.buildProcess()
	for i := range c.Dependencies {
		s.buildDependency(&c.Dependencies[i])
	}
	for i := range c.Endpoints {
		s.buildEndpoint(&c.Endpoints[i])
	}
	s.registerProcess()
	s.recorder.start(s.kernel)
	for _, e := range s.endpoints {
		s.kernel.AddSource(e)
	}
	return s
}

func (s *system) buildProcess() {
	p := &s.config.Process
	s.workers = s.newPool(p.Workers)
	s.pool = s.newPool(p.Pool)
	for name, cfg := range p.Pools {
		s.pools[name] = s.newPool(&cfg)
	}
}

func (s *system) newPool(p *Pool) *des.Pool {
	if p == nil {
		return nil
	}
	return des.NewPool(s.kernel, p.Size, p.Queue, p.MaxWait)
}

func (s *system) buildDependency(c *Dependency) {
	d := &dependency{name: c.Name, kernel: s.kernel, latency: c.Latency.Dist(), errors: c.Errors, finish: c.FinishOnCancel, pool: s.pool, hosts: c.HostCount(), tracer: s.tracer}
	if c.Pool != "" {
		d.pool = s.pools[c.Pool]
	}
	if d.hosts > 1 {
		d.wired = make([]int64, d.hosts)
	}
	if c.Capacity != nil {
		patience := Forever
		if c.Capacity.Queue == 0 {
			patience = 0
		}
		d.servers, d.served = des.NewPools(s.kernel, d.hosts, c.Capacity.Servers, c.Capacity.Queue, patience)
	}
	if !s.config.Twin {
		for _, f := range c.Faults {
			d.faults = append(d.faults, armedFault{Timeline: f.Timeline, fault: f.Config.Fault()})
		}
	}
	d.failures = []*int64{&d.failed}
	d.shed = []*int64{&d.refused}

	layers := make([]call.Layer, 0, 2*len(c.Stack)+1)
	rechecks := recheckPlaces(c.Stack)
	for i, l := range c.Stack {
		layers = append(layers, s.traced(c.Name, l.Name), s.layer(d, c, i, rechecks))
		for _, r := range rechecks {
			if r.after == i {
				layers = append(layers, r.asks.Layer)
			}
		}
	}
	layers = append(layers, s.traced(c.Name, "attempt"))
	layers = slices.DeleteFunc(layers, func(l call.Layer) bool { return l == nil })
	d.stack = call.Stack(d, layers...)
	s.deps = append(s.deps, d)
	s.byName[c.Name] = d
	d.register(s.recorder)
}

// recheckPlace is where a breaker is asked once more: right inside the first
// bulkhead that it holds.
type recheckPlace struct {
	breaker, after int // places in the stack
	asks           *resilience.Recheck
}

func recheckPlaces(stack []Layer) (out []recheckPlace) {
	for i, l := range stack {
		b, ok := l.Config.(*resilience.Breaker)
		if !ok || !b.Recheck {
			continue
		}
		for j := i + 1; j < len(stack); j++ {
			if _, ok := stack[j].Config.(*resilience.Bulkhead); ok {
				out = append(out, recheckPlace{i, j, &resilience.Recheck{}})
				break
			}
		}
	}
	return out
}

// layer builds the ith layer of a stack and registers its figures.
func (s *system) layer(d *dependency, c *Dependency, i int, rechecks []recheckPlace) call.Layer {
	l := c.Stack[i]
	source := "dependency." + c.Name + "." + l.Name
	env := resilience.Env{Goroutines: &s.parked, Dependency: s.detoursTo, Seed: s.config.Seed, Hosts: c.HostCount(), Sched: s.kernel, Source: source, Budgets: &d.budgets}
	env.Meter = &scope{r: s.recorder, prefix: source, onCount: func(name string, n *int64) {
		switch name {
		case "shed", "rejected", "refused", "limited", "throttled":
			d.shed = append(d.shed, n)
		case "fired":
			d.failures = append(d.failures, n)
		}
	}}
	env.CountsAttempts = countsAttempts(c.Stack, i)
	switch cfg := l.Config.(type) {
	case *resilience.Breaker:
		b := s.breakerFigures(d, c, i, cfg, source)
		env.Probe = b.observe
		for _, r := range rechecks {
			if r.breaker == i {
				env.Recheck = r.asks
			}
		}
	case *resilience.Fallback:
		d.fallbacks++
	}
	return l.Config.Layer(env)
}

// countsAttempts reports whether layer i makes attempts, is the innermost that
// does, and has a breaker outside that wants to hear of them.
func countsAttempts(stack []Layer, i int) bool {
	makes := func(l Layer) bool {
		switch l.Config.(type) {
		case *resilience.Retry, *resilience.Hedge:
			return true
		}
		return false
	}
	if !makes(stack[i]) || slices.ContainsFunc(stack[i+1:], makes) {
		return false
	}
	return slices.ContainsFunc(stack[:i], func(l Layer) bool {
		b, ok := l.Config.(*resilience.Breaker)
		return ok && b.RecordsAttempts()
	})
}

// breakerFigures prepares the figures of the breaker at place i of c's stack.
func (s *system) breakerFigures(d *dependency, c *Dependency, i int, cfg *resilience.Breaker, source string) *breakerFigures {
	b := &breakerFigures{name: source, kernel: s.kernel, dep: d, dwell: cfg.Dwell(), ratio: cfg.TripRatio(), faultStart: -1}
	b.touched = make([]bool, max(1, cfg.WindowCalls()))
	survives := 1.0
	for _, e := range c.Errors {
		if cfg.CountsAsFailure(e.Class) {
			survives -= e.Share
		}
	}
	if t := innermostTimeout(c.Stack[i:]); t > 0 {
		survives *= dist.CDF(c.Latency.Dist(), t)
	}
	b.base = 1 - survives
	for _, f := range c.Faults {
		if b.faultStart < 0 || f.From < b.faultStart {
			b.faultStart = f.From
		}
	}
	d.breakers = append(d.breakers, b)
	b.register(s.recorder)
	return b
}

// innermostTimeout is the limit on one attempt, 0 when there is none.
func innermostTimeout(stack []Layer) (limit time.Duration) {
	for _, l := range stack {
		if t, ok := l.Config.(*resilience.Timeout); ok {
			limit = t.After
		}
	}
	return limit
}

func (s *system) buildEndpoint(c *Endpoint) {
	e := &endpoint{
		name: c.Name, sys: s, arrivals: c.Arrivals.Arrivals(), last: -1, end: s.config.Duration,
		deadline: c.Deadline, slo: c.SLO, good: goodWithin(c),
		accounts: make([]account, len(s.recorder.edges)-1), direct: directEndpoint(s.config, c),
	}
	e.rand.Key(arrivalStream(s.config.Seed, c.Name))
	seen := map[string]int{}
	for _, step := range c.Calls {
		targets := make([]target, len(step))
		for i, ref := range step {
			targets[i] = target{dep: s.byName[ref.Dependency], optional: ref.Optional,
				stream: streamOf(s.config.Seed, c.Name, ref.Dependency, seen[ref.Dependency])}
			seen[ref.Dependency]++
			if t := s.tracer; t != nil && t.endpoint == c.Name {
				t.streams[targets[i].stream] = true
			}
		}
		e.steps = append(e.steps, targets)
		e.width = max(e.width, len(targets))
	}
	for i := range e.bins {
		e.bins[i] = make([]int64, s.recorder.bins)
	}
	s.endpoints = append(s.endpoints, e)
	e.register(s.recorder)
}

// goodWithin is the longest answer that counts as good.
func goodWithin(c *Endpoint) time.Duration {
	switch {
	case c.SLO > 0:
		return c.SLO
	case c.Deadline > 0:
		return c.Deadline
	}
	return call.NoDeadline
}

// directEndpoint reports whether e calls a dependency that has a fault.
func directEndpoint(c *Config, e *Endpoint) bool {
	for _, step := range e.Calls {
		for _, ref := range step {
			for _, d := range c.Dependencies {
				if d.Name == ref.Dependency && len(d.Faults) > 0 {
					return true
				}
			}
		}
	}
	return false
}

// PhaseAll is the run after its warm-up; the other names exist where there are
// faults.
const (
	PhaseAll    = "all"
	PhaseBefore = "before"
	PhaseFault  = "fault"
	PhaseAfter  = "after"
)

// Phases lists the phases of a run of c: all first.
func Phases(c *Config) []Phase { return phasesOf(c) }

// phasesOf lists the phases of a run: all, those that the faults make, the
// file's own. Those without length are left out.
func phasesOf(c *Config) []Phase {
	phases := []Phase{{PhaseAll, c.Warmup, c.Duration}}
	add := func(name string, from, to time.Duration) {
		from, to = max(from, c.Warmup), min(to, c.Duration)
		if from < to {
			phases = append(phases, Phase{name, from, to})
		}
	}
	if from, to, ok := faultSpan(c); ok {
		add(PhaseBefore, 0, from)
		add(PhaseFault, from, to)
		add(PhaseAfter, to, c.Duration)
	}
	for _, p := range c.Phases {
		add(p.Name, p.From, p.To)
	}
	return phases
}

// faultSpan is from the first fault's start to the last fault's end.
func faultSpan(c *Config) (from, to time.Duration, ok bool) {
	from = math.MaxInt64
	for _, d := range c.Dependencies {
		for _, f := range d.Faults {
			for _, w := range f.Windows(c.Duration) {
				from, to, ok = min(from, w.From), max(to, w.To), true
			}
		}
	}
	return from, to, ok
}
