package resilience

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
)

// randomConfigs gives each registered kind settings small enough that all of
// its paths are met within a few dozen calls. A new kind needs a line here.
var randomConfigs = map[string]func(r *rand.Rand) Config{
	"breaker": func(r *rand.Rand) Config {
		c := newBreaker().(*Breaker)
		switch r.IntN(3) {
		case 0:
			c.Consecutive = 1 + r.IntN(4)
		case 1:
			c.Window, c.MinCalls = &LastCalls{N: 1 + r.IntN(8)}, 1
		default:
			c.Window, c.MinCalls = &LastSpan{Span: time.Duration(1 + r.IntN(30))}, 2
		}
		c.Cooldown, c.Probes, c.Lease = time.Duration(1+r.IntN(20)), 1+r.IntN(3), time.Duration(r.IntN(15))
		if r.IntN(3) == 0 {
			c.Ramp = &Ramp{From: r.Float64(), Over: time.Duration(1 + r.IntN(30))}
		}
		c.Record = []string{RecordOperation, RecordAttempt}[r.IntN(2)]
		return c
	},
	"bulkhead": func(r *rand.Rand) Config {
		c := &Bulkhead{Order: []string{OrderFIFO, OrderLIFO}[r.IntN(2)], Release: []string{OnCallerReturn, OnWorkDone}[r.IntN(2)], Queue: -1}
		if r.IntN(3) == 0 {
			core := 1 + r.IntN(3)
			c.Threads = &Threads{Core: core, Max: core + r.IntN(3), Queue: r.IntN(5) - 1, KeepAlive: time.Duration(r.IntN(8))}
			return c
		}
		c.Permits, c.MaxWait, c.Queue = 1+r.IntN(4), time.Duration(r.IntN(12)-1), r.IntN(6)-1
		return c
	},
	"timeout": func(r *rand.Rand) Config {
		return &Timeout{
			After: time.Duration(1 + r.IntN(12)), Mode: []string{ModeCancel, ModeAbandon}[r.IntN(2)],
			Propagate: r.IntN(2) == 0, Useful: time.Duration(max(0, r.IntN(8)-4)),
		}
	},
	"concurrency_limit": func(r *rand.Rand) Config {
		c := newConcurrencyLimit().(*ConcurrencyLimit)
		switch r.IntN(3) {
		case 0:
			c.Algorithm = &AIMD{Start: 2, Min: 1, Max: 5, Backoff: 0.5, Timeout: time.Duration(1 + r.IntN(12))}
		case 1:
			c.Algorithm = &Vegas{Start: 3, Max: 8, Smoothing: 1, Probe: 1 + r.IntN(3)}
		default:
			c.Algorithm = &Gradient2{Start: 2, Min: 1, Max: 7, Smoothing: 0.5, Queue: 1, Tolerance: 1, LongWindow: 5}
		}
		if r.IntN(3) == 0 {
			c.Verdicts = map[string]string{"cancelled": "drop", "server_error": "drop", "rejected": "success"}
		}
		return c
	},
	"throttle": func(r *rand.Rand) Config {
		c := newThrottle().(*Throttle)
		window, buckets := time.Duration(1+r.IntN(30)), 1+r.IntN(4)
		if r.IntN(2) == 0 {
			c.Rule = &SRE{K: 1 + r.Float64(), Window: window, Buckets: buckets, CountAt: []string{CountAtSend, CountAtCompletion}[r.IntN(2)], Protection: r.IntN(3)}
		} else {
			c.Rule = &AdmissionControl{Window: window, Buckets: buckets, Threshold: 0.95, Aggression: 1 + float64(r.IntN(2)), Max: 0.8}
		}
		return c
	},
	"rate_limit": func(r *rand.Rand) Config {
		c := newRateLimit().(*RateLimit)
		rate, n := 1e9/float64(1+r.IntN(6)), 1+r.IntN(3)
		switch r.IntN(5) {
		case 0:
			c.Limit = &TokenBucket{Rate: rate, Burst: n}
		case 1:
			c.Limit = &GCRA{Rate: rate, Burst: n}
		case 2:
			c.Limit = &LeakyBucket{Rate: rate, Size: r.IntN(4)}
		case 3:
			c.Limit = &FixedWindow{Calls: n, Per: time.Duration(1 + r.IntN(9))}
		default:
			c.Limit = &SlidingLog{Calls: n, Per: time.Duration(1 + r.IntN(9))}
		}
		if r.IntN(2) == 0 {
			c.WhenFull, c.MaxWait = WhenFullWait, time.Duration(r.IntN(15)-1)
		}
		return c
	},
	"retry": func(r *rand.Rand) Config {
		c := newRetry().(*Retry)
		c.Attempts = 1 + r.IntN(4)
		jitters := slices.Sorted(maps.Keys(Jitters))
		c.Jitter = Jitters[jitters[r.IntN(len(jitters))]]()
		if j, ok := c.Jitter.(*SpreadJitter); ok {
			j.Share, j.Capped = 0.9, r.IntN(2) == 0
		}
		if r.IntN(3) == 0 {
			c.MaxElapsed = time.Duration(1 + r.IntN(15))
		}
		c.MaxRetryAfter = time.Duration(r.IntN(4))
		c.RetryAfter = []string{RetryAfterHonour, RetryAfterIgnore}[r.IntN(2)]
		c.Budget = randomBudget(r)
		c.Backoff = []Backoff{
			&NoBackoff{}, &NoBackoff{}, &ConstantBackoff{Wait: time.Duration(1 + r.IntN(5))},
			&ExponentialBackoff{Base: time.Duration(1 + r.IntN(3)), Factor: 2, Max: 9},
			&LinearBackoff{Base: time.Duration(1 + r.IntN(3)), Max: 5}, &ListBackoff{Pauses: []time.Duration{0, 3}}, &EnvoyBackoff{Base: 2, Max: 6},
		}[r.IntN(7)]
		if r.IntN(2) == 0 {
			c.RetryOn = append(c.RetryOn, "rejected", "throttled")
		}
		return c
	},
	"hedge": func(r *rand.Rand) Config {
		c := newHedge().(*Hedge)
		c.Max, c.OnFailure, c.Budget = 1+r.IntN(3), []string{FailureNext, FailureWait, FailureEnd}[r.IntN(3)], randomBudget(r)
		switch r.IntN(3) {
		case 0:
			c.Delay = &QuantileDelay{Quantile: 0.5, Initial: time.Duration(r.IntN(4) - 1), Age: 10, MinCalls: 1 + r.IntN(10), Min: 1, Max: 6}
		default:
			c.Delay = &FixedDelay{After: time.Duration(r.IntN(6))}
		}
		if r.IntN(3) == 0 {
			c.Fatal = []string{"throttled", "connect_error"}
		}
		return c
	},
	"fallback": func(r *rand.Rand) Config {
		c := newFallback().(*Fallback)
		c.Serve = []string{ServeCached, ServeDegraded, ServeQueue, ServeConstant, ServeDependency, ServeDependency}[r.IntN(6)]
		c.Dependency = "other"
		if r.IntN(2) == 0 {
			c.Keys = &Keys{Count: 1 + r.IntN(5), Zipf: float64(r.IntN(2))}
		}
		c.Hit, c.MaxAge = r.Float64(), time.Duration(r.IntN(20))
		c.Size, c.Drain = 1+r.IntN(3), 1e9/float64(1+r.IntN(10))
		c.Latency = time.Duration(r.IntN(4))
		return c
	},
	"outlier": func(r *rand.Rand) Config {
		c := dialectOf([]string{DialectEnvoy, DialectEnvoyOld, DialectGRPC}[r.IntN(3)], nil)
		c.Interval, c.BaseEjectionTime, c.MaxEjectionTime, c.Jitter = time.Duration(1+r.IntN(10)), time.Duration(1+r.IntN(10)), 20, time.Duration(r.IntN(4))
		c.MaxEjectionPercent, c.PanicThreshold = r.Float64(), []float64{0, 0.5}[r.IntN(2)]
		c.Consecutive, c.EnforceConsecutive, c.Gateway, c.EnforceGateway = r.IntN(4), 1, r.IntN(3), 0.5
		c.SuccessRate.MinimumHosts, c.SuccessRate.RequestVolume, c.FailurePercentage.MinimumHosts, c.FailurePercentage.RequestVolume = 2, 1, 1, 2
		return c
	},
}

