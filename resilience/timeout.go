package resilience

import (
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
	"blastradius/sim/spec"
)

// Timeout ends an attempt that takes too long: it cancels the work and answers
// timeout. A reply due exactly at the limit is in time.
type Timeout struct {
	After time.Duration `yaml:"after" unit:"duration" min:"0s" open:"min" short:"true" required:"true" also:"timeout,timeoutDuration,timeout_duration" help:"limit on what is inside"`
}

var _ Config = (*Timeout)(nil)

// Validate has nothing to add to the range of the field.
func (*Timeout) Validate() []spec.Problem { return nil }

// Layer builds the policy.
func (c *Timeout) Layer(env Env) call.Layer {
	des.NameConstant(env.Sched, c.After, des.Expire)
	return func(next call.Handler) call.Handler {
		l := &timeoutLayer{sched: env.Sched, limit: c.After, next: next}
		env.Meter.Count("fired", &l.fired)
		return l
	}
}

// Metrics are the figures of the layer.
func (*Timeout) Metrics() []spec.Metric {
	return []spec.Metric{{Name: "fired", Unit: spec.Count, Good: spec.LowerBetter, Help: "attempts that the timeout ended"}}
}

// Text is the limit.
func (c *Timeout) Text() string { return c.After.String() }

// Help says what the kind is.
func (*Timeout) Help() string {
	return "a limit on what is inside: an attempt, or the whole of a retry"
}

// Example is a line of YAML.
func (*Timeout) Example() string { return "{timeout: 1.5s}" }

type timeoutLayer struct {
	sched des.Scheduler
	limit time.Duration
	next  call.Handler
	free  *timeoutFrame
	fired int64
}

type timeoutFrame struct {
	passage
	layer *timeoutLayer
	timer des.Timer
	next  *timeoutFrame
}

// Start lets the call in and sets its limit.
func (l *timeoutLayer) Start(c *call.Call, d call.Done) call.Canceler {
	f := l.get()
	f.done = d
	f.timer = l.sched.After(l.limit, des.Expire, f)
	if f.start(l.next, c, f) {
		l.sched.Stop(f.timer)
	}
	if f.state == over {
		l.put(f)
		return nil
	}
	return f
}

// Done is the answer in time.
func (f *timeoutFrame) Done(o call.Outcome) {
	l, d := f.layer, f.done
	l.sched.Stop(f.timer)
	tell := f.state != abandoned
	if f.onStack() {
		f.state = over
	} else {
		l.put(f)
	}
	if tell {
		d.Done(o)
	}
}

// Fire is the limit.
func (f *timeoutFrame) Fire() {
	l, d := f.layer, f.done
	l.fired++
	f.state = busy
	f.inner.Cancel()
	tell := f.state == busy
	l.put(f)
	if tell {
		d.Done(call.Outcome{Class: call.Timeout})
	}
}

// Cancel ends the call because its caller left.
func (f *timeoutFrame) Cancel() {
	if f.onStack() {
		f.state = abandoned
		return
	}
	f.layer.sched.Stop(f.timer)
	f.inner.Cancel()
	f.layer.put(f)
}

func (l *timeoutLayer) get() *timeoutFrame {
	f := l.free
	if f == nil {
		frames := make([]timeoutFrame, chunk)
		for i := range frames {
			frames[i].layer = l
			l.put(&frames[i])
		}
		f = l.free
	}
	l.free = f.next
	return f
}

func (l *timeoutLayer) put(f *timeoutFrame) {
	f.passage, f.timer = passage{}, des.Timer{}
	f.next = l.free
	l.free = f
}
