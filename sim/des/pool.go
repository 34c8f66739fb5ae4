package des

import "time"

// Pool is a bounded number of places that holders take and give back, with a
// queue: connections, workers, permits, threads, servers.
type Pool struct {
	sched   Scheduler
	size    int64
	queue   int64 // how many may wait; negative is no bound
	maxWait time.Duration
	threads *threads // of a thread pool
	newest  bool     // serves who came last first

	head, tail *Waiter
	granting   bool

	InUse   Station       // places taken
	Waiting Station       // holders in the queue
	Waits   TimesHist     // time from asking to the grant, 0 included
	Asked   int64         // calls of Acquire
	Full    int64         // refused at once: no place and none to wait
	Expired int64         // gave up because max_wait passed
	Left    int64         // gave up because their caller did
	FullAt  time.Duration // when every place was first taken since ResetFull; -1: not yet

	sum *Pool // also counts what happens here; nil: nobody does
}

// NewPool returns a pool of size places. queue bounds those who wait (negative:
// no bound); maxWait bounds how long (negative: for ever; 0: nobody waits).
func NewPool(s Scheduler, size, queue int, maxWait time.Duration) *Pool {
	if maxWait > 0 {
		NameConstant(s, maxWait, Expire)
	}
	return &Pool{sched: s, size: int64(size), queue: int64(queue), maxWait: maxWait, FullAt: -1}
}

// NewPools returns n pools of size places each, as NewPool makes them, and one
// that only counts: its instruments are those of all n together. For n = 1 the
// pool counts for itself.
func NewPools(s Scheduler, n, size, queue int, maxWait time.Duration) (pools []*Pool, sum *Pool) {
	if n == 1 {
		p := NewPool(s, size, queue, maxWait)
		return []*Pool{p}, p
	}
	sum = NewPool(s, n*size, queue, maxWait)
	for range n {
		p := NewPool(s, size, queue, maxWait)
		p.sum = sum
		p.Waits.Ignore()
		pools = append(pools, p)
	}
	return pools, sum
}

// ServeNewest makes the pool grant a place to whoever came last of those who
// wait: last in, first out. Before the first Acquire.
func (p *Pool) ServeNewest() { p.newest = true }

// Size is the number of places.
func (p *Pool) Size() int64 { return p.size }

// Holder is told what came of a wait. Neither is called from within Acquire.
type Holder interface {
	Granted() // it has a place now
	Expired() // max_wait passed; it has none
}

// Waiter is a holder's side of a pool, embedded in the holder's frame and
// reused with it. The zero Waiter is ready.
type Waiter struct {
	pool       *Pool
	holder     Holder
	next, prev *Waiter
	timer      Timer
	since      time.Duration // asked at, while queued; held from, after the grant
	queued     bool
}

// Grant is the answer to Acquire.
type Grant uint8

// Answers to Acquire.
const (
	Granted Grant = iota // has a place; Release gives it back
	Queued               // the holder will hear
	Refused              // no place, and none to wait
)

// Acquire asks for a place for w; h hears about it when the answer is Queued.
// A place is never given past somebody who waits.
func (p *Pool) Acquire(w *Waiter, h Holder) Grant {
	now := p.sched.Now()
	p.Asked++
	if p.head == nil && p.InUse.N() < p.size && (p.threads == nil || p.threads.assign(now)) {
		p.take(w, now)
		p.Waits.Record(0)
		if p.sum != nil {
			p.sum.Asked++
			p.sum.taken(now, 0)
		}
		return Granted
	}
	if p.maxWait == 0 || (p.queue >= 0 && p.Waiting.N() >= p.queue) {
		if p.threads != nil && p.threads.grow() {
			p.take(w, now)
			p.Waits.Record(0)
			return Granted
		}
		p.Full++
		if p.sum != nil {
			p.sum.Asked++
			p.sum.Full++
		}
		return Refused
	}
	w.pool, w.holder, w.since, w.queued = p, h, now, true
	w.prev, w.next = p.tail, nil
	if p.tail != nil {
		p.tail.next = w
	} else {
		p.head = w
	}
	p.tail = w
	p.Waiting.Enter(now)
	if p.sum != nil {
		p.sum.Asked++
		p.sum.Waiting.Enter(now)
	}
	if p.maxWait > 0 {
		w.timer = p.sched.After(p.maxWait, Expire, w)
	}
	return Queued
}

func (p *Pool) take(w *Waiter, now time.Duration) {
	w.since = now
	p.InUse.Enter(now)
	if p.FullAt < 0 && p.InUse.N() == p.size {
		p.FullAt = now
	}
}

// taken counts a place of another pool that was taken after a wait.
func (p *Pool) taken(now, waited time.Duration) {
	p.InUse.Enter(now)
	p.Waits.Record(waited)
	if p.FullAt < 0 && p.InUse.N() == p.size {
		p.FullAt = now
	}
}

// ResetFull begins to look for FullAt anew at now.
func (p *Pool) ResetFull(now time.Duration) {
	p.FullAt = -1
	if p.InUse.N() >= p.size {
		p.FullAt = now
	}
}

func (p *Pool) unlink(w *Waiter, now time.Duration) {
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		p.head = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		p.tail = w.prev
	}
	w.next, w.prev, w.queued = nil, nil, false
	p.Waiting.Leave(now, w.since)
	if p.sum != nil {
		p.sum.Waiting.Leave(now, w.since)
	}
}

// Release gives w's place back and grants it to whoever waited longest, or
// shortest where the newest are served first. Grants that a holder's own Release
// causes are made by the outermost one, so a long queue over instantaneous work
// does not deepen the stack.
func (p *Pool) Release(w *Waiter) {
	now := p.sched.Now()
	p.InUse.Leave(now, w.since)
	if p.sum != nil {
		p.sum.InUse.Leave(now, w.since)
	}
	if p.threads != nil {
		p.threads.rest(now)
	}
	if p.granting {
		return
	}
	p.granting = true
	for p.head != nil && p.InUse.N() < p.size && (p.threads == nil || p.threads.assign(now)) {
		next := p.head
		if p.newest {
			next = p.tail
		}
		asked := next.since
		p.unlink(next, now)
		p.sched.Stop(next.timer)
		next.timer = Timer{}
		p.take(next, now)
		p.Waits.Record(now - asked)
		if p.sum != nil {
			p.sum.taken(now, now-asked)
		}
		next.holder.Granted()
	}
	p.granting = false
}

// Leave takes w out of the queue because its caller gave up.
func (p *Pool) Leave(w *Waiter) {
	p.unlink(w, p.sched.Now())
	p.sched.Stop(w.timer)
	w.timer = Timer{}
	p.Left++
	if p.sum != nil {
		p.sum.Left++
	}
}

// Waits reports whether w is in the queue.
func (w *Waiter) Waits() bool { return w.queued }

// Fire ends the wait: max_wait has passed.
func (w *Waiter) Fire() {
	w.timer = Timer{}
	w.pool.unlink(w, w.pool.sched.Now())
	w.pool.Expired++
	if w.pool.sum != nil {
		w.pool.sum.Expired++
	}
	w.holder.Expired()
}
