package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/spec"
)

// SlidingLog lets a call pass when fewer than a number passed within the last
// while: exact, without edges. It remembers the instants of that many calls, 8
// bytes each. A call exactly as old as the while no longer counts.
type SlidingLog struct {
	Calls int           `yaml:"calls" unit:"count" min:"1" max:"10000000" required:"true" also:"limit,max_requests,permits" help:"calls that may pass in any such while"`
	Per   time.Duration `yaml:"per" unit:"duration" min:"0s" open:"min" also:"period,window,interval" help:"the while that is looked back"`
}

var (
	_ Limiter   = (*SlidingLog)(nil)
	_ Allowance = (*slidingLog)(nil)
)

// Validate has nothing to add to the ranges of the fields.
func (*SlidingLog) Validate() []spec.Problem { return nil }

// Room is 0.
func (*SlidingLog) Room() int { return 0 }

// Text is e.g. "100 in any 1s".
func (c *SlidingLog) Text() string { return fmt.Sprintf("%d in any %s", c.Calls, brief(c.Per)) }

// Help says what the kind is.
func (*SlidingLog) Help() string {
	return "a number of calls in any while, from the instants of the last ones"
}

// Example is a line of YAML.
func (*SlidingLog) Example() string { return "{sliding_log: {calls: 100, per: 1s}}" }

// New is a limit that nobody has used.
func (c *SlidingLog) New() Allowance { return &slidingLog{calls: int64(c.Calls), per: c.Per} }

// slidingLog holds the last calls that passed: a list until there are enough,
// then a ring whose oldest is at head.
type slidingLog struct {
	calls int64
	per   time.Duration
	log   []time.Duration
	head  int64
}

// Take notes the call in place of the oldest, once that is old enough.
func (l *slidingLog) Take(now time.Duration) bool {
	if int64(len(l.log)) < l.calls {
		l.log = append(l.log, now)
		return true
	}
	if now-l.log[l.head] < l.per {
		return false
	}
	l.log[l.head] = now
	if l.head++; l.head == l.calls {
		l.head = 0
	}
	return true
}

// Next is when the call that must be old enough by then is. Whoever comes a
// whole round of calls later passes a whole while later.
func (l *slidingLog) Next(now time.Duration, n int64) time.Duration {
	rounds, first := n/l.calls, now
	if i := n%l.calls - (l.calls - int64(len(l.log))); i >= 0 {
		first = max(now, farther(l.log[(l.head+i)%l.calls], l.per, 1))
	}
	return farther(first, l.per, rounds)
}
