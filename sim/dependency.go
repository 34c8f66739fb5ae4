package sim

import (
	"fmt"
	"time"

	"blastradius/faults"
	"blastradius/resilience"
	"blastradius/sim/call"
	"blastradius/sim/des"
	"blastradius/sim/dist"
)

// dependency is what the process calls: a stack of layers around attempts that
// take a connection, then a server, then time.
type dependency struct {
	name   string
	kernel *des.Kernel
	stack  call.Handler

	latency dist.Dist
	errors  []ErrorShare
	faults  []armedFault
	finish  bool    // abandoned work runs to its natural end
	hosts   int     // copies of it, at least 1
	wired   []int64 // attempts that reached each host; where there are several
	pool    *des.Pool
	servers []*des.Pool // of each host; nil: unlimited
	served  *des.Pool   // counts the servers of all hosts together
	tracer  *tracer     // nil when nobody traces

	frames call.Frames[attempt]
	rand   dist.Rand  // keyed anew for every draw; here so that it is not allocated
	reply  call.Reply // being drawn; here for the same reason

	parked  des.Station // calls that entered the stack and have not returned
	working des.Gauge   // work at the dependency, its queue included

	calls     int64
	attempts  int64
	wire      int64
	failed    int64 // attempts that the dependency answered with neither ok nor client_error
	refused   int64 // attempts that got no connection
	outcomes  [call.NumClasses]int64
	latencies des.TimesHist
	ages      des.TimesHist // staleness of degraded answers that have an age

	failures  []*int64 // failed, and what timeout layers ended, for the series
	shed      []*int64 // what our own layers and pool refused, for the series
	fallbacks int      // fallback layers in the stack
	breakers  []*breakerFigures
	budgets   resilience.StackBudgets // of the layers that share one
}

// retryAfter is the pause that its answers of a class ask for.
func (d *dependency) retryAfter(class call.Class) time.Duration {
	for i := range d.errors {
		if d.errors[i].Class == class {
			return d.errors[i].RetryAfter
		}
	}
	return 0
}

// armedFault is a fault on this dependency's timeline.
type armedFault struct {
	faults.Timeline
	fault faults.Fault
	met   int64 // attempts it changed
}

// attempt is one try: a frame that waits for a connection, then for a server,
// then for the work to end.
//
// Frames are kept small: a simulated outage parks a million of them.
type attempt struct {
	dep      *dependency
	done     call.Done
	holds    *holdings // only where there is a pool or servers
	timer    des.Timer
	sequence uint16 // of the attempt in its call, modulo 2^16
	stage    stage
	class    call.Class // how it will end
	hang     bool       // it never ends by itself
	caller   bool       // somebody still waits for the answer
	touched  bool       // a fault changed the reply
	asks     bool       // the answer names the dependency's retry_after
}

// holdings are what an attempt waits for and holds.
type holdings struct {
	conn, server des.Waiter
	call         *call.Call    // while it waits for a connection
	host         int           // that it goes to, counted from 0
	latency      time.Duration // of the work, while it waits for a server
}

// stage is where an attempt is.
type stage uint8

const (
	idle stage = iota
	connecting
	queued
	serving
	leaving // giving back what it held; the answer comes next
	left    // its caller left meanwhile
)

var (
	_ call.Handler  = (*dependency)(nil)
	_ call.Canceler = (*attempt)(nil)
	_ des.Event     = (*attempt)(nil)
	_ des.Holder    = (*attempt)(nil)
	_ des.Holder    = (*serverSide)(nil)
)

// returned counts the end of a call that was started at started.
func (d *dependency) returned(c call.Class, started time.Duration) {
	now := d.kernel.Now()
	d.parked.Leave(now, started)
	d.outcomes[c]++
	d.latencies.Record(now - started)
}

