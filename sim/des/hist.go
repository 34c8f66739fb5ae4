package des

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Histogram resolution: 3 significant digits from 1 µs to 24 h. Longer times
// count as 24 h in the quantiles; the maximum and the mean are exact.
const (
	histUnit   = time.Microsecond
	histHigh   = 24 * time.Hour
	histDigits = 3
)

// Hist is a set of durations: exact count, sum and maximum, and quantiles to
// 0.1 %. The zero Hist is empty and allocates its buckets at the first Record.
type Hist struct {
	buckets *hdrhistogram.Histogram
	zeros   int64 // recorded and not yet in the buckets: most waits are 0
	count   int64
	sum     int64 // ns, modulo 2^64
	max     time.Duration
}

// Record adds one duration.
func (h *Hist) Record(d time.Duration) {
	h.count++
	if d == 0 {
		h.zeros++
		return
	}
	h.allocate()
	h.sum += int64(d)
	if d > h.max {
		h.max = d
	}
	// Rounded up, so that a quantile is never below what was seen.
	v := int64((d + histUnit - 1) / histUnit)
	if v > int64(histHigh/histUnit) {
		v = int64(histHigh / histUnit)
	}
	_ = h.buckets.RecordValue(v) // cannot fail: v is in range
}

func (h *Hist) allocate() {
	if h.buckets == nil {
		h.buckets = hdrhistogram.New(1, int64(histHigh/histUnit), histDigits)
	}
}

// Merge adds everything in o.
func (h *Hist) Merge(o *Hist) {
	if o.buckets != nil {
		h.allocate()
		h.buckets.Merge(o.buckets)
	}
	h.zeros += o.zeros
	h.count += o.count
	h.sum += o.sum
	h.max = max(h.max, o.max)
}

// Count is the number of durations recorded.
func (h *Hist) Count() int64 { return h.count }

// Mean is the exact mean in nanoseconds, 0 when nothing was recorded.
func (h *Hist) Mean() float64 {
	if h.count == 0 {
		return 0
	}
	return float64(h.sum) / float64(h.count)
}

// Max is the largest duration recorded.
func (h *Hist) Max() time.Duration { return h.max }

// Quantile is the smallest recorded bucket that holds the share p of the
// durations, 0 <= p <= 1; 0 when nothing was recorded.
func (h *Hist) Quantile(p float64) time.Duration {
	if h.buckets == nil {
		return 0
	}
	if h.zeros > 0 {
		_ = h.buckets.RecordValues(0, h.zeros) // cannot fail: 0 is in range
		h.zeros = 0
	}
	q := time.Duration(h.buckets.ValueAtQuantile(p*100)) * histUnit
	return min(q, h.max)
}
