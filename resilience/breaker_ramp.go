package resilience

import "time"

// Ramp is how traffic comes back after a breaker closed: the share of the calls
// admitted grows in a straight line from From to all of them.
type Ramp struct {
	From float64       `yaml:"from" unit:"share" min:"0%" max:"100%" help:"share admitted at once after closing"`
	Over time.Duration `yaml:"over" unit:"duration" min:"0s" open:"min" help:"time until everything is admitted"`
}

// thinner admits a share of the calls as evenly as whole calls allow: what a
// call lacks of a whole one is owed to the next, so it needs no luck.
type thinner struct {
	ramp  *Ramp // nil: everything is admitted
	since time.Duration
	on    bool
	owed  float64 // calls, below 1
}

// begin starts the ramp at a closing.
func (t *thinner) begin(now time.Duration) {
	t.on, t.since, t.owed = t.ramp != nil, now, 0
}

// wholeCall is 1 less what binary fractions lack: ten times 10 % is one call.
const wholeCall = 1 - 1e-9

// admit reports whether this call may pass.
func (t *thinner) admit(now time.Duration) bool {
	if !t.on {
		return true
	}
	passed := now - t.since
	if passed >= t.ramp.Over {
		t.on = false
		return true
	}
	grown := float64(passed) / float64(t.ramp.Over)
	t.owed += t.ramp.From + float64((1-t.ramp.From)*grown)
	if t.owed < wholeCall {
		return false
	}
	t.owed--
	return true
}
