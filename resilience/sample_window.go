package resilience

import "time"

// sampleWindow makes one sample of those of a while, as concurrency-limits'
// WindowedLimit does: the mean round trip, the most in flight, a drop if there
// was any. Round trips below 100 µs are left out, and a window of fewer than ten
// samples counts for nothing. It closes with the first sample after its end; the
// next one is measured from there.
type sampleWindow struct {
	span, end time.Duration
	all       Sample // RTT is the sum
	n         int64
}

const (
	shortestSample = 100 * time.Microsecond
	fewestSamples  = 10
)

// add takes a sample and reports whether it closes a window worth looking at.
func (w *sampleWindow) add(now time.Duration, s Sample) (Sample, bool) {
	if s.RTT < shortestSample {
		return Sample{}, false
	}
	w.n++
	w.all.RTT += s.RTT
	w.all.InFlight = max(w.all.InFlight, s.InFlight)
	w.all.Dropped = w.all.Dropped || s.Dropped
	if now <= w.end {
		return Sample{}, false
	}
	whole, n := w.all, w.n
	w.all, w.n, w.end = Sample{}, 0, now+w.span
	if n < fewestSamples {
		return Sample{}, false
	}
	whole.RTT /= time.Duration(n)
	whole.Stream, whole.Request = s.Stream, s.Request
	return whole, true
}
