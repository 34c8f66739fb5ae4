package live

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"blastradius/resilience"
	"blastradius/sim"
	"blastradius/sim/call"
	"blastradius/sim/des"
)

// odd is a layer of a test: build makes it.
type odd struct {
	*resilience.Timeout // what a configuration has beside
	interrupts          bool
	build               func(resilience.Env) call.Layer
}

func (o *odd) Layer(env resilience.Env) call.Layer { return o.build(env) }
func (o *odd) Interrupts() bool                    { return o.interrupts }

type handler func(c *call.Call, d call.Done) call.Canceler

func (h handler) Start(c *call.Call, d call.Done) call.Canceler { return h(c, d) }

type hears func(call.Outcome)

func (h hears) Done(o call.Outcome) { h(o) }

type cancels func()

func (c cancels) Cancel() { c() }

// second starts another attempt after 5 ms; the first answer counts and the
// other attempt is cancelled.
func second(env resilience.Env) call.Layer {
	return func(next call.Handler) call.Handler {
		return handler(func(c *call.Call, d call.Done) call.Canceler {
			var out [2]call.Canceler
			var timer des.Timer
			end := func() {
				env.Sched.Stop(timer)
				for i, x := range out {
					if x != nil {
						out[i] = nil
						x.Cancel()
					}
				}
			}
			start := func(i int) {
				out[i] = next.Start(c, hears(func(o call.Outcome) {
					out[i] = nil
					end()
					d.Done(o)
				}))
			}
			timer = env.Sched.After(5*ms, des.Arrive, event(func() { start(1) }))
			start(0)
			return cancels(end)
		})
	}
}

// A layer that has two attempts out gets both, in order, and its caller the
// first answer. One that fails to say so is right too; only that its caller has
// to wait for the work that it runs itself.
func TestAttemptsBesideEachOther(t *testing.T) {
	for _, says := range []bool{true, false} {
		stack := []sim.Layer{{Kind: "odd", Name: "odd", Config: &odd{nil, says, second}}}
		in(t, stack, func(t *testing.T, e *Engine) {
			var log []string
			var mu sync.Mutex
			work := func(ctx context.Context, a Attempt) error {
				start := e.Now()
				err := takes(time.Duration(40-30*(a.Number-1))*ms, nil)(ctx, a) // 40 ms, and then 10 ms
				mu.Lock()
				defer mu.Unlock()
				log = append(log, fmt.Sprintf("attempt %d from %v to %v: %v", a.Number, start, e.Now(), err))
				return err
			}
			out, err := e.Do(context.Background(), Key{}, work)
			returned := e.Now()
			synctest.Wait()
			want, at := "[attempt 2 from 5ms to 15ms: <nil> attempt 1 from 0s to 15ms: context canceled]", 15*ms
			if !says {
				want, at = "[attempt 2 from 5ms to 15ms: <nil> attempt 1 from 0s to 40ms: <nil>]", 40*ms
			}
			if out.Class != call.OK || err != nil || fmt.Sprint(log) != want || returned != at {
				t.Errorf("says so: %t: %v, %v at %v, %v", says, out, err, returned, log)
			}
		})
	}
}

// A layer may answer its caller and wait for the work, as one does that holds a
// permit until the work is done. Then the caller's frame is another call's by
// the time the work answers.
func TestWorkMayOutliveItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late []string
		letsGo := func(env resilience.Env) call.Layer {
			return func(next call.Handler) call.Handler {
				return handler(func(c *call.Call, d call.Done) call.Canceler {
					answered := false
					next.Start(c, hears(func(o call.Outcome) {
						if answered {
							late = append(late, fmt.Sprintf("%v at %v", o.Class, env.Sched.Now()))
							return
						}
						answered = true
						d.Done(o)
					}))
					env.Sched.After(5*ms, des.Expire, event(func() {
						if !answered {
							answered = true
							d.Done(call.Outcome{Class: call.Timeout})
						}
					}))
					return cancels(func() { answered = true })
				})
			}
		}
		orphans := 0
		e := New([]sim.Layer{{Kind: "odd", Name: "odd", Config: &odd{nil, true, letsGo}}}, Options{Orphan: func(p *PanicError) { orphans++ }})
		for i, work := range []Work{takes(20*ms, errFails), func(context.Context, Attempt) error {
			<-time.After(12 * ms)
			panic("late")
		}, takes(20*ms, nil)} {
			ctx, cancel := context.WithCancel(context.Background())
			out, err := e.Do(ctx, Key{}, work)
			if out.Class != call.Timeout || e.Now() != time.Duration(i+1)*5*ms {
				t.Errorf("%v, %v at %v", out, err, e.Now())
			}
			if i == 2 {
				cancel() // the work that goes on learns that
			} else {
				defer cancel()
			}
		}
		if out, err := e.Do(context.Background(), Key{}, takes(4*ms, nil)); out.Class != call.OK || err != nil {
			t.Errorf("a call with a used frame: %v, %v", out, err)
		}
		e.Close()
		if got := fmt.Sprint(late); got != "[cancelled at 15ms server_error at 17ms server_error at 20ms]" || orphans != 1 {
			t.Errorf("late: %s; %d orphans", got, orphans)
		}
		clean(t, e)
	})
}

// A layer that answers while the work runs in its caller's goroutine has the
// last word: the caller gives up later, and nobody is told twice.
func TestAnswerStandsThoughTheCallerGivesUp(t *testing.T) {
	early := func(env resilience.Env) call.Layer {
		return func(next call.Handler) call.Handler {
			return handler(func(c *call.Call, d call.Done) call.Canceler {
				next.Start(c, hears(func(call.Outcome) {}))
				answered := false
				env.Sched.After(5*ms, des.Expire, event(func() {
					answered = true
					d.Done(call.Outcome{Class: call.Degraded})
				}))
				return cancels(func() {
					if answered {
						t.Error("cancelled after its answer")
					}
				})
			})
		}
	}
	in(t, []sim.Layer{{Kind: "odd", Name: "odd", Config: &odd{nil, false, early}}}, func(t *testing.T, e *Engine) {
		ctx, cancel := context.WithTimeout(context.Background(), 8*ms)
		defer cancel()
		if out, err := e.Do(ctx, Key{}, takes(20*ms, nil)); out.Class != call.Degraded || err != nil || e.Now() != 8*ms {
			t.Errorf("%v, %v at %v", out, err, e.Now())
		}
	})
}

// Goroutines are kept for the next work, but not more than a few, and none after
// Close.
func TestHandsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(stackOf(timeout(s)), Options{})
		for range 100 {
			_, _ = e.Do(context.Background(), Key{}, fine)
		}
		check := func(when string, staff, idle int) {
			t.Helper()
			e.Read(func(time.Duration) {
				if e.staff != staff || len(e.hands) != idle {
					t.Errorf("%s: %d goroutines, %d idle, want %d, %d", when, e.staff, len(e.hands), staff, idle)
				}
			})
		}
		synctest.Wait()
		check("one caller", 1, 1)
		for range 3 * idleHands {
			go func() { _, _ = e.Do(context.Background(), Key{}, takes(ms, nil)) }()
		}
		synctest.Wait()
		check("at work", 3*idleHands, 0)
		<-time.After(2 * ms)
		synctest.Wait()
		check("after work", idleHands, idleHands)
		e.Close()
		check("closed", 0, 0)
	})
}
