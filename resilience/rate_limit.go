package resilience

import (
	"strings"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
	"blastradius/sim/spec"
)

// RateLimit bounds the calls over time. A call beyond the limit is refused, or
// waits for its turn, first come first served.
type RateLimit struct {
	Limit    Limiter       `yaml:"limit" short:"true" required:"true" also:"rate,limiter,algorithm,limitForPeriod,limit_for_period,qps" help:"how many calls may pass over time"`
	WhenFull string        `yaml:"when_full" enum:"refuse,wait" help:"what becomes of a call beyond the limit"`
	MaxWait  time.Duration `yaml:"max_wait" unit:"duration" min:"0s" forever:"true" also:"timeoutDuration,timeout_duration,max_wait_time,max_delay" help:"a call whose turn is later than this is refused at once; for when_full: wait"`
}

// What becomes of a call beyond a limit.
const (
	WhenFullRefuse = "refuse"
	WhenFullWait   = "wait"
)

func newRateLimit() Config { return &RateLimit{WhenFull: WhenFullRefuse, MaxWait: -1} }

var _ Config = (*RateLimit)(nil)

// Validate passes on what the limit finds, and warns of fields without use.
func (c *RateLimit) Validate() []spec.Problem {
	if c.Limit == nil {
		return []spec.Problem{{Field: "limit", Text: "limit is missing", Hint: "limit: 100/s"}}
	}
	out := c.Limit.Validate()
	for i := range out {
		out[i].Field = strings.TrimSuffix("limit."+out[i].Field, ".")
	}
	if c.WhenFull == WhenFullRefuse && c.MaxWait != -1 {
		out = append(out, spec.Problem{Field: "max_wait", Text: "max_wait is only for when_full: wait", Hint: "when_full: wait, or drop max_wait", Warning: true})
	}
	if c.WhenFull == WhenFullWait && c.Limit.Room() > 0 {
		out = append(out, spec.Problem{Field: "limit", Text: "size is never used: with when_full: wait the bucket has no bound", Hint: "max_wait bounds the wait; or drop when_full", Warning: true})
	}
	return out
}

// Text is e.g. "100/s, burst 20, wait up to 1s".
func (c *RateLimit) Text() string {
	out := c.Limit.Text()
	switch {
	case c.WhenFull != WhenFullWait:
	case c.MaxWait < 0:
		out += ", wait forever"
	default:
		out += ", wait up to " + brief(c.MaxWait)
	}
	return out
}

// Help says what the kind is.
func (*RateLimit) Help() string { return "a bound on the calls over time" }

// Example is a line of YAML.
func (*RateLimit) Example() string {
	return "{rate_limit: {token_bucket: {rate: 100/s, burst: 20}, when_full: wait, max_wait: 250ms}}"
}

// Metrics are the figures of the layer.
func (*RateLimit) Metrics() []spec.Metric {
	return []spec.Metric{
		{Name: "limited", Unit: spec.Count, Good: spec.LowerBetter, Help: "calls it turned away: the limit was used up, and their turn too far off"},
		{Name: "limited_rate", Unit: spec.Share, Good: spec.LowerBetter, Help: "limited over the calls that came to it"},
		{Name: "waiting_max", Unit: spec.Count, Good: spec.LowerBetter, Help: "most calls that waited for their turn at once"},
		{Name: "wait_p99", Unit: spec.Seconds, Good: spec.LowerBetter, Help: "99th percentile of the wait of those it let pass, 0 included"},
	}
}

// Layer builds the policy.
func (c *RateLimit) Layer(env Env) call.Layer {
	return func(next call.Handler) call.Handler {
		l := &rateLimitLayer{allowance: c.Limit.New(), sched: env.Sched, next: next, room: int64(c.Limit.Room()), maxWait: -1}
		if c.WhenFull == WhenFullWait {
			l.room, l.maxWait = -1, c.MaxWait
		}
		m := env.Meter
		m.Count("limited", &l.limited)
		m.Share("limited_rate", &l.limited, &l.asked, "no call came to it")
		m.Peak("waiting", &l.waiting.Gauge)
		m.Times("wait", &l.waits, "p99")
		m.Audit("", &l.waiting)
		m.Series("waiting", &l.waiting.Gauge)
		return l
	}
}

