package resilience

import "blastradius/sim/call"

// passage is a call on its way through a layer: what the frames of all layers
// share. Whatever a layer calls may call back before it returns: an answer may
// come within Start, and giving a place back may end our own caller. So a frame
// goes back to its pool only when nothing of it is on the stack.
//
// Layers keep one order, and so must any handler inside them: what a call holds
// is given back first, and telling the caller is the last thing done.
type passage struct {
	done  call.Done
	inner call.Canceler
	state passageState
}

type passageState uint8

const (
	idle      passageState = iota
	busy                   // inside a call of ours that may call back
	abandoned              // cancelled while busy
	running                // the layer inside has the call
	waiting                // the layer itself holds the call back
	over                   // answered or cancelled; nothing more happens
)

// begin makes the passage of a used frame that of a new call. Layers set the
// rest of their frame field by field: a whole frame assigned at once is built on
// the stack and copied, which took 10 ns a layer.
func (p *passage) begin(d call.Done) { p.done, p.inner, p.state = d, nil, idle }

// start hands the call to next. When it returns, running and waiting mean that
// the call is out, over that the frame can be freed. left reports that the
// caller left meanwhile and that the layer inside was cancelled for it: what
// the frame holds beside it is still to be given back.
func (p *passage) start(next call.Handler, c *call.Call, self call.Done) (left bool) {
	p.state = busy
	inner := next.Start(c, self)
	switch p.state {
	case busy:
		p.state, p.inner = running, inner
	case abandoned:
		p.state = over
		inner.Cancel()
		return true
	}
	return false
}

// onStack reports that start, or another call of ours, will still look at the
// frame when it gets control back.
func (p *passage) onStack() bool { return p.state == busy || p.state == abandoned }
