package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"blastradius/resilience"
	"blastradius/sim"
	"blastradius/sim/call"
	"blastradius/sim/des"
)

func bulkhead(permits int, wait time.Duration) *resilience.Bulkhead {
	return &resilience.Bulkhead{Permits: permits, MaxWait: wait, Queue: -1}
}

func timeout(d time.Duration) *resilience.Timeout { return &resilience.Timeout{After: d} }

func retry(attempts int, pause time.Duration) *resilience.Retry {
	r := resilience.Layers["retry"]().(*resilience.Retry)
	r.Attempts = attempts
	if pause > 0 {
		r.Backoff = &resilience.ConstantBackoff{Wait: pause}
	}
	return r
}

// takes is work of a given length that heeds its context.
func takes(d time.Duration, err error) Work {
	return func(ctx context.Context, _ Attempt) error {
		select {
		case <-time.After(d):
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// deaf is work that does not heed its context.
func deaf(d time.Duration) Work {
	return func(context.Context, Attempt) error {
		<-time.After(d)
		return nil
	}
}

// clean fails when something of any call is left in e.
func clean(t *testing.T, e *Engine) {
	t.Helper()
	e.Read(func(time.Duration) {
		if e.parked.N() != 0 || e.working != 0 || len(e.waiting) != 0 || e.kernel.Live() != 0 {
			t.Errorf("left: %d parked, %d at work, %d waiting, %d timers", e.parked.N(), e.working, len(e.waiting), e.kernel.Live())
		}
		e.flights.Each(func(f *flight) {
			if f.ctx != nil || f.work != nil || f.cancel != nil || f.err != nil || f.lastErr != nil || f.parked || len(f.ready) != 0 || f.own.state != idle {
				t.Errorf("a frame keeps something of its last call: %+v", f)
			}
		})
	})
}

// in runs do with an engine in a bubble.
func in(t *testing.T, stack []sim.Layer, do func(t *testing.T, e *Engine)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := New(stack, Options{})
		do(t, e)
		synctest.Wait() // work whose caller has left comes to its end
		clean(t, e)
		e.Close()
	})
}

func TestAnswersAndTheirErrors(t *testing.T) {
	ctx := context.Background()
	fallback := resilience.Layers["fallback"]()
	tests := []struct {
		name  string
		stack []sim.Layer
		work  Work
		want  string
		after time.Duration
	}{
		{"ok", nil, takes(3*ms, nil), "ok, <nil>", 3 * ms},
		{"the work's own error", stackOf(breaker()), takes(3*ms, errFails), "server_error, fails", 3 * ms},
		{"no permit", stackOf(bulkhead(0, 0)), fine, "rejected bulkhead_full, rejected: bulkhead_full", 0},
		{"waited for a permit", stackOf(bulkhead(0, 5*ms)), fine, "rejected bulkhead_wait, rejected: bulkhead_wait", 5 * ms},
		{"timeout", stackOf(timeout(7 * ms)), takes(s, nil), "timeout, timeout", 7 * ms},
		{"timeout of work that does not heed it", stackOf(timeout(7 * ms)), deaf(20 * ms), "timeout, timeout", 7 * ms},
		{"retries", stackOf(retry(3, 10*ms)), takes(ms, errFails), "server_error, fails", 23 * ms},
		{"retries at once", stackOf(retry(3, 0)), takes(ms, errFails), "server_error, fails", 3 * ms},
		{"retries under a timeout", stackOf(timeout(15*ms), retry(3, 10*ms)), takes(ms, errFails), "timeout, timeout", 15 * ms},
		{"timeout of each attempt", stackOf(retry(2, 10*ms), timeout(5*ms)), takes(s, nil), "timeout, timeout", 20 * ms},
		{"fallback", stackOf(fallback), takes(3*ms, errFails), "degraded, <nil>", 3 * ms},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, tt.stack, func(t *testing.T, e *Engine) {
				out, err := e.Do(ctx, Key{}, tt.work)
				got := fmt.Sprintf("%v %v", out.Class, out.Reason)
				if got = fmt.Sprintf("%s, %v", strings.TrimSpace(got), err); got != tt.want || e.Now() != tt.after {
					t.Errorf("got %s after %v, want %s after %v", got, e.Now(), tt.want, tt.after)
				}
				if refusal, ok := errors.AsType[*Error](err); ok && refusal.Outcome() != out {
					t.Errorf("the error says %+v, the answer %+v", refusal.Outcome(), out)
				}
				<-time.After(s) // deaf work ends
			})
		})
	}
}