// randomBudget is a budget of any kind, small enough to refuse.
func randomBudget(r *rand.Rand) BudgetConfig {
	kinds := slices.Sorted(maps.Keys(Budgets))
	b := Budgets[kinds[r.IntN(len(kinds))]]()
	switch c := b.(type) {
	case *EnvoyBudget:
		c.Min, c.Active = r.IntN(3), []string{ActiveAttempts, ActiveCalls}[r.IntN(2)]
	case *AWSBudget:
		c.Tokens, c.Cost = 30, r.IntN(10)
	case *FailsafeBudget:
		c.Min = r.IntN(3)
	case *LinkerdBudget:
		c.MinPerSecond, c.Deposit = r.IntN(3), []string{DepositAnswer, DepositRequest}[r.IntN(2)]
	}
	return b
}

// checkpoint stands between two layers and holds both to the contract of
// call.Handler.
type checkpoint struct {
	w                     *world
	place                 string
	next                  call.Handler
	in, out, left, inside int
	most                  int
}

type crossing struct {
	at       *checkpoint
	done     call.Done
	inner    call.Canceler
	returned bool // Start has
	ended    string
}

func (p *checkpoint) Start(c *call.Call, d call.Done) call.Canceler {
	p.in++
	p.inside++
	p.most = max(p.most, p.inside)
	x := &crossing{at: p, done: d}
	inner := p.next.Start(c, x)
	x.returned = true
	if (inner == nil) != (x.ended == "done") {
		p.w.fail("%s: canceler %v after Start, but it is %q", p.place, inner, x.ended)
	}
	if inner == nil {
		return nil
	}
	x.inner = inner
	return x
}