// Start makes one attempt: the innermost handler of the stack.
func (d *dependency) Start(c *call.Call, done call.Done) call.Canceler {
	d.attempts++
	number := c.NextAttempt()
	a := d.frames.Get()
	a.dep, a.done, a.caller, a.touched, a.sequence, a.timer = d, done, true, false, number, des.Timer{}
	if a.holds == nil && (d.pool != nil || d.servers != nil) {
		a.holds = new(holdings)
	}
	host := 0
	if d.hosts > 1 {
		if host = d.host(c); a.holds != nil {
			a.holds.host = host
		}
	}
	if d.pool == nil {
		return a.connected(c, host)
	}
	switch d.pool.Acquire(&a.holds.conn, a) {
	case des.Granted:
		return a.connected(c, host)
	case des.Queued:
		a.stage, a.holds.call = connecting, c
		return a
	default:
		a.answer(call.Outcome{Class: call.Rejected, Reason: call.PoolFull})
		return nil
	}
}

// host is where the attempt that begins goes: to the host that a layer has
// chosen, or to any, each alike.
func (d *dependency) host(c *call.Call) int {
	host := int(c.Host) - 1
	if host < 0 || host >= d.hosts {
		host = resilience.DrawHost(&d.rand, c, c.Started(), d.hosts)
	}
	if d.tracer != nil && d.tracer.follows(c) {
		d.tracer.note(d.name+".attempt", fmt.Sprintf("goes to host %d of %d", host+1, d.hosts))
	}
	return host
}

// Granted: the pool has a connection for us.
func (a *attempt) Granted() { a.connected(a.holds.call, a.holds.host) }

// Expired: max_wait of the pool passed.
func (a *attempt) Expired() {
	a.answer(call.Outcome{Class: call.Rejected, Reason: call.PoolWait})
}

// connected has reached the dependency: what it will do is decided now.
func (a *attempt) connected(c *call.Call, host int) call.Canceler {
	d := a.dep
	d.wire++
	if d.wired != nil {
		d.wired[host]++
	}
	reply := a.draw(c, host)
	a.class, a.hang, a.asks = reply.Class, reply.Hang, reply.RetryAfter > 0
	if reply.Immediate {
		a.finish(false)
		return nil
	}
	latency := reply.Latency
	if d.servers == nil {
		d.working.Add(d.kernel.Now(), 1)
		a.serve(latency)
		return a
	}
	switch d.servers[host].Acquire(&a.holds.server, (*serverSide)(a)) {
	case des.Granted:
		d.working.Add(d.kernel.Now(), 1)
		a.serve(latency)
		return a
	case des.Queued:
		d.working.Add(d.kernel.Now(), 1)
		a.stage, a.holds.latency = queued, latency
		return a
	default: // refused work is never in working, not even in its maximum
		a.release(false)
		a.answerUnlessLeft(call.Outcome{Class: call.ServerError, Reason: call.QueueFull})
		return nil
	}
}

// draw decides the reply: the error class and the latency first, each at its
// own place in the attempt's stream, then the faults in the file's order. The
// reply holds until the next draw; a copy of it would wait for its small parts
// to be stored, 8 ns an attempt.
func (a *attempt) draw(c *call.Call, host int) *call.Reply {
	d := a.dep
	r, reply := &d.rand, &d.reply
	*reply = call.Reply{}
	keyAttempt(r, c, a.sequence, drawReply)
	u := r.Float64()
	for i := range d.errors {
		e := &d.errors[i]
		if u < e.Share {
			reply.Class, reply.RetryAfter = e.Class, e.RetryAfter
			reply.Immediate = e.Class == call.ConnectError
			break
		}
		u -= e.Share
	}
	reply.Latency = d.latency.Sample(r)
	now := d.kernel.Now()
	for i := range d.faults {
		f := &d.faults[i]
		if !f.Hits(host) || !f.Active(now) {
			continue
		}
		keyAttempt(r, c, a.sequence, drawFault+i)
		if f.Share < 1 && r.Float64() >= f.Share {
			continue
		}
		f.fault.Apply(now, r, reply)
		f.met++
		a.touched = true
	}
	return reply
}