// rateLimitLayer is a limit and the queue before it. One timer serves the whole
// queue: it stands at the turn of whoever is first. When each is to wait is
// known on arrival, and can only become earlier because others leave.
type rateLimitLayer struct {
	allowance Allowance
	sched     des.Scheduler
	next      call.Handler
	frames    call.Frames[rateLimitFrame]
	room      int64         // calls that may wait; negative is no bound
	maxWait   time.Duration // negative is no bound

	head, tail *rateLimitFrame
	timer      des.Timer
	turn       bool // the first ones are being let in

	asked, limited int64
	waiting        des.Station
	waits          des.TimesHist
}

// rateLimitFrame is a call that had to wait; others pass without a frame.
type rateLimitFrame struct {
	passage
	layer          *rateLimitLayer
	call           *call.Call
	since          time.Duration
	before, behind *rateLimitFrame // in the queue
}

var (
	_ call.Handler  = (*rateLimitLayer)(nil)
	_ des.Event     = (*rateLimitLayer)(nil)
	_ call.Done     = (*rateLimitFrame)(nil)
	_ call.Canceler = (*rateLimitFrame)(nil)
)

// Start lets the call in when the limit does and nobody waits.
func (l *rateLimitLayer) Start(c *call.Call, d call.Done) call.Canceler {
	now := l.sched.Now()
	l.asked++
	if l.head == nil && l.allowance.Take(now) {
		l.waits.Record(0)
		return l.next.Start(c, d)
	}
	if !l.mayWait(now) {
		l.limited++
		d.Done(call.Outcome{Class: call.Rejected, Reason: call.RateLimited})
		return nil
	}
	f := l.frames.Get()
	f.begin(d)
	f.layer, f.call, f.since, f.state = l, c, now, waiting
	l.join(f, now)
	return f
}

// mayWait reports whether there is a place in the queue and the turn it leads to
// is near enough.
func (l *rateLimitLayer) mayWait(now time.Duration) bool {
	n := l.waiting.N()
	if l.room >= 0 {
		return n < l.room
	}
	return l.maxWait < 0 || l.allowance.Next(now, n)-now <= l.maxWait
}

func (l *rateLimitLayer) join(f *rateLimitFrame, now time.Duration) {
	f.before, f.behind = l.tail, nil
	if l.tail != nil {
		l.tail.behind = f
	} else {
		l.head = f
	}
	l.tail = f
	l.waiting.Enter(now)
	if l.head == f && !l.turn {
		l.wake(now)
	}
}

func (l *rateLimitLayer) leave(f *rateLimitFrame, now time.Duration) {
	if f.before != nil {
		f.before.behind = f.behind
	} else {
		l.head = f.behind
	}
	if f.behind != nil {
		f.behind.before = f.before
	} else {
		l.tail = f.before
	}
	l.waiting.Leave(now, f.since)
}

// wake sets the timer for the first in the queue. A turn is a place that comes
// free, so it comes before whoever leaves or arrives at that instant.
func (l *rateLimitLayer) wake(now time.Duration) {
	l.timer = l.sched.After(l.allowance.Next(now, 0)-now, des.Release, l)
}

// Fire lets in those whose turn it is. What they set off may come back here, to
// join the queue or to leave it.
func (l *rateLimitLayer) Fire() {
	now := l.sched.Now()
	l.timer, l.turn = des.Timer{}, true
	for l.head != nil && l.allowance.Take(now) {
		f := l.head
		l.leave(f, now)
		l.waits.Record(now - f.since)
		if f.start(l.next, f.call, f); f.state == over {
			l.frames.Put(f)
		}
	}
	l.turn = false
	if l.head != nil {
		l.wake(now)
	}
}

// Done passes the answer on.
func (f *rateLimitFrame) Done(o call.Outcome) {
	d, tell := f.done, f.state != abandoned
	if f.onStack() {
		f.state = over
	} else {
		f.layer.frames.Put(f)
	}
	if tell {
		d.Done(o)
	}
}

// Cancel ends the call, or its wait, because its caller left. Those behind it
// move up: what it would have taken of the limit is theirs.
func (f *rateLimitFrame) Cancel() {
	l := f.layer
	switch {
	case f.onStack():
		f.state = abandoned
		return
	case f.state == waiting:
		if l.leave(f, l.sched.Now()); l.head == nil {
			l.sched.Stop(l.timer)
			l.timer = des.Timer{}
		}
	default:
		f.inner.Cancel()
	}
	l.frames.Put(f)
}