func (x *crossing) end(how string) {
	if x.ended != "" {
		x.at.w.fail("%s: %s after %s", x.at.place, how, x.ended)
	}
	x.ended = how
	x.at.inside--
}

func (x *crossing) Done(o call.Outcome) {
	x.end("done")
	x.at.out++
	x.done.Done(o)
}

func (x *crossing) Cancel() {
	x.end("cancel")
	if !x.returned {
		x.at.w.fail("%s: cancelled before Start returned", x.at.place)
	}
	x.at.left++
	x.inner.Cancel()
}

// world is a random stack with random callers and work that meddles: whatever
// the work does, it may end any caller first, also the one it works for. That
// stands for everything a release can set off in a whole process.
type world struct {
	t       *testing.T
	seed    uint64
	rand    *rand.Rand
	k       *des.Kernel
	kinds   []string
	layers  []call.Handler
	budgets StackBudgets
	parked  des.Gauge // of hedges
	points  []*checkpoint
	others  []*checkpoint // the ways into other dependencies
	users   []*user
	log     strings.Builder
	meddles int
	detours int
}

func (w *world) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("seed %d, %v: "+format, append([]any{w.seed, w.kinds}, args...)...)
}

func (w *world) meddle() {
	if w.rand.IntN(8) == 0 && len(w.users) > 0 {
		w.meddles++
		w.users[w.rand.IntN(len(w.users))].leave()
	}
}

// labour is the work inside of the stack.
type labour struct{ w *world }

type job struct {
	w     *world
	done  call.Done
	out   call.Outcome
	timer des.Timer
	ended bool
}

func (l labour) Start(c *call.Call, d call.Done) call.Canceler {
	w := l.w
	c.NextAttempt()
	j := &job{w: w, done: d}
	j.out.Class = []call.Class{call.OK, call.OK, call.ClientError, call.ServerError, call.ServerError, call.Throttled, call.ConnectError, call.Degraded}[w.rand.IntN(8)]
	if w.rand.IntN(3) == 0 {
		j.out.RetryAfter = time.Duration(w.rand.IntN(5))
	}
	w.meddle()
	switch w.rand.IntN(6) {
	case 0, 1:
		j.ended = true
		d.Done(j.out)
		return nil
	case 2: // hangs, until every user has left; only abandoned work sees the end
		j.timer = w.k.After(5000, des.Release, j)
	default:
		j.timer = w.k.After(time.Duration(w.rand.IntN(15)), des.Release, j)
	}
	return j
}

func (j *job) Fire() {
	j.w.meddle()
	if !j.ended {
		j.ended = true
		j.done.Done(j.out)
	}
}

