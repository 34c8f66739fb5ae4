package resilience

import (
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
	"blastradius/sim/dist"
)

// breakerLayer puts state machines between a caller and what is inside.
type breakerLayer struct {
	machines []*Machine // one, or one for each copy of the process
	verdicts [call.NumClasses]Verdict
	attempts bool // counts attempts instead of operations
	timeout  time.Duration
	asks     time.Duration // round trip to a shared store; 0: none
	fails    float64       // share of the questions that it does not answer
	refuses  bool          // what happens then
	recheck  bool
	purpose  uint64
	sched    des.Scheduler
	probe    des.Probe
	source   string
	next     call.Handler
	frames   call.Frames[breakerFrame]
	closed   call.Frames[closedFrame]
	short    bool // calls go the short way while closed

	seen          State // last state told: the worst of the machines
	opens         int64 // when it was told
	state         des.Gauge
	alarm         *breakerAlarm // nil: nothing happens by itself
	storeFailures int64
}

// breakerFrame is one call. With record: attempt it is also the sink that hears
// of the attempts made inside.
type breakerFrame struct {
	passage
	layer   *breakerLayer
	machine *Machine
	token   Token
	call    *call.Call
	outside call.AttemptSink // of the breaker around this one; with record: attempt
	timer   des.Timer        // of a probe's own limit, or of the round trip
	probing bool             // admitted while half-open
	counted bool             // attempts were recorded, so the operation is not
	timed   bool             // timer is set
}

var (
	_ call.Handler     = (*breakerLayer)(nil)
	_ call.Done        = (*breakerFrame)(nil)
	_ call.Canceler    = (*breakerFrame)(nil)
	_ call.AttemptSink = (*breakerFrame)(nil)
	_ des.Event        = (*breakerFrame)(nil)
)

// Layer builds the policy.
func (c *Breaker) Layer(env Env) call.Layer {
	return func(next call.Handler) call.Handler {
		l := &breakerLayer{
			verdicts: verdictsOf(c.Dialect, c.Verdicts), attempts: c.RecordsAttempts(), timeout: c.HalfOpen.Timeout,
			refuses: c.Scope.OnFailure == storeRefuses, recheck: c.Recheck, purpose: dist.Hash(env.Source),
			sched: env.Sched, probe: env.Probe, source: env.Source, next: next,
		}
		if c.Scope.Kind == scopeShared {
			l.asks, l.fails = c.Scope.RoundTrip, c.Scope.Fails
		}
		for i := range c.Scope.machines() {
			m := c.NewMachine(l.purpose + uint64(i))
			if i > 0 {
				m.Tally = l.machines[0].Tally
			}
			l.machines = append(l.machines, m)
		}
		first := l.machines[0]
		if first.state != Closed { // forced open
			l.seen = first.state
			l.state.Set(env.Sched.Now(), int64(first.state))
		}
		l.short = c.short(l)
		if first.clock.used {
			l.alarm = &breakerAlarm{layer: l}
		}
		if env.Recheck != nil {
			env.Recheck.breaker = l
		}
		m := env.Meter
		m.Count("opens", &first.Opens)
		m.Count("closes", &first.Closes)
		m.Count("probes", &first.Probes)
		m.Count("rejected", &first.Rejected)
		m.Count("stale", &first.Stale)
		m.Count("would_reject", &first.WouldReject)
		m.Count("store_failures", &l.storeFailures)
		m.Series("state", &l.state)
		return l
	}
}

// machineOf is the machine of the copy that makes the call.
func (l *breakerLayer) machineOf(c *call.Call) *Machine {
	if len(l.machines) == 1 {
		return l.machines[0]
	}
	var r dist.Rand
	r.Key(l.purpose, c.Request)
	return l.machines[int(r.Float64()*float64(len(l.machines)))]
}

// Start lets the call in if the breaker does, after a round trip to the store
// where there is one.
func (l *breakerLayer) Start(c *call.Call, d call.Done) call.Canceler {
	if l.short {
		if m := l.machines[0]; m.state == Closed && !m.thin.on {
			return l.startClosed(m, c, d)
		}
	}
	if l.asks > 0 {
		f := l.frame(c, d, l.machines[0])
		f.state, f.timed = waiting, true
		f.timer = l.sched.After(l.asks, des.Arrive, f)
		return f
	}
	m := l.machineOf(c)
	var token Token
	if refused := l.admit(c, m, &token); refused != call.NoReason {
		d.Done(call.Outcome{Class: call.Rejected, Reason: refused})
		return nil
	}
	f := l.frame(c, d, m)
	f.token = token
	f.enter()
	if f.state == over {
		l.frames.Put(f)
		return nil
	}
	return f
}

func (l *breakerLayer) frame(c *call.Call, d call.Done, m *Machine) *breakerFrame {
	f := l.frames.Get()
	f.begin(d)
	f.layer, f.machine, f.call, f.outside, f.probing, f.counted, f.timed = l, m, c, nil, false, false, false
	return f
}

// admit asks the machine, or its store.
func (l *breakerLayer) admit(c *call.Call, m *Machine, t *Token) call.Reason {
	if l.fails > 0 && l.storeFails(c) {
		l.storeFailures++
		if l.refuses {
			return call.StoreFailed
		}
		*t = Token{unwatched: true}
		return call.NoReason
	}
	now := l.sched.Now()
	ok := m.admit(now, t)
	l.changed(now, m, c.Request)
	if !ok {
		return call.BreakerOpen
	}
	return call.NoReason
}

