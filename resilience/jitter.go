package resilience

import (
	"fmt"
	"math"
	"time"

	"blastradius/sim/dist"
	"blastradius/sim/spec"
)

// Jitter is the randomness of a pause: the configuration and the formula in one.
type Jitter interface {
	Validate() []spec.Problem
	// Pause is the pause before retry n, counted from 1. kept is whatever the
	// jitter wants to know of the retries before in the same call; it is 0 before
	// the first.
	Pause(b Backoff, n int, kept *time.Duration, r *dist.Rand) time.Duration
	Text() string // as part of a line, e.g. "full jitter"
	Help() string
	Example() string
}

// Jitters are the kinds of jitter by the name that a scenario file uses.
var Jitters = map[string]func() Jitter{
	"none":            func() Jitter { return &NoJitter{} },
	"full":            func() Jitter { return &FullJitter{} },
	"equal":           func() Jitter { return &EqualJitter{} },
	"decorrelated":    func() Jitter { return &DecorrelatedJitter{} },
	"decorrelated-v2": func() Jitter { return &DecorrelatedV2Jitter{} },
	"spread":          func() Jitter { return &SpreadJitter{} },
}

// longestPause, 36 years, is where pauses without a largest stop growing: three
// of it still fit a Duration.
const longestPause = time.Duration(1 << 60)

// capped holds a pause to the largest of its backoff.
func capped(p time.Duration, b Backoff) time.Duration {
	if _, most := b.Bounds(); most > 0 {
		return min(p, most)
	}
	return min(p, longestPause)
}

// nanoseconds is v rounded down, between 0 and longestPause.
func nanoseconds(v float64) time.Duration {
	switch {
	case v >= float64(longestPause):
		return longestPause
	case v > 0:
		return time.Duration(v)
	}
	return 0
}

// NoJitter leaves the pause as it is.
type NoJitter struct{}

// Validate has nothing to check.
func (*NoJitter) Validate() []spec.Problem { return nil }

// Pause is the backoff's.
func (*NoJitter) Pause(b Backoff, n int, _ *time.Duration, _ *dist.Rand) time.Duration {
	return capped(b.Pause(n), b)
}

// Text is "no jitter".
func (*NoJitter) Text() string { return "no jitter" }

// Help says what the kind is.
func (*NoJitter) Help() string { return "pauses as the backoff gives them" }

// Example is a line of YAML.
func (*NoJitter) Example() string { return "none" }

// The next three are those of Marc Brooker, "Exponential Backoff And Jitter"
// (AWS Architecture Blog, 2015). There the pause before retry n is base·2^n;
// here the first one is the base itself.

// FullJitter is uniform in [0, pause), and then cut at the largest pause where
// the backoff's own can be above it.
type FullJitter struct{}

// Validate has nothing to check.
func (*FullJitter) Validate() []spec.Problem { return nil }

// Pause draws the pause.
func (*FullJitter) Pause(b Backoff, n int, _ *time.Duration, r *dist.Rand) time.Duration {
	return capped(r.Duration(b.Pause(n)), b)
}

// Text is "full jitter".
func (*FullJitter) Text() string { return "full jitter" }

// Help says what the kind is.
func (*FullJitter) Help() string { return "uniform between nothing and the pause" }

// Example is a line of YAML.
func (*FullJitter) Example() string { return "full" }

// EqualJitter is half the pause, and uniform in the other half.
type EqualJitter struct{}

// Validate has nothing to check.
func (*EqualJitter) Validate() []spec.Problem { return nil }

// Pause draws the pause.
func (*EqualJitter) Pause(b Backoff, n int, _ *time.Duration, r *dist.Rand) time.Duration {
	p := b.Pause(n)
	return capped(p/2+r.Duration(p-p/2), b)
}

// Text is "equal jitter".
func (*EqualJitter) Text() string { return "equal jitter" }

// Help says what the kind is.
func (*EqualJitter) Help() string { return "uniform between half the pause and all of it" }

// Example is a line of YAML.
func (*EqualJitter) Example() string { return "equal" }

// DecorrelatedJitter is uniform in [base, 3·last pause), at most the largest; it
// keeps the last pause and knows no n.
type DecorrelatedJitter struct{}

