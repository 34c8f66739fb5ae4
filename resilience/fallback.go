package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
	"blastradius/sim/dist"
	"blastradius/sim/spec"
)

// Fallback answers in place of a call that failed. Every failure and every
// refusal takes the same way. Its answers are marked: the call is degraded.
type Fallback struct {
	Serve      string        `yaml:"serve" enum:"cached,degraded,constant,queue,dependency" short:"true" help:"an old answer, a plain one, a fixed one, a promise to do it later, or what another dependency answers"`
	Hit        float64       `yaml:"hit" unit:"share" min:"0%" max:"100%" help:"share of the calls whose answer is in the cache; for serve: cached"`
	MaxAge     time.Duration `yaml:"max_age" unit:"duration" min:"0s" also:"ttl,max_stale,maxAge" help:"oldest answer served, any when omitted; for serve: cached"`
	Keys       *Keys         `yaml:"keys" help:"what is asked for: each key has an answer of its own age, and one that was never asked for has none; one key when omitted; for serve: cached"`
	Size       int           `yaml:"size" unit:"count" min:"1" help:"writes that may wait; for serve: queue"`
	Drain      float64       `yaml:"drain" unit:"rate" min:"0/s" open:"min" help:"writes done later, per time; for serve: queue"`
	Dependency string        `yaml:"dependency" unit:"name" also:"backup,alternative,secondary" help:"the dependency that is called instead, through its own stack; naming one is serve: dependency"`
	Latency    time.Duration `yaml:"latency" unit:"duration" min:"0s" help:"time the fallback takes; what another dependency takes comes before"`
}

// What a fallback serves.
const (
	ServeCached     = "cached"
	ServeDegraded   = "degraded"
	ServeConstant   = "constant"
	ServeQueue      = "queue"
	ServeDependency = "dependency"
)

// Defaults of serve: queue.
const (
	defaultQueueSize = 1000
	defaultDrain     = 10 // per second
)

func newFallback() Config {
	return &Fallback{Serve: ServeDegraded, Hit: 1, Size: defaultQueueSize, Drain: defaultDrain}
}

var _ Config = (*Fallback)(nil)

// Complete settles what the given fields imply: a dependency is named to be
// served.
func (c *Fallback) Complete() {
	if c.Dependency != "" && c.Serve == ServeDegraded {
		c.Serve = ServeDependency
	}
}

// Validate asks for the dependency to serve, and warns of fields that the way of
// serving does not use.
func (c *Fallback) Validate() []spec.Problem {
	var out []spec.Problem
	if c.Serve == ServeDependency && c.Dependency == "" {
		out = append(out, spec.Problem{Field: "serve", Text: "serve: dependency names none", Hint: "dependency: NAME"})
	}
	unused := func(field string, serve string) {
		out = append(out, spec.Problem{Field: field, Text: field + " is only for serve: " + serve, Hint: "drop it, or serve: " + serve, Warning: true})
	}
	if c.Serve != ServeCached {
		if c.Hit != 1 {
			unused("hit", ServeCached)
		}
		if c.MaxAge != 0 {
			unused("max_age", ServeCached)
		}
		if c.Keys != nil {
			unused("keys", ServeCached)
		}
	}
	if c.Serve != ServeDependency && c.Dependency != "" {
		unused("dependency", ServeDependency)
	}
	if c.Serve != ServeQueue {
		if c.Size != defaultQueueSize {
			unused("size", ServeQueue)
		}
		if c.Drain != defaultDrain {
			unused("drain", ServeQueue)
		}
	}
	return out
}

// Text is e.g. "cached, hit 90%, max_age 10m".
func (c *Fallback) Text() string {
	out := c.Serve
	switch c.Serve {
	case ServeCached:
		out += ", hit " + percent(c.Hit)
		if c.MaxAge > 0 {
			out += ", max_age " + brief(c.MaxAge)
		}
		if c.Keys != nil {
			out += ", " + c.Keys.text()
		}
	case ServeDependency:
		out += " " + c.Dependency
	case ServeQueue:
		out += fmt.Sprintf(" of %d, drained at %g/s", c.Size, c.Drain)
	}
	if c.Latency > 0 {
		out += ", takes " + brief(c.Latency)
	}
	return out
}