// The caller gives up wherever the call is: at once, with its own error, and
// what the call held is free.
func TestCallerGivesUp(t *testing.T) {
	tests := []struct {
		name  string
		stack []sim.Layer
		work  Work
	}{
		{"while it waits for a permit", stackOf(bulkhead(0, -1)), fine},
		{"in a backoff", stackOf(retry(3, s)), takes(ms, errFails)},
		{"while the work runs in its goroutine", stackOf(bulkhead(1, 0)), takes(s, nil)},
		{"while the work runs in a goroutine of its own", stackOf(bulkhead(1, 0), timeout(s)), takes(s, nil)},
		{"while work runs that does not heed it", stackOf(bulkhead(1, 0), timeout(s)), deaf(s)},
		{"in a backoff around a timeout", stackOf(retry(9, 3*ms), timeout(3*ms)), deaf(s)},
	}
	for _, tt := range tests {
		for _, how := range []string{"cancelled", "deadline"} {
			t.Run(tt.name+", "+how, func(t *testing.T) {
				in(t, tt.stack, func(t *testing.T, e *Engine) {
					ctx, cancel := context.WithCancel(context.Background())
					want := context.Canceled
					if how == "deadline" {
						ctx, cancel = context.WithTimeout(context.Background(), 10*ms)
						want = context.DeadlineExceeded
					} else {
						time.AfterFunc(10*ms, cancel)
					}
					defer cancel()
					out, err := e.Do(ctx, Key{}, tt.work)
					if out != (call.Outcome{Class: call.Cancelled}) || err != want {
						// A pause that would end after the deadline is not begun.
						if !(how == "deadline" && strings.Contains(tt.name, "backoff") && out.Class != call.Cancelled) {
							t.Errorf("got %v, %v", out, err)
						}
					} else if e.Now() != 10*ms {
						t.Errorf("it returned at %v", e.Now())
					}
					<-ctx.Done()
					if out, err := e.Do(ctx, Key{}, fine); out.Class != call.Cancelled || err != want {
						t.Errorf("with a context that is over already: %v, %v", out, err)
					}
					<-time.After(2 * s)
				})
			})
		}
	}
}

// An answer that comes at the instant at which the caller gives up was in time;
// an error may as well come of giving up.
func TestSuccessBeatsGivingUp(t *testing.T) {
	for _, stack := range [][]sim.Layer{nil, stackOf(timeout(s))} {
		in(t, stack, func(t *testing.T, e *Engine) {
			ctx, cancel := context.WithCancel(context.Background())
			if out, err := e.Do(ctx, Key{}, func(context.Context, Attempt) error {
				cancel()
				if stack != nil {
					return errFails // the caller has left or is about to
				}
				return nil
			}); stack == nil && (out.Class != call.OK || err != nil) || stack != nil && (out.Class != call.Cancelled || err != context.Canceled) {
				t.Errorf("%v, %v", out, err)
			}
		})
	}
}

func TestParkedCountsCallsThatHaveNotReturned(t *testing.T) {
	in(t, stackOf(bulkhead(2, -1), timeout(5*ms)), func(t *testing.T, e *Engine) {
		var all sync.WaitGroup
		for range 7 {
			all.Go(func() { _, _ = e.Do(context.Background(), Key{}, deaf(20*ms)) })
		}
		for _, want := range []int64{7, 5, 3, 1, 0} {
			synctest.Wait()
			if got := e.Parked(); got != want {
				t.Errorf("at %v: %d parked, want %d", e.Now(), got, want)
			}
			<-time.After(5 * ms)
		}
		all.Wait()
		<-time.After(s)
	})
}

