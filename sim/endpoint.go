package sim

import (
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
	"blastradius/sim/dist"
	"blastradius/sim/load"
)

// endpoint is one stream of requests.
type endpoint struct {
	name     string
	sys      *system
	arrivals load.Arrivals
	rand     dist.Rand // the arrivals' own stream
	last     time.Duration
	next     uint64 // number of the next request
	end      time.Duration

	deadline time.Duration // 0: none
	slo      time.Duration // 0: none
	good     time.Duration // what an answer must not exceed to be good; call.NoDeadline when there is neither
	steps    [][]target
	width    int // calls of the widest step

	requests call.Frames[request]
	accounts []account // by elementary window of the arrival
	warm     account   // arrivals of the warm-up
	parked   des.Gauge
	bins     [4][]int64 // by bin of the arrival: requests, live, degraded in time, lost
	fates    []fate     // by request, when blast radius is wanted
	digest   uint64
	direct   bool // it calls a dependency that has a fault
	worst    *Hurt
}

// target is a call that an endpoint makes.
type target struct {
	dep      *dependency
	optional bool
	stream   uint64
}

// account is what became of the requests that arrived in one window.
type account struct {
	requests    int64
	done        int64
	live        int64 // answered undegraded, client errors included
	liveInTime  int64
	degraded    int64
	inTime      int64 // answered, live or degraded, within the SLO or deadline
	clientError int64
	failures    [numFailures]int64
	latency     des.Hist
	lateInside  int64 // in flight at the end of the run and past the SLO already
}

// failure says why a request failed: the class of the call that failed it, or
// one of our own.
type failure uint8

const (
	failDeadline failure = iota
	failServerError
	failThrottled
	failConnect
	failTimeout
	failRejected
	failWorkers
	numFailures
)

var failureNames = [numFailures]string{"deadline", "server_error", "throttled", "connect_error", "timeout", "rejected", "workers"}

// failureOf is the failure that a failed call makes of its request.
func failureOf(c call.Class) failure {
	switch c {
	case call.ServerError:
		return failServerError
	case call.Throttled:
		return failThrottled
	case call.ConnectError:
		return failConnect
	case call.Timeout:
		return failTimeout
	default:
		return failRejected
	}
}

// request is one request's frame, kept small as an attempt's is.
type request struct {
	ep       *endpoint
	arrived  time.Duration
	timer    des.Timer
	more     *furtherParts // only where there are any
	window   int32
	bin      int32
	step     int32
	pending  int32  // calls of the step that have not returned
	round    uint32 // generation: the frame is reused, late returns of Start must not touch it
	degraded bool
	refused  bool // a call was answered with client_error
	started  bool // has a worker
	active   bool
	first    operation // of each step
}

// furtherParts are what only some requests need.
type furtherParts struct {
	worker des.Waiter  // where the process has workers
	calls  []operation // of each step, beyond the first
}

// operation is one call of a request: the caller's end of a stack.
type operation struct {
	req     *request
	cancel  call.Canceler
	started time.Duration
	call    call.Call
	round   uint32
	place   uint16 // in the step
	live    bool
}

// number is the request's among those of its endpoint, from 0. Its first call
// carries it.
func (r *request) number() uint64 { return r.first.call.Request }

// MaxParallel is the longest list of calls made at once.
const MaxParallel = 1 << 16

var (
	_ des.Source = (*endpoint)(nil)
	_ des.Holder = (*request)(nil)
	_ des.Event  = (*request)(nil)
	_ call.Done  = (*operation)(nil)
)

// Next is the instant of the next arrival.
func (e *endpoint) Next() (time.Duration, bool) {
	at, ok := e.arrivals.Next(e.last, &e.rand)
	if !ok || at >= e.end {
		return 0, false
	}
	e.last = at
	return at, true
}

// Fire lets one request arrive.
func (e *endpoint) Fire() {
	s := e.sys
	now := s.kernel.Now()
	r := e.requests.Get()
	if r.ep == nil {
		r.prepare(e)
	}
	r.first.call.Request = e.next
	e.next++
	r.arrived, r.window, r.bin = now, int32(s.recorder.current), int32(s.recorder.bin)
	r.step, r.pending, r.degraded, r.refused, r.started, r.active = -1, 0, false, false, false, true
	r.account().requests++
	e.bins[0][r.bin]++
	if e.fates != nil && r.number() >= uint64(len(e.fates)) {
		e.fates = append(e.fates, 0)
	}
	if s.tracer != nil && s.tracer.is(r) {
		s.tracer.begin(now)
	}
	if e.deadline > 0 {
		r.timer = s.kernel.After(e.deadline, des.Expire, r)
	}
	if s.workers == nil {
		r.begin(now)
		return
	}
	switch s.workers.Acquire(&r.more.worker, r) {
	case des.Granted:
		r.begin(now)
	case des.Refused:
		r.fail(failWorkers)
	default: // Queued: Granted or Expired will tell
	}
}

// prepare makes a new frame one of e's.
func (r *request) prepare(e *endpoint) {
	r.ep = e
	r.first.req = r
	if e.width > 1 || e.sys.workers != nil {
		r.more = &furtherParts{calls: make([]operation, max(1, e.width)-1)}
	}
	for i := 1; i < e.width; i++ {
		o := r.operation(i)
		o.req, o.place = r, uint16(i)
	}
}

// operation is the ith call of a step.
func (r *request) operation(i int) *operation {
	if i == 0 {
		return &r.first
	}
	return &r.more.calls[i-1]
}

func (r *request) account() *account {
	if r.window < 0 {
		return &r.ep.warm
	}
	return &r.ep.accounts[r.window]
}

// Granted: a worker is free for the request.
func (r *request) Granted() { r.begin(r.ep.sys.kernel.Now()) }

