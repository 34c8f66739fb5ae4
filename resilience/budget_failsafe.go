package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/spec"
)

// FailsafeBudget is the budget of failsafe-go (budget/budget.go): an extra
// attempt is refused while at least min of them are in flight and they are more
// than share of all executions in flight. Executions are the calls, those that
// pause included, and the extra attempts. It is asked when the pause is over.
type FailsafeBudget struct {
	Share float64 `yaml:"share" unit:"share" min:"0%" max:"100%" short:"true" also:"max_rate,maxRate,ratio" help:"extra attempts in flight, of all executions in flight"`
	Min   int     `yaml:"min" unit:"count" min:"0" also:"min_concurrency,minConcurrency" help:"extra attempts in flight that are always allowed"`
}

// Validate has nothing to add to the ranges of the fields.
func (*FailsafeBudget) Validate() []spec.Problem { return nil }

// Budget makes a new one.
func (c *FailsafeBudget) Budget() Budget { return &failsafeBudget{share: c.Share, min: int64(c.Min)} }

// Text is e.g. "failsafe-go budget 20%, min 3".
func (c *FailsafeBudget) Text() string {
	return fmt.Sprintf("failsafe-go budget %s, min %d", percent(c.Share), c.Min)
}

// Help says what the kind is.
func (*FailsafeBudget) Help() string {
	return "retries and hedges in flight are at most a share of all executions in flight, or a minimum"
}

// Example is a line of YAML.
func (*FailsafeBudget) Example() string { return "{failsafe-go: {share: 20%, min: 3}}" }

type failsafeBudget struct {
	share             float64
	min               int64
	executions, extra int64
}

var _ Budget = (*failsafeBudget)(nil)

// Enter counts the call.
func (b *failsafeBudget) Enter(time.Duration) { b.executions++ }

// Leave is the end of the call.
func (b *failsafeBudget) Leave(time.Duration) { b.executions-- }

// Ask holds the share of extra attempts against the largest. It may be exceeded
// by the one that is let through at it.
func (b *failsafeBudget) Ask(time.Duration, call.Class) (Permit, bool) {
	rate := 0.0
	if b.executions > 0 {
		rate = float64(b.extra) / float64(b.executions)
	}
	if b.extra >= b.min && rate > b.share {
		return NoPermit, false
	}
	b.extra++
	b.executions++
	return 1, true
}

// Return ends an attempt that was not begun.
func (b *failsafeBudget) Return(Permit) {
	b.extra--
	b.executions--
}

// Begin does nothing: asking has counted it.
func (*failsafeBudget) Begin(Permit) {}

// End is the end of an attempt.
func (b *failsafeBudget) End(_ time.Duration, p Permit, _ call.Class, _ bool) {
	if p != NoPermit {
		b.Return(p)
	}
}

// Late is yes.
func (*failsafeBudget) Late() bool { return true }
