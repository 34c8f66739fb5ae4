package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/spec"
)

// GCRA is the generic cell rate algorithm (ITU-T I.371, ATM Forum TM 4.0): a
// call is theoretically due one gap after the one before, and may come early by
// burst-1 gaps. It admits what a token bucket of the same rate and burst does,
// from a single number.
type GCRA struct {
	Rate  float64 `yaml:"rate" unit:"rate" min:"0/s" open:"min" max:"1000000000/s" short:"true" required:"true" also:"limit,qps,rps" help:"calls per time, over a long time"`
	Burst int     `yaml:"burst" unit:"count" min:"1" also:"capacity,size,max_burst" help:"calls that may pass at once after a pause; the tolerance is burst-1 gaps"`
}

var (
	_ Limiter   = (*GCRA)(nil)
	_ Allowance = (*gcra)(nil)
)

// Validate bounds the tolerance.
func (c *GCRA) Validate() []spec.Problem { return longBurst(c.Rate, c.Burst) }

// Room is 0.
func (*GCRA) Room() int { return 0 }

// Text is e.g. "gcra 100/s, burst 20".
func (c *GCRA) Text() string { return fmt.Sprintf("gcra %s, burst %d", perTime(c.Rate), c.Burst) }

// Help says what the kind is.
func (*GCRA) Help() string {
	return "each call is due a gap after the one before and may come early by a tolerance"
}

// Example is a line of YAML.
func (*GCRA) Example() string { return "{gcra: {rate: 100/s, burst: 20}}" }

// New is a limit that nobody has used.
func (c *GCRA) New() Allowance {
	g := gapOf(c.Rate)
	return &gcra{gap: g, tolerance: g.times(moment{}, int64(c.Burst)-1)}
}

type gcra struct {
	gap       gap
	tolerance moment // a length of time
	due       moment // theoretical arrival time of the next call
}

// Take passes a call that is not early by more than the tolerance.
func (l *gcra) Take(now time.Duration) bool {
	if l.gap.before(l.due, l.tolerance).ns > now {
		return false
	}
	l.idle(now)
	l.due = l.gap.after(l.due)
	return true
}

// Next is n gaps after the earliest time for the next call.
func (l *gcra) Next(now time.Duration, n int64) time.Duration {
	l.idle(now)
	return max(now, l.gap.before(l.gap.times(l.due, n), l.tolerance).ns)
}

// idle moves a due time that has passed to now.
func (l *gcra) idle(now time.Duration) {
	if l.due.ns < now {
		l.due = moment{ns: now}
	}
}
