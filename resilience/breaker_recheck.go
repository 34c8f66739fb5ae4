package resilience

import "blastradius/sim/call"

// Recheck asks a breaker once more further in: a call that waited for a permit
// while the breaker opened is refused instead of sent to a dead dependency. It
// is made before the stack, given to the breaker by Env, and its layer stands
// right inside the layer that makes calls wait.
type Recheck struct {
	breaker *breakerLayer
	next    call.Handler
}

var _ call.Handler = (*Recheck)(nil)

// Layer puts the question between a caller and what is inside.
func (r *Recheck) Layer(next call.Handler) call.Handler {
	r.next = next
	return r
}

// Start refuses a call that was admitted in a state that is no more.
func (r *Recheck) Start(c *call.Call, d call.Done) call.Canceler {
	l := r.breaker
	m := l.machineOf(c)
	if m.State(l.sched.Now()) != Closed && c.Admission != uint16(m.generation) {
		m.Rejected++
		d.Done(call.Outcome{Class: call.Rejected, Reason: call.BreakerOpen})
		return nil
	}
	return r.next.Start(c, d)
}
