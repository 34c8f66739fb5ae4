package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
	"blastradius/sim/spec"
)

// Bulkhead bounds the calls inside: each holds a permit, or a thread, from its
// grant until the layer inside returns, or until its work ends.
type Bulkhead struct {
	Permits int           `yaml:"permits" unit:"count" min:"1" short:"true" also:"maxConcurrentCalls,max_concurrent_calls,max_concurrent,max_requests,size,limit" help:"calls inside at once"`
	MaxWait time.Duration `yaml:"max_wait" unit:"duration" min:"0s" forever:"true" also:"queue_timeout,maxWaitDuration,max_wait_duration" help:"how long a call waits for a permit; 0s turns it away at once"`
	Queue   int           `yaml:"queue" unit:"count" min:"0" unbounded:"true" also:"max_queue,queue_size" help:"calls that may wait; for max_wait above 0s"`
	Order   string        `yaml:"order" enum:"fifo,lifo" help:"who of those that wait is next: the first that came, or the last"`
	Release string        `yaml:"release" enum:"on_caller_return,on_work_done" help:"when a permit comes back: when the caller is told, or when the work has ended that a timeout inside abandoned"`
	Threads *Threads      `yaml:"threads" also:"pool,thread_pool,executor" help:"a thread pool in place of permits: each call holds a thread until its work ends"`
}

// Who is next.
const (
	OrderFIFO = "fifo"
	OrderLIFO = "lifo"
)

// When a permit comes back.
const (
	OnCallerReturn = "on_caller_return"
	OnWorkDone     = "on_work_done"
)

func newBulkhead() Config {
	return &Bulkhead{Queue: -1, Order: OrderFIFO, Release: OnCallerReturn}
}

var _ Config = (*Bulkhead)(nil)

// Places is how many calls it lets in at once at most.
func (c *Bulkhead) Places() int {
	if c.Threads != nil {
		return c.Threads.most()
	}
	return c.Permits
}

// Patience is how long a call waits for a place: 0 is not at all, negative for
// ever.
func (c *Bulkhead) Patience() time.Duration {
	switch {
	case c.Threads == nil:
		return c.MaxWait
	case c.Threads.Queue == 0:
		return 0
	}
	return -1
}

// HoldsWork reports whether a place is held until the work has ended, also when
// its caller was told before.
func (c *Bulkhead) HoldsWork() bool { return c.Threads != nil || c.Release == OnWorkDone }

// Validate asks for permits or threads, and warns of settings that cancel each
// other.
func (c *Bulkhead) Validate() []spec.Problem {
	warn := func(field, text, hint string) spec.Problem {
		return spec.Problem{Field: field, Text: text, Hint: hint, Warning: true}
	}
	if c.Threads != nil {
		return c.Threads.validate(c)
	}
	var out []spec.Problem
	if c.Permits == 0 {
		out = append(out, spec.Problem{Text: "a bulkhead needs permits or threads", Hint: "permits: 20, or threads: {core: 9, max: 10}"})
	}
	switch {
	case c.MaxWait == 0 && c.Queue > 0:
		out = append(out, warn("queue", fmt.Sprintf("queue %d is never used: with max_wait 0s nobody waits", c.Queue), "max_wait: 250ms, or drop queue"))
	case c.MaxWait != 0 && c.Queue == 0:
		out = append(out, warn("max_wait", "max_wait is never used: with queue 0 nobody waits", "queue: unbounded, or drop max_wait"))
	}
	if c.Order == OrderLIFO && (c.MaxWait == 0 || c.Queue == 0) {
		out = append(out, warn("order", "order lifo says nothing: nobody waits", "max_wait: 250ms, or drop order"))
	}
	return out
}

// pool makes the permits or threads.
func (c *Bulkhead) pool(s des.Scheduler) *des.Pool {
	var p *des.Pool
	if t := c.Threads; t != nil {
		p = des.NewThreads(s, t.Core, t.most(), t.Queue, t.KeepAlive)
	} else {
		p = des.NewPool(s, c.Permits, c.Queue, c.MaxWait)
	}
	if c.Order == OrderLIFO {
		p.ServeNewest()
	}
	return p
}

// Layer builds the policy.
func (c *Bulkhead) Layer(env Env) call.Layer {
	return func(next call.Handler) call.Handler {
		l := &bulkheadLayer{pool: c.pool(env.Sched), holdsWork: c.HoldsWork(), next: next}
		m := env.Meter
		m.Level("in_use", &l.pool.InUse.Gauge)
		m.Saturation("saturation", &l.pool.InUse.Gauge, int64(c.Places()))
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
		{Name: "in_use_mean", Unit: spec.Count, Help: "time average of permits in use, or of busy threads"},
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
	order := ""
	if c.Order == OrderLIFO {
		order = ", last in first out"
	}
	if c.Threads != nil {
		return c.Threads.text() + order
	}
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
	out += order
	if c.Release == OnWorkDone {
		out += ", held until the work is done"
	}
	return out
}

// Help says what the kind is.
func (*Bulkhead) Help() string { return "a bound on the calls inside at once" }

// Example is a line of YAML.
func (*Bulkhead) Example() string { return "{bulkhead: {permits: 20, max_wait: 250ms}}" }

type bulkheadLayer struct {
	pool      *des.Pool
	holdsWork bool
	next      call.Handler
	frames    call.Frames[bulkheadFrame]
	shed      int64
}

type bulkheadFrame struct {
	passage
	layer  *bulkheadLayer
	call   *call.Call // while it waits
	permit des.Waiter
	work   *workHold // where permits are held until the work is done
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
	if l.holdsWork && f.work == nil {
		f.work = &workHold{frame: f}
	}
	switch l.pool.Acquire(&f.permit, f) {
	case des.Granted:
		if f.enter(c); f.state == over {
			f.free()
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
	if f.work != nil {
		c = f.work.begin(c)
	}
	if f.start(f.layer.next, c, f) && f.due() {
		f.layer.pool.Release(&f.permit)
	}
}

// due reports whether the permit goes back now, and not when the work is done.
func (f *bulkheadFrame) due() bool { return f.work == nil || f.work.free() }

// free gives the frame back, now or when the work is done.
func (f *bulkheadFrame) free() {
	if f.work == nil || f.work.over() {
		f.layer.frames.Put(f)
	}
}

// Granted lets in a call that waited.
func (f *bulkheadFrame) Granted() {
	if f.enter(f.call); f.state == over {
		f.free()
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
	if f.due() {
		l.pool.Release(&f.permit) // whoever gets it may end our caller
	}
	tell := f.state == busy
	if inStart {
		f.state = over
	} else {
		f.free()
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
		if f.due() {
			f.layer.pool.Release(&f.permit)
		}
		f.free()
	}
}
