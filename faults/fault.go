// Package faults holds what can go wrong at a dependency: one file a fault.
package faults

import (
	"time"

	"blastradius/sim/call"
	"blastradius/sim/dist"
	"blastradius/sim/spec"
)

// Fault changes the reply to one piece of work that starts while the fault is
// active. r is a stream of its own for this fault, request and attempt, so
// what it draws shifts nobody else's luck.
type Fault interface {
	Apply(now time.Duration, r *dist.Rand, reply *call.Reply)
}

// Config is the configuration of a fault as a scenario file gives it: a
// pointer to a plain struct with yaml, unit and help tags. Fault cannot fail
// after Validate reported nothing.
type Config interface {
	Validate() []spec.Problem
	Fault() Fault
	// MeanLatency is the mean latency of an attempt that the fault changes, given
	// the mean without it; ok is false where no answer comes, or none that took
	// any latency.
	MeanLatency(base time.Duration) (mean time.Duration, ok bool)
	// Text says in a few words what happens, e.g. "slow: 8s" or "down".
	Text() string
	Help() string
	Example() string
}

// within are the problems of the latency that a fault's field holds, if any.
func within(field string, k dist.Kind) (out []spec.Problem) {
	if k == nil {
		return nil
	}
	for _, p := range k.Validate() {
		if p.Field != "" {
			p.Field = "." + p.Field
		}
		p.Field = field + p.Field
		out = append(out, p)
	}
	return out
}
