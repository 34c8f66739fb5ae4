package faults

import (
	"time"

	"blastradius/sim/call"
	"blastradius/sim/dist"
	"blastradius/sim/spec"
)

// Hang accepts work and never answers it: only the caller's patience ends it.
type Hang struct{}

var _ Config = (*Hang)(nil)

// Validate has nothing to check.
func (*Hang) Validate() []spec.Problem { return nil }

// Fault returns the fault.
func (*Hang) Fault() Fault { return hang{} }

// MeanLatency has no answer to speak of.
func (*Hang) MeanLatency(time.Duration) (time.Duration, bool) { return 0, false }

// Text is "hang".
func (*Hang) Text() string { return "hang" }

// Help says what the kind is.
func (*Hang) Help() string { return "work is accepted and never answered" }

// Example is a line of YAML.
func (*Hang) Example() string { return "{hang: {}, from: 2m, for: 30s}" }

type hang struct{}

// Apply lets the work begin and never end by itself. What it would have
// answered stays in the reply: a later fault may make it answer after all.
func (hang) Apply(_ time.Duration, _ *dist.Rand, reply *call.Reply) {
	reply.Hang, reply.Immediate = true, false
}
