package live

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"blastradius/resilience"
	"blastradius/scenarios"
	"blastradius/sim"
	"blastradius/sim/call"
	"blastradius/sim/des"
	"blastradius/sim/dist"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

// decoded is a stack as a scenario file has it, one layer a line.
func decoded(t testing.TB, lines ...string) []sim.Layer {
	t.Helper()
	var b strings.Builder
	b.WriteString("version: 1\nname: parity\nduration: 1m\nendpoints: {e: {arrivals: {even: 1/s}, calls: [d]}}\ndependencies:\n  d:\n    latency: 1ms\n    stack:\n")
	for _, l := range lines {
		fmt.Fprintf(&b, "      - %s\n", l)
	}
	f, err := scenarios.Load("parity.yaml", []byte(b.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return f.Config().Dependencies[0].Stack
}

// luck is what happens to request n of a trial, keyed as in a simulation. Every
// instant has its own nanosecond, since in a bubble the order of two goroutines
// at one instant is not fixed.
type luck struct {
	stream   uint64
	requests int
}

// arrival of every hundred requests begins with 60 in 180 ms; the other 40 take
// the rest of 2 s.
func (l luck) arrival(n int) time.Duration {
	var r dist.Rand
	r.Key(l.stream, uint64(n))
	at := time.Duration(n/100) * 2 * s
	if i := time.Duration(n % 100); i < 60 {
		return at + i*3*ms + r.Duration(3*ms)
	} else {
		return at + 180*ms + (i-60)*45*ms + r.Duration(45*ms)
	}
}

func (l luck) deadline(n int) time.Duration {
	var r dist.Rand
	r.Key(l.stream+1, uint64(n))
	return l.arrival(n) + 4*s + r.Duration(s)
}

type reply struct {
	ends  call.Outcome
	after time.Duration
	hang  bool
}

// trialHosts are the copies of what is called, the first of which is bad.
const trialHosts = 10

// reply of the middle third of the requests is mostly bad, and of the first host.
func (l luck) reply(n uint64, a Attempt) (out reply) {
	var r dist.Rand
	r.Key(l.stream+2, n<<16|uint64(a.Number))
	out.after = time.Duration(100e6*r.Exp()) + 1
	good := 0.9
	if a.Host == 1 {
		good = 0
	}
	if n > uint64(l.requests/3) && n < uint64(2*l.requests/3) {
		good = 0.25
	}
	if r.Float64() < good {
		return out
	}
	switch u := r.Float64(); {
	case u < 0.35:
		out.ends.Class = call.ServerError
	case u < 0.5:
		out.ends.Class, out.after = call.ConnectError, 1+out.after/50
	case u < 0.6:
		out.ends.Class, out.ends.RetryAfter = call.Throttled, 1+r.Duration(200*ms)
	case u < 0.7:
		out.ends.Class = call.ClientError
	case u < 0.8:
		out.hang = true
	default:
		out.after = s + time.Duration(1e9*r.Exp())
	}
	return out
}

// Error and Outcome make a reply an error that knows what it means.
func (r reply) Error() string         { return r.ends.Class.String() }
func (r reply) Outcome() call.Outcome { return r.ends }

// fate is what became of a request.
type fate struct {
	call.Outcome
	at       time.Duration
	attempts int
}

// trial is the fates of all requests with every figure at its end.
type trial struct {
	fates   []fate
	figures ledger
	parked  des.Span
}

// ledger keeps the instruments by name.
type ledger struct {
	des.NullMeter
	prefix string
	counts map[string]*int64
	levels map[string]*des.Gauge
	audits map[string]*des.Station
	times  map[string]*des.TimesHist
}

func newLedger() ledger {
	return ledger{counts: map[string]*int64{}, levels: map[string]*des.Gauge{}, audits: map[string]*des.Station{}, times: map[string]*des.TimesHist{}}
}

func (l ledger) under(source string) des.Meter {
	l.prefix = source + "."
	return l
}

func (l ledger) Count(name string, n *int64)      { l.counts[l.prefix+name] = n }
func (l ledger) Level(name string, g *des.Gauge)  { l.levels[l.prefix+name] = g }
func (l ledger) Peak(name string, g *des.Gauge)   { l.levels[l.prefix+name] = g }
func (l ledger) Series(name string, g *des.Gauge) { l.levels[l.prefix+name] = g }
func (l ledger) Times(name string, h *des.TimesHist, _ ...string) {
	l.times[l.prefix+name] = h
}
func (l ledger) Audit(name string, station *des.Station) { l.audits[l.prefix+name] = station }

// text is every figure at now, sorted.
func (l ledger) text(now time.Duration) string {
	var lines []string
	for name, n := range l.counts {
		lines = append(lines, fmt.Sprintf("%s %d", name, *n))
	}
	for name, h := range l.times {
		all := h.Take()
		lines = append(lines, fmt.Sprintf("%s %d times, mean %v, median %v, max %v", name, all.Count(), all.Mean(), all.Quantile(0.5), all.Max()))
	}
	for name, station := range l.audits {
		lines = append(lines, fmt.Sprintf("%s %+v", name, station.CutFlow(now)))
	}
	for name, g := range l.levels {
		if name != "live.parked" {
			lines = append(lines, fmt.Sprintf("%s %+v", name, g.Cut(now)))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// simulated runs the trial in virtual time.
func (l luck) simulated(t testing.TB, stack []sim.Layer) (trial, string) {
	k := des.NewKernel()
	out := trial{fates: make([]fate, l.requests), figures: newLedger()}
	w := &virtualWork{k: k, luck: l, fates: out.fates}
	var layers []call.Layer
	var budgets resilience.StackBudgets
	for i, one := range stack {
		source := "live." + one.Name
		layers = append(layers, one.Config.Layer(resilience.Env{
			Sched: k, Meter: out.figures.under(source), Source: source, CountsAttempts: sim.CountsAttempts(stack, i), Hosts: trialHosts, Budgets: &budgets,
		}))
	}
	h := call.Stack(w, layers...)
	var parked des.Gauge
	for n := range l.requests {
		c := &virtualCaller{k: k, parked: &parked, stack: h, fate: &out.fates[n]}
		c.call = call.Call{Stream: l.stream, Request: uint64(n), Deadline: l.deadline(n)}
		k.After(l.arrival(n), des.Arrive, c)
		k.After(l.deadline(n), des.Expire, event(c.leave))
	}
	if err := k.Run(context.Background(), l.end()); err != nil {
		t.Fatal(err)
	}
	out.parked = parked.Cut(l.end())
	return out, out.figures.text(l.end())
}

func (l luck) end() time.Duration { return l.deadline(l.requests-1) + 10*s }

type event func()

func (e event) Fire() { e() }

type virtualCaller struct {
	k      *des.Kernel
	parked *des.Gauge
	stack  call.Handler
	call   call.Call
	cancel call.Canceler
	fate   *fate
	over   bool
}

func (c *virtualCaller) Fire() {
	c.parked.Add(c.k.Now(), 1)
	c.cancel = c.stack.Start(&c.call, c)
}

func (c *virtualCaller) Done(o call.Outcome) {
	c.over = true
	c.parked.Add(c.k.Now(), -1)
	*c.fate = fate{o, c.k.Now(), c.fate.attempts}
}

func (c *virtualCaller) leave() {
	if !c.over {
		c.cancel.Cancel()
		c.Done(call.Outcome{Class: call.Cancelled})
	}
}

type virtualWork struct {
	k    *des.Kernel
	luck luck
	// whose attempts it counts
	fates []fate
	// what the layers did to the work
	cancelled, beside int
	out               map[*call.Call]int
}

type virtualPiece struct {
	w     *virtualWork
	call  *call.Call
	done  call.Done
	reply reply
	timer des.Timer
}

func (w *virtualWork) Start(c *call.Call, d call.Done) call.Canceler {
	number := c.NextAttempt()
	if w.out == nil {
		w.out = map[*call.Call]int{}
	}
	if w.fates != nil {
		w.fates[c.Request].attempts++
	}
	original := c.Root()
	if w.out[original]++; w.out[original] > 1 {
		w.beside++
	}
	p := &virtualPiece{w: w, call: original, done: d, reply: w.luck.reply(c.Request, Attempt{int(number), int(c.Host)})}
	if !p.reply.hang {
		p.timer = w.k.After(p.reply.after, des.Release, p)
	}
	return p
}

func (p *virtualPiece) Fire() {
	p.w.out[p.call]--
	p.done.Done(p.reply.ends)
}

func (p *virtualPiece) Cancel() {
	p.w.out[p.call]--
	p.w.cancelled++
	p.w.k.Stop(p.timer)
}

// real runs the trial on goroutines.
func (l luck) real(t *testing.T, stack []sim.Layer) (out trial, figures string) {
	synctest.Test(t, func(t *testing.T) {
		out = trial{fates: make([]fate, l.requests), figures: newLedger()}
		e := New(stack, Options{Meter: out.figures.under, Hosts: trialHosts})
		until := func(at time.Duration) { <-time.After(at - e.Now()) }
		var all sync.WaitGroup
		started := make([]atomic.Int32, l.requests)
		for n := range l.requests {
			until(l.arrival(n))
			all.Go(func() {
				ctx, cancel := context.WithDeadline(context.Background(), e.begun.Add(l.deadline(n)))
				defer cancel()
				o, _ := e.Do(ctx, Key{l.stream, uint64(n)}, func(ctx context.Context, a Attempt) error {
					started[n].Add(1)
					return l.work(ctx, uint64(n), a)
				})
				out.fates[n] = fate{Outcome: o, at: e.Now()}
			})
		}
		all.Wait()
		until(l.end())
		for n := range out.fates {
			out.fates[n].attempts = int(started[n].Load())
		}
		e.Read(func(now time.Duration) {
			if now != l.end() {
				t.Errorf("the clock shows %v at %v", now, l.end())
			}
			out.parked = e.parked.Cut(now)
			figures = out.figures.text(now)
			if e.parked.N() != 0 || e.working != 0 || len(e.waiting) != 0 {
				t.Errorf("left behind: %d parked, %d at work, %d waiting", e.parked.N(), e.working, len(e.waiting))
			}
		})
		e.Close()
	})
	return out, figures
}

func (l luck) work(ctx context.Context, n uint64, a Attempt) error {
	return l.reply(n, a).work(ctx)
}

// work takes its time, unless ctx ends first.
func (r reply) work(ctx context.Context) error {
	if r.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	timer := time.NewTimer(r.after)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	if r.ends.Class == call.OK {
		return nil
	}
	return r
}

// same runs the trial by both clocks and compares every request, every figure
// and the goroutines that were parked, to the nanosecond.
func same(t *testing.T, l luck, lines ...string) trial {
	t.Helper()
	want, figures := l.simulated(t, decoded(t, lines...))
	got, gotFigures := l.real(t, decoded(t, lines...))
	for n := range want.fates {
		if got.fates[n] != want.fates[n] {
			t.Fatalf("%v, request %d that arrived at %v:\n live %+v\n sim  %+v", lines, n, l.arrival(n), got.fates[n], want.fates[n])
		}
	}
	if got.parked != want.parked {
		t.Errorf("%v: goroutines parked: live %+v, sim %+v", lines, got.parked, want.parked)
	}
	if gotFigures != figures {
		t.Errorf("%v: figures differ:\n live\n%s\n sim\n%s", lines, gotFigures, figures)
	}
	return want
}

func kinds() []string { return slices.Sorted(maps.Keys(resilience.Layers)) }

// exampleOf is the layer as its documentation shows it.
func exampleOf(kind string) string { return resilience.Layers[kind]().Example() }

func TestEveryLayerIsTheSameByBothClocks(t *testing.T) {
	l := luck{stream: 11, requests: 3000}
	bare, _ := l.simulated(t, nil)
	for _, kind := range kinds() {
		t.Run(kind, func(t *testing.T) {
			got := same(t, l, exampleOf(kind))
			if slices.Equal(got.fates, bare.fates) {
				t.Errorf("%s changed nothing: the trial is too easy", exampleOf(kind))
			}
		})
	}
}

func TestEveryDialectIsTheSameByBothClocks(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(resilience.Dialects)) {
		t.Run(name, func(t *testing.T) {
			same(t, luck{stream: 31, requests: 1500}, "breaker: {dialect: "+name+"}", "timeout: 700ms")
		})
	}
}

func TestFullStacksAreTheSameByBothClocks(t *testing.T) {
	for i, lines := range [][]string{
		{"fallback: {serve: cached, hit: 90%, max_age: 10m}", "breaker: {cooldown: 3s}", "bulkhead: {permits: 20, max_wait: 250ms}", "timeout: 1500ms"},
		{"fallback: {serve: degraded, latency: 5ms}", "breaker: {consecutive: 5, cooldown: 2s, probes: 3}", "bulkhead: {permits: 8, max_wait: 250ms, queue: 10}",
			"retry: {attempts: 3, backoff: {exponential: {base: 20ms, max: 200ms}}, jitter: full}", "timeout: 300ms"},
		{"timeout: 2s", "retry: {attempts: 4, retry_on: [timeout, server_error, connect_error, throttled, rejected]}",
			"breaker: {window: 5s, cooldown: 1s, ramp: {from: 10%, over: 3s}}", "bulkhead: {permits: 10}", "timeout: {after: 400ms}"},
		{"breaker: {record: attempt, cooldown: 1s}", "retry: {attempts: 3, backoff: {constant: 30ms}, jitter: equal}", "bulkhead: {permits: 5, max_wait: forever}"},
		{"breaker: {record: attempt, cooldown: 1s}", "hedge: {delay: 60ms, budget: {failsafe-go: {share: 10%, min: 2}}}", "retry: {attempts: 3, backoff: {constant: 20ms}, budget: shared}", "timeout: 300ms"},
		{"bulkhead: {permits: 30, max_wait: 1s}", "retry: 2", "fallback: {serve: queue, size: 5, drain: 2/s}", "timeout: 100ms"},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			lines = named(lines)
			same(t, luck{stream: uint64(100 + 10*i), requests: 3000}, lines...)
		})
	}
}

// named gives the second of a kind a name.
func named(lines []string) []string {
	seen := map[string]int{}
	var out []string
	for _, l := range lines {
		kind, rest, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(l, "{"), "}"), ": ")
		if strings.HasPrefix(l, "{") {
			l = kind + ": " + rest
		}
		if seen[kind]++; seen[kind] > 1 {
			l = fmt.Sprintf("{%s, name: %s%d}", l, kind, seen[kind])
		}
		out = append(out, l)
	}
	return out
}

