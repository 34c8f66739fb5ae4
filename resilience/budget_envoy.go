package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/spec"
)

// EnvoyBudget is the retry budget of Envoy's cluster circuit breakers
// (ResourceManagerImpl::RetryBudgetImpl): one more retry is allowed while the
// active ones are fewer than max(⌊share·active⌋, min). A retry is active from
// the decision, through its pause, to the end of its attempt. With share 0% it
// is Envoy's max_retries.
type EnvoyBudget struct {
	Share  float64 `yaml:"share" unit:"share" min:"0%" max:"100%" short:"true" also:"budget_percent,percent,ratio" help:"retries at once, of what is active"`
	Min    int     `yaml:"min" unit:"count" min:"0" also:"min_retry_concurrency,minRetryConcurrency,max_retries" help:"retries at once that are always allowed"`
	Active string  `yaml:"active" enum:"attempts,calls" help:"what is active: attempts that are out, as in Envoy, where calls that pause shrink the base, or calls, those that pause included"`
}

// What counts as active.
const (
	ActiveAttempts = "attempts"
	ActiveCalls    = "calls"
)

// Validate warns of a budget without any retry.
func (c *EnvoyBudget) Validate() []spec.Problem {
	if c.Share == 0 && c.Min == 0 {
		return []spec.Problem{{Field: "min", Text: "share 0% and min 0 allow no retry at all", Hint: "min: 3", Warning: true}}
	}
	return nil
}

// Budget makes a new one.
func (c *EnvoyBudget) Budget() Budget {
	return &envoyBudget{share: c.Share, min: int64(c.Min), calls: c.Active == ActiveCalls}
}

// Text is e.g. "envoy budget 20%, min 3".
func (c *EnvoyBudget) Text() string {
	out := fmt.Sprintf("envoy budget %s, min %d", percent(c.Share), c.Min)
	if c.Active == ActiveCalls {
		out += " of calls"
	}
	return out
}

// Help says what the kind is.
func (*EnvoyBudget) Help() string {
	return "retries at once are at most a share of what is active, or a minimum"
}

// Example is a line of YAML.
func (*EnvoyBudget) Example() string { return "{envoy: {share: 20%, min: 3}}" }

type envoyBudget struct {
	share   float64
	min     int64
	calls   bool
	active  int64
	retries int64
}

var _ Budget = (*envoyBudget)(nil)

// Enter counts the call where calls are active.
func (b *envoyBudget) Enter(time.Duration) {
	if b.calls {
		b.active++
	}
}

// Leave is the end of the call.
func (b *envoyBudget) Leave(time.Duration) {
	if b.calls {
		b.active--
	}
}

// Ask holds the active retries against the limit of this moment. The attempt
// that has just failed is no longer active.
func (b *envoyBudget) Ask(time.Duration, call.Class) (Permit, bool) {
	if b.retries >= max(int64(b.share*float64(b.active)), b.min) {
		return NoPermit, false
	}
	b.retries++
	return 1, true
}

// Return ends a retry in its pause.
func (b *envoyBudget) Return(Permit) { b.retries-- }

// Begin counts the attempt where attempts are active.
func (b *envoyBudget) Begin(Permit) {
	if !b.calls {
		b.active++
	}
}

// End is the end of the attempt.
func (b *envoyBudget) End(_ time.Duration, p Permit, _ call.Class, _ bool) {
	if !b.calls {
		b.active--
	}
	if p != NoPermit {
		b.retries--
	}
}

// Late is no: a retry is active through its pause.
func (*envoyBudget) Late() bool { return false }
