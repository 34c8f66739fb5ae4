package dist

import (
	"fmt"
	"math"
	"time"

	"blastradius/sim/spec"
)

// Mix takes each call from one of several distributions.
type Mix struct {
	Parts []Part `yaml:"-" list:"true" help:"weights, which add up to 100%, and their latencies"`
}

// Part is one component of a Mix.
type Part struct {
	Weight  float64 `yaml:"weight" unit:"share" min:"0%" max:"100%" required:"true" help:"share of the calls"`
	Latency Kind    `yaml:"latency" required:"true" help:"their latency"`
}

// Validate checks the sum of the weights and the parts' own problems.
func (c *Mix) Validate() []spec.Problem {
	if len(c.Parts) == 0 {
		return []spec.Problem{{Text: "a mix needs at least one part", Hint: "[{weight: 95%, latency: 50ms}, {weight: 5%, latency: 8s}]"}}
	}
	sum := 0.0
	var out []spec.Problem
	for _, p := range c.Parts {
		sum += p.Weight
		if p.Latency != nil {
			out = append(out, p.Latency.Validate()...)
		}
	}
	if math.Abs(sum-1) > 1e-9 {
		out = append(out, spec.Problem{Text: fmt.Sprintf("the weights add up to %.6g%%", sum*100), Hint: "make them add up to 100%"})
	}
	return out
}

// Dist returns the distribution.
func (c *Mix) Dist() Dist {
	m := &mix{}
	total, sum := 0.0, 0.0
	for _, p := range c.Parts {
		total += p.Weight
	}
	for _, p := range c.Parts {
		if p.Weight == 0 {
			continue
		}
		sum += p.Weight
		m.upTo = append(m.upTo, sum)
		m.weight = append(m.weight, p.Weight/total)
		m.parts = append(m.parts, p.Latency.Dist())
	}
	m.upTo[len(m.upTo)-1] = 2 // whatever rounding left over belongs to the last part
	return m
}

// Help says what the kind is.
func (*Mix) Help() string { return "a weighted mixture, e.g. rare very slow calls" }

// Example is a line of YAML.
func (*Mix) Example() string {
	return "{mix: [{weight: 95%, latency: {exp: 50ms}}, {weight: 5%, latency: 8s}]}"
}

type mix struct {
	upTo   []float64 // running sums of the weights
	weight []float64
	parts  []Dist
}

// Sample takes one draw for the part and the part's own after it.
func (m *mix) Sample(r *Rand) time.Duration {
	u := r.Float64()
	i := 0
	for u >= m.upTo[i] {
		i++
	}
	return m.parts[i].Sample(r)
}

func (m *mix) sum(f func(Dist) time.Duration) time.Duration {
	s := 0.0
	for i, p := range m.parts {
		s += float64(m.weight[i] * float64(f(p)))
	}
	return duration(s)
}

// Mean is the weighted sum of the parts' means, as MeanMin is.
func (m *mix) Mean() time.Duration { return m.sum(Dist.Mean) }

// MeanMin is the weighted sum of the parts' values.
func (m *mix) MeanMin(t time.Duration) time.Duration {
	return min(max(0, t), m.sum(func(d Dist) time.Duration { return d.MeanMin(t) }))
}

// Quantile finds, by bisection to the nanosecond between the parts' own, the
// first t at which the parts together have reached p. Weights such as 1 % and
// 6 % may add up to a little less than 7 % in binary: that counts as reached.
func (m *mix) Quantile(p float64) time.Duration {
	const rounding = 0x1p-50
	low, high := longest, time.Duration(0)
	for _, d := range m.parts {
		q := d.Quantile(p)
		low, high = min(low, q), max(high, q)
	}
	low-- // below every part's quantile p is not reached
	for high-low > 1 {
		mid := low + (high-low)/2
		if m.cdf(mid) >= p-rounding {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

var _ cumulative = (*mix)(nil)

func (m *mix) cdf(t time.Duration) float64 {
	s := 0.0
	for i, d := range m.parts {
		s += float64(m.weight[i] * CDF(d, t))
	}
	return s
}