// Expired: max_wait of the workers passed.
func (r *request) Expired() { r.fail(failWorkers) }

// Fire is the deadline: it ends the request wherever it is.
func (r *request) Fire() {
	r.timer = des.Timer{}
	r.fail(failDeadline)
}

// begin starts the request's goroutine.
func (r *request) begin(now time.Duration) {
	r.started = true
	r.ep.parked.Add(now, 1)
	r.ep.sys.parked.Add(now, 1)
	r.advance()
}

// advance starts the next step, or finishes the request after the last.
func (r *request) advance() {
	e := r.ep
	r.step++
	if int(r.step) == len(e.steps) {
		r.succeed()
		return
	}
	targets := e.steps[r.step]
	r.pending = int32(len(targets))
	if r.pending > 1 {
		e.sys.parked.Add(e.sys.kernel.Now(), int64(r.pending-1))
	}
	round := r.round
	for i := range targets {
		r.operation(i).start(&targets[i])
		if r.round != round {
			return // a call of this step failed the request at once
		}
	}
}

// start makes the call.
func (o *operation) start(t *target) {
	r, d := o.req, t.dep
	now := r.ep.sys.kernel.Now()
	o.started, o.live, o.cancel = now, true, nil
	o.round++
	o.call = call.Call{Stream: t.stream, Request: r.number(), Deadline: call.NoDeadline}
	if r.ep.deadline > 0 {
		o.call.Deadline = r.arrived + r.ep.deadline
	}
	d.calls++
	d.parked.Enter(now)
	round := o.round
	c := d.stack.Start(&o.call, o)
	switch {
	case c == nil:
	case o.live && o.round == round:
		o.cancel = c
	default:
		c.Cancel() // the request ended while its call was being started
	}
}

// Done is the return of the call.
func (o *operation) Done(out call.Outcome) {
	if !o.live {
		o.cancel = nil // it returned while its request was ending
		return
	}
	r := o.req
	d := o.target().dep
	o.live = false
	d.returned(out.Class, o.started)
	if out.Class == call.Degraded && out.Age > 0 {
		d.ages.Record(out.Age)
	}
	switch {
	case out.Class == call.Degraded:
		r.degraded = true
	case out.Class == call.ClientError:
		r.refused = true
	case !out.Class.Served():
		if !o.target().optional {
			r.fail(failureOf(out.Class))
			return
		}
		r.degraded = true
	}
	r.pending--
	if r.pending > 0 {
		r.ep.sys.parked.Add(r.ep.sys.kernel.Now(), -1)
		return
	}
	r.advance()
}

// target is the call being made.
func (o *operation) target() *target { return &o.req.ep.steps[o.req.step][o.place] }

// succeed ends a request whose calls all returned.
func (r *request) succeed() {
	a, took := r.account(), r.age()
	inTime := took <= r.ep.good
	if inTime {
		a.inTime++
	}
	if r.degraded {
		a.degraded++
	} else {
		a.live++
		if inTime {
			a.liveInTime++
		}
		if r.refused {
			a.clientError++
		}
	}
	if s := r.ep.sys; s.tracer != nil && s.tracer.is(r) {
		s.tracer.end(took, succeeded(r, inTime))
	}
	r.end(inTime, !r.degraded)
}

func succeeded(r *request, inTime bool) string {
	what := "answered"
	if r.degraded {
		what = "degraded"
	}
	if !inTime {
		what += " late"
	}
	return what
}

// fail ends a request for good; calls still out are cancelled.
func (r *request) fail(why failure) {
	r.account().failures[why]++
	if s := r.ep.sys; s.tracer != nil && s.tracer.is(r) {
		s.tracer.end(r.age(), "failed: "+failureNames[why])
	}
	r.end(false, false)
}

func (r *request) age() time.Duration { return r.ep.sys.kernel.Now() - r.arrived }

// end settles the request: figures, what it holds, and the frame.
func (r *request) end(good, live bool) {
	e, s := r.ep, r.ep.sys
	now := s.kernel.Now()
	took := now - r.arrived
	a := r.account()
	a.done++
	a.latency.Record(took)
	switch {
	case !good:
		e.bins[3][r.bin]++
	case live:
		e.bins[1][r.bin]++
	default:
		e.bins[2][r.bin]++
	}
	if e.fates != nil {
		e.settle(r, took, good, live)
	}
	e.digest += dist.Fold(r.number(), uint64(now)<<2|bit(good)<<1|bit(live))

	r.active = false
	r.round++
	s.kernel.Stop(r.timer)
	r.timer = des.Timer{}
	if r.step >= 0 && int(r.step) < len(e.steps) {
		r.cancelCalls(now)
	}
	if r.started {
		e.parked.Add(now, -1)
		s.parked.Add(now, -1)
		if s.workers != nil {
			s.workers.Release(&r.more.worker)
		}
	} else if s.workers != nil && r.more.worker.Waits() {
		s.workers.Leave(&r.more.worker)
	}
	e.requests.Put(r)
}

// cancelCalls ends the calls that are still out; the goroutines of further
// branches return with them. All are marked first: what one of them gives back
// may make another one return, and that return must find it gone.
func (r *request) cancelCalls(now time.Duration) {
	if r.pending > 1 {
		r.ep.sys.parked.Add(now, int64(1-r.pending))
	}
	n := len(r.ep.steps[r.step])
	for i := range n {
		if o := r.operation(i); o.live {
			o.live = false
			o.target().dep.returned(call.Cancelled, o.started)
		} else {
			o.cancel = nil
		}
	}
	for i := range n {
		o := r.operation(i)
		if c := o.cancel; c != nil {
			o.cancel = nil
			c.Cancel()
		}
	}
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
