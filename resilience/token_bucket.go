package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/spec"
)

// TokenBucket holds up to burst tokens and gains them one by one, evenly, at
// the rate; each call takes one. It is full at the start. What comes while it is
// full is lost, and the next token then comes a full gap after one is taken.
type TokenBucket struct {
	Rate  float64 `yaml:"rate" unit:"rate" min:"0/s" open:"min" max:"1000000000/s" short:"true" required:"true" also:"limit,qps,rps,permits_per_second" help:"calls per time, over a long time"`
	Burst int     `yaml:"burst" unit:"count" min:"1" also:"capacity,size,max_burst" help:"calls that may pass at once after a pause"`
}

var (
	_ Limiter   = (*TokenBucket)(nil)
	_ Allowance = (*tokenBucket)(nil)
)

// Validate bounds the time in which the bucket fills.
func (c *TokenBucket) Validate() []spec.Problem { return longBurst(c.Rate, c.Burst) }

// Room is 0.
func (*TokenBucket) Room() int { return 0 }

// Text is e.g. "100/s, burst 20".
func (c *TokenBucket) Text() string { return fmt.Sprintf("%s, burst %d", perTime(c.Rate), c.Burst) }

// Help says what the kind is.
func (*TokenBucket) Help() string {
	return "tokens that come evenly at the rate and are kept up to a burst; a call takes one"
}

// Example is a line of YAML.
func (*TokenBucket) Example() string { return "{token_bucket: {rate: 100/s, burst: 20}}" }

// New is a full bucket.
func (c *TokenBucket) New() Allowance {
	return &tokenBucket{gap: gapOf(c.Rate), burst: int64(c.Burst), tokens: int64(c.Burst)}
}

type tokenBucket struct {
	gap           gap
	burst, tokens int64
	since         moment // the last token came, or would have: the next is a gap later
}

// Take takes a token, if there is one.
func (b *tokenBucket) Take(now time.Duration) bool {
	b.fill(now)
	if b.tokens == 0 {
		return false
	}
	b.tokens--
	return true
}

// Next is when the token after those of the n others comes.
func (b *tokenBucket) Next(now time.Duration, n int64) time.Duration {
	b.fill(now)
	if n < b.tokens {
		return now
	}
	return b.gap.times(b.since, n+1-b.tokens).ns
}

// fill adds the tokens that have come until now.
func (b *tokenBucket) fill(now time.Duration) {
	if b.tokens < b.burst && b.gap.after(b.since).ns > now {
		return
	}
	full := b.gap.times(b.since, b.burst-b.tokens)
	switch {
	case full.ns < now:
		b.tokens, b.since = b.burst, moment{ns: now}
	case full.ns == now:
		b.tokens, b.since = b.burst, full
	default:
		came := b.gap.within(b.since, now)
		b.tokens, b.since = b.tokens+came, b.gap.times(b.since, came)
	}
}
