package resilience

import (
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
	"blastradius/sim/dist"
)

// outlierLayer puts the detector between a caller and the hosts.
//
// Its tick comes at the multiples of the interval since the start of the run,
// and only when there is something to do: it is armed by an answer and arms
// itself while a host is out or has a multiplier to lose. A tick that is left
// out would have changed nothing.
type outlierLayer struct {
	detector *detector
	verdicts [call.NumClasses]hostVerdict
	interval time.Duration
	sched    des.Scheduler
	next     call.Handler
	frames   call.Frames[outlierFrame]
	rand     dist.Rand // keyed anew for every draw; here so that it is not allocated
	armed    bool

	ejected  des.Gauge
	panics   int64
	rejected int64
}

type outlierFrame struct {
	passage
	layer *outlierLayer
	host  int
}

var (
	_ call.Handler  = (*outlierLayer)(nil)
	_ des.Event     = (*outlierLayer)(nil)
	_ call.Done     = (*outlierFrame)(nil)
	_ call.Canceler = (*outlierFrame)(nil)
)

// Layer builds the policy.
func (c *Outlier) Layer(env Env) call.Layer {
	return func(next call.Handler) call.Handler {
		l := &outlierLayer{
			detector: newDetector(c, env.Hosts, dist.Fold(env.Seed, dist.Hash(env.Source))), verdicts: hostVerdictsOf(c.Verdicts),
			interval: c.Interval, sched: env.Sched, next: next,
		}
		m := env.Meter
		m.Count("ejections", &l.detector.ejections)
		m.Level("ejected", &l.ejected)
		m.Count("panics", &l.panics)
		m.Count("overflow", &l.detector.overflow)
		m.Count("rejected", &l.rejected)
		m.Series("ejected", &l.ejected)
		return l
	}
}

// Start sends the call to a host.
func (l *outlierLayer) Start(c *call.Call, d call.Done) call.Canceler {
	host, panicked := l.detector.pick(&l.rand, c)
	if host < 0 {
		l.rejected++
		d.Done(call.Outcome{Class: call.Rejected, Reason: call.NoHost})
		return nil
	}
	if panicked {
		l.panics++
	}
	f := l.frames.Get()
	f.begin(d)
	f.layer, f.host = l, host
	c.Host = uint16(host) + 1
	if f.start(l.next, c, f); f.state == over {
		l.frames.Put(f)
		return nil
	}
	return f
}

// Done tells the detector how the host answered, and passes the answer on.
func (f *outlierFrame) Done(o call.Outcome) {
	l, d := f.layer, f.done
	l.record(f.host, o.Class)
	if f.onStack() {
		f.state = over
	} else {
		l.frames.Put(f)
	}
	d.Done(o)
}

// Cancel ends the call because its caller left, which says nothing about the
// host unless the file judges cancellations.
func (f *outlierFrame) Cancel() {
	l := f.layer
	f.inner.Cancel()
	l.record(f.host, call.Cancelled)
	l.frames.Put(f)
}

// record tells the detector of an answer that says something.
func (l *outlierLayer) record(host int, class call.Class) {
	v := l.verdicts[class]
	if v == hostNeutral {
		return
	}
	now := l.sched.Now()
	l.detector.record(now, host, v)
	if out := int64(l.detector.out); out != l.ejected.N() {
		l.ejected.Set(now, out)
	}
	l.arm(now)
}

// arm sets the next tick, unless it is set.
func (l *outlierLayer) arm(now time.Duration) {
	if !l.armed {
		l.armed = true
		l.sched.After(l.interval-now%l.interval, des.Expire, l)
	}
}

// Fire is the tick.
func (l *outlierLayer) Fire() {
	now := l.sched.Now()
	l.armed = false
	l.detector.tick(now)
	l.ejected.Set(now, int64(l.detector.out))
	if !l.detector.idle() {
		l.arm(now)
	}
}
