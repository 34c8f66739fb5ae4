package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/spec"
)

// EnvoyBackoff is the range that Envoy's documentation gives (router filter,
// x-envoy-max-retries): before retry n fully jittered in [0, (2^n-1)·base), each
// draw cut at max. Its releases up to 2020 did so, and stopped doubling with the
// first range above max. Later ones draw in [0, min(2^(n-1)·base, max)), which is
// the exponential backoff with full jitter.
type EnvoyBackoff struct {
	Base time.Duration `yaml:"base" unit:"duration" min:"0s" open:"min" also:"base_interval,baseInterval" help:"end of the range before the first retry"`
	Max  time.Duration `yaml:"max" unit:"duration" min:"0s" open:"min" also:"cap,max_interval,maxInterval" help:"largest pause"`
}

// Validate wants a largest pause above the first.
func (b *EnvoyBackoff) Validate() []spec.Problem { return largestAboveFirst(b.Base, b.Max) }

// Pause is (2^n-1)·base, or the first of these above max: the cut comes after
// the jitter.
func (b *EnvoyBackoff) Pause(n int) time.Duration {
	p := b.Base
	for range n - 1 {
		if p > min(b.Max, longestPause) {
			break
		}
		p = 2*p + b.Base
	}
	return p
}

// Bounds are base and max.
func (b *EnvoyBackoff) Bounds() (time.Duration, time.Duration) { return b.Base, b.Max }

// Text is e.g. "backoff (2^n-1)·25ms up to 250ms".
func (b *EnvoyBackoff) Text() string {
	return fmt.Sprintf("backoff (2^n-1)·%s up to %s", brief(b.Base), brief(b.Max))
}

// Help says what the kind is.
func (*EnvoyBackoff) Help() string {
	return "Envoy's documented range: 1, 3, 7, 15 times the base, cut at a largest after full jitter"
}

// Example is a line of YAML.
func (*EnvoyBackoff) Example() string { return "{envoy: {base: 25ms, max: 250ms}}" }
