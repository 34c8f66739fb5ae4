package faults

import (
	"time"

	"blastradius/sim/call"
	"blastradius/sim/dist"
	"blastradius/sim/spec"
)

// Down refuses every connection: at once, as a closed port does, or after a
// latency, as a load balancer without a backend may.
type Down struct {
	Latency dist.Kind `yaml:"latency" help:"time until the refusal; at once when omitted"`
}

var _ Config = (*Down)(nil)

// Validate passes on the latency's problems.
func (d *Down) Validate() []spec.Problem { return within("latency", d.Latency) }

// Fault returns the fault: every attempt ends in connect_error.
func (d *Down) Fault() Fault {
	f := &failing{class: call.ConnectError, rate: 1}
	if d.Latency != nil {
		f.latency = d.Latency.Dist()
	}
	return f
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
func (*Down) Help() string { return "every connection is refused" }

// Example is a line of YAML.
func (*Down) Example() string { return "{down: {}, from: 2m, for: 30s}" }
