package live

import (
	"context"

	"blastradius/sim/call"
)

// flight is one call in Do: what hears the stack's answer, and the place where
// the caller waits for it.
type flight struct {
	call     call.Call
	flown    uint64 // counts the calls that used this frame
	engine   *Engine
	ctx      context.Context
	work     Work
	cancel   call.Canceler
	out      call.Outcome
	answered bool
	parked   bool // the caller is in park's select, and a token in ready ends that
	due      bool // own waits for the caller to run it
	broken   bool // its work panicked: no attempt begins
	own      try  // the attempt in the caller's goroutine
	err      error
	panicked *PanicError
	last     call.Outcome // of the last attempt told
	lastErr  error
	ready    chan struct{}
}

var _ call.Done = (*flight)(nil)

func (f *flight) begin(e *Engine, ctx context.Context, work Work) {
	f.engine, f.ctx, f.work = e, ctx, work
	f.answered, f.due, f.broken = false, false, false
}

// end frees the frame. What it refers to goes, so that nothing of a call is kept
// alive by the next one.
func (f *flight) end() {
	e := f.engine
	f.flown++
	f.ctx, f.work, f.cancel = nil, nil, nil
	if f.err != nil || f.lastErr != nil || f.panicked != nil {
		f.err, f.lastErr, f.panicked = nil, nil, nil
	}
	e.parked.Add(e.kernel.Now(), -1)
	e.flights.Put(f)
	e.leaveIdle()
}

// Done is the stack's answer.
func (f *flight) Done(o call.Outcome) {
	f.out, f.answered = o, true
	f.wake()
}

// leave gives the call up.
func (f *flight) leave(err error) {
	f.out, f.answered, f.err = call.Outcome{Class: call.Cancelled}, true, err
	f.cancel.Cancel()
	f.wake()
}

// verdict is the error that goes with the answer.
func (f *flight) verdict() error {
	switch {
	case f.err != nil:
		return f.err
	case f.out.Class == call.OK || f.out.Class == call.Degraded:
		return nil
	case f.lastErr != nil && f.out == f.last:
		return f.lastErr
	}
	return errorOf(f.out)
}

// follow does the next thing that the call needs of its caller: the work, or
// waiting. It is called and returns with the mutex held.
func (f *flight) follow() {
	switch {
	case f.engine.closed:
		f.leave(ErrClosed)
	case f.due:
		f.due = false
		f.own.runHere()
	default:
		f.park()
	}
}

// park waits until there is something to do or the caller gives up.
func (f *flight) park() {
	e := f.engine
	if f.ready == nil {
		f.ready = make(chan struct{}, 1)
	}
	f.parked = true
	e.waiting[&f.call] = f
	ctx := f.ctx
	e.exit()
	select {
	case <-f.ready:
	case <-ctx.Done():
	}
	e.enter(0)
	switch {
	case f.parked: // not woken
		f.unpark()
	default:
		select { // the token, if it is ctx that ended the wait
		case <-f.ready:
		default:
		}
	}
	if !f.answered && ctx.Err() != nil {
		f.leave(ctx.Err())
	}
}

func (f *flight) unpark() {
	f.parked = false
	delete(f.engine.waiting, &f.call)
}

// wake ends the caller's wait, if it waits.
func (f *flight) wake() {
	if f.parked {
		f.unpark()
		f.ready <- struct{}{}
	}
}

// flightOf finds the flight of a call that comes out of the stack: nearly
// always the one at hand, or one that is parked.
func (e *Engine) flightOf(c *call.Call) *flight {
	if f := e.current; f != nil && &f.call == c {
		return f
	}
	if f := e.waiting[c]; f != nil {
		return f
	}
	var found *flight
	e.flights.Each(func(f *flight) {
		if &f.call == c {
			found = f
		}
	})
	if found == nil {
		panic("live: a call that nobody made")
	}
	return found
}
