package resilience

import (
	"time"

	"blastradius/sim/call"
)

// closedFrame is a call that a closed breaker let in which does nothing with its
// calls but count their results: most calls of most breakers. It holds and
// touches as little as that takes.
type closedFrame struct {
	passage
	layer      *breakerLayer
	at         time.Duration // of its admission; where slow calls matter
	generation uint32
	request    uint64
}

var (
	_ call.Done     = (*closedFrame)(nil)
	_ call.Canceler = (*closedFrame)(nil)
)

// short reports whether the layer is one whose closed calls go the short way.
func (c *Breaker) short(l *breakerLayer) bool {
	return len(l.machines) == 1 && l.machines[0].plain && l.asks == 0 && l.fails == 0 && !l.attempts && !l.recheck
}

// startClosed lets a call in.
func (l *breakerLayer) startClosed(m *Machine, c *call.Call, d call.Done) call.Canceler {
	f := l.closed.Get()
	f.begin(d)
	f.layer, f.generation, f.request = l, m.generation, c.Request
	if m.slowOver > 0 {
		f.at = l.sched.Now()
	}
	f.start(l.next, c, f)
	if f.state == over {
		l.closed.Put(f)
		return nil
	}
	return f
}

// Done counts the result and passes the answer on.
func (f *closedFrame) Done(o call.Outcome) {
	l, d := f.layer, f.done
	f.report(l.verdicts[o.Class])
	if f.onStack() {
		f.state = over
	} else {
		l.closed.Put(f)
	}
	d.Done(o)
}

// Cancel ends the call because its caller left.
func (f *closedFrame) Cancel() {
	l := f.layer
	f.inner.Cancel()
	f.report(l.verdicts[call.Cancelled])
	l.closed.Put(f)
}

func (f *closedFrame) report(v Verdict) {
	if v == Neutral {
		return
	}
	l := f.layer
	m, now := l.machines[0], l.sched.Now()
	m.record(now, &Token{at: f.at, generation: f.generation}, v)
	l.changed(now, m, f.request)
}