// storeFails draws whether the store does not answer for this call.
func (l *breakerLayer) storeFails(c *call.Call) bool {
	var r dist.Rand
	r.Key(c.Stream^l.purpose, c.Request)
	return r.Float64() < l.fails
}

// enter starts an admitted call.
func (f *breakerFrame) enter() {
	l := f.layer
	if l.recheck {
		f.call.Admission = uint16(f.token.generation)
	}
	probing := f.machine.state == HalfOpen && !f.token.unwatched
	if l.attempts {
		f.outside, f.probing = f.call.Sink, probing
		f.call.Sink = f
	}
	if l.timeout > 0 && probing {
		f.timed, f.timer = true, l.sched.After(l.timeout, des.Expire, f)
	}
	if f.start(l.next, f.call, f) {
		f.stopTimer()
		f.record(l.verdicts[call.Cancelled])
		f.restore()
	}
}

// Fire is the end of the round trip to the store, or of a probe's own limit.
func (f *breakerFrame) Fire() {
	l := f.layer
	f.timed = false
	if f.state == waiting {
		if refused := l.admit(f.call, f.machine, &f.token); refused != call.NoReason {
			d := f.done
			l.frames.Put(f)
			d.Done(call.Outcome{Class: call.Rejected, Reason: refused})
			return
		}
		if f.enter(); f.state == over {
			l.frames.Put(f)
		}
		return
	}
	f.state = busy
	f.inner.Cancel()
	tell := f.state == busy
	f.record(l.verdicts[call.Timeout])
	f.restore()
	d := f.done
	l.frames.Put(f)
	if tell {
		d.Done(call.Outcome{Class: call.Timeout})
	}
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
	f.stopTimer()
	if !f.counted {
		f.record(l.verdicts[o.Class])
	}
	f.restore()
	tell := f.state != abandoned
	if f.onStack() {
		f.state = over
	} else {
		l.frames.Put(f)
	}
	if tell {
		d.Done(o)
	}
}

// Cancel ends the call because its caller left: no verdict and the slot goes
// back, unless the file judges cancellations.
func (f *breakerFrame) Cancel() {
	l := f.layer
	if f.onStack() {
		f.state = abandoned
		return
	}
	f.stopTimer()
	if f.state == waiting {
		l.frames.Put(f)
		return
	}
	f.inner.Cancel()
	f.record(l.verdicts[call.Cancelled])
	f.restore()
	l.frames.Put(f)
}

func (f *breakerFrame) stopTimer() {
	if f.timed {
		f.timed = false
		f.layer.sched.Stop(f.timer)
	}
}

func (f *breakerFrame) record(v Verdict) {
	l := f.layer
	now := l.sched.Now()
	f.machine.record(now, &f.token, v)
	l.changed(now, f.machine, f.call.Request)
}

// restore leaves the call as it was found. A caller that gave up may have
// reused the call by now; then its sink is not ours to change.
func (f *breakerFrame) restore() {
	if f.layer.attempts && f.call.Sink == call.AttemptSink(f) {
		f.call.Sink = f.outside
	}
}

// changed tells everybody about a new state, and of an opening while open.
func (l *breakerLayer) changed(now time.Duration, m *Machine, request uint64) {
	if l.alarm == nil && m.state == l.seen && m.Opens == l.opens && len(l.machines) == 1 {
		return
	}
	l.tell(now, m, request)
}

func (l *breakerLayer) tell(now time.Duration, m *Machine, request uint64) {
	if l.alarm != nil {
		l.alarm.set(now)
	}
	worst, many := m.state, len(l.machines) > 1
	for _, other := range l.machines {
		worst = max(worst, other.state)
	}
	from := l.seen
	if worst == from && (many || m.Opens == l.opens) {
		return
	}
	l.seen, l.opens = worst, m.Opens
	l.state.Set(now, int64(worst))
	if l.probe != nil {
		l.probe(des.Observation{At: now, Source: l.source, What: "state", From: int(from), To: int(worst), Request: request})
	}
}

// breakerAlarm wakes the breaker when something happens by itself.
type breakerAlarm struct {
	layer *breakerLayer
	timer des.Timer
	at    time.Duration
	armed bool
}

var _ des.Event = (*breakerAlarm)(nil)

// set arms the alarm for the next instant that any machine waits for.
func (a *breakerAlarm) set(now time.Duration) {
	due := never
	for _, m := range a.layer.machines {
		due = min(due, m.Due())
	}
	if a.armed && a.at == due {
		return
	}
	if a.armed {
		a.layer.sched.Stop(a.timer)
		a.armed = false
	}
	if due < never {
		a.armed, a.at = true, due
		a.timer = a.layer.sched.After(max(0, due-now), des.Expire, a)
	}
}

// Fire lets the machines do what is due.
func (a *breakerAlarm) Fire() {
	a.armed = false
	now := a.layer.sched.Now()
	for _, m := range a.layer.machines {
		m.Tick(now)
		a.layer.changed(now, m, 0)
	}
	a.set(now)
}