// Validate has nothing to check.
func (*DecorrelatedJitter) Validate() []spec.Problem { return nil }

// Pause draws the pause.
func (*DecorrelatedJitter) Pause(b Backoff, _ int, kept *time.Duration, r *dist.Rand) time.Duration {
	base, _ := b.Bounds()
	*kept = capped(base+r.Duration(3*max(*kept, base)-base), b)
	return *kept
}

// Text is "decorrelated jitter".
func (*DecorrelatedJitter) Text() string { return "decorrelated jitter" }

// Help says what the kind is.
func (*DecorrelatedJitter) Help() string {
	return "uniform between the base and three times the last pause"
}

// Example is a line of YAML.
func (*DecorrelatedJitter) Example() string { return "decorrelated" }

// DecorrelatedV2Jitter is Polly's exponential jitter (App-vNext/Polly 8,
// RetryHelper.DecorrelatedJitterBackoffV2, after George Polevoy): the pause
// before retry n is F(n-1+u) less the F of the retry before, u uniform in [0, 1),
// with F(t) = base/1.4 · 2^t · tanh(√(4t)). The medians are near 0.9, 1.1, 2, 4,
// 8 times the base. It keeps the last F. The largest pause cuts what comes out.
type DecorrelatedV2Jitter struct{}

// Validate has nothing to check.
func (*DecorrelatedV2Jitter) Validate() []spec.Problem { return nil }

// Pause draws the pause.
func (*DecorrelatedV2Jitter) Pause(b Backoff, n int, kept *time.Duration, r *dist.Rand) time.Duration {
	base, _ := b.Bounds()
	at := nanoseconds(float64(base) / 1.4 * curveV2(float64(n-1)+r.Float64()))
	if at == longestPause {
		*kept = at
		return capped(longestPause, b)
	}
	pause := at - *kept
	*kept = at
	return capped(max(0, pause), b)
}

// curveV2 is 2^t · tanh(√(4t)).
func curveV2(t float64) float64 {
	shrunk := dist.Exp(-2 * math.Sqrt(4*t))
	return dist.Exp(t*math.Ln2) * ((1 - shrunk) / (1 + shrunk))
}

// Text is "decorrelated-v2 jitter".
func (*DecorrelatedV2Jitter) Text() string { return "decorrelated-v2 jitter" }

// Help says what the kind is.
func (*DecorrelatedV2Jitter) Help() string {
	return "Polly's smooth jitter of an exponential backoff"
}

// Example is a line of YAML.
func (*DecorrelatedV2Jitter) Example() string { return "decorrelated-v2" }

// SpreadJitter is uniform in [pause·(1-share), pause·(1+share)): resilience4j
// takes 50 %, gRPC 20 %, Polly 25 % with a constant or linear backoff. It comes
// after the backoff's largest pause, which it can exceed, as in gRPC; with Capped
// the largest holds after it too, as in resilience4j and Polly.
type SpreadJitter struct {
	Share  float64 `yaml:"share" unit:"share" min:"0%" open:"min" max:"100%" short:"true" required:"true" also:"randomizationFactor,randomizedWaitFactor,jitterFactor,factor" help:"how far the pause may be off, either way"`
	Capped bool    `yaml:"capped" unit:"flag" help:"the backoff's largest pause holds after the jitter too"`
}

// Validate has nothing to add to the range of the field.
func (*SpreadJitter) Validate() []spec.Problem { return nil }

// Pause draws the pause.
func (j *SpreadJitter) Pause(b Backoff, n int, _ *time.Duration, r *dist.Rand) time.Duration {
	p := float64(capped(b.Pause(n), b))
	out := nanoseconds(p * (1 - j.Share + float64(2*j.Share*r.Float64())))
	if j.Capped {
		return capped(out, b)
	}
	return out
}

// Text is e.g. "jitter ±20%".
func (j *SpreadJitter) Text() string {
	if j.Capped {
		return fmt.Sprintf("jitter ±%s, capped", percent(j.Share))
	}
	return "jitter ±" + percent(j.Share)
}

// Help says what the kind is.
func (*SpreadJitter) Help() string { return "uniform around the pause, a share of it either way" }

// Example is a line of YAML.
func (*SpreadJitter) Example() string { return "{spread: 20%}" }