// variants are more settings of some layers, for stacks at random.
var variants = map[string][]string{
	"breaker": {"breaker: {cooldown: 500ms, probes: 3, lease: 200ms}", "breaker: {window: 3s, cooldown: 1s, ramp: {from: 10%, over: 2s}}",
		"breaker: {record: attempt, cooldown: 700ms}", "breaker: {consecutive: 3, cooldown: 1s, verdicts: {rejected: failure, cancelled: failure}}"},
	"bulkhead": {"bulkhead: {permits: 5}", "bulkhead: {permits: 5, max_wait: forever}", "bulkhead: {permits: 3, max_wait: 100ms, queue: 4}"},
	"timeout":  {"timeout: 100ms", "timeout: 37ms"},
	"retry": {"retry: 3", "retry: {attempts: 5, backoff: {exponential: {base: 10ms, max: 100ms}}, jitter: decorrelated, retry_on: [timeout, server_error, connect_error, throttled, rejected]}",
		"retry: {attempts: 2, backoff: {constant: 50ms}}",
		"retry: {attempts: 3, backoff: {linear: 20ms}, jitter: {spread: 20%}, budget: {envoy: {share: 20%, min: 3}}}", "retry: {attempts: 3, backoff: {list: [10ms, 50ms]}, budget: {grpc: {max_tokens: 50, token_ratio: 0.3}}, max_elapsed: 400ms}",
		"retry: {attempts: 3, backoff: {exponential: {base: 30ms}}, jitter: decorrelated-v2, budget: failsafe-go}", "retry: {attempts: 4, backoff: envoy, jitter: full, budget: {linkerd: {ratio: 20%, min_per_second: 2}}}", "retry: {attempts: 3, budget: {aws: {tokens: 60}}, retry_on: [server_error, throttled], max_retry_after: 50ms}"},
	"hedge":    {"hedge: {delay: 100ms, max: 2}", "hedge: {delay: 0s, on_failure: wait}", "hedge: {delay: {quantile: 90%, initial: 150ms}, on_failure: end}", "hedge: {delay: 80ms, max: 2, fatal: [connect_error], budget: {failsafe-go: {share: 10%, min: 2}}}"},
	"fallback": {"fallback: {serve: cached, hit: 50%, max_age: 2s, latency: 3ms}", "fallback: {serve: queue, size: 3, drain: 1/s}", "fallback: degraded"},
}

