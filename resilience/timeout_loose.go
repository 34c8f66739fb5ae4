package resilience

import (
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
)

// looseTimeout is a timeout with more than a limit of its own: it hands a
// deadline on, refuses what cannot finish usefully, or abandons the work instead
// of cancelling it. Each call gets a branch of its own, so that work inside can
// outlive its caller.
type looseTimeout struct {
	*timeoutLayer
	abandons   bool
	propagates bool
	useful     time.Duration
	goroutines *des.Gauge // of the process: abandoned work holds one
	frames     call.Frames[looseFrame]
	abandoned  des.Gauge // work that goes on
	late       int64
	refused    int64
}

// looseFrame is one call. After the limit of an abandoning timeout its caller is
// gone, and only the work inside still knows the frame.
type looseFrame struct {
	passage
	layer  *looseTimeout
	branch call.Branch
	keeper call.Keeper // keeps a place for the call while abandoned work goes on
	timer  des.Timer
	alone  bool // abandoned
}

var (
	_ call.Handler  = (*looseTimeout)(nil)
	_ call.Done     = (*looseFrame)(nil)
	_ call.Canceler = (*looseFrame)(nil)
	_ des.Event     = (*looseFrame)(nil)
)

// Start lets the call in, if enough of its caller's time is left, and sets its
// limit.
func (l *looseTimeout) Start(c *call.Call, d call.Done) call.Canceler {
	now := l.sched.Now()
	limit, deadline := l.limit, c.Deadline
	if deadline != call.NoDeadline {
		left := max(0, deadline-now)
		if left < l.useful {
			l.refused++
			d.Done(call.Outcome{Class: call.Rejected, Reason: call.NoTimeLeft})
			return nil
		}
		if l.propagates {
			limit = min(limit, left)
		}
	}
	if l.propagates {
		deadline = now + min(limit, call.NoDeadline-now)
	}
	f := l.frames.Get()
	f.begin(d)
	f.layer, f.alone, f.keeper = l, false, c.Keeper()
	inside := f.branch.Begin(c, deadline, nil)
	f.timer = l.sched.After(limit, des.Expire, f)
	if f.start(l.next, inside, f); f.state == over {
		l.frames.Put(f)
		return nil
	}
	return f
}

// Done is the answer: in time, or of abandoned work and of no use.
func (f *looseFrame) Done(o call.Outcome) {
	l, d := f.layer, f.done
	if f.alone {
		f.ended()
		return
	}
	l.sched.Stop(f.timer)
	if f.onStack() {
		f.state = over
	} else {
		l.frames.Put(f)
	}
	d.Done(o)
}

// ended is the end of abandoned work. What it gives back comes last.
func (f *looseFrame) ended() {
	l, k := f.layer, f.keeper
	now := l.sched.Now()
	l.late++
	l.abandoned.Add(now, -1)
	l.goroutines.Add(now, -1)
	f.keeper = nil
	l.frames.Put(f)
	if k != nil {
		k.LetGo()
	}
}

// Fire is the limit.
func (f *looseFrame) Fire() {
	l, d := f.layer, f.done
	l.fired++
	if !l.abandons {
		f.state = busy
		f.inner.Cancel()
		tell := f.state == busy
		l.frames.Put(f)
		if tell {
			d.Done(call.Outcome{Class: call.Timeout})
		}
		return
	}
	now := l.sched.Now()
	f.alone, f.done = true, nil
	f.branch.Cut()
	l.abandoned.Add(now, 1)
	if f.keeper != nil {
		f.keeper.Keep()
	}
	d.Done(call.Outcome{Class: call.Timeout}) // f may be another call's after this
	// Only now, since the caller's own goroutine has gone meanwhile, if it has:
	// the most at once is not one too many.
	l.goroutines.Add(now, 1)
}

// Cancel ends the call because its caller left before the limit.
func (f *looseFrame) Cancel() {
	if f.onStack() {
		f.state = abandoned
		return
	}
	f.layer.sched.Stop(f.timer)
	f.inner.Cancel()
	f.layer.frames.Put(f)
}
