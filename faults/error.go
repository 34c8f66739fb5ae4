package faults

import (
	"fmt"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/dist"
	"blastradius/sim/spec"
)

// Error makes answers fail with a class.
type Error struct {
	Class   string    `yaml:"class" enum:"server_error,client_error,throttled,connect_error" short:"true" help:"how the answers fail"`
	Rate    float64   `yaml:"rate" unit:"share" min:"0%" open:"min" max:"100%" help:"share of the attempts that fail"`
	Latency dist.Kind `yaml:"latency" help:"time a failing answer takes; the drawn latency when omitted, nothing for connect_error"`
}

var _ Config = (*Error)(nil)

// Validate passes on the latency's problems.
func (e *Error) Validate() []spec.Problem { return within("latency", e.Latency) }

// Fault returns the fault.
func (e *Error) Fault() Fault {
	class, ok := call.ParseClass(e.Class)
	if !ok {
		panic("faults: no class " + e.Class)
	}
	f := &failing{class: class, rate: e.Rate}
	if e.Latency != nil {
		f.latency = e.Latency.Dist()
	}
	return f
}

// MeanLatency is the given latency, or the dependency's own: an error reply
// takes the drawn latency.
func (e *Error) MeanLatency(base time.Duration) (time.Duration, bool) {
	switch {
	case e.Latency != nil:
		return e.Latency.Dist().Mean(), true
	case e.Class == call.ConnectError.String():
		return 0, false
	}
	return base, true
}

// Text is e.g. "error: 40% server_error".
func (e *Error) Text() string { return fmt.Sprintf("error: %.6g%% %s", e.Rate*100, e.Class) }

// Help says what the kind is.
func (*Error) Help() string { return "answers fail with a class" }

// Example is a line of YAML.
func (*Error) Example() string {
	return "{error: {class: server_error, rate: 40%}, from: 2m, for: 3m}"
}

// failing makes a share of the replies fail. It is the last word on how they
// end: one that hung answers, one that was refused answers in its latency.
type failing struct {
	class   call.Class
	rate    float64
	latency dist.Dist // nil: the drawn one, and none for connect_error
}

// Apply draws whether this reply fails; it draws nothing when all do.
func (f *failing) Apply(_ time.Duration, r *dist.Rand, reply *call.Reply) {
	if f.rate < 1 && r.Float64() >= f.rate {
		return
	}
	reply.Class, reply.RetryAfter, reply.Hang = f.class, 0, false
	reply.Immediate = f.class == call.ConnectError && f.latency == nil
	if f.latency != nil {
		reply.Latency = f.latency.Sample(r)
	}
}
