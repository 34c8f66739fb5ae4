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
// is longer counts as 24 hours in the quantiles. A doubling's buckets exist once
// a duration has met it: a set costs 4 kB for each.
type Hist struct {
	doublings [histDoublings]*[histHalf]uint32
	zeros     int64 // most waits are 0
	count     int64
	sum       int64 // ns, modulo 2^64
	max       time.Duration
}

const (
	histUnit = time.Microsecond
	histHigh = uint64(24 * time.Hour / histUnit)
	histHalf = 1024 // buckets to a doubling

	// histDoublings is above what bucketOf(histHigh) needs, 28 with the 2,048 exact
	// ones as two, and a power of two: an index then needs no check.
	histDoublings = 32
)

// bucketOf is the bucket of v microseconds.
func bucketOf(v uint64) uint {
	if v < 2*histHalf {
		return uint(v)
	}
	e := uint(bits.Len64(v)-11) & 63
	return e*histHalf + uint(v>>e)
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
	buckets := h.doublings[i/histHalf%histDoublings]
	if buckets == nil {
		buckets = h.grow(i / histHalf)
	}
	buckets[i%histHalf]++
}

//go:noinline
func (h *Hist) grow(doubling uint) *[histHalf]uint32 {
	h.doublings[doubling] = new([histHalf]uint32)
	return h.doublings[doubling]
}

// Merge adds everything in o.
func (h *Hist) Merge(o *Hist) {
	for k, theirs := range o.doublings {
		if theirs == nil {
			continue
		}
		if h.doublings[k] == nil {
			h.grow(uint(k))
		}
		for i, n := range theirs {
			h.doublings[k][i] += n
		}
	}
	h.zeros += o.zeros
	h.count += o.count
	h.sum += o.sum
	h.max = max(h.max, o.max)
}

// Reset makes h empty and keeps its memory.
func (h *Hist) Reset() {
	for _, buckets := range h.doublings {
		if buckets != nil {
			clear(buckets[:])
		}
	}
	h.zeros, h.count, h.sum, h.max = 0, 0, 0, 0
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
	for k, buckets := range h.doublings {
		if buckets == nil {
			continue
		}
		for i, n := range buckets {
			if seen += int64(n); seen >= rank {
				return min(time.Duration(upperEnd(k*histHalf+i))*histUnit, h.max)
			}
		}
	}
	return h.max
}
