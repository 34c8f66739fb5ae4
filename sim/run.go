package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"blastradius/sim/dist"
)

// Result is everything one arm gives.
type Result struct {
	Phases []PhaseResult // all first
	Series Series
	States []StateChange
	// Digest folds the outcome and time of every request; EndpointDigests has the
	// same for each endpoint, which unrelated parts of the file do not touch.
	Digest          uint64
	EndpointDigests map[string]uint64
	Events          uint64 // fired, the twin's included
	Requests        int64
	Warnings        []string
	Worst           *Hurt // the hurt request that took longest: of an endpoint that never needs the faulted dependency, if there is one
	Trace           *Trace
	// Cause is why the run ended early: the context's error, des.ErrBudget or
	// des.ErrTooLong; nil when it did not. Figures then cover what was
	// simulated.
	Cause error
	// Left is what the end of the run found in flight.
	Left Inventory
}

// PhaseResult is the figures and the audit of one phase.
type PhaseResult struct {
	Phase
	Figures
	Audit []AuditRow
}

// Series are figures in bins of Step; a missing value is NaN.
type Series struct {
	Step   time.Duration
	Bins   int
	Names  []string
	Values [][]float64
	Has    [][]bool
}

// Inventory counts what is held at an instant, for the laws.
type Inventory struct {
	Requests    int64
	Connections int64
	Workers     int64
	Servers     int64
	Goroutines  int64
	Timers      int
}

// Phase finds a phase of the result.
func (r *Result) Phase(name string) *PhaseResult {
	for i := range r.Phases {
		if r.Phases[i].Name == name {
			return &r.Phases[i]
		}
	}
	return nil
}

// Run simulates one arm, and before it its twin without faults where there are
// any. An early end (context, event budget) is a Result with its Cause.
func Run(ctx context.Context, c *Config) *Result { return run(ctx, c, nil) }

// RunTraced is Run with the life of one request written down.
func RunTraced(ctx context.Context, c *Config, endpoint string, request uint64) *Result {
	return run(ctx, c, &tracer{endpoint: endpoint, request: request, streams: map[uint64]bool{}})
}

func run(ctx context.Context, c *Config, t *tracer) *Result {
	var fates [][]fate
	events := uint64(0)
	var twinCause error
	if _, _, faulty := faultSpan(c); faulty && t == nil {
		twin := *c
		twin.Twin, twin.Bins = true, 1
		s := build(&twin, nil)
		fates = make([][]fate, len(s.endpoints))
		for i, e := range s.endpoints {
			e.fates = make([]fate, 0, int(min(twin.Endpoints[i].Arrivals.Mean(0, c.Duration)*1.02, 1<<22))+64)
		}
		twinCause = s.run(ctx)
		events = s.kernel.Fired()
		for i, e := range s.endpoints {
			fates[i] = e.fates
		}
		if twinCause != nil {
			fates = nil // half a twin compares nothing; the arm is still worth showing
		}
	}
	s := build(c, t)
	for i, e := range s.endpoints {
		if fates != nil {
			e.fates = fates[i]
		}
	}
	err := s.run(ctx)
	res := s.result(err, fates != nil || twinCause == nil, events+s.kernel.Fired())
	if res.Cause == nil {
		res.Cause = twinCause
	}
	return res
}

// run fires every event of the run.
func (s *system) run(ctx context.Context) error {
	err := s.kernel.Run(ctx, s.config.Duration)
	now := s.kernel.Now()
	for _, e := range s.endpoints {
		e.settleInside(now)
	}
	return err
}

