package resilience

import (
	"time"

	"blastradius/sim/call"
)

// hedgeBranch is one attempt of a hedged call, with a branch of the call.
type hedgeBranch struct {
	passage
	layer  *hedgeLayer
	frame  *hedgeFrame // nil once it runs on alone
	call   call.Branch
	keeper call.Keeper   // keeps a place for the call while it runs on alone
	since  time.Duration // its start, where the delay learns
	permit Permit
	first  bool
	lost   bool // to another, or to a caller that left
}

var _ call.Done = (*hedgeBranch)(nil)

// enter makes a used frame the next attempt of f and gives the call to pass
// inside.
func (b *hedgeBranch) enter(f *hedgeFrame, p Permit) *call.Call {
	l := f.layer
	b.begin(nil)
	b.layer, b.frame, b.permit, b.first, b.lost = l, f, p, f.started == 0, false
	b.keeper = f.call.Keeper()
	if l.learns {
		b.since = l.sched.Now()
	}
	if f.out = append(f.out, b); len(f.out) > 1 {
		f.park(1)
	}
	if l.budget != nil {
		l.budget.Begin(p)
	}
	return b.call.Begin(f.call, f.call.Deadline, nil)
}

// observe tells the delay how long a first attempt took.
func (b *hedgeBranch) observe() {
	if b.first && b.layer.learns {
		b.layer.delay.observe(b.layer.sched.Now() - b.since)
	}
}

// end tells the budget of the end of the attempt.
func (b *hedgeBranch) end(class call.Class, bad bool) {
	if l := b.layer; l.budget != nil {
		l.budget.End(l.sched.Now(), b.permit, class, bad)
	}
}

// Done is the end of the attempt.
func (b *hedgeBranch) Done(o call.Outcome) {
	l, f := b.layer, b.frame
	inStart := b.onStack()
	b.state = over
	if b.lost {
		return // whoever marked it gives it back
	}
	good := o.Class.Answered()
	b.end(o.Class, !good && o.Class != call.Rejected && o.Class != call.Cancelled)
	if f == nil {
		b.ranOn(good, inStart)
		return
	}
	f.remove(b)
	if good {
		b.observe()
	}
	hedge := !b.first
	if !inStart {
		l.branches.Put(b)
	}
	if l.reports && f.call.Sink != nil {
		f.call.Sink.AttemptDone(o)
	}
	switch {
	case good:
		if hedge {
			l.wins++
		}
		f.answer(o)
	case l.onFailure == FailureEnd || l.fatal[o.Class]:
		f.answer(o)
	case !f.failedOne(o):
		f.settle()
	case f.starts:
		f.again = true
	default:
		l.sched.Stop(f.timer)
		f.further()
	}
}

// ranOn is the end of a loser that ran on. What it gives back comes last.
func (b *hedgeBranch) ranOn(good, inStart bool) {
	l, k := b.layer, b.keeper
	if good {
		b.observe()
	}
	if l.goroutines != nil {
		l.goroutines.Add(l.sched.Now(), -1)
	}
	b.keeper = nil
	if !inStart {
		l.branches.Put(b)
	}
	if k != nil {
		k.LetGo()
	}
}

// remove takes an attempt that has ended out of those that are out.
func (f *hedgeFrame) remove(b *hedgeBranch) {
	if len(f.out) > 1 {
		f.park(-1)
	}
	for i, x := range f.out {
		if x == b {
			f.out = f.out[:i+copy(f.out[i:], f.out[i+1:])]
			return
		}
	}
	panic("resilience: a hedge that is not out has answered")
}
