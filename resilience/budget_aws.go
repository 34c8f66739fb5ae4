package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/spec"
)

// AWSBudget is the retry quota of the AWS SDKs' standard mode
// (aws-sdk-go-v2, aws/retry/standard.go): a bucket of tokens that each retry pays
// from, more after a timeout; every successful attempt adds a token, and a retry
// that succeeds gets its cost back. A retry that fails does not.
type AWSBudget struct {
	Tokens      int `yaml:"tokens" unit:"count" min:"1" short:"true" also:"capacity,quota" help:"tokens of the full bucket"`
	Cost        int `yaml:"cost" unit:"count" min:"0" also:"retry_cost,retryCost" help:"tokens that a retry takes"`
	TimeoutCost int `yaml:"timeout_cost" unit:"count" min:"0" also:"retry_timeout_cost,retryTimeoutCost" help:"tokens that a retry after a timeout takes"`
	Refill      int `yaml:"refill" unit:"count" min:"0" also:"no_retry_increment" help:"tokens that every successful attempt adds"`
}

// Validate warns of a bucket that no retry can be paid from, and of one that
// never fills again.
func (c *AWSBudget) Validate() (out []spec.Problem) {
	if c.Cost > c.Tokens && c.TimeoutCost > c.Tokens {
		out = append(out, spec.Problem{Field: "tokens", Text: fmt.Sprintf("tokens %d pay for no retry at all", c.Tokens), Hint: fmt.Sprintf("tokens: %d", 100*c.Cost), Warning: true})
	}
	if c.Refill == 0 && c.Cost > 0 {
		out = append(out, spec.Problem{Field: "refill", Text: "refill 0: what failed retries took never comes back", Hint: "refill: 1", Warning: true})
	}
	return out
}

// Budget makes a full bucket.
func (c *AWSBudget) Budget() Budget { return &awsBudget{config: *c, tokens: c.Tokens} }

// Text is e.g. "aws budget 500, cost 5, 10 after a timeout".
func (c *AWSBudget) Text() string {
	out := fmt.Sprintf("aws budget %d, cost %d", c.Tokens, c.Cost)
	if c.TimeoutCost != c.Cost {
		out += fmt.Sprintf(", %d after a timeout", c.TimeoutCost)
	}
	if c.Refill != 1 {
		out += fmt.Sprintf(", refill %d", c.Refill)
	}
	return out
}

// Help says what the kind is.
func (*AWSBudget) Help() string {
	return "a bucket that retries pay from and successful attempts fill"
}

// Example is a line of YAML.
func (*AWSBudget) Example() string {
	return "{aws: {tokens: 500, cost: 5, timeout_cost: 10, refill: 1}}"
}

type awsBudget struct {
	config AWSBudget
	tokens int
}

var _ Budget = (*awsBudget)(nil)

// Enter does nothing, nor does Leave.
func (*awsBudget) Enter(time.Duration) {}

// Leave does nothing.
func (*awsBudget) Leave(time.Duration) {}

// Ask takes the cost, which is the permit's value and 1 more, so that a retry
// that costs nothing has a permit too.
func (b *awsBudget) Ask(_ time.Duration, after call.Class) (Permit, bool) {
	cost := b.config.Cost
	if after == call.Timeout {
		cost = b.config.TimeoutCost
	}
	if cost > b.tokens {
		return NoPermit, false
	}
	b.tokens -= cost
	return Permit(cost + 1), true
}

// Return gives nothing back: a retry that its caller does not wait for has not
// succeeded.
func (*awsBudget) Return(Permit) {}

// Begin does nothing.
func (*awsBudget) Begin(Permit) {}

// End fills the bucket after a success.
func (b *awsBudget) End(_ time.Duration, p Permit, class call.Class, _ bool) {
	if class != call.OK {
		return
	}
	b.tokens += b.config.Refill
	if p != NoPermit {
		b.tokens += int(p) - 1
	}
	b.tokens = min(b.tokens, b.config.Tokens)
}

// Late is no: the token is taken before the pause.
func (*awsBudget) Late() bool { return false }