// Help says what the kind is.
func (*Fallback) Help() string { return "an answer in place of a call that failed or was refused" }

// Example is a line of YAML.
func (*Fallback) Example() string { return "{fallback: {serve: cached, hit: 90%, max_age: 10m}}" }

// Metrics are the figures of the layer.
func (*Fallback) Metrics() []spec.Metric {
	return []spec.Metric{
		{Name: "served", Unit: spec.Count, Help: "calls it answered"},
		{Name: "degraded", Unit: spec.Count, Help: "calls it answered with a plain or a fixed answer"},
		{Name: "stale_age_mean", Unit: spec.Seconds, Good: spec.LowerBetter, Help: "mean age of the cached answers served"},
		{Name: "stale_age_max", Unit: spec.Seconds, Good: spec.LowerBetter, Help: "age of the oldest cached answer served"},
		{Name: "queued", Unit: spec.Count, Help: "writes it promised to do later"},
		{Name: "queue_lost", Unit: spec.Count, Good: spec.LowerBetter, Help: "writes that found its queue full, and failed"},
		{Name: "detours", Unit: spec.Count, Help: "calls it made to another dependency instead"},
		{Name: "misses", Unit: spec.Count, Good: spec.LowerBetter, Help: "calls it had no answer for, or one too old, or for which the other dependency failed too"},
	}
}

// Layer builds the policy.
func (c *Fallback) Layer(env Env) call.Layer {
	if c.Latency > 0 {
		des.NameConstant(env.Sched, c.Latency, des.Release)
	}
	return func(next call.Handler) call.Handler {
		l := &fallbackLayer{config: *c, sched: env.Sched, purpose: dist.Hash(env.Source), next: next}
		l.queue = newDrainQueue(c.Size, c.Drain)
		if c.Serve == ServeCached {
			l.cache = newCache(c.Keys)
		}
		if c.Serve == ServeDependency {
			l.other = nowhere{}
			if env.Dependency != nil {
				l.other = env.Dependency(c.Dependency)
			}
		}
		m := env.Meter
		m.Count("served", &l.served)
		m.Count("degraded", &l.degraded)
		m.Times("stale_age", &l.ages, "mean", "max")
		m.Count("queued", &l.queued)
		m.Count("queue_lost", &l.lost)
		m.Count("detours", &l.detours)
		m.Count("misses", &l.misses)
		return l
	}
}

type fallbackLayer struct {
	config  Fallback
	sched   des.Scheduler
	purpose uint64
	next    call.Handler
	frames  call.Frames[fallbackFrame]
	queue   drainQueue
	cache   cache
	other   call.Handler // another dependency; for serve: dependency

	served, degraded, queued, lost, detours, misses int64
	ages                                            des.TimesHist
}

type fallbackFrame struct {
	passage
	layer  *fallbackLayer
	call   *call.Call
	age    time.Duration // of the answer it will give
	timer  des.Timer
	failed call.Outcome // of the call itself, while the other dependency has it
	key    int32        // in the cache
	detour bool         // the other dependency has the call
}

var (
	_ call.Handler  = (*fallbackLayer)(nil)
	_ call.Done     = (*fallbackFrame)(nil)
	_ call.Canceler = (*fallbackFrame)(nil)
	_ des.Event     = (*fallbackFrame)(nil)
)

// Start passes the call on.
func (l *fallbackLayer) Start(c *call.Call, d call.Done) call.Canceler {
	f := l.frames.Get()
	f.begin(d)
	f.layer, f.call, f.age, f.timer, f.detour = l, c, 0, des.Timer{}, false
	f.key = l.cache.key(c)
	if f.start(l.next, c, f); f.state == over {
		l.frames.Put(f)
		return nil
	}
	return f
}

