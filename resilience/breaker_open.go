package resilience

import (
	"time"

	"blastradius/sim/dist"
)

// What the cooldown counts from, and what ends it.
const (
	fromOpened    = "opened"
	fromLastError = "last_error"
	fromLastProbe = "last_probe"

	wakeCall  = "call"
	wakeTouch = "touch"
	wakeTimer = "timer"

	stayOpen = "open"
)

// OpenTime says how long a breaker stays open.
type OpenTime struct {
	Growth float64       `yaml:"growth" unit:"factor" min:"1" also:"exponentialBackoffMultiplier" help:"growth of the cooldown each time a probe fails"`
	Max    time.Duration `yaml:"max" unit:"duration" min:"0s" open:"min" help:"longest cooldown; none when omitted"`
	Jitter float64       `yaml:"jitter" unit:"share" min:"0%" max:"100%" also:"randomizedWaitFactor,jitterFactor" help:"the cooldown is drawn from so much below to so much above"`
	From   string        `yaml:"from" enum:"opened,last_error,last_probe" help:"instant from which the cooldown counts"`
	Past   bool          `yaml:"past" help:"the first probe comes after the cooldown, not at its end"`
	Wake   string        `yaml:"wake" enum:"call,touch,timer" help:"what turns it half-open: the next call, the next call or result, or the clock"`
}

// openTimer is one breaker's cooldown.
type openTimer struct {
	OpenTime
	cooldown time.Duration
	stream   uint64 // of its jitter

	since  time.Duration
	length time.Duration
	failed int    // openings in a row
	drawn  uint64 // cooldowns drawn so far
}

// begin starts the time at an opening.
func (t *openTimer) begin(now time.Duration) {
	t.since, t.length = now, t.cooldown
	if t.Growth > 1 {
		t.length = t.grown()
	}
	t.failed++
	if t.Jitter > 0 {
		var r dist.Rand
		t.drawn++
		r.Key(t.stream, t.drawn)
		off := float64(t.Jitter * (float64(2*r.Float64()) - 1)) // from -jitter to +jitter
		t.length += time.Duration(float64(float64(t.length) * off))
	}
}

// grown is cooldown·growth^failed, at most max.
func (t *openTimer) grown() time.Duration {
	most := longestPause
	if t.Max > 0 {
		most = t.Max
	}
	x := float64(t.cooldown)
	for range t.failed {
		if x >= float64(most) {
			break
		}
		x *= t.Growth
	}
	if x >= float64(most) { // it may not fit into a Duration
		return most
	}
	return time.Duration(x)
}

// restart counts the same cooldown from now.
func (t *openTimer) restart(now time.Duration) { t.since = now }

// closed forgets the openings in a row.
func (t *openTimer) closed() { t.failed = 0 }

// over reports whether a call at now may probe, to the nanosecond.
func (t *openTimer) over(now time.Duration) bool {
	if t.Past {
		return now-t.since > t.length
	}
	return now-t.since >= t.length
}

// due is the first instant at which over reports true.
func (t *openTimer) due() time.Duration {
	if t.Past {
		return t.since + t.length + 1
	}
	return t.since + t.length
}