func (j *job) Cancel() {
	if j.ended {
		j.w.fail("work cancelled after its end")
	}
	j.ended = true
	j.w.k.Stop(j.timer)
	j.w.meddle()
}

// user makes one call. When it has left, it uses its call for something else at
// once, as a pooled frame does.
type user struct {
	w       *world
	call    call.Call
	cancel  call.Canceler
	begun   bool
	gone    bool
	told    bool // the stack knows
	reused  bool // its call belongs to somebody else now
	answers int
	marker  sink
}

func (u *user) Fire() {
	u.begun = true
	if u.gone {
		return
	}
	x := u.w.points[0].Start(&u.call, u)
	if x == nil {
		return
	}
	if u.gone {
		u.told = true
		x.Cancel()
		return
	}
	u.cancel = x
}

func (u *user) Done(o call.Outcome) {
	fmt.Fprintf(&u.w.log, "%d %v %v\n", u.w.k.Now(), o.Class, o.Age)
	if u.told {
		u.w.fail("answered after its cancellation")
	}
	u.answers++
	u.cancel = nil
	if u.answers > 1 {
		u.w.fail("%d answers", u.answers)
	}
}

func (u *user) leave() {
	if u.gone || u.answers > 0 {
		return
	}
	u.gone = true
	fmt.Fprintf(&u.w.log, "%d left\n", u.w.k.Now())
	if x := u.cancel; x != nil {
		u.cancel, u.told = nil, true
		x.Cancel()
		u.reused, u.call = true, call.Call{Sink: &u.marker}
	}
}

func makesAttempts(kind string) bool { return kind == "retry" || kind == "hedge" }

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, seed: seed, k: des.NewKernel(), rand: rand.New(rand.NewPCG(seed, 5))}
	kinds := slices.Sorted(maps.Keys(Layers))
	for range 1 + w.rand.IntN(6) {
		w.kinds = append(w.kinds, kinds[w.rand.IntN(len(kinds))])
	}
	point := func(place string, next call.Handler) call.Handler {
		p := &checkpoint{w: w, place: place, next: next}
		w.points = append([]*checkpoint{p}, w.points...)
		return p
	}
	h := point("the work", labour{w})
	counted := false
	for i := len(w.kinds) - 1; i >= 0; i-- {
		kind := w.kinds[i]
		env := Env{Hosts: 3, Sched: w.k, Meter: des.NullMeter{}, Source: fmt.Sprint(i), Budgets: &w.budgets, CountsAttempts: makesAttempts(kind) && !counted, Goroutines: &w.parked}
		env.Dependency = func(name string) call.Handler {
			p := &checkpoint{w: w, place: name, next: labour{w}}
			w.others = append(w.others, p)
			return p
		}
		counted = counted || makesAttempts(kind)
		layer := randomConfigs[kind](w.rand).Layer(env)(h)
		w.layers = append([]call.Handler{layer}, w.layers...)
		h = point(fmt.Sprintf("layer %d, %s", i, kind), layer)
	}
	return w
}

// run lets the users come, and everybody who is still out at the end leave.
func (w *world) run() {
	for i := range 60 {
		u := &user{w: w}
		u.call = call.Call{Stream: w.seed, Request: uint64(i), Deadline: call.NoDeadline}
		at := time.Duration(w.rand.IntN(60))
		if w.rand.IntN(3) == 0 {
			u.call.Deadline = at + time.Duration(w.rand.IntN(25))
			w.k.After(u.call.Deadline, des.Expire, do(u.leave))
		}
		w.users = append(w.users, u)
		w.k.After(at, des.Arrive, u)
	}
	until := func(t time.Duration) {
		if err := w.k.Run(context.Background(), t); err != nil {
			w.t.Fatal(err)
		}
	}
	until(150)
	for _, u := range w.users {
		u.leave()
	}
	until(1e6)
}

func TestRandomStacksKeepTheContract(t *testing.T) {
	for kind := range Layers {
		if randomConfigs[kind] == nil {
			t.Fatalf("%s has no random settings in this test", kind)
		}
	}
	meddles, detours := 0, 0
	for seed := range uint64(2000) {
		w := newWorld(t, seed)
		w.run()
		w.check()
		meddles += w.meddles
		detours += w.detours
	}
	if meddles < 2000 || detours < 2000 {
		t.Errorf("the work meddled only %d times, and %d calls went to another dependency", meddles, detours)
	}
}

