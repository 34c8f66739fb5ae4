package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/spec"
)

// SRE is the adaptive throttling of "Site Reliability Engineering" (Beyer and
// others, 2016), chapter 21, "Client-Side Throttling": a call is refused with
// probability
//
//	max(0, (requests − protection − k·accepts) / (requests + 1))
//
// of the window's counts. Requests include those it refuses itself, so that it
// lets out k times what the dependency accepts. The book counts a request when
// it is made and looks back two minutes; k = 2 and no protection are its too,
// buckets are not spoken of. go-zero's breaker is k 1.5, window 10s, 40 buckets,
// protection 5, count_at completion: a request counts when it ends, or is
// refused, so a dependency that hangs is seen late.
type SRE struct {
	K          float64       `yaml:"k" unit:"factor" min:"1" also:"K,multiplier,ratio" help:"requests that are let out for each that is accepted"`
	Window     time.Duration `yaml:"window" unit:"duration" min:"0s" open:"min" help:"the while that is looked back"`
	Buckets    int           `yaml:"buckets" unit:"count" min:"1" max:"100000" help:"parts that the window slides by"`
	CountAt    string        `yaml:"count_at" enum:"send,completion" help:"when a request counts"`
	Protection int           `yaml:"protection" unit:"count" min:"0" help:"requests that are not counted against it"`
}

// When a request counts.
const (
	CountAtSend       = "send"
	CountAtCompletion = "completion"
)

func newSRE() ThrottleRule {
	return &SRE{K: 2, Window: 2 * time.Minute, Buckets: 40, CountAt: CountAtSend}
}

var (
	_ ThrottleRule  = (*SRE)(nil)
	_ ThrottleState = (*sre)(nil)
)

// Validate has nothing to add to the ranges of the fields.
func (*SRE) Validate() []spec.Problem { return nil }

// Text is e.g. "sre, k 2, window 2m".
func (c *SRE) Text() string {
	out := fmt.Sprintf("sre, k %g, window %s", c.K, brief(c.Window))
	if c.CountAt == CountAtCompletion {
		out += ", counts completions"
	}
	if c.Protection > 0 {
		out += fmt.Sprintf(", protection %d", c.Protection)
	}
	return out
}

// Help says what the kind is.
func (*SRE) Help() string {
	return "lets out a multiple of what the dependency accepts, as the SRE book does"
}

// Example is a line of YAML.
func (*SRE) Example() string { return "{sre: {k: 2, window: 2m}}" }

// New remembers nothing.
func (c *SRE) New() ThrottleState {
	return &sre{SRE: *c, atSend: c.CountAt == CountAtSend, counts: newRecentCounts(c.Window, c.Buckets)}
}

type sre struct {
	SRE
	atSend bool
	counts recentCounts
}

// Chance is the formula.
func (t *sre) Chance(now time.Duration) float64 {
	t.counts.turn(now)
	requests, accepts := t.counts.total.requests, t.counts.total.accepts
	return (float64(requests-int64(t.Protection)) - float64(t.K*float64(accepts))) / float64(requests+1)
}

// Refused counts a request that was not accepted.
func (t *sre) Refused(now time.Duration) { t.counts.add(now, 1, 0) }

// Sent counts the request, unless that waits for its end.
func (t *sre) Sent(now time.Duration) int64 {
	if !t.atSend {
		return 0
	}
	return t.counts.add(now, 1, 0)
}

// Ended counts an accept; a neutral end takes the request back.
func (t *sre) Ended(now time.Duration, mark int64, v Verdict) {
	requests := int64(0)
	switch {
	case v == Neutral && t.atSend:
		t.counts.undo(now, mark)
		return
	case v == Neutral:
		return
	case !t.atSend:
		requests = 1
	}
	accepts := int64(0)
	if v == Success {
		accepts = 1
	}
	t.counts.add(now, requests, accepts)
}