// serve has a server; the work takes its time, or for ever.
func (a *attempt) serve(latency time.Duration) {
	a.stage = serving
	if !a.hang {
		a.timer = a.dep.kernel.After(latency, des.Release, a)
	}
}

// Fire ends the work at its natural time.
func (a *attempt) Fire() {
	a.timer = des.Timer{}
	d := a.dep
	d.working.Add(d.kernel.Now(), -1)
	if a.caller {
		a.finish(d.servers != nil)
		return
	}
	if d.servers != nil {
		d.servers[a.holds.host].Release(&a.holds.server)
	}
	a.recycle()
}

// finish gives everything back and then answers, as a deferred release does:
// whoever acts on the answer finds the places free.
func (a *attempt) finish(served bool) {
	a.release(served)
	o := call.Outcome{Class: a.class}
	if a.asks {
		o.RetryAfter = a.dep.retryAfter(a.class)
	}
	a.answerUnlessLeft(o)
}

// release gives back what the attempt holds. Those who get the places run at
// once and may end our caller.
func (a *attempt) release(served bool) {
	d := a.dep
	a.stage = leaving
	if served {
		d.servers[a.holds.host].Release(&a.holds.server)
	}
	if d.pool != nil {
		d.pool.Release(&a.holds.conn)
	}
}

func (a *attempt) answerUnlessLeft(o call.Outcome) {
	if a.stage == left {
		a.recycle()
		return
	}
	a.answer(o)
}

// Cancel ends the attempt because its caller left. The connection is free at
// once; the work stops too, unless the dependency finishes what it began.
func (a *attempt) Cancel() {
	d := a.dep
	d.ended(a)
	switch a.stage {
	case leaving:
		a.stage = left
		return
	case connecting:
		d.pool.Leave(&a.holds.conn)
		a.recycle()
		return
	}
	if d.finish {
		a.caller = false
		if d.pool != nil {
			d.pool.Release(&a.holds.conn)
		}
		return
	}
	d.kernel.Stop(a.timer)
	a.timer = des.Timer{}
	d.working.Add(d.kernel.Now(), -1)
	if d.servers != nil {
		if a.stage == queued {
			d.servers[a.holds.host].Leave(&a.holds.server)
		} else {
			d.servers[a.holds.host].Release(&a.holds.server)
		}
	}
	if d.pool != nil {
		d.pool.Release(&a.holds.conn)
	}
	a.recycle()
}

// answer tells the caller and gives the frame back.
func (a *attempt) answer(o call.Outcome) {
	d, done := a.dep, a.done
	switch {
	case o.Class == call.Rejected:
		d.refused++
	case !o.Class.Served():
		d.failed++
	}
	d.ended(a)
	a.recycle()
	done.Done(o)
}

// ended tells the breakers' figures about one attempt.
func (d *dependency) ended(a *attempt) {
	for _, b := range d.breakers {
		b.attempted(a.touched)
	}
}

func (a *attempt) recycle() {
	a.stage, a.done = idle, nil
	a.dep.frames.Put(a)
}

// serverSide is an attempt as the dependency's servers see it.
type serverSide attempt

// Granted: a server is free for the queued work.
func (s *serverSide) Granted() { (*attempt)(s).serve(s.holds.latency) }

// Expired cannot happen: work in a dependency's queue has no patience of its own.
func (s *serverSide) Expired() { panic("sim: server wait expired") }

