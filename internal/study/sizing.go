package study

import (
	"fmt"
	"math"
	"time"

	"blastradius/report"
	"blastradius/resilience"
	"blastradius/sim"
	"blastradius/sizing"
)

// shedTarget is the share of calls that the sizing check allows to be shed.
const shedTarget = 0.001

// station is one bulkhead or pool and what it is asked for in health.
type station struct {
	name    string
	permits int
	maxWait time.Duration
	rate    float64 // mean, per second
	peak    float64
	load    float64 // λ·E[min(S, timeout)]
	mean    float64 // E[S]
	p99     float64
	timeout float64 // 0: none
}

// sizingRows hold the arm's bulkheads and pools against the closed forms.
func sizingRows(c *sim.Config, r *sim.Result) (out []report.SizingRow) {
	health := r.Phase(sim.PhaseBefore)
	if health == nil && r.Phase(sim.PhaseFault) == nil {
		health = r.Phase(sim.PhaseAll)
	}
	pools := map[string]*station{}
	sum := map[string]int{}
	for i := range c.Dependencies {
		d := &c.Dependencies[i]
		s := demandOf(c, d, true)
		facts := dependencyFacts(c, d)
		p := pools[facts.Pool]
		if p == nil {
			p = &station{}
			pools[facts.Pool] = p
		}
		p.join(s)
		for _, l := range d.Stack {
			b, ok := l.Config.(*resilience.Bulkhead)
			if !ok {
				continue
			}
			sum[facts.Pool] += b.Places()
			one := demandOf(c, d, b.HoldsWork())
			one.name, one.permits, one.maxWait = "dependency."+d.Name+"."+l.Name, b.Places(), b.Patience()
			out = append(out, one.row(shedSeen(health, one.name)))
		}
	}
	for _, p := range poolsOf(c) {
		s := pools[p.name]
		if s == nil {
			continue
		}
		s.name, s.permits, s.maxWait = p.name, p.size, p.maxWait
		row := s.row(nil)
		row.SumPermits = sum[p.name]
		if row.SumPermits > p.size {
			row.Notes = append(row.Notes, fmt.Sprintf("the bulkheads that draw on it allow %d", row.SumPermits))
		}
		out = append(out, row)
	}
	return out
}

// demandOf is what the endpoints ask of a dependency in health, at a place that
// is held until the work ends or until the caller is told.
func demandOf(c *sim.Config, d *sim.Dependency, untilWorkEnds bool) station {
	f := dependencyFacts(c, d)
	l := d.Latency.Dist()
	s := station{rate: f.Rate, peak: peakRate(c, d.Name), mean: f.Mean, p99: f.P99, load: f.Rate * f.Mean}
	if t, abandons := attemptLimit(d); t > 0 && !(abandons && untilWorkEnds) {
		s.timeout = t.Seconds()
		s.load = f.Rate * l.MeanMin(t).Seconds()
	}
	return s
}

// join adds the demand of one more dependency on the same pool. The p99 and
// the timeout of the slowest stand for all: the rule is then on the safe side.
func (s *station) join(d station) {
	s.rate += d.rate
	s.peak += d.peak
	s.load += d.load
	s.p99 = max(s.p99, d.p99)
	s.timeout = max(s.timeout, d.timeout)
	if s.rate > 0 {
		s.mean = s.load / s.rate
	}
}

func (s *station) row(seen *float64) report.SizingRow {
	held := 0.0
	if s.rate > 0 {
		held = s.load / s.rate
	}
	row := report.SizingRow{
		Station: s.name, Permits: s.permits, Rate: s.peak, Mean: s.mean, P99: s.p99, Load: s.load,
		Rule: sizing.RulePermits(s.peak, s.p99), Exact: sizing.ErlangBPermits(s.load, shedTarget), ShedTarget: shedTarget,
		Hint: sizing.SquareRootPermits(s.load), ShedSeen: seen, Notes: []string{},
	}
	row.ShedModel = "Erlang B"
	shed := sizing.ErlangB(s.permits, s.load)
	switch {
	case s.maxWait < 0:
		row.ShedModel, shed = "none: callers wait as long as it takes", 0
	case s.maxWait > 0:
		row.ShedModel = "M/M/c+D"
		shed = sizing.MMcD{Rate: s.rate, Mean: held, Servers: s.permits, MaxWait: s.maxWait.Seconds()}.Shed()
		row.Notes = append(row.Notes, "M/M/c+D takes holding times as exponential: an estimate")
	}
	row.ShedExpected = finite(shed)
	row.Fill = finite(sizing.FillTime(float64(s.permits), s.rate))
	limit := math.Inf(1)
	if s.timeout > 0 {
		limit = s.timeout
	}
	row.Outage = finite(sizing.OutageParked(float64(s.permits), s.rate, limit))
	if s.mean > s.p99 {
		row.Notes = append(row.Notes, "the mean is above the p99: rare very slow calls; the rule is too small")
	}
	return row
}

func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

type namedPool struct {
	name    string
	size    int
	maxWait time.Duration
}

func poolsOf(c *sim.Config) (out []namedPool) {
	if p := c.Process.Pool; p != nil {
		out = append(out, namedPool{"process.pool", p.Size, p.MaxWait})
	}
	for _, name := range sortedKeys(c.Process.Pools) {
		p := c.Process.Pools[name]
		out = append(out, namedPool{"pool." + name, p.Size, p.MaxWait})
	}
	return out
}

// peakRate is the largest rate of calls to a dependency, retries apart.
func peakRate(c *sim.Config, dependency string) (rate float64) {
	for _, e := range c.Endpoints {
		for _, step := range e.Calls {
			for _, ref := range step {
				if ref.Dependency == dependency {
					rate += e.Arrivals.Peak(c.Warmup, c.Duration)
				}
			}
		}
	}
	return rate
}

// attemptLimit is the innermost timeout of a stack, 0 without one, and whether it
// abandons the work.
func attemptLimit(d *sim.Dependency) (limit time.Duration, abandons bool) {
	for _, l := range d.Stack {
		if t, ok := l.Config.(*resilience.Timeout); ok {
			limit, abandons = t.After, t.Abandons()
		}
	}
	return limit, abandons
}

func shedSeen(p *sim.PhaseResult, station string) *float64 {
	if p == nil {
		return nil
	}
	if v, ok := p.Metrics[station+".shed_rate"]; ok {
		return &v
	}
	return nil
}
