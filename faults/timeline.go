package faults

import (
	"fmt"
	"math"
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
	Hosts int           `yaml:"hosts" unit:"count" min:"1" help:"hosts of the dependency that it hits: the first so many; all of them when omitted"`
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

// Hits reports whether host is one of those the fault hits; hosts count from 0.
func (t *Timeline) Hits(host int) bool { return t.Hosts == 0 || host < t.Hosts }

// Edge is the first instant after now at which the fault begins or ends; ok is
// false when it does neither any more.
func (t *Timeline) Edge(now time.Duration) (at time.Duration, ok bool) {
	if now < t.From {
		return t.From, true
	}
	if t.For == 0 {
		return 0, false
	}
	begun := t.From
	if t.Every > 0 {
		begun = now - (now-t.From)%t.Every
	}
	length := t.For
	if now-begun >= t.For {
		length = t.Every
	}
	if length == 0 || length > math.MaxInt64-begun {
		return 0, false
	}
	return begun + length, true
}

// Window is a stretch [From, To) in which a fault is active.
type Window struct{ From, To time.Duration }

// mostWindows bounds what a fault that comes again every millisecond lists.
const mostWindows = 10_000

// Windows lists the stretches that begin before the run's end, cut there. Of a
// fault that comes again more than 10,000 times the last window covers the
// rest of the run.
func (t *Timeline) Windows(duration time.Duration) (out []Window) {
	for from := t.From; from < duration; from += t.Every {
		end := duration
		if t.For > 0 && len(out) < mostWindows-1 {
			end = from + min(t.For, duration-from)
		}
		out = append(out, Window{from, end})
		if t.Every == 0 || t.Every >= duration-from || len(out) == mostWindows {
			break
		}
	}
	return out
}
