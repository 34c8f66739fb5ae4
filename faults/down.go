package faults

import (
	"time"

	"blastradius/sim/call"
	"blastradius/sim/dist"
	"blastradius/sim/spec"
)

// Down refuses every connection at once.
type Down struct {
	Latency dist.Kind `yaml:"latency" help:"time until the refusal; none when omitted"`
}

// Validate passes on the latency's problems.
func (d *Down) Validate() []spec.Problem { return (&Error{Latency: d.Latency}).Validate() }

// Fault returns the fault: every attempt ends in connect_error.
func (d *Down) Fault() Fault {
	return (&Error{Class: call.ConnectError.String(), Rate: 1, Latency: d.Latency}).Fault()
}

// MeanLatency is the time until the refusal, where one is given.
func (d *Down) MeanLatency(time.Duration) (time.Duration, bool) {
	if d.Latency == nil {
		return 0, false
	}
	return d.Latency.Dist().Mean(), true
}

// Text is "down".
func (*Down) Text() string { return "down" }

// Help says what the kind is.
func (*Down) Help() string { return "every connection is refused, at once" }

// Example is a line of YAML.
func (*Down) Example() string { return "{down: {}, from: 2m, for: 30s}" }

// Hang accepts work and never answers it.
type Hang struct{}

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

// Apply lets the work begin and never end by itself.
func (hang) Apply(_ time.Duration, _ *dist.Rand, reply *call.Reply) {
	reply.Hang, reply.Immediate = true, false
}
