package resilience

import (
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
)

// breakerLayer puts the state machine between a caller and what is inside.
type breakerLayer struct {
	machine  *Machine
	verdicts [call.NumClasses]Verdict
	attempts bool // counts attempts instead of operations
	sched    des.Scheduler
	probe    des.Probe
	source   string
	next     call.Handler
	frames   call.Frames[breakerFrame]
	seen     State     // last state told
	state    des.Gauge // of the machine: 0 closed, 1 half-open, 2 open
}

// breakerFrame is one admitted call. With record: attempt it is also the sink
// that hears of the attempts made inside.
type breakerFrame struct {
	passage
	layer   *breakerLayer
	token   Token
	call    *call.Call
	outside call.AttemptSink // of the breaker around this one; with record: attempt
	probing bool             // admitted while half-open
	counted bool             // attempts were recorded, so the operation is not
}

var (
	_ call.Handler     = (*breakerLayer)(nil)
	_ call.Done        = (*breakerFrame)(nil)
	_ call.Canceler    = (*breakerFrame)(nil)
	_ call.AttemptSink = (*breakerFrame)(nil)
)

// Layer builds the policy.
func (c *Breaker) Layer(env Env) call.Layer {
	return func(next call.Handler) call.Handler {
		l := &breakerLayer{machine: c.NewMachine(), verdicts: verdictsOf(c.Verdicts), attempts: c.RecordsAttempts(), sched: env.Sched, probe: env.Probe, source: env.Source, next: next}
		m := env.Meter
		m.Count("opens", &l.machine.Opens)
		m.Count("closes", &l.machine.Closes)
		m.Count("probes", &l.machine.Probes)
		m.Count("rejected", &l.machine.Rejected)
		m.Count("stale", &l.machine.Stale)
		m.Series("state", &l.state)
		return l
	}
}

// Start lets the call in if the breaker does.
func (l *breakerLayer) Start(c *call.Call, d call.Done) call.Canceler {
	now := l.sched.Now()
	token, ok := l.machine.Admit(now)
	if l.machine.state != l.seen {
		l.changed(now, c.Request)
	}
	if !ok {
		d.Done(call.Outcome{Class: call.Rejected, Reason: call.BreakerOpen})
		return nil
	}
	f := l.frames.Get()
	f.begin(d)
	f.layer, f.token, f.call, f.outside, f.probing, f.counted = l, token, c, nil, false, false
	if l.attempts {
		f.outside, f.probing = c.Sink, l.machine.state == HalfOpen
		c.Sink = f
	}
	f.start(l.next, c, f)
	if f.state == over {
		l.frames.Put(f)
		return nil
	}
	return f
}

// AttemptDone records one attempt of a retry inside. A probe is one probe
// whatever attempts it makes: the operation decides it.
func (f *breakerFrame) AttemptDone(o call.Outcome) {
	if !f.probing {
		f.counted = true
		f.record(f.layer.verdicts[o.Class])
	}
	if f.outside != nil {
		f.outside.AttemptDone(o)
	}
}

// Done records the operation, unless its attempts were, and passes the answer
// on.
func (f *breakerFrame) Done(o call.Outcome) {
	l, d := f.layer, f.done
	if !f.counted {
		f.record(l.verdicts[o.Class])
	}
	f.restore()
	if f.onStack() {
		f.state = over
	} else {
		l.frames.Put(f)
	}
	d.Done(o)
}

// Cancel ends the call because its caller left: no verdict and the slot goes
// back, unless the file judges cancellations.
func (f *breakerFrame) Cancel() {
	f.inner.Cancel()
	f.record(f.layer.verdicts[call.Cancelled])
	f.restore()
	f.layer.frames.Put(f)
}

func (f *breakerFrame) record(v Verdict) {
	l := f.layer
	now := l.sched.Now()
	l.machine.Record(now, f.token, v)
	if l.machine.state != l.seen {
		l.changed(now, f.call.Request)
	}
}

// restore leaves the call as it was found. A caller that gave up may have
// reused the call by now; then its sink is not ours to change.
func (f *breakerFrame) restore() {
	if f.layer.attempts && f.call.Sink == call.AttemptSink(f) {
		f.call.Sink = f.outside
	}
}

// changed tells everybody about a new state.
func (l *breakerLayer) changed(now time.Duration, request uint64) {
	from, to := l.seen, l.machine.state
	l.seen = to
	l.state.Set(now, int64(to))
	if l.probe != nil {
		l.probe(des.Observation{At: now, Source: l.source, What: "state", From: int(from), To: int(to), Request: request})
	}
}
