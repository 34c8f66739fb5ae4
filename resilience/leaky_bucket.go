package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/spec"
)

// LeakyBucket lets calls out evenly, one a gap, and holds those that come
// faster until their turn, up to its size: the leaky bucket as a queue, as
// nginx's limit_req with a burst is. Its other reading, the bucket as a meter, is
// the token bucket upside down.
type LeakyBucket struct {
	Rate float64 `yaml:"rate" unit:"rate" min:"0/s" open:"min" max:"1000000000/s" short:"true" required:"true" also:"limit,qps,rps" help:"calls per time that it lets out"`
	Size int     `yaml:"size" unit:"count" min:"0" also:"burst,capacity,queue" help:"calls that may wait in it; with when_full: wait it has no bound"`
}

var (
	_ Limiter   = (*LeakyBucket)(nil)
	_ Allowance = (*leakyBucket)(nil)
)

// Validate has nothing to add to the ranges of the fields.
func (*LeakyBucket) Validate() []spec.Problem { return nil }

// Room is the size.
func (c *LeakyBucket) Room() int { return c.Size }

// Text is e.g. "leaky bucket 100/s, size 20".
func (c *LeakyBucket) Text() string {
	return fmt.Sprintf("leaky bucket %s, size %d", perTime(c.Rate), c.Size)
}

// Help says what the kind is.
func (*LeakyBucket) Help() string {
	return "calls leave evenly at the rate; those that come faster wait in it, up to its size"
}

// Example is a line of YAML.
func (*LeakyBucket) Example() string { return "{leaky_bucket: {rate: 100/s, size: 20}}" }

// New is an empty bucket.
func (c *LeakyBucket) New() Allowance { return &leakyBucket{gap: gapOf(c.Rate)} }

type leakyBucket struct {
	gap  gap
	next moment // a call may leave
}

// Take lets a call out when the last one left at least a gap ago.
func (b *leakyBucket) Take(now time.Duration) bool {
	if b.next.ns > now {
		return false
	}
	b.idle(now)
	b.next = b.gap.after(b.next)
	return true
}

// Next is n gaps after the next call may leave.
func (b *leakyBucket) Next(now time.Duration, n int64) time.Duration {
	b.idle(now)
	return b.gap.times(b.next, n).ns
}

func (b *leakyBucket) idle(now time.Duration) {
	if b.next.ns < now {
		b.next = moment{ns: now}
	}
}
