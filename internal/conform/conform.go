// Package conform holds recorded traces of real circuit breakers: what each
// was told, when, and what it did. The nested module conformance records them
// by driving the libraries; the tests of resilience replay them against the
// dialects, without the libraries.
package conform

import (
	"fmt"
	"iter"
	"time"

	"blastradius/sim/call"
)

// File is what was recorded of one library in one dialect, or worked out from
// its source where it could not be run.
type File struct {
	Library string // import path of the library
	Version string
	Dialect string // name of the dialect in breaker: {dialect: …}
	Read    string // for traces worked out by hand: where in the source it was read; empty when the library was run
	Groups  []Group
}

// Group are the traces recorded with one configuration.
type Group struct {
	Settings string        // the breaker's keys, a YAML flow map: {dialect: …, cooldown: 60s}
	Unit     time.Duration // the grid on which most steps lie; above 0
	Traces   []Trace
}

// Trace is one breaker from new, closed and unused, at time 0. Every library
// was built at midnight UTC of 2000-01-01, so windows that a library aligns to
// the epoch are aligned to time 0 whenever their length divides a day.
type Trace struct {
	Name  string
	About string // one sentence about a trace made by hand, empty for a generated one
	Steps []Step
}

// Step is one thing done to the breaker, and what came of it.
type Step struct {
	At    time.Duration // since the start, never before the previous step
	Op    Op
	ID    int        // Admit: admissions are numbered from 0, a refused call has -1; Complete: the call that ended
	Class call.Class // Complete: how it ended
	OK    bool       // Admit: whether the call was admitted
	State State      // the breaker's state right after, at the same instant
}

// Op is the kind of a step.
type Op uint8

// The kinds of step.
const (
	Admit    Op = iota // a call asks to be let in
	Complete           // an admitted call has ended
	Look               // the state is read, which makes some libraries move
)

// State of a breaker.
type State uint8

// States. Unknown is that of a library with no way to read it.
const (
	Unknown State = iota
	Closed
	HalfOpen
	Open
)

var stateNames = [...]string{"unknown", "closed", "half-open", "open"}

// String gives the state's usual name.
func (s State) String() string { return stateNames[s] }

// ParseState is the inverse of String; any other name is Unknown.
func ParseState(name string) State {
	for i, n := range stateNames {
		if n == name {
			return State(i)
		}
	}
	return Unknown
}

// All ranges over the traces of the file, each with its group.
func (f *File) All() iter.Seq2[*Group, *Trace] {
	return func(yield func(*Group, *Trace) bool) {
		for i := range f.Groups {
			g := &f.Groups[i]
			for j := range g.Traces {
				if !yield(g, &g.Traces[j]) {
					return
				}
			}
		}
	}
}

// Count is the number of traces and of their steps.
func (f *File) Count() (traces, steps int) {
	for _, t := range f.All() {
		traces++
		steps += len(t.Steps)
	}
	return traces, steps
}

// Breaker is what a trace can be played to: a library, or a dialect of ours.
// Ids are those of the steps. State may be Unknown and is asked at every step,
// at the same instant and after it.
type Breaker interface {
	Admit(at time.Duration, id int) bool
	Complete(at time.Duration, id int, class call.Class)
	State(at time.Duration) State
}

// Divergence is the first step at which a breaker did not do what was recorded.
type Divergence struct {
	Trace *Trace
	Group *Group
	Step  int  // index into Trace.Steps
	Got   Step // what the breaker did in its place
}

// Error tells the step and the trace up to it.
func (d *Divergence) Error() string {
	want := d.Trace.Steps[d.Step]
	said := func(s Step) string {
		if s.Op != Admit {
			return s.State.String()
		}
		if s.OK {
			return "admitted, " + s.State.String()
		}
		return "refused, " + s.State.String()
	}
	return fmt.Sprintf("trace %s, step %d at %v: recorded %s, got %s\nsettings %s\nunit %v\n%s",
		d.Trace.Name, d.Step, want.At, said(want), said(d.Got), d.Group.Settings, d.Group.Unit,
		appendSteps(nil, d.Trace.Steps[:d.Step+1], d.Group.Unit))
}

// Replay plays a trace to a breaker and returns the first difference, nil when
// there is none. A recorded state that is Unknown agrees with any.
func Replay(g *Group, t *Trace, b Breaker) *Divergence {
	admitted := 0
	for i, want := range t.Steps {
		got := want
		switch want.Op {
		case Admit:
			got.OK = b.Admit(want.At, admitted)
			if got.OK {
				admitted++
			}
		case Complete:
			b.Complete(want.At, want.ID, want.Class)
		}
		got.State = b.State(want.At)
		if got.OK != want.OK || got.State != want.State && want.State != Unknown {
			return &Divergence{Trace: t, Group: g, Step: i, Got: got}
		}
	}
	return nil
}