func TestStacksAtRandomAreTheSameByBothClocks(t *testing.T) {
	stacks := 60
	if testing.Short() {
		stacks = 5
	}
	for seed := range uint64(stacks) {
		r := rand.New(rand.NewPCG(seed, 3))
		var lines []string
		for range 2 + r.IntN(4) {
			kind := kinds()[r.IntN(len(kinds()))]
			settings := append([]string{exampleOf(kind)}, variants[kind]...)
			lines = append(lines, settings[r.IntN(len(settings))])
		}
		same(t, luck{stream: 1000 + 10*seed, requests: 600}, named(lines)...)
	}
}

// A layer that cancels work by itself, or has two attempts out at once, has to
// say so, or its work runs in the caller's goroutine and holds it up.
func TestLayersThatInterruptSaySo(t *testing.T) {
	for _, kind := range kinds() {
		config := decoded(t, exampleOf(kind))[0].Config
		k := des.NewKernel()
		l := luck{stream: 21, requests: 3000}
		w := &virtualWork{k: k, luck: l}
		h := config.Layer(resilience.Env{Sched: k, Meter: des.NullMeter{}, Source: "live." + kind})(w)
		fates := make([]fate, l.requests)
		var parked des.Gauge
		for n := range l.requests { // nobody leaves
			c := &virtualCaller{k: k, parked: &parked, stack: h, fate: &fates[n]}
			c.call = call.Call{Stream: l.stream, Request: uint64(n), Deadline: l.deadline(n)}
			k.After(l.arrival(n), des.Arrive, c)
		}
		if err := k.Run(context.Background(), l.end()); err != nil {
			t.Fatal(err)
		}
		if (w.cancelled > 0 || w.beside > 0) && !resilience.Interrupts(config) {
			t.Errorf("%s cancelled work %d times, started it beside another attempt %d times, and has no Interrupts", kind, w.cancelled, w.beside)
		}
	}
}
