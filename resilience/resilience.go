// Package resilience holds the policies that stand between a request and a
// dependency: one file a policy, each a layer written as callbacks against
// des.Scheduler, so that the same text runs in virtual and in real time.
package resilience

import (
	"blastradius/sim/call"
	"blastradius/sim/des"
	"blastradius/sim/spec"
)

// Env is what a layer is built from.
type Env struct {
	Sched  des.Scheduler
	Meter  des.Meter // where the layer registers its instruments; never nil
	Probe  des.Probe // hears of state changes; nil when nobody listens
	Source string    // the layer's full name, e.g. dependency.payments.breaker
	Seed   uint64    // of the run, for draws that belong to no call
	Hosts  int       // of the dependency; 0 is 1
	// Goroutines of the process that have started and not returned: a layer adds
	// those that outlive their caller; nil when nobody counts.
	Goroutines *des.Gauge
	// Dependency gives the way into another dependency's stack; nil where there
	// is none.
	Dependency func(name string) call.Handler
	// Budgets are those of the stack, for layers that share one; nil where nobody
	// shares.
	Budgets *StackBudgets
	// CountsAttempts says that a breaker outside of this layer records attempts
	// and that this retry or hedge is the innermost one inside it.
	CountsAttempts bool
	// Recheck is where a breaker that is asked again further in says who it is;
	// nil when it is not.
	Recheck *Recheck
}

// Config is the configuration of a layer as a scenario file gives it: a
// pointer to a plain struct with yaml, unit and help tags. Layer cannot fail
// after Validate reported nothing; it may be called once per stack.
type Config interface {
	Validate() []spec.Problem
	Layer(env Env) call.Layer
	// Metrics are the figures that the layer registers, for the catalogue.
	Metrics() []spec.Metric
	Text() string // its settings on one line
	Help() string
	Example() string
}
