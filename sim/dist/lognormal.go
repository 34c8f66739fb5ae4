package dist

import (
	"fmt"
	"math"
	"time"

	"blastradius/sim/spec"
)

// z99 is the 99 % point of the standard normal.
const z99 = 2.3263478740408408

// Lognormal is given by its median and the standard deviation of its
// logarithm.
type Lognormal struct {
	Median time.Duration `yaml:"median" unit:"duration" min:"0s" required:"true" help:"half of the calls are faster"`
	Sigma  float64       `yaml:"sigma" unit:"factor" min:"0" max:"10" required:"true" help:"standard deviation of the logarithm; 0.5 is mild, 1.5 a heavy tail"`
}

// Validate has nothing to add to the ranges of the fields.
func (*Lognormal) Validate() []spec.Problem { return nil }

// Dist returns the distribution.
func (c *Lognormal) Dist() Dist { return newLognormal(c.Median, c.Sigma) }

// Help says what the kind is.
func (*Lognormal) Help() string { return "lognormal by its median and the sigma of its logarithm" }

// Example is a line of YAML.
func (*Lognormal) Example() string { return "{lognormal: {median: 50ms, sigma: 0.5}}" }

// Percentiles is the lognormal through two measured points.
type Percentiles struct {
	P50 time.Duration `yaml:"p50" unit:"duration" min:"0s" open:"min" required:"true" help:"median latency"`
	P99 time.Duration `yaml:"p99" unit:"duration" min:"0s" open:"min" required:"true" help:"99th percentile, at least p50"`
}

// InlineKeys are the keys that name this kind.
func (*Percentiles) InlineKeys() []string { return []string{"p50", "p99"} }

// Validate checks the order of the points.
func (c *Percentiles) Validate() []spec.Problem {
	if c.P99 < c.P50 {
		return []spec.Problem{{Field: "p99", Text: fmt.Sprintf("p99 %v is below p50 %v", c.P99, c.P50), Hint: "swap them, or raise p99"}}
	}
	return nil
}

// Dist returns the distribution: median p50, sigma ln(p99/p50)/z99.
func (c *Percentiles) Dist() Dist {
	return newLognormal(c.P50, Log(float64(c.P99)/float64(c.P50))/z99)
}

// Help says what the kind is.
func (*Percentiles) Help() string { return "the lognormal through the median and the 99th percentile" }

// Example is a line of YAML.
func (*Percentiles) Example() string { return "{p50: 50ms, p99: 180ms}" }

// MeanP99 is the lognormal with a measured mean and 99th percentile.
type MeanP99 struct {
	MeanLatency time.Duration `yaml:"mean" unit:"duration" min:"0s" open:"min" required:"true" help:"mean latency"`
	P99         time.Duration `yaml:"p99" unit:"duration" min:"0s" open:"min" required:"true" help:"99th percentile: at least the mean, at most 14.97 times it"`
}

// InlineKeys are the keys that name this kind.
func (*MeanP99) InlineKeys() []string { return []string{"mean", "p99"} }

// Validate checks that a lognormal with these figures exists: p99/mean is
// e^(z·σ - σ²/2), whose largest value is e^(z²/2) = 14.97.
func (c *MeanP99) Validate() []spec.Problem {
	ratio := float64(c.P99) / float64(c.MeanLatency)
	switch {
	case ratio < 1:
		return []spec.Problem{{Field: "p99", Text: fmt.Sprintf("p99 %v is below the mean %v", c.P99, c.MeanLatency),
			Hint: "rare very slow calls make such a mean: use mix, e.g. {mix: [{weight: 99.5%, latency: 50ms}, {weight: 0.5%, latency: 8s}]}"}}
	case Log(ratio) > float64(z99*z99)/2:
		return []spec.Problem{{Field: "p99", Text: fmt.Sprintf("no lognormal has a p99 %.1f times its mean; the largest is 14.97 times", ratio), Hint: "give p50 and p99, or a mix"}}
	}
	return nil
}

// Dist returns the distribution. Two lognormals fit; this is the one with the
// smaller sigma, z - √(z² - 2 ln(p99/mean)).
func (c *MeanP99) Dist() Dist {
	sigma := z99 - math.Sqrt(max(0, float64(z99*z99)-float64(2*Log(float64(c.P99)/float64(c.MeanLatency)))))
	median := float64(c.MeanLatency) * Exp(-float64(sigma*sigma)/2)
	l := newLognormal(max(1, duration(median)), sigma)
	l.mu, l.mean = Log(median), min(c.MeanLatency, longest)
	return l
}

// Help says what the kind is.
func (*MeanP99) Help() string { return "the lognormal with this mean and 99th percentile" }

// Example is a line of YAML.
func (*MeanP99) Example() string { return "{mean: 60ms, p99: 180ms}" }

type lognormal struct {
	mu, sigma float64 // of ln(ns)
	median    time.Duration
	mean      time.Duration
}

func newLognormal(median time.Duration, sigma float64) *lognormal {
	l := &lognormal{mu: Log(float64(median)), sigma: sigma, median: min(median, longest)}
	if median <= 0 {
		l.mu = math.Inf(-1)
	}
	l.mean = duration(Exp(l.mu + float64(float64(sigma*sigma)/2)))
	return l
}

// Sample is e^(μ + σz), z by inversion of one uniform.
func (l *lognormal) Sample(r *Rand) time.Duration {
	return duration(Exp(l.mu + float64(l.sigma*r.Norm())))
}

func (l *lognormal) Mean() time.Duration { return l.mean }

func (l *lognormal) Quantile(p float64) time.Duration {
	switch {
	case l.sigma == 0 || l.median == 0:
		return l.median
	case !(p > 0):
		return 0
	case p >= 1:
		return longest
	}
	return duration(Exp(l.mu + float64(l.sigma*NormQuantile(p))))
}

// MeanMin is m Φ((ln t - μ - σ²)/σ) + t(1 - Φ((ln t - μ)/σ)) (Johnson, Kotz,
// Balakrishnan, Continuous Univariate Distributions, ch. 14).
func (l *lognormal) MeanMin(t time.Duration) time.Duration {
	switch {
	case t <= 0 || l.median == 0:
		return 0
	case l.sigma == 0:
		return min(l.median, t)
	}
	z := (Log(float64(t)) - l.mu) / l.sigma
	below := float64(float64(l.mean) * NormCDF(z-l.sigma))
	above := float64(float64(t) * NormCDF(-z))
	return min(t, l.mean, duration(below+above))
}

var _ cumulative = (*lognormal)(nil)

// cdf is Φ((ln t - μ)/σ).
func (l *lognormal) cdf(t time.Duration) float64 {
	switch {
	case t >= l.median && (l.sigma == 0 || l.median == 0):
		return 1
	case l.sigma == 0:
		return 0
	}
	return NormCDF((Log(endOf(t)) - l.mu) / l.sigma)
}
