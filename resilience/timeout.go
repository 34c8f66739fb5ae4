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
func (c *Timeout) Text() string { return brief(c.After) }

// Help says what the kind is.
func (*Timeout) Help() string {
	return "a limit on what is inside: an attempt, or the whole of a retry"
}

// Example is a line of YAML.
func (*Timeout) Example() string { return "{timeout: 1.5s}" }

type timeoutLayer struct {
	sched  des.Scheduler
	limit  time.Duration
	next   call.Handler
	frames call.Frames[timeoutFrame]
	fired  int64
}

type timeoutFrame struct {
	passage
	layer *timeoutLayer
	timer des.Timer
}

var (
	_ call.Handler  = (*timeoutLayer)(nil)
	_ call.Done     = (*timeoutFrame)(nil)
	_ call.Canceler = (*timeoutFrame)(nil)
	_ des.Event     = (*timeoutFrame)(nil)
)

// Start lets the call in and sets its limit.
func (l *timeoutLayer) Start(c *call.Call, d call.Done) call.Canceler {
	f := l.frames.Get()
	f.begin(d)
	f.layer = l
	f.timer = l.sched.After(l.limit, des.Expire, f)
	if f.start(l.next, c, f); f.state == over {
		l.frames.Put(f)
		return nil
	}
	return f
}

// Done is the answer in time.
func (f *timeoutFrame) Done(o call.Outcome) {
	l, d := f.layer, f.done
	l.sched.Stop(f.timer)
	if f.onStack() {
		f.state = over
	} else {
		l.frames.Put(f)
	}
	d.Done(o)
}

// Fire is the limit. What the cancelled work gives back may end our caller;
// then there is nobody to tell.
func (f *timeoutFrame) Fire() {
	l, d := f.layer, f.done
	l.fired++
	f.state = busy
	f.inner.Cancel()
	tell := f.state == busy
	l.frames.Put(f)
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
	f.layer.frames.Put(f)
}
