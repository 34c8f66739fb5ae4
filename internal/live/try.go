package live

import (
	"context"

	"blastradius/sim/call"
)

// workplace is the engine as the handler inside of the stack: it has the work
// done.
type workplace Engine

// try is one attempt.
type try struct {
	flight *flight
	flown  uint64 // the use of flight that this is an attempt of
	done   call.Done
	which  Attempt
	state  tryState
	stop   context.CancelFunc // of work in a goroutine of its own; nil in the caller's
}

type tryState uint8

const (
	idle     tryState = iota
	asked             // somebody waits for it
	unwanted          // it runs, and nobody does
)

var (
	_ call.Handler  = (*workplace)(nil)
	_ call.Canceler = (*try)(nil)
)

// Start lets the caller run the work, or a goroutine of its own where a layer
// may go on without it.
func (w *workplace) Start(c *call.Call, d call.Done) call.Canceler {
	e := (*Engine)(w)
	number := c.NextAttempt()
	if c.Orphan() { // its caller has returned and taken the work along
		d.Done(call.Outcome{Class: call.Cancelled})
		return nil
	}
	f := e.flightOf(c.Root())
	t := &f.own
	here := t.state == idle && (!e.apart || f.broken)
	if !here {
		t = e.tries.Get()
	}
	t.flight, t.flown, t.done, t.state, t.stop = f, f.flown, d, asked, nil
	t.which = Attempt{Number: int(number), Host: int(c.Host)}
	if here {
		f.due = true
		f.wake()
		return t
	}
	var ctx context.Context
	ctx, t.stop = context.WithCancel(f.ctx)
	e.hand(job{t, ctx, f.work})
	return t
}

// Cancel ends the attempt. Its work learns it from its context, if that is of
// its own.
func (t *try) Cancel() {
	switch f := t.flight; {
	case t.stop != nil:
		t.state = unwanted
		t.stop()
	case f.due: // it has not begun
		f.due, t.state = false, idle
	default:
		t.state = unwanted
	}
}

// runHere runs the work in the caller's goroutine. A panic goes on from here,
// through Do.
func (t *try) runHere() {
	f := t.flight
	e := f.engine
	ctx, work, which := f.ctx, f.work, t.which
	e.exit()
	returned := false
	defer func() {
		if !returned {
			e.enter(1)
			f.breakUp(t)
			f.end()
			e.exit()
		}
	}()
	err := work(ctx, which)
	out := call.Outcome{}
	if err != nil {
		out = e.classify(err)
	}
	returned = true
	e.enter(1)
	t.tell(out, err)
}

// tell hands the work's answer to the stack, if somebody waits for it. An error
// after the caller gave up is no answer. A layer may wait for the work longer
// than its caller does.
func (t *try) tell(o call.Outcome, err error) {
	f := t.flight
	switch {
	case t.state == unwanted:
	case !t.callerIsHere():
		t.done.Done(o)
	case err != nil && !f.answered && f.ctx.Err() != nil:
		f.leave(f.ctx.Err()) // which cancels t
	default:
		t.state = idle
		f.last, f.lastErr = o, err
		f.pass(t.done, o)
		return // t may be out again
	}
	t.state = idle
}

// callerIsHere reports whether the call that the attempt is of is still in Do.
func (t *try) callerIsHere() bool { return t.flown == t.flight.flown }

// pass answers an attempt.
func (f *flight) pass(d call.Done, o call.Outcome) {
	f.engine.current = f
	d.Done(o)
}

// breakUp ends the call of work that panicked: the layers hear of a
// server_error, and what they then want to try is not begun.
func (f *flight) breakUp(t *try) {
	f.broken = true
	if t.state == asked {
		t.state = idle
		f.pass(t.done, call.Outcome{Class: call.ServerError})
	}
	if !f.answered {
		f.leave(nil)
	}
}
