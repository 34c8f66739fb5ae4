package resilience

import (
	"fmt"
	"math"
	"time"

	"blastradius/sim/dist"
	"blastradius/sim/spec"
)

// Vegas estimates how many of its calls stand in a queue, from the shortest
// round trip it has seen:
//
//	queue = ⌈limit·(1 − shortest/rtt)⌉
//
// and with log the digits of the limit less one, at least 1: the limit grows by
// 6·log while queue <= log, by log while queue < 3·log, and shrinks by log when
// queue > 6·log or the call was dropped. A limit less than half used is left
// alone. Every 0.5 to 1 times probe·limit samples the shortest round trip is
// forgotten for the current one.
//
// A sample that sets a new shortest round trip changes nothing else, also when
// it was a drop: the fast refusals of an overloaded service become the round trip
// that later answers are measured by, and the limit stays low until a probe.
// Brakmo, Peterson 1995; the rules and constants of concurrency-limits.
type Vegas struct {
	Start     int     `yaml:"start" unit:"count" min:"1" also:"initialLimit,initial_limit,initial" help:"limit at the start"`
	Max       int     `yaml:"max" unit:"count" min:"1" max:"1000000" also:"maxConcurrency,max_concurrency,maxLimit" help:"largest limit; the smallest is 1"`
	Smoothing float64 `yaml:"smoothing" unit:"share" min:"0%" open:"min" max:"100%" help:"share of a change that is made"`
	Probe     int     `yaml:"probe" unit:"count" min:"1" also:"probeMultiplier,probe_multiplier" help:"forgets the shortest round trip after at most this many times the limit in samples"`
}

func newVegas() Algorithm { return &Vegas{Start: 20, Max: 1000, Smoothing: 1, Probe: 30} }

var (
	_ Algorithm     = (*Vegas)(nil)
	_ AdaptiveLimit = (*vegas)(nil)
)

// Validate wants the start below the largest limit.
func (c *Vegas) Validate() []spec.Problem { return outside(c.Start, 1, c.Max) }

// Bounds are start and max.
func (c *Vegas) Bounds() (int, int) { return c.Start, c.Max }

// Text is e.g. "vegas 20 up to 1000, probe 30".
func (c *Vegas) Text() string {
	out := fmt.Sprintf("vegas %d up to %d, probe %d", c.Start, c.Max, c.Probe)
	if c.Smoothing != 1 {
		out += ", smoothing " + percent(c.Smoothing)
	}
	return out
}

// Help says what the kind is.
func (*Vegas) Help() string {
	return "keeps the queue short that longer round trips than the shortest tell of"
}

// Example is a line of YAML.
func (*Vegas) Example() string { return "{vegas: {start: 20, max: 1000}}" }

// New is the limit at its start.
func (c *Vegas) New() AdaptiveLimit { return &vegas{Vegas: *c, estimate: float64(c.Start)} }

type vegas struct {
	Vegas
	estimate float64
	shortest time.Duration // round trip without load; 0 before the first sample
	samples  int           // since the last probe
	probes   uint64
	jitter   float64 // uniform in [0.5, 1); 0 when it is to be drawn
}

// Sample moves the limit by one call.
func (l *vegas) Sample(s Sample) int {
	if l.jitter == 0 {
		l.jitter = l.draw(s)
	}
	if l.samples++; l.jitter*float64(l.Probe)*l.estimate <= float64(l.samples) {
		l.samples, l.shortest = 0, s.RTT
		l.jitter = l.draw(s)
		return int(l.estimate)
	}
	if l.shortest == 0 || s.RTT < l.shortest {
		l.shortest = s.RTT
		return int(l.estimate)
	}
	l.update(s)
	return int(l.estimate)
}

// draw is when to probe next, keyed by the call that the last probe fell on.
func (l *vegas) draw(s Sample) float64 {
	var r dist.Rand
	l.probes++
	r.Key(dist.Fold(s.Stream, l.probes), s.Request)
	return 0.5 + r.Float64()/2
}

func (l *vegas) update(s Sample) {
	log := digits(int(l.estimate))
	queue := int(math.Ceil(l.estimate * (1 - float64(l.shortest)/float64(s.RTT))))
	var change int
	switch {
	case s.Dropped:
		change = -log
	case float64(2*s.InFlight) < l.estimate:
		return
	case queue <= log:
		change = 6 * log
	case queue < 3*log:
		change = log
	case queue > 6*log:
		change = -log
	default:
		return
	}
	target := max(1, min(float64(l.Max), l.estimate+float64(change)))
	l.estimate = float64((1-l.Smoothing)*l.estimate) + float64(l.Smoothing*target)
}

// digits is the whole part of log10 of a limit, at least 1.
func digits(limit int) int {
	n := 1
	for limit >= 100 {
		limit /= 10
		n++
	}
	return n
}
