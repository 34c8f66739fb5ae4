package resilience

import (
	"fmt"

	"blastradius/sim/spec"
)

// Gradient2 compares each round trip with a long average of them:
//
//	gradient = tolerance·long/rtt, between 0.5 and 1
//	limit'   = (1 − smoothing)·limit + smoothing·(gradient·limit + queue)
//
// between min and max. The long average is the mean of the first ten samples and
// after them exponential with weight 2/(long_window+1); when it is above twice
// the round trip it is cut by 5% a sample. A limit less than half used is left
// alone. Drops count like answers: what they tell is their round trip.
type Gradient2 struct {
	Start      int     `yaml:"start" unit:"count" min:"1" also:"initialLimit,initial_limit,initial" help:"limit at the start"`
	Min        int     `yaml:"min" unit:"count" min:"1" also:"minLimit,min_limit" help:"smallest limit"`
	Max        int     `yaml:"max" unit:"count" min:"1" also:"maxConcurrency,max_concurrency,maxLimit" help:"largest limit"`
	Smoothing  float64 `yaml:"smoothing" unit:"share" min:"0%" open:"min" max:"100%" help:"share of a change that is made"`
	Queue      int     `yaml:"queue" unit:"count" min:"0" also:"queueSize,queue_size" help:"calls that may stand in a queue: what the limit grows by while round trips are short"`
	Tolerance  float64 `yaml:"tolerance" unit:"factor" min:"1" also:"rttTolerance,rtt_tolerance" help:"growth of the round trip that is no reason to shrink"`
	LongWindow int     `yaml:"long_window" unit:"count" min:"1" also:"longWindow" help:"samples that the long average stands for"`
}

func newGradient2() Algorithm {
	return &Gradient2{Start: 20, Min: 20, Max: 200, Smoothing: 0.2, Queue: 4, Tolerance: 1.5, LongWindow: 600}
}

var (
	_ Algorithm     = (*Gradient2)(nil)
	_ AdaptiveLimit = (*gradient2)(nil)
)

// Validate wants the start between the bounds.
func (c *Gradient2) Validate() []spec.Problem { return outside(c.Start, c.Min, c.Max) }

// Bounds are start and max.
func (c *Gradient2) Bounds() (int, int) { return c.Start, c.Max }

// Text is e.g. "gradient2 20 in 20..200, queue 4, tolerance 1.5".
func (c *Gradient2) Text() string {
	out := fmt.Sprintf("gradient2 %d in %d..%d, queue %d, tolerance %g", c.Start, c.Min, c.Max, c.Queue, c.Tolerance)
	if c.Smoothing != 0.2 {
		out += ", smoothing " + percent(c.Smoothing)
	}
	if c.LongWindow != 600 {
		out += fmt.Sprintf(", long_window %d", c.LongWindow)
	}
	return out
}

// Help says what the kind is.
func (*Gradient2) Help() string {
	return "shrinks when round trips are longer than their long average"
}

// Example is a line of YAML.
func (*Gradient2) Example() string { return "{gradient2: {start: 20, min: 20, max: 200}}" }

// New is the limit at its start.
func (c *Gradient2) New() AdaptiveLimit { return &gradient2{Gradient2: *c, estimate: float64(c.Start)} }

type gradient2 struct {
	Gradient2
	estimate float64
	long     float64 // average round trip, ns
	sum      float64 // of the samples of the warm-up
	seen     int     // of these
}

// warmupSamples are averaged before the average becomes exponential.
const warmupSamples = 10

// Sample moves the limit by one call.
func (l *gradient2) Sample(s Sample) int {
	rtt := float64(s.RTT)
	long := l.average(rtt)
	if long/rtt > 2 {
		l.long = long * 0.95
	}
	if float64(s.InFlight) < l.estimate/2 {
		return int(l.estimate)
	}
	gradient := max(0.5, min(1, l.Tolerance*long/rtt))
	target := float64(l.estimate*gradient) + float64(l.Queue)
	l.estimate = float64(l.estimate*(1-l.Smoothing)) + float64(target*l.Smoothing)
	l.estimate = max(float64(l.Min), min(float64(l.Max), l.estimate))
	return int(l.estimate)
}

// average adds a round trip to the long average.
func (l *gradient2) average(rtt float64) float64 {
	if l.seen < warmupSamples {
		l.seen++
		l.sum += rtt
		l.long = l.sum / float64(l.seen)
	} else {
		weight := 2 / float64(l.LongWindow+1)
		l.long = float64(l.long*(1-weight)) + float64(rtt*weight)
	}
	return l.long
}