// result makes the figures; compared says that there is a whole twin, or that
// none is needed.
func (s *system) result(cause error, compared bool, events uint64) *Result {
	r := s.recorder
	if cause != nil {
		r.stopAt(s.kernel.Now())
	}
	res := &Result{Cause: cause, Events: events, EndpointDigests: map[string]uint64{}}
	byPhase := map[string]*Figures{}
	for _, p := range s.phases {
		v := r.view(p)
		if len(v.windows) == 0 {
			continue
		}
		out := newFigures()
		for _, f := range r.figures {
			f(v, out)
		}
		pr := PhaseResult{Phase: p, Figures: *out}
		for _, a := range r.audits {
			pr.Audit = append(pr.Audit, v.audit(a))
		}
		res.Phases = append(res.Phases, pr)
		byPhase[p.Name] = out
	}
	if cause == nil && compared && s.tracer == nil {
		s.blast(byPhase)
	} else {
		for _, f := range byPhase {
			for _, name := range blastMetrics {
				f.absent("blast_radius."+name, noTwin)
			}
		}
	}
	if !s.config.NoSeries {
		s.series(&res.Series)
	}
	for _, d := range s.deps {
		for _, b := range d.breakers {
			res.States = append(res.States, b.changes...)
		}
	}
	slices.SortStableFunc(res.States, func(a, b StateChange) int { return int(min(1, max(-1, a.At-b.At))) })
	for _, e := range s.endpoints {
		res.Requests += int64(e.next)
		res.EndpointDigests[e.name] = e.digest
		res.Digest += dist.Fold(dist.Hash(e.name), e.digest)
		if w := e.worst; w != nil && (res.Worst == nil || worse(w, res.Worst)) {
			res.Worst = w
		}
	}
	if s.tracer != nil {
		res.Trace = s.tracer.trace()
	}
	res.Left = s.inventory()
	res.Warnings = s.warnings()
	return res
}

// worse orders hurt requests: bystanders first, then the longest.
func worse(a, b *Hurt) bool {
	if a.Direct != b.Direct {
		return !a.Direct
	}
	return a.Took > b.Took
}

func (s *system) series(out *Series) {
	r := s.recorder
	out.Step, out.Bins = r.width, r.bins
	for _, l := range r.seriesOf {
		values, has := make([]float64, r.bins), make([]bool, r.bins)
		for i := range values {
			values[i], has[i] = l.value(i)
		}
		out.Names = append(out.Names, l.name)
		out.Values = append(out.Values, values)
		out.Has = append(out.Has, has)
	}
}

func (s *system) inventory() Inventory {
	in := Inventory{Timers: s.kernel.Live(), Goroutines: s.parked.N()}
	for _, e := range s.endpoints {
		e.requests.Each(func(r *request) {
			if r.active {
				in.Requests++
			}
		})
	}
	if s.workers != nil {
		in.Workers = s.workers.InUse.N()
	}
	if s.pool != nil {
		in.Connections = s.pool.InUse.N()
	}
	for _, p := range s.pools {
		in.Connections += p.InUse.N()
	}
	for _, d := range s.deps {
		if d.servers != nil {
			in.Servers += d.served.InUse.N()
		}
	}
	return in
}

// warnings are doubts about the figures that travel with them.
func (s *system) warnings() (out []string) {
	for _, d := range s.deps {
		for i, f := range d.faults {
			if f.met == 0 && s.kernel.Now() >= f.From {
				out = append(out, fmt.Sprintf("fault %s of %s was armed and met no call", s.dependencyConfig(d.name).Faults[i].Kind, d.name))
			}
		}
		if d.calls == 0 && !s.dependencyConfig(d.name).Standby {
			out = append(out, fmt.Sprintf("dependency %s was never called", d.name))
		}
	}
	for _, e := range s.endpoints {
		if e.next == 0 {
			out = append(out, fmt.Sprintf("endpoint %s had no request", e.name))
		}
	}
	return out
}

func (s *system) endpointConfig(name string) *Endpoint {
	i := slices.IndexFunc(s.config.Endpoints, func(e Endpoint) bool { return e.Name == name })
	return &s.config.Endpoints[i]
}

func (s *system) dependencyConfig(name string) *Dependency {
	i := slices.IndexFunc(s.config.Dependencies, func(d Dependency) bool { return d.Name == name })
	return &s.config.Dependencies[i]
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