func (w *world) check() {
	for _, u := range w.users {
		if u.answers == 0 && !u.gone {
			w.fail("request %d was neither answered nor cancelled", u.call.Request)
		}
		if u.reused && u.call.Sink != call.AttemptSink(&u.marker) {
			w.fail("a call that was reused after its cancellation got the sink %v", u.call.Sink)
		}
		if u.answers > 0 && u.call.Sink != nil {
			w.fail("request %d came back with a sink", u.call.Request)
		}
	}
	for i, p := range w.points {
		if p.in != p.out+p.left || p.inside != 0 {
			w.fail("%s: in %d, out %d, cancelled %d, inside %d", p.place, p.in, p.out, p.left, p.inside)
		}
		if i == 0 {
			continue
		}
		if b, ok := w.layers[i-1].(*bulkheadLayer); ok {
			if p.most > int(b.pool.Size()) || b.pool.InUse.N() != 0 || b.pool.Waiting.N() != 0 {
				w.fail("%s: %d inside at once with %d permits; in use %d, waiting %d", p.place, p.most, b.pool.Size(), b.pool.InUse.N(), b.pool.Waiting.N())
			}
		}
	}
	if n := w.parked.N(); n != 0 {
		w.fail("%d goroutines of hedges left", n)
	}
	for _, p := range w.others {
		if p.in != p.out+p.left || p.inside != 0 {
			w.fail("%s: in %d, out %d, cancelled %d, inside %d", p.place, p.in, p.out, p.left, p.inside)
		}
		w.detours += p.in
	}
	for i, l := range w.layers {
		if l, ok := l.(*concurrencyLayer); ok && (l.inUse.N() != 0 || w.points[i+1].most > l.most) {
			w.fail("layer %d: %d inside at once with a limit of at most %d; in use %d", i, w.points[i+1].most, l.most, l.inUse.N())
		}
		if l, ok := l.(*rateLimitLayer); ok && (l.waiting.N() != 0 || l.head != nil || l.tail != nil) {
			w.fail("layer %d: %d wait for their turn", i, l.waiting.N())
		}
		w.checkFrames(i, l, "frames")
		if h, ok := l.(*hedgeLayer); ok {
			w.checkFrames(i, l, "branches")
			w.checkBudget(i, h.budget)
		}
		if r, ok := l.(*retryLayer); ok {
			w.checkBudget(i, r.budget)
		}
	}
	if n := w.k.Live(); n != 0 {
		w.fail("%d timers left", n)
	}
}

// checkBudget finds a permit, a call or an attempt that a budget still counts.
func (w *world) checkBudget(i int, b Budget) {
	switch b := b.(type) {
	case *envoyBudget:
		if b.active != 0 || b.retries != 0 {
			w.fail("layer %d: the envoy budget still counts %d active and %d retries", i, b.active, b.retries)
		}
	case *failsafeBudget:
		if b.executions != 0 || b.extra != 0 {
			w.fail("layer %d: the failsafe-go budget still counts %d executions and %d extra", i, b.executions, b.extra)
		}
	}
}

// checkFrames finds a frame that was lost, or given back twice.
func (w *world) checkFrames(i int, l call.Handler, pool string) {
	frames := reflect.ValueOf(l).Elem().FieldByName(pool)
	made := 0
	for chunks, j := frames.FieldByName("made"), 0; j < chunks.Len(); j++ {
		made += chunks.Index(j).Len()
	}
	free := frames.FieldByName("free")
	seen := map[uintptr]bool{}
	for j := range free.Len() {
		seen[free.Index(j).Pointer()] = true
	}
	if len(seen) != free.Len() || free.Len() != made {
		w.fail("layer %d, %s: %d %s made, %d in the pool, %d different", i, w.kinds[i], made, pool, free.Len(), len(seen))
	}
}

// One seed, one answer: the same calls end in the same way at the same instant.
func TestRandomStacksRepeatThemselves(t *testing.T) {
	for seed := range uint64(50) {
		a, b := newWorld(t, seed), newWorld(t, seed)
		a.run()
		b.run()
		if a.log.String() != b.log.String() {
			t.Fatalf("seed %d, %v: two runs differ", seed, a.kinds)
		}
	}
}
