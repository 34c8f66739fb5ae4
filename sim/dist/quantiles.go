package dist

import (
	"fmt"
	"slices"
	"time"

	"blastradius/sim/spec"
)

// Quantiles is what a dashboard shows: a few percentiles, with straight lines
// between them.
type Quantiles struct {
	Points []Point `yaml:"-" table:"share,duration" help:"percentiles and their latencies, up to 100%; from 0 unless 0% is given"`
}

// Point says that the share P of the calls takes at most Value.
type Point struct {
	P     float64
	Value time.Duration
}

// Validate checks that the table rises and ends at 100 %.
func (c *Quantiles) Validate() (out []spec.Problem) {
	if len(c.Points) == 0 || !slices.ContainsFunc(c.Points, func(p Point) bool { return p.P == 1 }) {
		out = append(out, spec.Problem{Text: "the table does not reach 100%", Hint: "add the longest latency, e.g. 100%: 8s"})
	}
	for i, b := range c.Points {
		if !(b.P >= 0 && b.P <= 1) || b.Value < 0 {
			out = append(out, spec.Problem{Text: fmt.Sprintf("%g%%: %v is no percentile of a latency", b.P*100, b.Value), Hint: "shares from 0% to 100%, latencies from 0s"})
		}
		if i == 0 {
			continue
		}
		a := c.Points[i-1]
		if b.P <= a.P {
			out = append(out, spec.Problem{Text: fmt.Sprintf("percentile %g%% does not come after %g%%", b.P*100, a.P*100), Hint: "list the percentiles in ascending order, each once"})
		} else if b.Value < a.Value {
			out = append(out, spec.Problem{Text: fmt.Sprintf("%g%%: %v is below %g%%: %v", b.P*100, b.Value, a.P*100, a.Value), Hint: "a higher percentile cannot be faster"})
		}
	}
	return out
}

// Dist returns the distribution.
func (c *Quantiles) Dist() Dist {
	q := quantiles{}
	if c.Points[0].P > 0 {
		q = append(q, Point{})
	}
	for _, p := range c.Points {
		q = append(q, Point{p.P, min(p.Value, longest)})
	}
	return q
}

// Help says what the kind is.
func (*Quantiles) Help() string { return "a table of percentiles with straight lines between them" }

// Example is a line of YAML.
func (*Quantiles) Example() string { return "{quantiles: {50%: 20ms, 99%: 180ms, 100%: 8s}}" }

type quantiles []Point

// Sample is the inverse of the piecewise linear CDF at one uniform.
func (q quantiles) Sample(r *Rand) time.Duration { return q.Quantile(r.Open()) }

func (q quantiles) Quantile(p float64) time.Duration {
	i := 1
	for i < len(q)-1 && p > q[i].P {
		i++
	}
	if !(p > q[0].P) {
		return q[0].Value
	}
	a, b := q[i-1], q[i]
	return a.Value + duration(float64(b.Value-a.Value)*min(1, (p-a.P)/(b.P-a.P)))
}

// Mean is the sum over the segments of width times middle.
func (q quantiles) Mean() time.Duration { return q.MeanMin(longest) }

// MeanMin is ∫ min(Q(p), t) dp, segment by segment.
func (q quantiles) MeanMin(t time.Duration) time.Duration {
	if t <= 0 {
		return 0
	}
	s := 0.0
	for i := 1; i < len(q); i++ {
		a, b := q[i-1], q[i]
		w, low, high, cap := b.P-a.P, float64(a.Value), float64(b.Value), float64(t)
		switch {
		case high <= cap:
			s += float64(w * (low + high) / 2)
		case low >= cap:
			s += float64(w * cap)
		default: // the line crosses t within the segment
			below := w * (cap - low) / (high - low)
			s += float64(below*(low+cap)/2) + float64((w-below)*cap)
		}
	}
	return min(t, duration(s))
}

var _ cumulative = quantiles(nil)

// cdf looks for the highest segment that begins at or below t; of a vertical
// step it is the upper end.
func (q quantiles) cdf(t time.Duration) float64 {
	for i := len(q) - 1; i > 0; i-- {
		a, b := q[i-1], q[i]
		switch {
		case b.Value <= t:
			return b.P
		case a.Value <= t:
			share := (endOf(t) - float64(a.Value)) / float64(b.Value-a.Value)
			return a.P + float64((b.P-a.P)*min(1, share))
		}
	}
	return 0
}