// One caller's permit makes another's work start, whoever's goroutine it is.
func TestPermitGoesToWhoWaitsLongest(t *testing.T) {
	in(t, stackOf(bulkhead(1, -1)), func(t *testing.T, e *Engine) {
		var order []int
		var all sync.WaitGroup
		for i := range 5 {
			all.Go(func() {
				_, _ = e.Do(context.Background(), Key{}, func(ctx context.Context, a Attempt) error {
					order = append(order, i) // the permit is the lock
					return takes(10*ms, nil)(ctx, a)
				})
			})
			synctest.Wait()
		}
		all.Wait()
		if fmt.Sprint(order) != "[0 1 2 3 4]" || e.Now() != 50*ms {
			t.Errorf("order %v, done at %v", order, e.Now())
		}
	})
}

func TestPanicSurfacesInTheCaller(t *testing.T) {
	boom := errors.New("boom")
	panics := func(context.Context, Attempt) error { panic(boom) }
	for name, stack := range map[string][]sim.Layer{
		"in its goroutine": stackOf(breaker(), bulkhead(1, 0)), "apart": stackOf(breaker(), bulkhead(1, 0), timeout(s)),
		"not retried": stackOf(retry(3, 0), breaker(), bulkhead(1, 0)), "not retried later": stackOf(retry(3, s), breaker(), bulkhead(1, 0)),
		"not retried apart": stackOf(timeout(s), retry(3, 0), breaker(), bulkhead(1, 0)),
		"not hidden":        stackOf(resilience.Layers["fallback"](), timeout(s), breaker(), bulkhead(1, 0)),
	} {
		t.Run(name, func(t *testing.T) {
			in(t, stack, func(t *testing.T, e *Engine) {
				for i := range 6 {
					func() {
						defer func() {
							v := recover()
							if p, ok := v.(*PanicError); ok {
								if !strings.Contains(string(p.Stack), "engine_test.go") || !strings.Contains(p.Error(), "boom") {
									t.Errorf("where it came from is not in %s", p.Error())
								}
								v = p.Unwrap()
							}
							if i < 5 && v != any(boom) {
								t.Errorf("call %d: recovered %v", i, v)
							}
						}()
						out, _ := e.Do(context.Background(), Key{}, panics)
						if i == 5 && out.Reason != call.BreakerOpen && out.Class != call.Degraded {
							t.Errorf("five panics did not open the breaker: %v", out)
						}
					}()
				}
				if e.Now() != 0 {
					t.Errorf("a panic was held up until %v", e.Now())
				}
			})
		})
	}
}

func TestGoexitSurfacesInTheCaller(t *testing.T) {
	for _, stack := range [][]sim.Layer{stackOf(bulkhead(1, 0)), stackOf(bulkhead(1, 0), timeout(s))} {
		in(t, stack, func(t *testing.T, e *Engine) {
			returned := false
			var all sync.WaitGroup
			all.Go(func() {
				_, _ = e.Do(context.Background(), Key{}, func(context.Context, Attempt) error {
					runtime.Goexit()
					return nil
				})
				returned = true
			})
			all.Wait()
			if returned {
				t.Error("Do returned")
			}
		})
	}
}

func TestPanicOfAbandonedWorkIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Pointer[PanicError]
		e := New(stackOf(timeout(5*ms)), Options{Orphan: func(p *PanicError) { told.Store(p) }})
		out, _ := e.Do(context.Background(), Key{}, func(context.Context, Attempt) error {
			<-time.After(10 * ms)
			panic("late")
		})
		if out.Class != call.Timeout || told.Load() != nil {
			t.Errorf("%v, told %v", out, told.Load())
		}
		e.Close()
		if p := told.Load(); p == nil || p.Value != "late" {
			t.Errorf("told %v", p)
		}
	})
}

func TestCloseEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(stackOf(bulkhead(2, -1), retry(3, time.Hour), timeout(time.Hour)), Options{})
		var all sync.WaitGroup
		ended := make([]string, 6)
		for i := range ended {
			all.Go(func() {
				work := takes(time.Hour, nil)
				switch i {
				case 0:
					work = fails // and then waits for its second attempt
				case 1:
					work = func(ctx context.Context, _ Attempt) error {
						<-ctx.Done()
						<-time.After(3 * s) // it takes its time
						return nil
					}
				}
				out, err := e.Do(context.Background(), Key{}, work)
				ended[i] = fmt.Sprintf("%v %v at %v", out.Class, err, e.Now())
			})
			synctest.Wait()
		}
		<-time.After(s)
		e.Close()
		if e.Now() != 4*s {
			t.Errorf("Close returned at %v and did not wait for the work", e.Now())
		}
		all.Wait()
		for i, got := range ended {
			if got != "cancelled live: the engine is closed at 1s" {
				t.Errorf("call %d: %s", i, got)
			}
		}
		clean(t, e)
		if out, err := e.Do(context.Background(), Key{}, fine); out.Class != call.Cancelled || err != ErrClosed {
			t.Errorf("after Close: %v, %v", out, err)
		}
		e.Close() // again
	})
}

// A caller may give up at the instant at which it gets its permit. Whichever
// comes first, it returns, and its frame is as good as new.
func TestGivingUpWhileBeingWoken(t *testing.T) {
	in(t, stackOf(bulkhead(1, -1)), func(t *testing.T, e *Engine) {
		got := map[call.Class]int{}
		for range 300 {
			var all sync.WaitGroup
			all.Go(func() { _, _ = e.Do(context.Background(), Key{}, takes(10*ms, nil)) })
			synctest.Wait()
			ctx, cancel := context.WithTimeout(context.Background(), 10*ms)
			out, _ := e.Do(ctx, Key{}, takes(ms, nil))
			got[out.Class]++
			cancel()
			all.Wait()
			clean(t, e)
		}
		if got[call.OK]+got[call.Cancelled] != 300 {
			t.Errorf("%v", got)
		}
	})
}

// The context of work in a goroutine of its own ends with it, so that nothing
// gathers in the caller's context.
func TestContextOfWorkEndsWithIt(t *testing.T) {
	in(t, stackOf(timeout(s)), func(t *testing.T, e *Engine) {
		caller, cancel := context.WithCancel(context.Background())
		defer cancel()
		var of context.Context
		if _, err := e.Do(caller, Key{}, func(ctx context.Context, _ Attempt) error {
			of = ctx
			return ctx.Err()
		}); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if of == caller || of.Err() == nil {
			t.Errorf("its own: %t, ended: %v", of != caller, of.Err())
		}
	})
}

// A reply that comes at the nanosecond of a deadline is in time.
func TestReplyComesBeforeWhatIsDueNow(t *testing.T) {
	in(t, nil, func(t *testing.T, e *Engine) {
		fired := false
		e.enter(0)
		e.armed = 0 // the timer stays out of it
		e.kernel.After(5, des.Expire, event(func() { fired = true }))
		e.exit()
		<-time.After(5)
		e.enter(1)
		if fired {
			t.Error("what is due at 5ns came before a reply at 5ns")
		}
		e.exit()
		if !fired {
			t.Error("what is due at 5ns did not come after the reply")
		}
	})
}

func TestNothingEntersAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := newLedger()
		e := New(stackOf(bulkhead(0, 0)), Options{Meter: book.under})
		e.Close()
		if out, err := e.Do(context.Background(), Key{}, fine); out.Class != call.Cancelled || err != ErrClosed || *book.counts["live.bulkhead.shed"] != 0 {
			t.Errorf("%v, %v", out, err)
		}
	})
}

// The clock is read before the mutex is had, so another goroutine may have been
// further already. The policies see no step back.
func TestClockDoesNotGoBack(t *testing.T) {
	in(t, nil, func(t *testing.T, e *Engine) {
		e.Read(func(time.Duration) { e.kernel.CatchUp(5, 5) })
		e.Read(func(now time.Duration) {
			if now != 5 {
				t.Errorf("now %v after 5ns", now)
			}
		})
	})
}

