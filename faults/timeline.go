package faults

import (
	"fmt"
	"time"

	"blastradius/sim/spec"
)

// Timeline says when a fault is active and which share of the attempts it
// hits. The share is drawn by whoever applies the fault.
type Timeline struct {
	From  time.Duration `yaml:"from" unit:"duration" min:"0s" help:"first instant, since the start of the run"`
	For   time.Duration `yaml:"for" unit:"duration" min:"0s" open:"min" help:"how long it lasts; until the end of the run when omitted"`
	Every time.Duration `yaml:"every" unit:"duration" min:"0s" open:"min" help:"period with which it comes again; once when omitted"`
	Share float64       `yaml:"share" unit:"share" min:"0%" open:"min" max:"100%" help:"share of the attempts it hits"`
}

// NewTimeline is a fault on everything, from the start to the end.
func NewTimeline() Timeline { return Timeline{Share: 1} }

// Validate wants a length below the period.
func (t Timeline) Validate() []spec.Problem {
	switch {
	case t.Every > 0 && t.For == 0:
		return []spec.Problem{{Field: "every", Text: "a fault that comes again needs a length", Hint: fmt.Sprintf("for: %v", t.Every/2)}}
	case t.Every > 0 && t.For >= t.Every:
		return []spec.Problem{{Field: "for", Text: fmt.Sprintf("the fault lasts %v and comes again every %v: it never ends", t.For, t.Every), Hint: "make for shorter than every, or drop every"}}
	}
	return nil
}

// Active reports whether the fault is on at now: in [from, from+for), and again
// with every period.
func (t *Timeline) Active(now time.Duration) bool {
	if now < t.From {
		return false
	}
	if t.For == 0 {
		return true
	}
	since := now - t.From
	if t.Every > 0 {
		since %= t.Every
	}
	return since < t.For
}

// Window is a stretch [From, To) in which a fault is active.
type Window struct{ From, To time.Duration }

// Windows lists the stretches that begin before the run's end, cut there. A
// fault that comes again more than 10,000 times gives the first 9,999 and one
// that covers the rest.
func (t *Timeline) Windows(duration time.Duration) (out []Window) {
	const most = 10_000
	for from := t.From; from < duration; from += t.Every {
		to := duration
		if t.For > 0 {
			to = min(duration, from+t.For)
		}
		if len(out) == most-1 {
			to = duration
		}
		out = append(out, Window{from, to})
		if t.Every == 0 || len(out) == most {
			break
		}
	}
	return out
}
