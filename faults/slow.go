package faults

import (
	"fmt"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/dist"
	"blastradius/sim/spec"
)

// Slow makes answers take longer: another latency, a multiple, or an addition.
type Slow struct {
	Latency dist.Kind `yaml:"latency" short:"true" help:"latency in place of the dependency's own"`
	Times   float64   `yaml:"times" unit:"factor" min:"0" open:"min" help:"factor on the drawn latency"`
	Add     dist.Kind `yaml:"add" help:"latency on top of the drawn one"`
}

// Validate wants exactly one of the three.
func (s *Slow) Validate() []spec.Problem {
	var out []spec.Problem
	n := 0
	for _, k := range []dist.Kind{s.Latency, s.Add} {
		if k != nil {
			n++
			out = append(out, k.Validate()...)
		}
	}
	if s.Times > 0 {
		n++
	}
	switch {
	case n == 0:
		out = append(out, spec.Problem{Text: "slow says nothing", Hint: "slow: {latency: 8s}, {times: 10} or {add: 200ms}"})
	case n > 1:
		out = append(out, spec.Problem{Text: "slow takes one of latency, times and add", Hint: "keep one of them"})
	}
	return out
}

// Fault returns the fault.
func (s *Slow) Fault() Fault {
	f := &slow{times: s.Times}
	if s.Latency != nil {
		f.latency = s.Latency.Dist()
	}
	if s.Add != nil {
		f.add = s.Add.Dist()
	}
	return f
}

// MeanLatency is the mean latency under the fault.
func (s *Slow) MeanLatency(base time.Duration) (time.Duration, bool) {
	switch {
	case s.Latency != nil:
		return s.Latency.Dist().Mean(), true
	case s.Add != nil:
		return base + s.Add.Dist().Mean(), true
	}
	return stretch(base, s.Times), true
}

// Text is e.g. "slow: 8s".
func (s *Slow) Text() string {
	switch {
	case s.Latency != nil:
		return "slow: " + s.Latency.Dist().Mean().String()
	case s.Add != nil:
		return "slow: +" + s.Add.Dist().Mean().String()
	}
	return fmt.Sprintf("slow: x%g", s.Times)
}

// Help says what the kind is.
func (*Slow) Help() string { return "answers take longer" }

// Example is a line of YAML.
func (*Slow) Example() string { return "{slow: {latency: 8s}, from: 2m, for: 3m}" }

type slow struct {
	latency, add dist.Dist
	times        float64
}

// Apply changes the latency.
func (s *slow) Apply(_ time.Duration, r *dist.Rand, reply *call.Reply) {
	switch {
	case s.latency != nil:
		reply.Latency = s.latency.Sample(r)
	case s.add != nil:
		reply.Latency += s.add.Sample(r)
	default:
		reply.Latency = stretch(reply.Latency, s.times)
	}
}

// stretch is d times f, to the nanosecond, at most 146 years.
func stretch(d time.Duration, f float64) time.Duration {
	v := float64(d) * f
	if v >= 1<<62 {
		return 1 << 62
	}
	return time.Duration(v + 0.5)
}
