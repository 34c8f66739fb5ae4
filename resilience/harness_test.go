package resilience

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
)

// Random tests take the same cases every time, unless -rapid.seed says other.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() == "0" {
		if err := f.Value.Set("1"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

const (
	ms = time.Millisecond
	s  = time.Second
)

// step is what the work inside does with one call.
type step struct {
	after time.Duration // until it answers; 0 answers before Start returns
	class call.Class
	retry time.Duration // Retry-After
	hang  bool          // never answers
}

// work is the handler inside of everything: it takes the steps in order and the
// last one for ever.
type work struct {
	k        *des.Kernel
	steps    []step
	decide   func(c *call.Call) step // in place of steps
	started  int
	inside   int
	most     int
	answered int
	canceled int
	seen     []time.Duration // instants of the starts
}

type piece struct {
	w     *work
	done  call.Done
	step  step
	timer des.Timer
	ended bool
}

func (w *work) Start(c *call.Call, d call.Done) call.Canceler {
	var st step
	if w.decide != nil {
		st = w.decide(c)
	} else {
		st = w.steps[min(w.started, len(w.steps)-1)]
	}
	w.started++
	c.NextAttempt()
	w.seen = append(w.seen, w.k.Now())
	w.inside++
	w.most = max(w.most, w.inside)
	p := &piece{w: w, done: d, step: st}
	if st.after == 0 && !st.hang {
		p.Fire()
		return nil
	}
	if !st.hang {
		p.timer = w.k.After(st.after, des.Release, p)
	}
	return p
}

func (p *piece) Fire() {
	if p.ended {
		panic("work answered twice or after its cancellation")
	}
	p.ended = true
	p.w.inside--
	p.w.answered++
	p.done.Done(call.Outcome{Class: p.step.class, RetryAfter: p.step.retry})
}

func (p *piece) Cancel() {
	if p.ended {
		panic("work cancelled after its end")
	}
	p.ended = true
	p.w.k.Stop(p.timer)
	p.w.inside--
	p.w.canceled++
}

// caller makes one call and keeps what came of it.
type caller struct {
	k       *des.Kernel
	call    call.Call
	cancel  call.Canceler
	started time.Duration
	at      time.Duration // of the answer
	out     call.Outcome
	answers int
	left    bool
}

func (c *caller) start(h call.Handler) {
	c.started = c.k.Now()
	x := h.Start(&c.call, c)
	switch {
	case (x == nil) != (c.answers > 0):
		panic("the canceler and the answer disagree")
	case c.left && x != nil:
		x.Cancel() // it left while it was being started
	default:
		c.cancel = x
	}
}

func (c *caller) Done(o call.Outcome) {
	if c.left {
		panic("an answer after the cancellation")
	}
	c.answers++
	c.at, c.out = c.k.Now(), o
	c.cancel = nil
}

// leave gives the call up, if it is still out.
func (c *caller) leave() {
	if c.answers > 0 || c.left {
		return
	}
	c.left = true
	if x := c.cancel; x != nil {
		c.cancel = nil
		x.Cancel()
	}
}

func (c *caller) String() string {
	switch {
	case c.left:
		return "left"
	case c.answers == 0:
		return "out"
	case c.out.Reason != call.NoReason:
		return fmt.Sprintf("%v at %v", c.out.Reason, c.at)
	}
	return fmt.Sprintf("%v at %v", c.out.Class, c.at)
}

type do func()

func (f do) Fire() { f() }

// rig is a stack of layers around work, in virtual time.
type rig struct {
	t       testing.TB
	k       *des.Kernel
	work    *work
	stack   call.Handler
	layers  []call.Handler // of stack, outermost first
	callers []*caller
	states  []string // transitions told to the probe
	parked  des.Gauge
	budgets StackBudgets
}

func newRig(t testing.TB, w *work, stack ...Config) *rig {
	r := &rig{t: t, k: des.NewKernel(), work: w}
	w.k = r.k
	var layers []call.Layer
	for i, c := range stack {
		for _, p := range c.Validate() {
			if !p.Warning {
				t.Fatalf("%T: %s", c, p.Text)
			}
		}
		env := Env{Sched: r.k, Meter: des.NullMeter{}, Source: fmt.Sprintf("dependency.x.%d", i), Goroutines: &r.parked, Budgets: &r.budgets}
		env.Probe = func(o des.Observation) {
			r.states = append(r.states, fmt.Sprintf("%v %v>%v", o.At, State(o.From), State(o.To)))
		}
		env.CountsAttempts = true
		layers = append(layers, c.Layer(env))
	}
	h := call.Handler(w)
	for i := len(layers) - 1; i >= 0; i-- {
		h = layers[i](h)
		r.layers = append([]call.Handler{h}, r.layers...)
	}
	r.stack = h
	return r
}

// at schedules f.
func (r *rig) at(t time.Duration, f func()) { r.k.After(t-r.k.Now(), des.Arrive, do(f)) }

// call schedules one call at t whose caller gives up at deadline; 0 is never.
func (r *rig) call(t, deadline time.Duration) *caller {
	c := &caller{k: r.k}
	c.call = call.Call{Stream: 7, Request: uint64(len(r.callers)), Deadline: call.NoDeadline}
	if deadline > 0 {
		c.call.Deadline = deadline
		r.k.After(deadline-r.k.Now(), des.Expire, do(c.leave))
	}
	r.callers = append(r.callers, c)
	r.at(t, func() { c.start(r.stack) })
	return c
}

// run runs until t.
func (r *rig) run(t time.Duration) {
	r.t.Helper()
	if err := r.k.Run(context.Background(), t); err != nil {
		r.t.Fatal(err)
	}
}

// got is what came of every call.
func (r *rig) got() (out []string) {
	for _, c := range r.callers {
		out = append(out, c.String())
	}
	return out
}

// stackDepth is the number of frames of the goroutine's stack, at most 1024.
func stackDepth() int { return runtime.Callers(0, make([]uintptr, 1024)) }
