package des

import (
	"math/bits"
	"time"
)

// Hist is a set of durations: exact count, sum and maximum, and quantiles to
// 0.1 %. The zero Hist is empty.
//
// Its buckets are log-linear, as in HdrHistogram (Tene): microseconds, exact up
// to 2,048 of them, then 1,024 buckets to each doubling, up to 24 hours; what
// is longer counts as 24 hours in the quantiles. Buckets exist up to the
// longest duration seen, so a set of short ones is small.
type Hist struct {
	buckets []uint32
	zeros   int64 // most waits are 0
	count   int64
	sum     int64 // ns, modulo 2^64
	max     time.Duration
}

const (
	histUnit = time.Microsecond
	histHigh = uint64(24 * time.Hour / histUnit)
	histHalf = 1024 // buckets to a doubling
)

// bucketOf is the bucket of v microseconds.
func bucketOf(v uint64) int {
	if v < 2*histHalf {
		return int(v)
	}
	e := bits.Len64(v) - 11
	return e*histHalf + int(v>>e)
}

// upperEnd is the largest number of microseconds in bucket i.
func upperEnd(i int) uint64 {
	if i < 2*histHalf {
		return uint64(i)
	}
	e := i/histHalf - 1
	return uint64(i-e*histHalf+1)<<e - 1
}

// Record adds one duration.
func (h *Hist) Record(d time.Duration) {
	h.count++
	if d == 0 {
		h.zeros++
		return
	}
	h.sum += int64(d)
	if d > h.max {
		h.max = d
	}
	// Rounded up, so that a quantile is never below what was seen.
	i := bucketOf(min(uint64(d+histUnit-1)/uint64(histUnit), histHigh))
	if i >= len(h.buckets) {
		h.grow(i)
	}
	h.buckets[i]++
}

// grow makes room for bucket i and the rest of its doubling.
func (h *Hist) grow(i int) {
	bigger := make([]uint32, (i/histHalf+1)*histHalf)
	copy(bigger, h.buckets)
	h.buckets = bigger
}

// Merge adds everything in o.
func (h *Hist) Merge(o *Hist) {
	if n := len(o.buckets); n > len(h.buckets) {
		h.grow(n - 1)
	}
	for i, n := range o.buckets {
		h.buckets[i] += n
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

// Quantile is the upper end of the bucket at which the share p of the durations
// is reached, 0 <= p <= 1, and at most the largest duration; 0 when nothing was
// recorded.
func (h *Hist) Quantile(p float64) time.Duration {
	rank := int64(float64(p*float64(h.count)) + 0.5)
	rank = max(1, min(rank, h.count))
	seen := h.zeros
	if seen >= rank || h.count == 0 {
		return 0
	}
	for i, n := range h.buckets {
		if seen += int64(n); seen >= rank {
			return min(time.Duration(upperEnd(i))*histUnit, h.max)
		}
	}
	return h.max
}