// Work in its caller's goroutine cannot be ended from outside: it may answer,
// but no further attempt begins.
func TestCloseWaitsForWorkInTheCallersGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(stackOf(retry(3, ms)), Options{})
		var all sync.WaitGroup
		all.Go(func() {
			if out, err := e.Do(context.Background(), Key{}, deaf(10*ms)); out.Class != call.OK || err != nil {
				t.Errorf("%v, %v", out, err)
			}
		})
		all.Go(func() {
			if _, err := e.Do(context.Background(), Key{}, takes(10*ms, errFails)); err != ErrClosed {
				t.Errorf("%v", err)
			}
		})
		synctest.Wait()
		e.Close()
		if e.Now() != 10*ms {
			t.Errorf("closed at %v", e.Now())
		}
		all.Wait()
		clean(t, e)
	})
}

func TestClassify(t *testing.T) {
	tests := []struct {
		err  error
		want call.Outcome
	}{
		{nil, call.Outcome{}},
		{io.ErrUnexpectedEOF, call.Outcome{Class: call.ServerError}},
		{fmt.Errorf("dial: %w", syscall.ECONNREFUSED), call.Outcome{Class: call.ConnectError}},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, call.Outcome{Class: call.ConnectError}},
		{fmt.Errorf("get: %w", context.DeadlineExceeded), call.Outcome{Class: call.Timeout}},
		{fmt.Errorf("get: %w", context.Canceled), call.Outcome{Class: call.Cancelled}},
		{&net.DNSError{IsTimeout: true}, call.Outcome{Class: call.Timeout}},
		{fmt.Errorf("inside: %w", reply{ends: call.Outcome{Class: call.Throttled, RetryAfter: s}}), call.Outcome{Class: call.Throttled, RetryAfter: s}},
		{errorOf(call.Outcome{Class: call.Throttled, RetryAfter: s}), call.Outcome{Class: call.Throttled, RetryAfter: s}},
		{errorOf(call.Outcome{Class: call.Rejected, Reason: call.BreakerOpen}), call.Outcome{Class: call.Rejected, Reason: call.BreakerOpen}},
	}
	for _, tt := range tests {
		if got := Classify(tt.err); got != tt.want {
			t.Errorf("%v: got %+v, want %+v", tt.err, got, tt.want)
		}
	}
}

// In the caller's goroutine nothing is allocated, whichever way the call goes.
func TestNoAllocationsWithoutAGoroutine(t *testing.T) {
	e := New(stackOf(breaker(), bulkhead(4, 0)), Options{})
	defer e.Close()
	ctx := context.Background()
	do := func() { _, _ = e.Do(ctx, Key{}, fine) }
	if n := testing.AllocsPerRun(100, do); n != 0 {
		t.Errorf("closed: %v allocations", n)
	}
	for e.failUntilOpen() {
	}
	if n := testing.AllocsPerRun(100, do); n != 0 {
		t.Errorf("open: %v allocations", n)
	}
}

// Real time, real goroutines, everything at once: laws that hold whatever the
// order. Permits are never exceeded, every caller gets one answer that fits, and
// nothing is left.
func TestStress(t *testing.T) {
	before := runtime.NumGoroutine()
	calls := 3000
	if testing.Short() {
		calls = 500
	}
	for _, stack := range [][]sim.Layer{
		stackOf(breaker(), bulkhead(5, 2*ms), retry(3, 200*time.Microsecond)),
		stackOf(retry(3, 100*time.Microsecond), bulkhead(5, 2*ms), timeout(500*time.Microsecond)),
		stackOf(timeout(3*ms), bulkhead(5, -1), retry(2, 0)),
	} {
		e := New(stack, Options{})
		apart := e.apart
		var inside, most, done atomic.Int64
		var all sync.WaitGroup
		const callers = 40
		for i := range callers {
			all.Go(func() {
				for n := range calls / callers {
					ctx, cancel := context.WithCancel(context.Background())
					if n%3 == 0 {
						ctx, cancel = context.WithTimeout(context.Background(), time.Duration(n%7)*300*time.Microsecond+1)
					}
					out, err := e.Do(ctx, Key{Stream: uint64(i), Request: uint64(n)}, func(ctx context.Context, a Attempt) error {
						most.Store(max(most.Load(), inside.Add(1)))
						defer inside.Add(-1)
						switch x := (i + n + a.Number) % 10; {
						case x < 4:
							return takes(time.Duration(x*150)*time.Microsecond, nil)(ctx, a)
						case x < 6:
							return errFails
						}
						return nil
					})
					cancel()
					done.Add(1)
					if (err == nil) != (out.Class == call.OK) {
						t.Errorf("%v with %v", out, err)
					}
				}
			})
		}
		stop := make(chan struct{})
		var watcher sync.WaitGroup
		watcher.Go(func() { // somebody looks all the time
			for {
				select {
				case <-stop:
					return
				default:
					if n := e.Parked(); n < 0 || n > callers {
						t.Errorf("%d parked", n)
					}
					runtime.Gosched()
				}
			}
		})
		all.Wait()
		close(stop)
		watcher.Wait()
		e.Close()
		clean(t, e)
		if !apart && most.Load() > 5 {
			t.Errorf("%d inside at once with 5 permits", most.Load())
		}
		if done.Load() != int64(calls/callers*callers) {
			t.Errorf("%d calls returned", done.Load())
		}
	}
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if i == 1000 {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
		<-time.After(ms)
	}
}

