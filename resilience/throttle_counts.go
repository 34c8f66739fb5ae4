package resilience

import "time"

// recentCounts counts requests and accepts over the last while, in buckets of
// equal length that begin with the run. The bucket of now is one of them, so
// between all but one bucket and all of them are looked back.
type recentCounts struct {
	width, end time.Duration // of a bucket; end of the newest
	newest     int64         // number of the newest bucket since the start
	buckets    []requestCount
	total      requestCount
}

type requestCount struct{ requests, accepts int64 }

// newRecentCounts divides window into n buckets, rounded up to a nanosecond.
func newRecentCounts(window time.Duration, n int) recentCounts {
	width := (window-1)/time.Duration(n) + 1
	return recentCounts{width: width, end: width, buckets: make([]requestCount, n)}
}

// turn forgets the buckets that are too old at now.
func (c *recentCounts) turn(now time.Duration) {
	if now < c.end {
		return
	}
	number := int64(now / c.width)
	for range min(number-c.newest, int64(len(c.buckets))) {
		c.newest++
		old := c.at(c.newest)
		c.total.requests -= old.requests
		c.total.accepts -= old.accepts
		*old = requestCount{}
	}
	c.newest = number
	c.end = now - now%c.width + c.width
}

func (c *recentCounts) at(number int64) *requestCount {
	return &c.buckets[number%int64(len(c.buckets))]
}

// add counts at now and returns the number of the bucket.
func (c *recentCounts) add(now time.Duration, requests, accepts int64) int64 {
	c.turn(now)
	b := c.at(c.newest)
	b.requests += requests
	b.accepts += accepts
	c.total.requests += requests
	c.total.accepts += accepts
	return c.newest
}

// undo takes back a request that was counted in the bucket of that number, if
// it still counts at now.
func (c *recentCounts) undo(now time.Duration, number int64) {
	c.turn(now)
	if number > c.newest-int64(len(c.buckets)) {
		c.at(number).requests--
		c.total.requests--
	}
}