// register puts the dependency's own figures into the catalogue.
func (d *dependency) register(r *recorder) {
	prefix := "dependency." + d.name
	s := &scope{r: r, prefix: prefix}
	s.Count("calls", &d.calls)
	s.Count("attempts", &d.attempts)
	s.Count("wire", &d.wire)
	s.Share("amplification", &d.wire, &d.calls, "no call was made")
	for c := range d.outcomes {
		s.Count("outcomes."+call.Class(c).String(), &d.outcomes[c])
	}
	s.Count("cancelled", &d.outcomes[call.Cancelled])
	s.Level("parked", &d.parked.Gauge)
	s.Level("working", &d.working)
	s.Times("latency", &d.latencies, latencyStats...)
	s.Audit("", &d.parked)
	if d.servers != nil {
		servers := &scope{r: r, prefix: prefix + ".servers"}
		registerPool(servers, d.served)
	}
	if d.hosts > 1 {
		d.registerHosts(r, prefix+".hosts")
	}
	s.Series("parked", &d.parked.Gauge)
	s.Series("working", &d.working)
	d.countSeries(r, prefix)

	if d.fallbacks == 0 {
		r.add(func(_ phaseView, out *Figures) {
			out.absent(prefix+".fallback_rate", "no fallback layer")
			out.absent(prefix+".stale_age_max", "no fallback layer")
		})
		return
	}
	calls, ages := r.countOf(&d.calls), r.timesOf(&d.ages)
	degraded := r.countOf(&d.outcomes[call.Degraded])
	r.add(func(p phaseView, out *Figures) {
		out.ratio(prefix+".fallback_rate", float64(p.count(degraded)), float64(p.count(calls)), "no call was made")
		h := p.hist(ages)
		if h.Count() == 0 {
			out.absent(prefix+".stale_age_max", "no cached answer was served")
		} else {
			out.put(prefix+".stale_age_max", seconds(h.Max()))
		}
	})
}

// registerHosts registers how the attempts were spread.
func (d *dependency) registerHosts(r *recorder, prefix string) {
	wired := make([]*countRecord, d.hosts)
	for i := range d.wired {
		wired[i] = r.countOf(&d.wired[i])
	}
	r.add(func(p phaseView, out *Figures) {
		sum, most := int64(0), int64(0)
		for _, w := range wired {
			n := p.count(w)
			sum, most = sum+n, max(most, n)
		}
		out.ratio(prefix+".busiest_share", float64(most), float64(sum), "no attempt reached it")
	})
}

// countSeries records the counts per bin that the status lines show.
func (d *dependency) countSeries(r *recorder, prefix string) {
	one := func(name string, counters ...*int64) {
		recs := make([]*countRecord, len(counters))
		for i, c := range counters {
			recs[i] = r.binCount(c)
		}
		r.line(prefix+"."+name, func(bin int) (float64, bool) {
			n := int64(0)
			for _, c := range recs {
				n += c.bins[bin]
			}
			return float64(n), true
		})
	}
	one("calls", &d.calls)
	one("wire", &d.wire)
	one("failed", d.failures...)
	one("shed", d.shed...)
	if d.fallbacks > 0 {
		one("fallback", &d.outcomes[call.Degraded])
	}
}

// registerPool registers the figures of a bounded place.
func registerPool(s *scope, p *des.Pool) {
	s.Level("in_use", &p.InUse.Gauge)
	s.Saturation("saturation", &p.InUse.Gauge, p.Size())
	s.Level("waiting", &p.Waiting.Gauge)
	s.Times("wait", &p.Waits, "p99")
	s.Audit("", &p.InUse)
	s.Series("in_use", &p.InUse.Gauge)
	s.Series("waiting", &p.Waiting.Gauge)
	full, name := s.r.fullOf(p), s.name("full_at")
	s.r.add(func(v phaseView, out *Figures) {
		for _, w := range v.windows {
			if full.windows[w] >= 0 {
				out.put(name, seconds(full.windows[w]))
				return
			}
		}
		out.absent(name, "never full")
	})
}

// timeouts counts everybody who left a pool without what they came for.
func timeouts(s *scope, p *des.Pool) {
	expired, left, full := s.r.countOf(&p.Expired), s.r.countOf(&p.Left), s.r.countOf(&p.Full)
	name := s.name("timeouts")
	s.r.add(func(v phaseView, out *Figures) {
		out.put(name, float64(v.count(expired)+v.count(left)))
		out.put(s.name("refused"), float64(v.count(full)))
	})
}