// Settings at the ends of their ranges.
func TestOddSettings(t *testing.T) {
	const forever = time.Duration(1<<63 - 1)
	tests := []struct {
		name  string
		stack []sim.Layer
		work  Work
		want  string
	}{
		{"a timeout that never comes", stackOf(timeout(forever)), takes(time.Hour, nil), "ok at 1h0m0s"},
		{"a timeout of a nanosecond", stackOf(timeout(1)), takes(time.Hour, nil), "timeout at 1ns"},
		{"one attempt", stackOf(retry(1, forever)), takes(ms, errFails), "server_error at 1ms"},
		{"a pause of 146 years", stackOf(timeout(s), retry(2, forever/2)), takes(ms, errFails), "timeout at 1s"},
		{"a thousand attempts at once", stackOf(retry(1000, 0)), fails, "server_error at 0s"},
		{"a thousand attempts apart", stackOf(timeout(s), retry(1000, 0)), fails, "server_error at 0s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, tt.stack, func(t *testing.T, e *Engine) {
				out, _ := e.Do(context.Background(), Key{}, tt.work)
				if got := fmt.Sprintf("%v at %v", out.Class, e.Now()); got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
				synctest.Wait()
			})
		})
	}
}

// What a layer sets for now happens now, not at the next occasion.
func TestDelayOfNothingIsNotHeldUp(t *testing.T) {
	soon := func(env resilience.Env) call.Layer {
		return func(call.Handler) call.Handler {
			return handler(func(_ *call.Call, d call.Done) call.Canceler {
				env.Sched.After(0, des.Release, event(func() { d.Done(call.Outcome{Class: call.Degraded}) }))
				return cancels(func() {})
			})
		}
	}
	in(t, []sim.Layer{{Kind: "odd", Name: "odd", Config: &odd{nil, false, soon}}}, func(t *testing.T, e *Engine) {
		out, err := e.Do(context.Background(), Key{}, fine)
		if out.Class != call.Degraded || err != nil || e.Now() != 0 || e.timer != nil {
			t.Errorf("%v, %v at %v; timer %v", out, err, e.Now(), e.timer)
		}
	})
}

func TestProbeHearsOfTransitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []string
		stack := decoded(t, "breaker: {consecutive: 2, cooldown: 1s}")
		e := New(stack, Options{Source: "dependency.x", Probe: func(o des.Observation) {
			heard = append(heard, fmt.Sprintf("%v %s %s of request %d", o.At, o.Source, o.What, o.Request))
		}})
		for i, work := range []Work{fails, fails, fine, fine} {
			_, _ = e.Do(context.Background(), Key{Request: uint64(i)}, work)
			<-time.After(600 * ms)
		}
		e.Close()
		// It opens, lets one call probe, and closes.
		want := "[600ms dependency.x.breaker state of request 1 1.8s dependency.x.breaker state of request 3 1.8s dependency.x.breaker state of request 3]"
		if got := fmt.Sprint(heard); got != want {
			t.Errorf("got %s", got)
		}
	})
}
