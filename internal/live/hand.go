package live

import (
	"context"
	"runtime/debug"

	"blastradius/sim/call"
)

// hand is a goroutine that runs work apart from its caller. Hands are kept for
// the next work, up to idleHands of them: a new goroutine has to grow its stack
// first.
type hand chan job

type job struct {
	try  *try
	ctx  context.Context
	work Work
}

const idleHands = 64

// hand gives the job to an idle hand or to a new one.
func (e *Engine) hand(j job) {
	e.working++
	if last := len(e.hands) - 1; last >= 0 {
		h := e.hands[last]
		e.hands = e.hands[:last]
		h <- j // it waits, or is about to: there is room for one
		return
	}
	h := make(hand, 1)
	h <- j
	e.staff++
	go h.run(e)
}

// dismiss ends the hands that are idle.
func (e *Engine) dismiss() {
	for _, h := range e.hands {
		close(h)
	}
	e.hands = nil
}

func (h hand) run(e *Engine) {
	for j := range h {
		if !h.do(e, j) {
			return
		}
	}
	e.mu.Lock()
	e.staff--
	e.leaveIdle()
	e.mu.Unlock()
}

// do runs one job and reports whether the hand is kept.
func (h hand) do(e *Engine, j job) (kept bool) {
	var (
		out      call.Outcome
		err      error
		returned bool
	)
	defer func() {
		var p *PanicError
		if !returned {
			p = &PanicError{Value: recover()} // nil: the goroutine is ending
			p.Stack = debug.Stack()
		}
		t := j.try
		e.enter(1)
		orphaned := p != nil && (t.state == unwanted || !t.callerIsHere())
		switch {
		case p == nil:
			t.tell(out, err)
		case orphaned:
			t.tell(call.Outcome{Class: call.ServerError}, p)
			if p.Value != nil {
				e.exit()
				e.bury(p)
				e.enter(1)
			}
		default:
			t.flight.panicked = p
			t.flight.breakUp(t)
		}
		stop := t.stop
		e.tries.Put(t)
		e.working--
		kept = returned && !e.closed && len(e.hands) < idleHands
		if kept {
			e.hands = append(e.hands, h)
		} else {
			e.staff--
			e.leaveIdle()
		}
		e.exit()
		stop()
	}()
	err = j.work(j.ctx, j.try.which)
	if err != nil {
		out = e.classify(err)
	}
	returned = true
	return
}

// bury deals with a panic that has no caller to surface in.
func (e *Engine) bury(p *PanicError) {
	if e.orphan == nil {
		panic(p)
	}
	e.orphan(p)
}
