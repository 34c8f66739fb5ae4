package resilience

import "time"

// openTimer says how long an open breaker stays open. It is read when a call
// comes, so a breaker without calls stays open.
type openTimer struct {
	cooldown time.Duration
	since    time.Duration
}

// begin starts the time at an opening.
func (t *openTimer) begin(now time.Duration) { t.since = now }

// over reports whether a call at now may probe: the cooldown has passed, to the
// nanosecond.
func (t *openTimer) over(now time.Duration) bool { return now-t.since >= t.cooldown }
