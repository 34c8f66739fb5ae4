package resilience

import (
	"time"

	"blastradius/sim/dist"
)

// Kinds of jitter, as Marc Brooker defines them in "Exponential Backoff And
// Jitter" (AWS Architecture Blog, 2015). There the pause before retry n is
// base·2^n; here the first one is the base itself.
const (
	JitterNone         = "none"
	JitterFull         = "full"         // uniform in [0, pause)
	JitterEqual        = "equal"        // half the pause, and uniform in the other half
	JitterDecorrelated = "decorrelated" // uniform in [base, 3·last pause), at most max; knows no n
)

// longestPause, 36 years, is where pauses without a largest stop growing: three
// of it still fit a Duration.
const longestPause = time.Duration(1 << 60)

// Delay is the jittered pause before retry n, counted from 1. last is the pause
// before the retry before it, 0 for the first; only decorrelated jitter looks at
// it. Without jitter r is not used.
func Delay(b Backoff, jitter string, n int, last time.Duration, r *dist.Rand) time.Duration {
	switch jitter {
	case JitterFull:
		return r.Duration(b.Pause(n))
	case JitterEqual:
		p := b.Pause(n)
		return p/2 + r.Duration(p-p/2)
	case JitterDecorrelated:
		base, most := b.Bounds()
		if most == 0 {
			most = longestPause
		}
		return min(base+r.Duration(3*max(last, base)-base), most)
	}
	return b.Pause(n)
}
