package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/spec"
)

// LinkerdBudget is the retry budget of Linkerd's service profiles, which is
// tower's TpsBudget (tower/src/retry/budget/tps_budget.rs): deposits of the last
// ttl, in ten slots, against withdrawals. A deposit is 1, a retry takes
// ⌊1/ratio⌋, and min_per_second·ttl retries are there besides. So over a ttl the
// retries are at most ratio·deposits + min_per_second·ttl.
type LinkerdBudget struct {
	Ratio        float64       `yaml:"ratio" unit:"share" min:"0%" max:"100000%" short:"true" also:"retryRatio,retry_ratio,share" help:"retries for each deposit"`
	MinPerSecond int           `yaml:"min_per_second" unit:"count" min:"0" max:"1000000" also:"minRetriesPerSecond,min_retries_per_second" help:"retries a second that need no deposit"`
	TTL          time.Duration `yaml:"ttl" unit:"duration" min:"1s" max:"1m" help:"how long a deposit counts"`
	Deposit      string        `yaml:"deposit" enum:"answer,request" help:"who deposits: each answer that is not tried again, as the proxy does, so that an outage leaves the minimum alone; or each request, as the documentation says"`
}

// What makes a deposit.
const (
	DepositAnswer  = "answer"
	DepositRequest = "request"
)

// Validate warns of a budget without any retry.
func (c *LinkerdBudget) Validate() []spec.Problem {
	if c.Ratio == 0 && c.MinPerSecond == 0 {
		return []spec.Problem{{Field: "min_per_second", Text: "ratio 0% and min_per_second 0 allow no retry at all", Hint: "ratio: 20%", Warning: true}}
	}
	return nil
}

// Budget makes a new one. The amounts are tower's, in its 32-bit arithmetic and
// whole seconds.
func (c *LinkerdBudget) Budget() Budget {
	b := &linkerdBudget{deposit: 1, onRequest: c.Deposit == DepositRequest, slot: c.TTL / linkerdSlots}
	switch ratio := float32(c.Ratio); {
	case ratio == 0:
		b.deposit, b.withdraw = 0, 1
	case ratio <= 1:
		b.withdraw = int64(min(1/ratio, 1e9))
	default:
		b.deposit, b.withdraw = 1000, int64(1000/ratio)
	}
	b.reserve = int64(c.MinPerSecond) * int64(c.TTL/time.Second) * b.withdraw
	return b
}

// Text is e.g. "linkerd budget 20% + 10/s over 10s".
func (c *LinkerdBudget) Text() string {
	out := fmt.Sprintf("linkerd budget %s + %d/s over %s", percent(c.Ratio), c.MinPerSecond, brief(c.TTL))
	if c.Deposit == DepositRequest {
		out += " of requests"
	}
	return out
}

// Help says what the kind is.
func (*LinkerdBudget) Help() string {
	return "retries are at most a share of the calls of the last seconds, and a rate besides"
}

// Example is a line of YAML.
func (*LinkerdBudget) Example() string {
	return "{linkerd: {ratio: 20%, min_per_second: 10, ttl: 10s}}"
}

const linkerdSlots = 10

type linkerdBudget struct {
	deposit, withdraw, reserve int64
	onRequest                  bool
	slot                       time.Duration
	slots                      [linkerdSlots]int64
	sum                        int64 // of the slots
	at                         int   // slot of the generation
	since                      time.Duration
	open                       int64 // what the slot that is open has gathered
}

var _ Budget = (*linkerdBudget)(nil)

// turn closes the slot that is open once its time is over, and empties those
// that passed meanwhile. The next one begins now and not where the last one
// ended, as in tower.
func (b *linkerdBudget) turn(now time.Duration) {
	passed := now - b.since
	if passed < b.slot {
		return
	}
	b.put(b.open)
	b.open = 0
	for i := 0; passed > b.slot && i < linkerdSlots; i++ {
		b.at = (b.at + 1) % linkerdSlots
		b.put(0)
		passed -= b.slot
	}
	b.at = (b.at + 1) % linkerdSlots
	b.since = now
}

func (b *linkerdBudget) put(amount int64) {
	b.sum += amount - b.slots[b.at]
	b.slots[b.at] = amount
}

func (b *linkerdBudget) add(now time.Duration, amount int64) {
	b.turn(now)
	b.open += amount
}

// Enter deposits where requests do.
func (b *linkerdBudget) Enter(now time.Duration) {
	if b.onRequest {
		b.add(now, b.deposit)
	}
}

// Leave does nothing.
func (*linkerdBudget) Leave(time.Duration) {}

// Ask withdraws.
func (b *linkerdBudget) Ask(now time.Duration, _ call.Class) (Permit, bool) {
	b.turn(now)
	if b.open+b.sum+b.reserve < b.withdraw {
		return NoPermit, false
	}
	b.open -= b.withdraw
	return 1, true
}

// Return gives nothing back.
func (*linkerdBudget) Return(Permit) {}

// Begin does nothing.
func (*linkerdBudget) Begin(Permit) {}

// End deposits where answers do.
func (b *linkerdBudget) End(now time.Duration, _ Permit, class call.Class, bad bool) {
	if !b.onRequest && !bad && class != call.Cancelled {
		b.add(now, b.deposit)
	}
}

// Late is no.
func (*linkerdBudget) Late() bool { return false }