// Done passes a good answer on and replaces a bad one.
func (f *fallbackFrame) Done(o call.Outcome) {
	if f.detour {
		f.back(o)
		return
	}
	l := f.layer
	now := l.sched.Now()
	if o.Class == call.OK {
		l.cache.fill(f.key, now)
	}
	switch {
	case o.Class.Answered() || now > f.call.Deadline:
		f.end(o)
	case l.other != nil:
		f.divert(o)
	case f.find(now):
		f.answer()
	default:
		f.end(o)
	}
}

// find looks for an answer to the failed call and reports whether there is one.
func (f *fallbackFrame) find(now time.Duration) bool {
	l := f.layer
	switch l.config.Serve {
	case ServeCached:
		age, filled := l.cache.age(f.key, now)
		f.age = age
		if !filled || (l.config.MaxAge > 0 && age > l.config.MaxAge) || !l.hit(f.call) {
			l.misses++
			return false
		}
	case ServeQueue:
		if !l.queue.offer(now) {
			l.lost++
			return false
		}
		l.queued++
	}
	return true
}

// answer gives the answer that was found, after the time it takes.
func (f *fallbackFrame) answer() {
	if l := f.layer; l.config.Latency > 0 {
		f.state = waiting
		f.timer = l.sched.After(l.config.Latency, des.Release, f)
		return
	}
	f.serve()
}

// divert hands the failed call to the other dependency.
func (f *fallbackFrame) divert(o call.Outcome) {
	l := f.layer
	inStart := f.onStack()
	l.detours++
	f.detour, f.failed = true, o
	if f.start(l.other, f.call, f); f.state == over && !inStart {
		l.frames.Put(f)
	}
}

// back is the end of a detour. An answer is an answer, however the other
// dependency came by it; without one the call has failed as it did.
func (f *fallbackFrame) back(o call.Outcome) {
	switch {
	case f.state == abandoned:
		f.state = over
	case o.Class.Answered():
		f.age = o.Age
		f.answer()
	default:
		f.layer.misses++
		f.end(f.failed)
	}
}

// hit draws whether this call's answer is in the cache.
func (l *fallbackLayer) hit(c *call.Call) bool {
	if l.config.Hit >= 1 {
		return true
	}
	var r dist.Rand
	r.Key(c.Stream^l.purpose, c.Request)
	return r.Float64() < l.config.Hit
}

// Fire is the end of the time that the fallback takes.
func (f *fallbackFrame) Fire() { f.serve() }

// serve gives the answer that was found. It counts only now: a caller that left
// meanwhile was not served.
func (f *fallbackFrame) serve() {
	l := f.layer
	l.served++
	switch l.config.Serve {
	case ServeCached:
		l.ages.Record(f.age)
	case ServeDegraded, ServeConstant:
		l.degraded++
	case ServeDependency:
		if f.age > 0 {
			l.ages.Record(f.age)
		}
	}
	f.end(call.Outcome{Class: call.Degraded, Age: f.age})
}

// end answers.
func (f *fallbackFrame) end(o call.Outcome) {
	d := f.done
	if f.onStack() {
		f.state = over
	} else {
		f.layer.frames.Put(f)
	}
	d.Done(o)
}

// Cancel ends the call because its caller left.
func (f *fallbackFrame) Cancel() {
	switch {
	case f.onStack():
		f.state = abandoned
		return
	case f.state == waiting:
		f.layer.sched.Stop(f.timer)
	default:
		f.inner.Cancel()
	}
	f.layer.frames.Put(f)
}

// nowhere stands for another dependency where there are no others: a stack that
// runs alone. Every call of it fails.
type nowhere struct{}

// Start fails.
func (nowhere) Start(_ *call.Call, d call.Done) call.Canceler {
	d.Done(call.Outcome{Class: call.ConnectError})
	return nil
}
