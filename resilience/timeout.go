package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
	"blastradius/sim/spec"
)

// Timeout ends an attempt that takes too long and answers timeout. A reply due
// exactly at the limit is in time.
type Timeout struct {
	After     time.Duration `yaml:"after" unit:"duration" min:"0s" open:"min" short:"true" required:"true" also:"timeout,timeoutDuration,timeout_duration" help:"limit on what is inside"`
	Mode      string        `yaml:"mode" enum:"cancel,abandon" also:"cancelRunningFuture" help:"cancel ends the work; abandon frees the caller alone and the work goes on"`
	Propagate bool          `yaml:"propagate" unit:"flag" help:"what is inside sees the limit as its deadline, and no limit is longer than what the caller has left"`
	Useful    time.Duration `yaml:"minimum_useful" unit:"duration" min:"0s" none:"true" help:"a call whose caller has less than this left is refused at once"`
}

// What a timeout does with the work.
const (
	ModeCancel  = "cancel"
	ModeAbandon = "abandon"
)

func newTimeout() Config { return &Timeout{Mode: ModeCancel} }

var _ Config = (*Timeout)(nil)

// Abandons reports whether the work goes on when the limit has passed.
func (c *Timeout) Abandons() bool { return c.Mode == ModeAbandon }

// Validate finds a limit that is never enough.
func (c *Timeout) Validate() []spec.Problem {
	if c.Useful > c.After && c.After > 0 {
		return []spec.Problem{{Field: "minimum_useful", Text: fmt.Sprintf("minimum_useful %s is above the limit %s: what is useful is never waited for", brief(c.Useful), brief(c.After)), Hint: "lower minimum_useful or raise after"}}
	}
	return nil
}

// Layer builds the policy.
func (c *Timeout) Layer(env Env) call.Layer {
	des.NameConstant(env.Sched, c.After, des.Expire)
	return func(next call.Handler) call.Handler {
		l := &timeoutLayer{sched: env.Sched, limit: c.After, next: next}
		o := &looseTimeout{timeoutLayer: l, abandons: c.Abandons(), propagates: c.Propagate, useful: c.Useful, goroutines: env.Goroutines}
		if o.goroutines == nil {
			o.goroutines = new(des.Gauge)
		}
		m := env.Meter
		m.Count("fired", &l.fired)
		m.Count("late", &o.late)
		m.Count("refused", &o.refused)
		m.Level("abandoned", &o.abandoned)
		if o.abandons || o.propagates || o.useful > 0 {
			return o
		}
		return l
	}
}

// Metrics are the figures of the layer.
func (*Timeout) Metrics() []spec.Metric {
	return []spec.Metric{
		{Name: "fired", Unit: spec.Count, Good: spec.LowerBetter, Help: "attempts that the timeout ended or abandoned"},
		{Name: "late", Unit: spec.Count, Good: spec.LowerBetter, Help: "answers of abandoned work, which nobody waited for any more"},
		{Name: "refused", Unit: spec.Count, Good: spec.LowerBetter, Help: "calls refused at once: their caller had less than minimum_useful left"},
		{Name: "abandoned_mean", Unit: spec.Count, Good: spec.LowerBetter, Help: "time average of abandoned work that goes on"},
		{Name: "abandoned_max", Unit: spec.Count, Good: spec.LowerBetter, Help: "most abandoned work that went on at once"},
	}
}

// Text is the limit, and what is not the default.
func (c *Timeout) Text() string {
	out := brief(c.After)
	if c.Abandons() {
		out += ", abandons"
	}
	if c.Propagate {
		out += ", propagates"
	}
	if c.Useful > 0 {
		out += ", useful from " + brief(c.Useful)
	}
	return out
}

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
