package resilience

import "time"

// Ramp is how traffic comes back after a breaker closed: a growing share of it.
type Ramp struct {
	From float64       `yaml:"from" unit:"share" min:"0%" max:"100%" help:"share admitted at once after closing"`
	Over time.Duration `yaml:"over" unit:"duration" min:"0s" open:"min" help:"time until everything is admitted"`
}

// thinner admits a growing share of the calls, as evenly as whole calls allow:
// it carries the remainder over from call to call and needs no luck.
type thinner struct {
	ramp  *Ramp
	since time.Duration
	on    bool
	owed  float64
}

func (t *thinner) begin(now time.Duration) {
	t.on, t.since, t.owed = t.ramp != nil, now, 0
}

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
	t.owed += t.ramp.From + float64((1-t.ramp.From)*(float64(passed)/float64(t.ramp.Over)))
	if t.owed < 1 {
		return false
	}
	t.owed--
	return true
}
