package dist

import "time"

// CDF is P(S <= t). For figures, not for the event path. A distribution that
// does not know its own has it found by bisection of the quantile function, to
// 2^-60.
func CDF(d Dist, t time.Duration) float64 {
	if t < 0 {
		return 0
	}
	if k, ok := d.(cumulative); ok {
		return min(1, max(0, k.cdf(t)))
	}
	if d.Quantile(1) <= t {
		return 1
	}
	low, high := 0.0, 1.0
	for range 60 {
		mid := float64((low + high) / 2)
		if d.Quantile(mid) <= t {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// cumulative is a distribution that knows its CDF. Samples are rounded to the
// nanosecond, so that cdf(t) is that of the continuous law at endOf(t). A mixture
// asks its parts at every step of a bisection, and bisections within bisections
// would take exponentially long.
type cumulative interface {
	cdf(t time.Duration) float64
}

// endOf is the end of what is rounded to t, in nanoseconds.
func endOf(t time.Duration) float64 { return float64(t) + 0.5 }
