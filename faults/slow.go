package faults

import (
	"fmt"
	"strings"
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

var _ Config = (*Slow)(nil)

// Validate wants exactly one of the three.
func (s *Slow) Validate() []spec.Problem {
	out := append(within("latency", s.Latency), within("add", s.Add)...)
	n := 0
	for _, given := range []bool{s.Latency != nil, s.Times > 0, s.Add != nil} {
		if given {
			n++
		}
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
		return later(base, s.Add.Dist().Mean()), true
	}
	return stretch(base, s.Times), true
}

// Text is "slow: 8s", "slow: x10" or "slow: +200ms"; of a distribution its mean.
func (s *Slow) Text() string {
	switch {
	case s.Latency != nil:
		return "slow: " + short(s.Latency.Dist().Mean())
	case s.Add != nil:
		return "slow: +" + short(s.Add.Dist().Mean())
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

// Apply changes the latency and nothing else: what is refused at once stays so,
// what hangs does.
func (s *slow) Apply(_ time.Duration, r *dist.Rand, reply *call.Reply) {
	switch {
	case s.latency != nil:
		reply.Latency = s.latency.Sample(r)
	case s.add != nil:
		reply.Latency = later(reply.Latency, s.add.Sample(r))
	default:
		reply.Latency = stretch(reply.Latency, s.times)
	}
}

// longest is where latencies saturate, 146 years.
const longest = time.Duration(1 << 62)

// stretch is d times f, to the nanosecond.
func stretch(d time.Duration, f float64) time.Duration {
	v := float64(float64(d) * f)
	if v >= float64(longest) {
		return longest
	}
	return time.Duration(v + 0.5)
}

// later is a + b.
func later(a, b time.Duration) time.Duration {
	return min(a, longest) + min(b, longest-min(a, longest))
}

// short is d for a sentence: as it was written, or to three digits where it
// was computed.
func short(d time.Duration) string {
	if d%time.Millisecond != 0 {
		step := time.Duration(1)
		for d/step >= 1000 {
			step *= 10
		}
		d = d.Round(step)
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
