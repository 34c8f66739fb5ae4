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

// Validate has nothing to add to the ranges of the fields.
func (*Bulkhead) Validate() []spec.Problem { return nil }

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
	switch {
	case c.MaxWait < 0:
		out += ", wait forever"
	case c.MaxWait > 0:
		out += ", wait " + c.MaxWait.String()
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
	pool *des.Pool
	next call.Handler
	free *bulkheadFrame
	shed int64
}

type bulkheadFrame struct {
	passage
	layer  *bulkheadLayer
	call   *call.Call
	permit des.Waiter
	next   *bulkheadFrame
}

// Start lets the call in when there is a permit.
func (l *bulkheadLayer) Start(c *call.Call, d call.Done) call.Canceler {
	f := l.get()
	f.done = d
	switch l.pool.Acquire(&f.permit, f) {
	case des.Granted:
		if f.enter(c); f.state == over {
			l.put(f)
			return nil
		}
	case des.Queued:
		f.state, f.call = waiting, c
	default:
		l.put(f)
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
		f.layer.put(f)
	}
}

// Expired turns away a call that waited too long.
func (f *bulkheadFrame) Expired() {
	l, d := f.layer, f.done
	l.put(f)
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
		l.put(f)
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
		f.layer.put(f)
	default:
		f.inner.Cancel()
		f.layer.pool.Release(&f.permit)
		f.layer.put(f)
	}
}

func (l *bulkheadLayer) get() *bulkheadFrame {
	f := l.free
	if f == nil {
		frames := make([]bulkheadFrame, chunk)
		for i := range frames {
			frames[i].layer = l
			l.put(&frames[i])
		}
		f = l.free
	}
	l.free = f.next
	return f
}

func (l *bulkheadLayer) put(f *bulkheadFrame) {
	f.passage, f.call = passage{}, nil
	f.next = l.free
	l.free = f
}
