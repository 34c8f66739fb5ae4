// Package live runs the policies of package resilience on real goroutines and
// in real time. It is the same text as in a simulation, against the same
// des.Scheduler: what differs is who moves the clock.
package live

import (
	"context"
	"errors"
	"sync"
	"time"

	"blastradius/resilience"
	"blastradius/sim"
	"blastradius/sim/call"
	"blastradius/sim/des"
)

// ErrClosed is the error of calls that came after Close, or that Close ended.
var ErrClosed = errors.New("live: the engine is closed")

// Options are what an engine can do without.
type Options struct {
	// Source is the name under which layers go, "" is live: the layer retry has
	// the full name live.retry, which also keys its draws.
	Source string
	// Meter gives the layer of that full name the place for its instruments, and
	// for Source that of the engine's own, parked. They are read in Read. nil
	// ignores them.
	Meter func(source string) des.Meter
	// Hosts are the copies of what is called, for a layer that chooses one; 0 is 1.
	Hosts int
	// Seed keys draws that belong to no call.
	Seed uint64
	// Probe hears of state changes, and must neither block nor call the engine.
	Probe des.Probe
	// Classify says what an error of the work means; nil is Classify.
	Classify func(error) call.Outcome
	// Orphan is told of a panic in work that nobody waits for any more. nil
	// panics again there, which ends the process.
	Orphan func(*PanicError)
}

// Engine is one stack of layers in real time. All policy state belongs to
// whoever holds its mutex: a caller starting its call, work that ends, or the
// timer. Each of them runs the callbacks itself and parks only where its call
// has to wait (docs/decisions/010-live-engine.md).
type Engine struct {
	mu     sync.Mutex
	kernel *des.Kernel
	begun  time.Time
	timer  *time.Timer
	armed  time.Duration // when the timer goes off; Never when it is not set

	stack    call.Handler
	apart    bool // work runs in goroutines of its own
	classify func(error) call.Outcome
	orphan   func(*PanicError)

	flights call.Frames[flight]
	tries   call.Frames[try]
	current *flight                // the one moved last, where to look first
	waiting map[*call.Call]*flight // those whose caller is parked

	hands   []hand    // idle
	parked  des.Gauge // callers in Do
	working int       // hands that run work, abandoned work included
	staff   int       // hands
	closed  bool
	idle    chan struct{} // closed when the engine is and nobody is inside
}

// New builds the stack, outermost layer first. Every configuration must be
// valid. The engine's time begins now.
func New(stack []sim.Layer, o Options) *Engine {
	e := &Engine{
		kernel: des.NewKernel(), begun: time.Now(), armed: des.Never,
		classify: o.Classify, orphan: o.Orphan,
		waiting: map[*call.Call]*flight{}, idle: make(chan struct{}),
	}
	if e.classify == nil {
		e.classify = Classify
	}
	if o.Source == "" {
		o.Source = "live"
	}
	if o.Meter == nil {
		o.Meter = func(string) des.Meter { return des.NullMeter{} }
	}
	e.mu.Lock() // a layer may set timers already
	var layers []call.Layer
	var budgets resilience.StackBudgets
	for i, l := range stack {
		source := o.Source + "." + l.Name
		layers = append(layers, l.Config.Layer(resilience.Env{
			Sched: e.kernel, Meter: o.Meter(source), Probe: o.Probe, Source: source, CountsAttempts: sim.CountsAttempts(stack, i),
			Hosts: o.Hosts, Seed: o.Seed, Budgets: &budgets,
		}))
		e.apart = e.apart || resilience.Interrupts(l.Config)
	}
	e.stack = call.Stack((*workplace)(e), layers...)
	o.Meter(o.Source).Level("parked", &e.parked)
	e.exit()
	return e
}

// Key keys the random draws of a call, such as its jitter: calls of one key
// draw the same.
type Key struct{ Stream, Request uint64 }

// Attempt says which attempt of its call the work is.
type Attempt struct {
	Number int // from 1
	Host   int // that a layer chose, from 1; 0 when none did
}

// Work is what the stack protects. Under layers that may end it early (timeouts)
// it runs in a goroutine of its own with a context that they cancel, and the
// caller goes on without waiting for it; under all others it runs in the
// caller's goroutine with the caller's context.
type Work func(ctx context.Context, a Attempt) error

// Do makes one call and returns when it is answered, or as soon as ctx ends
// while it waits. The error is nil when there was an answer, one of a fallback
// included; the work's own when its answer came through; *Error when a layer
// gave the answer, and ctx's when the caller gave up.
//
// A panic in the work surfaces here; to the layers it is a server_error. Where
// the work has a goroutine of its own it is a *PanicError.
func (e *Engine) Do(ctx context.Context, k Key, work Work) (call.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return call.Outcome{Class: call.Cancelled}, err
	}
	deadline := call.NoDeadline
	if d, ok := ctx.Deadline(); ok {
		deadline = d.Sub(e.begun)
	}
	e.enter(0)
	if e.closed {
		e.mu.Unlock()
		return call.Outcome{Class: call.Cancelled}, ErrClosed
	}
	f := e.flights.Get()
	f.begin(e, ctx, work)
	f.call = call.Call{Stream: k.Stream, Request: k.Request, Deadline: deadline}
	e.parked.Add(e.kernel.Now(), 1)
	e.current = f
	f.cancel = e.stack.Start(&f.call, f)
	for !f.answered {
		f.follow()
	}
	out, err, panicked := f.out, f.verdict(), f.panicked
	f.end()
	e.exit()
	if panicked != nil {
		panicked.again()
	}
	return out, err
}

// Parked is the number of calls that have started and not returned.
func (e *Engine) Parked() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.parked.N()
}

// Now is the time since the engine was built.
func (e *Engine) Now() time.Duration { return time.Since(e.begun) }

// Read calls do while nothing else happens, for a look at the instruments. What
// is due at now has happened. do must not call the engine.
func (e *Engine) Read(do func(now time.Duration)) {
	e.enter(0)
	defer e.exit()
	do(e.kernel.Now())
}

// Close ends all calls that wait: they return ErrClosed, and the context of
// their work is cancelled. Work in its caller's goroutine runs to its end.
// Close returns when every call and all work has; so it must not be called from
// within work.
func (e *Engine) Close() {
	e.enter(0)
	if !e.closed {
		e.closed = true
		// What one of them gives back may set another going: that one is further on
		// in the list, or awake and looks by itself.
		e.flights.Each(func(f *flight) {
			if f.parked {
				f.leave(ErrClosed)
			}
		})
		e.dismiss()
		if e.timer != nil {
			e.timer.Stop()
		}
		e.leaveIdle()
	}
	e.mu.Unlock()
	<-e.idle
}

// leaveIdle tells Close when nobody is inside any more.
func (e *Engine) leaveIdle() {
	if e.closed && e.parked.N() == 0 && e.staff == 0 {
		select {
		case <-e.idle:
		default:
			close(e.idle)
		}
	}
}
