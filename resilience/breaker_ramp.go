package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/spec"
)

// Ramp is how traffic comes back after a breaker closed: the share of the calls
// admitted grows from From to all of them, in a straight line or in steps, over
// a time or over a number of calls.
type Ramp struct {
	From  float64       `yaml:"from" unit:"share" min:"0%" max:"100%" help:"share admitted at once after closing"`
	Over  time.Duration `yaml:"over" unit:"duration" min:"0s" open:"min" help:"time until everything is admitted"`
	Calls int           `yaml:"calls" unit:"count" min:"1" help:"calls asked for until everything is admitted; in place of over"`
	Steps int           `yaml:"steps" unit:"count" min:"1" help:"grows in so many equal steps; in a straight line when omitted"`
}

func (r *Ramp) problems() []spec.Problem {
	switch {
	case r.Over == 0 && r.Calls == 0:
		return []spec.Problem{{Field: "ramp.over", Text: "a ramp needs a length", Hint: "over: 30s"}}
	case r.Over > 0 && r.Calls > 0:
		return []spec.Problem{{Field: "ramp.calls", Text: "over and calls are two lengths", Hint: "keep one"}}
	}
	return nil
}

func (r *Ramp) text() string {
	out := "ramp from " + percent(r.From) + " over "
	if r.Calls > 0 {
		out += fmt.Sprintf("%d calls", r.Calls)
	} else {
		out += brief(r.Over)
	}
	if r.Steps > 0 {
		out += fmt.Sprintf(" in %d steps", r.Steps)
	}
	return out
}

// thinner admits a share of the calls as evenly as whole calls allow: what a
// call lacks of a whole one is owed to the next, so it needs no luck.
type thinner struct {
	ramp  *Ramp // nil: everything is admitted
	since time.Duration
	asked int
	on    bool
	owed  float64 // calls, below 1
}

// begin starts the ramp at a closing.
func (t *thinner) begin(now time.Duration) {
	t.on, t.since, t.asked, t.owed = t.ramp != nil, now, 0, 0
}

// wholeCall is 1 less what binary fractions lack: ten times 10 % is one call.
const wholeCall = 1 - 1e-9

// admit reports whether this call may pass.
func (t *thinner) admit(now time.Duration) bool {
	if !t.on {
		return true
	}
	grown := t.grown(now)
	if grown >= 1 {
		t.on = false
		return true
	}
	t.owed += t.ramp.From + float64((1-t.ramp.From)*grown)
	if t.owed < wholeCall {
		return false
	}
	t.owed--
	return true
}

// grown is how far the ramp is, from 0 to 1.
func (t *thinner) grown(now time.Duration) float64 {
	done, all := int64(now-t.since), int64(t.ramp.Over)
	if t.ramp.Calls > 0 {
		done, all = int64(t.asked), int64(t.ramp.Calls)
		t.asked++
	}
	if done >= all {
		return 1
	}
	grown := float64(done) / float64(all)
	if n := t.ramp.Steps; n > 0 {
		grown = float64(int(float64(grown*float64(n)))) / float64(n)
	}
	return grown
}
