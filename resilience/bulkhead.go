package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
	"blastradius/sim/spec"
)

// Bulkhead bounds the calls inside: each holds a permit from its grant until
// the layer inside returns.
type Bulkhead struct {
	Permits int           `yaml:"permits" unit:"count" min:"1" short:"true" required:"true" also:"maxConcurrentCalls,max_concurrent_calls,max_concurrent,size,limit" help:"calls inside at once"`
	MaxWait time.Duration `yaml:"max_wait" unit:"duration" min:"0s" forever:"true" also:"queue_timeout,maxWaitDuration,max_wait_duration" help:"how long a call waits for a permit; 0s turns it away at once"`
	Queue   int           `yaml:"queue" unit:"count" min:"0" unbounded:"true" also:"max_queue,queue_size" help:"calls that may wait; for max_wait above 0s"`
}

var _ Config = (*Bulkhead)(nil)

// Validate warns of a queue and a wait that cancel each other.
func (c *Bulkhead) Validate() []spec.Problem {
	switch {
	case c.MaxWait == 0 && c.Queue > 0:
		return []spec.Problem{{Field: "queue", Text: fmt.Sprintf("queue %d is never used: with max_wait 0s nobody waits", c.Queue), Hint: "max_wait: 250ms, or drop queue", Warning: true}}
	case c.MaxWait != 0 && c.Queue == 0:
		return []spec.Problem{{Field: "max_wait", Text: "max_wait is never used: with queue 0 nobody waits", Hint: "queue: unbounded, or drop max_wait", Warning: true}}
	}
	return nil
}

// Layer builds the policy.
func (c *Bulkhead) Layer(env Env) call.Layer {
	return func(next call.Handler) call.Handler {
		l := &bulkheadLayer{pool: des.NewPool(env.Sched, c.Permits, c.Queue, c.MaxWait), next: next}
		m := env.Meter
		m.Level("in_use", &l.pool.InUse.Gauge)
		m.Saturation("saturation", &l.pool.InUse.Gauge, int64(c.Permits))
		m.Peak("waiting", &l.pool.Waiting.Gauge)
		m.Times("wait", &l.pool.Waits, "p99")
		m.Count("shed", &l.shed)
		m.Share("shed_rate", &l.shed, &l.pool.Asked, "no call came to it")
		m.Audit("", &l.pool.InUse)
		m.Series("in_use", &l.pool.InUse.Gauge)
		return l
	}
}

// Metrics are the figures of the layer.
func (*Bulkhead) Metrics() []spec.Metric {
	return []spec.Metric{
		{Name: "in_use_mean", Unit: spec.Count, Help: "time average of permits in use"},
		{Name: "in_use_max", Unit: spec.Count, Help: "most permits in use at once"},
		{Name: "saturation", Unit: spec.Share, Good: spec.LowerBetter, Help: "in_use_mean over the permits"},
		{Name: "waiting_max", Unit: spec.Count, Good: spec.LowerBetter, Help: "most calls that waited for a permit at once"},
		{Name: "wait_p99", Unit: spec.Seconds, Good: spec.LowerBetter, Help: "99th percentile of the wait of those who got a permit, 0 included"},
		{Name: "shed", Unit: spec.Count, Good: spec.LowerBetter, Help: "calls it turned away: no permit and no place to wait, or max_wait passed"},
		{Name: "shed_rate", Unit: spec.Share, Good: spec.LowerBetter, Help: "shed over the calls that came to it"},
	}
}

// Text is e.g. "20 permits, wait 250ms".
func (c *Bulkhead) Text() string {
	out := fmt.Sprintf("%d permits", c.Permits)
	if c.Permits == 1 {
		out = "1 permit"
	}
	switch {
	case c.MaxWait < 0:
		out += ", wait forever"
	case c.MaxWait > 0:
		out += ", wait " + brief(c.MaxWait)
	}
	if c.MaxWait != 0 && c.Queue >= 0 {
		out += fmt.Sprintf(", queue %d", c.Queue)
	}
	return out
}

// Help says what the kind is.
func (*Bulkhead) Help() string { return "a bound on the calls inside at once" }

// Example is a line of YAML.
func (*Bulkhead) Example() string { return "{bulkhead: {permits: 20, max_wait: 250ms}}" }

type bulkheadLayer struct {
	pool   *des.Pool
	next   call.Handler
	frames call.Frames[bulkheadFrame]
	shed   int64
}

type bulkheadFrame struct {
	passage
	layer  *bulkheadLayer
	call   *call.Call // while it waits
	permit des.Waiter
}

var (
	_ call.Handler  = (*bulkheadLayer)(nil)
	_ call.Done     = (*bulkheadFrame)(nil)
	_ call.Canceler = (*bulkheadFrame)(nil)
	_ des.Holder    = (*bulkheadFrame)(nil)
)

// Start lets the call in when there is a permit.
func (l *bulkheadLayer) Start(c *call.Call, d call.Done) call.Canceler {
	f := l.frames.Get()
	f.begin(d)
	f.layer = l
	switch l.pool.Acquire(&f.permit, f) {
	case des.Granted:
		if f.enter(c); f.state == over {
			l.frames.Put(f)
			return nil
		}
	case des.Queued:
		f.state, f.call = waiting, c
	default:
		l.frames.Put(f)
		l.shed++
		d.Done(call.Outcome{Class: call.Rejected, Reason: call.BulkheadFull})
		return nil
	}
	return f
}

// enter starts the call, which holds a permit.
func (f *bulkheadFrame) enter(c *call.Call) {
	if f.start(f.layer.next, c, f) {
		f.layer.pool.Release(&f.permit)
	}
}

// Granted lets in a call that waited.
func (f *bulkheadFrame) Granted() {
	if f.enter(f.call); f.state == over {
		f.layer.frames.Put(f)
	}
}

// Expired turns away a call that waited too long.
func (f *bulkheadFrame) Expired() {
	l, d := f.layer, f.done
	l.frames.Put(f)
	l.shed++
	d.Done(call.Outcome{Class: call.Rejected, Reason: call.BulkheadWait})
}

// Done gives the permit back and passes the answer on.
func (f *bulkheadFrame) Done(o call.Outcome) {
	l, d := f.layer, f.done
	inStart := f.onStack()
	if f.state != abandoned {
		f.state = busy
	}
	l.pool.Release(&f.permit) // whoever gets it may end our caller
	tell := f.state == busy
	if inStart {
		f.state = over
	} else {
		l.frames.Put(f)
	}
	if tell {
		d.Done(o)
	}
}

// Cancel ends the call, or its wait, because its caller left.
func (f *bulkheadFrame) Cancel() {
	switch {
	case f.onStack():
		f.state = abandoned
	case f.state == waiting:
		f.layer.pool.Leave(&f.permit)
		f.layer.frames.Put(f)
	default:
		f.inner.Cancel()
		f.layer.pool.Release(&f.permit)
		f.layer.frames.Put(f)
	}
}
