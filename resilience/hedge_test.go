package resilience

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"blastradius/sim/call"
	"blastradius/sim/dist"
)

func hedgeOf(delay time.Duration, most int, change ...func(*Hedge)) *Hedge {
	c := newHedge().(*Hedge)
	c.Delay, c.Max = &FixedDelay{After: delay}, most
	for _, f := range change {
		f(c)
	}
	return c
}

func at(failure string) func(*Hedge) { return func(c *Hedge) { c.OnFailure = failure } }

func fatal(classes ...string) func(*Hedge) { return func(c *Hedge) { c.Fatal = classes } }

func runsOn(c *Hedge) { c.Cancel = CancelNone }

func TestHedgeTable(t *testing.T) {
	slow, quick, hangs := step{after: 200 * ms}, step{after: 20 * ms}, step{hang: true}
	fails, refused := step{after: 10 * ms, class: call.ServerError}, step{class: call.ConnectError}
	broke := func(c *Hedge) { c.Budget = &EnvoyBudget{} }
	const d = 100 * ms
	tests := []struct {
		name     string
		config   *Hedge
		work     []step
		leaves   time.Duration
		want     string
		starts   string
		wins     int64
		canceled int
	}{
		{"an answer before the delay needs no hedge", hedgeOf(d, 1), []step{quick}, 0, "ok at 20ms", "[0s]", 0, 0},
		{"nor does one that is due at the delay", hedgeOf(200*ms, 1), []step{slow}, 0, "ok at 200ms", "[0s]", 0, 0},
		{"a hedge wins and the first is cancelled", hedgeOf(d, 1), []step{slow, quick}, 0, "ok at 120ms", "[0s 100ms]", 1, 1},
		{"the first wins after all", hedgeOf(d, 1), []step{slow, hangs}, 0, "ok at 200ms", "[0s 100ms]", 0, 1},
		{"each further hedge waits for the delay", hedgeOf(d, 3), []step{hangs, hangs, quick}, 0, "ok at 220ms", "[0s 100ms 200ms]", 1, 2},
		{"max bounds them", hedgeOf(d, 2), []step{{after: s}}, 0, "ok at 1s", "[0s 100ms 200ms]", 0, 2},
		{"without a delay all go out together", hedgeOf(0, 2), []step{slow, quick, hangs}, 0, "ok at 20ms", "[0s 0s 0s]", 1, 2},
		{"an answer within Start needs no hedge then", hedgeOf(0, 2), []step{{}}, 0, "ok at 0s", "[0s]", 0, 0},
		{"a client error is an answer", hedgeOf(d, 1), []step{slow, {after: ms, class: call.ClientError}}, 0, "client_error at 101ms", "[0s 100ms]", 1, 1},
		{"a failure sends the next at once", hedgeOf(d, 1), []step{fails, quick}, 0, "ok at 30ms", "[0s 10ms]", 1, 0},
		{"and the delay counts from there", hedgeOf(d, 2), []step{fails, slow, quick}, 0, "ok at 130ms", "[0s 10ms 110ms]", 1, 1},
		{"a failed hedge too", hedgeOf(d, 2), []step{hangs, fails, quick}, 0, "ok at 130ms", "[0s 100ms 110ms]", 1, 1},
		{"failures within Start", hedgeOf(d, 3), []step{refused}, 0, "connect_error at 0s", "[0s 0s 0s 0s]", 0, 0},
		{"the last failure is the answer", hedgeOf(d, 1), []step{fails, {after: ms, class: call.ConnectError}}, 0, "connect_error at 11ms", "[0s 10ms]", 0, 0},
		{"a failed hedge waits for the first", hedgeOf(d, 1), []step{slow, fails}, 0, "ok at 200ms", "[0s 100ms]", 0, 0},
		{"on_failure wait: the next goes out at its time", hedgeOf(d, 1, at(FailureWait)), []step{fails, quick}, 0, "ok at 120ms", "[0s 100ms]", 1, 0},
		{"on_failure wait, within Start", hedgeOf(d, 1, at(FailureWait)), []step{refused}, 0, "connect_error at 100ms", "[0s 100ms]", 0, 0},
		{"on_failure end: the failure is the answer", hedgeOf(d, 1, at(FailureEnd)), []step{fails}, 0, "server_error at 10ms", "[0s]", 0, 0},
		{"on_failure end, of a hedge", hedgeOf(d, 1, at(FailureEnd)), []step{slow, fails}, 0, "server_error at 110ms", "[0s 100ms]", 0, 1},
		{"a fatal failure is the answer", hedgeOf(d, 2, fatal("server_error")), []step{hangs, fails}, 0, "server_error at 110ms", "[0s 100ms]", 0, 1},
		{"another one is not", hedgeOf(d, 2, fatal("timeout")), []step{fails, quick}, 0, "ok at 30ms", "[0s 10ms]", 1, 0},
		{"a refusal of ours ends hedging, not the call", hedgeOf(d, 3), []step{slow, {class: call.Rejected}}, 0, "ok at 200ms", "[0s 100ms]", 0, 0},
		{"it never replaces a failure of the dependency", hedgeOf(d, 3), []step{fails, {class: call.Rejected}}, 0, "server_error at 10ms", "[0s 10ms]", 0, 0},
		{"a refused first attempt is not hedged", hedgeOf(0, 3), []step{{class: call.Rejected}}, 0, "rejected at 0s", "[0s]", 0, 0},
		{"nor is a throttled one", hedgeOf(d, 3), []step{{after: ms, class: call.Throttled}}, 0, "throttled at 1ms", "[0s]", 0, 0},
		{"a throttled hedge leaves the first alone", hedgeOf(d, 3), []step{slow, {after: ms, class: call.Throttled}}, 0, "ok at 200ms", "[0s 100ms]", 0, 0},
		{"a caller that leaves cancels all", hedgeOf(d, 2), []step{hangs}, 150 * ms, "left", "[0s 100ms]", 0, 2},
		{"also those that may run on", hedgeOf(d, 2, runsOn), []step{hangs}, 150 * ms, "left", "[0s 100ms]", 0, 2},
		{"losers may run on", hedgeOf(d, 1, runsOn), []step{slow, quick}, 0, "ok at 120ms", "[0s 100ms]", 1, 0},
		{"without a budget left there is no hedge", hedgeOf(d, 3, broke), []step{{after: s}}, 0, "ok at 1s", "[0s]", 0, 0},
		{"nor after a failure", hedgeOf(d, 3, broke), []step{fails}, 0, "server_error at 10ms", "[0s]", 0, 0},
		{"nor after one within Start", hedgeOf(d, 3, broke), []step{refused}, 0, "connect_error at 0s", "[0s]", 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, &work{steps: tt.work}, tt.config)
			if c := r.call(0, 0); tt.leaves > 0 {
				r.at(tt.leaves, c.leave)
			}
			r.run(100 * s)
			l := r.layers[0].(*hedgeLayer)
			if got := r.got()[0]; got != tt.want || fmt.Sprint(r.work.seen) != tt.starts {
				t.Errorf("got %s, attempts at %v; want %s, %s", got, r.work.seen, tt.want, tt.starts)
			}
			if l.wins != tt.wins || r.work.canceled != tt.canceled || l.hedges != int64(r.work.started-1) {
				t.Errorf("wins %d, cancelled %d, hedges %d of %d; want %d, %d", l.wins, r.work.canceled, l.hedges, r.work.started, tt.wins, tt.canceled)
			}
			refusals := int64(0)
			if _, budget := tt.config.Budget.(*EnvoyBudget); budget {
				refusals = 1
			}
			if l.refused != refusals || r.k.Live() != 0 || r.parked.N() != 0 || r.work.inside != 0 {
				t.Errorf("refused %d, timers %d, goroutines %d, work %d", l.refused, r.k.Live(), r.parked.N(), r.work.inside)
			}
		})
	}
}

// A hedge in flight is one goroutine more, and so is a loser that runs on.
func TestHedgesAreGoroutines(t *testing.T) {
	for _, tt := range []struct {
		config *Hedge
		area   time.Duration // goroutines × time beside the caller's own
	}{
		{hedgeOf(100*ms, 1), 20 * ms},
		{hedgeOf(100*ms, 1, runsOn), 100 * ms},
		{hedgeOf(0, 2), 40 * ms},
		{hedgeOf(0, 2, runsOn), 20*ms + 200*ms},
	} {
		work := &work{steps: []step{{after: 200 * ms}, {after: 20 * ms}}}
		if tt.config.Max == 2 {
			work.steps = []step{{after: 200 * ms}, {after: 20 * ms}, {after: 20 * ms}}
		}
		r := newRig(t, work, tt.config)
		r.call(0, 0)
		r.run(s)
		if got := r.parked.Cut(s); time.Duration(got.Area) != tt.area {
			t.Errorf("%s: %v, want %v", tt.config.Text(), time.Duration(got.Area), tt.area)
		}
	}
}

// Every attempt has draws of its own, whatever makes it, and the first has those
// that it would have without a hedge.
func TestAttemptsOfBranchesHaveNumbersOfTheirOwn(t *testing.T) {
	w := &work{}
	var numbers []uint16
	w.decide = func(c *call.Call) step {
		if c.Stream != 7 || c.Request != 0 || c.Deadline != call.NoDeadline {
			t.Errorf("the copy of the call is %+v", *c)
		}
		numbers = append(numbers, c.Started()+1)
		return step{after: 30 * ms, class: call.ServerError}
	}
	r := newRig(t, w, retryOf(3, &NoBackoff{}), hedgeOf(10*ms, 2, at(FailureWait)), retryOf(2, &NoBackoff{}))
	c := r.call(0, 0)
	r.run(10 * s)
	if len(numbers) != 3*3*2 {
		t.Fatalf("%d attempts", len(numbers))
	}
	if numbers[0] != 1 || numbers[1] != 2 {
		t.Errorf("the first attempts have the numbers %v", numbers[:2])
	}
	slices.Sort(numbers)
	if len(slices.Compact(numbers)) != 18 {
		t.Errorf("numbers %v", numbers)
	}
	if c.call.Attempts != 18 || c.call.Sink != nil {
		t.Errorf("the call came back as %+v", c.call)
	}
}

func TestAttemptsOfNestedHedgesHaveNumbersOfTheirOwn(t *testing.T) {
	w, seen := &work{}, map[uint16]bool{}
	w.decide = func(c *call.Call) step {
		seen[c.Started()+1] = true
		return step{hang: true}
	}
	r := newRig(t, w, hedgeOf(ms, 7), hedgeOf(ms, 7))
	r.at(s, r.call(0, 0).leave)
	r.run(2 * s)
	if w.started != 64 || len(seen) != 64 {
		t.Errorf("%d attempts with %d numbers", w.started, len(seen))
	}
}

// A retry inside two branches pauses differently in each.
func TestBranchesDrawTheirOwnJitter(t *testing.T) {
	r := newRig(t, &work{steps: []step{{class: call.ServerError}}}, hedgeOf(0, 1, at(FailureWait)),
		retryOf(2, &ConstantBackoff{Wait: s}, func(c *Retry) { c.Jitter = &FullJitter{} }))
	r.call(0, 0)
	r.run(10 * s)
	if seen := r.work.seen; len(seen) != 4 || seen[2] == seen[3] {
		t.Errorf("attempts at %v", seen)
	}
}

// A breaker outside that records attempts hears of each, once, and of losers as
// cancelled, which is neutral.
func TestABreakerOutsideCountsTheAttemptsOfAHedge(t *testing.T) {
	opensAfter := func(n int, steps []step, config *Hedge) int64 {
		b := breakerOf(func(b *Breaker) { b.Consecutive, b.Record = n, RecordAttempt })
		r := newRig(t, &work{steps: steps}, b, config)
		r.call(0, 0)
		r.run(10 * s)
		return machine(r, 0).Opens
	}
	fails := []step{{after: 10 * ms, class: call.ServerError}}
	if got := opensAfter(3, fails, hedgeOf(s, 2)); got != 1 {
		t.Errorf("three failed attempts of one call: %d opens", got)
	}
	if got := opensAfter(4, fails, hedgeOf(s, 2)); got != 0 {
		t.Errorf("three are not four: %d opens", got)
	}
	if got := opensAfter(2, []step{{after: 10 * ms, class: call.ServerError}, {hang: true}, {after: ms}}, hedgeOf(s, 2)); got != 0 {
		t.Errorf("a failure and a cancelled loser: %d opens", got)
	}
}

// A loser that runs on tells nobody: its caller's breaker is on other calls.
func TestALoserThatRunsOnIsNotRecorded(t *testing.T) {
	b := breakerOf(func(b *Breaker) { b.Consecutive, b.Record = 1, RecordAttempt })
	r := newRig(t, &work{steps: []step{{after: 200 * ms, class: call.ServerError}, {after: 20 * ms}}}, b, hedgeOf(100*ms, 1, runsOn), retryOf(2, &NoBackoff{}))
	r.call(0, 0)
	r.run(10 * s)
	if got := r.got()[0]; got != "ok at 120ms" || machine(r, 0).Opens != 0 {
		t.Errorf("%s, %d opens", got, machine(r, 0).Opens)
	}
}

// Hedge and retry of one stack have one budget between them, whichever names it.
func TestHedgeAndRetryShareABudget(t *testing.T) {
	own := &FailsafeBudget{Share: 0, Min: 1}
	for _, shared := range []string{"hedge", "retry"} {
		h, c := hedgeOf(10*ms, 1, at(FailureWait)), retryOf(2, &NoBackoff{})
		h.Budget, c.Budget = own, own
		if shared == "hedge" {
			h.Budget = &SharedBudget{}
		} else {
			c.Budget = &SharedBudget{}
		}
		// The hedge at 10 ms takes the only place; the retry of the first branch at 30
		// ms finds none, that of the second at 40 ms neither: the hedge is in flight.
		r := newRig(t, &work{steps: []step{{after: 30 * ms, class: call.ServerError}}}, h, c)
		r.call(0, 0)
		r.run(10 * s)
		if got := r.got()[0]; got != "server_error at 40ms" || r.work.started != 2 || r.layers[1].(*retryLayer).refused != 2 {
			t.Errorf("the %s shares: %s, %d attempts, %d refused", shared, got, r.work.started, r.layers[1].(*retryLayer).refused)
		}
	}
}

// A refusal of our own says nothing of the dependency: it takes no token.
func TestARefusedHedgeTakesNoToken(t *testing.T) {
	for class, want := range map[call.Class]int64{call.Rejected: 10000, call.ServerError: 9000, call.ClientError: 10000} {
		r := newRig(t, &work{steps: []step{{class: class}}}, hedgeOf(s, 1, at(FailureEnd), withBudget("grpc")))
		r.call(0, 0)
		r.run(s)
		if got := r.layers[0].(*hedgeLayer).budget.(*grpcBudget).tokens; got != want {
			t.Errorf("after %v there are %d thousandths, want %d", class, got, want)
		}
	}
}

// The answer of one branch comes while another is being started, and sends off
// the next; and the caller leaves while one is being started.
func TestHedgeMeetsItselfOnTheStack(t *testing.T) {
	for _, tt := range []struct {
		name, want, starts string
		class              call.Class
		leave              bool
	}{
		{"the first answers while the hedge starts", "ok at 100ms", "[0s 100ms]", call.OK, false},
		{"the first fails while the hedge starts", "ok at 110ms", "[0s 100ms 100ms]", call.ServerError, false},
		{"the caller leaves while the hedge starts", "left", "[0s 100ms]", call.OK, true},
	} {
		w := &work{}
		r := newRig(t, w, hedgeOf(100*ms, 2))
		var first *piece
		w.decide = func(*call.Call) step {
			switch w.started {
			case 0:
				return step{hang: true}
			case 1:
				if tt.leave {
					r.callers[0].leave()
				} else {
					first.step.class = tt.class
					first.Fire()
				}
				return step{hang: true}
			}
			return step{after: 10 * ms}
		}
		c := r.call(0, 0)
		r.at(50*ms, func() { first = c.cancel.(*hedgeFrame).out[0].inner.(*piece) })
		r.run(s)
		if got := r.got()[0]; got != tt.want || fmt.Sprint(w.seen) != tt.starts || w.inside != 0 || r.k.Live() != 0 {
			t.Errorf("%s: %s, attempts at %v, %d inside, %d timers; want %s, %s", tt.name, got, w.seen, w.inside, r.k.Live(), tt.want, tt.starts)
		}
	}
}

func TestMovingQuantileFindsTheQuantile(t *testing.T) {
	exponential := &dist.Exponential{MeanLatency: 50 * ms}
	d := exponential.Dist()
	for _, q := range []float64{0.5, 0.9, 0.95, 0.99} {
		m := newMovingQuantile(q, 100)
		var r dist.Rand
		r.Key(31, uint64(q*100))
		below, n := 0, 0
		for i := range 200000 {
			x := d.Sample(&r)
			if i > 2000 {
				n++
				if float64(x) <= m.value {
					below++
				}
			}
			m.add(float64(x))
		}
		// A sample far above widens the step that it then makes itself, so the estimate
		// rests a little high: 0.3 points at 95 %.
		if share := float64(below) / float64(n); math.Abs(share-q) > 0.005 {
			t.Errorf("a share %.4f is below the estimate of the quantile %g", share, q)
		}
	}
}

func TestMovingQuantileFollowsAMove(t *testing.T) {
	m := newMovingQuantile(0.95, 100)
	var r dist.Rand
	r.Key(1, 1)
	slow, fast := (&dist.Exponential{MeanLatency: 500 * ms}).Dist(), (&dist.Exponential{MeanLatency: 5 * ms}).Dist()
	for range 5000 {
		m.add(float64(fast.Sample(&r)))
	}
	if v := time.Duration(m.value); v < 10*ms || v > 20*ms {
		t.Errorf("the p95 of 5 ms is %v", v)
	}
	for range 5000 {
		m.add(float64(slow.Sample(&r)))
	}
	if v := time.Duration(m.value); v < s || v > 2*s {
		t.Errorf("the p95 of 500 ms is %v", v)
	}
}

func TestMovingQuantileOfOneValueIsThatValue(t *testing.T) {
	m := newMovingQuantile(0.95, 100)
	for range 1000 {
		m.add(7)
	}
	if m.value != 7 {
		t.Errorf("the estimate is %g", m.value)
	}
}

func TestQuantileDelay(t *testing.T) {
	observed := func(c *QuantileDelay, values ...time.Duration) string {
		d := c.delay()
		for _, v := range values {
			d.observe(v)
		}
		if after, ok := d.next(); ok {
			return after.String()
		}
		return "none"
	}
	tests := []struct {
		config *QuantileDelay
		seen   []time.Duration
		want   string
	}{
		{&QuantileDelay{Quantile: 0.9, Initial: -1, Age: 100, MinCalls: 2}, []time.Duration{s}, "none"},
		{&QuantileDelay{Quantile: 0.9, Initial: 30 * ms, Age: 100, MinCalls: 2}, []time.Duration{s}, "30ms"},
		{&QuantileDelay{Quantile: 0.9, Initial: 0, Age: 100, MinCalls: 2}, nil, "0s"},
		{&QuantileDelay{Quantile: 0.9, Initial: -1, Age: 100, MinCalls: 2}, []time.Duration{s, s}, "1s"},
		{&QuantileDelay{Quantile: 0.9, Initial: -1, Age: 100, MinCalls: 2, Min: 2 * s}, []time.Duration{s, s}, "2s"},
		{&QuantileDelay{Quantile: 0.9, Initial: -1, Age: 100, MinCalls: 2, Max: ms}, []time.Duration{s, s}, "1ms"},
	}
	for _, tt := range tests {
		if got := observed(tt.config, tt.seen...); got != tt.want {
			t.Errorf("%s after %v: %s, want %s", tt.config.Text(), tt.seen, got, tt.want)
		}
	}
	// Before it knows enough a failure sends no hedge either.
	r := newRig(t, &work{steps: []step{{after: ms, class: call.ServerError}}}, hedgeOf(0, 1, func(c *Hedge) { c.Delay = tests[0].config }))
	r.call(0, 0)
	r.run(s)
	if got := r.got()[0]; got != "server_error at 1ms" {
		t.Errorf("got %s", got)
	}
}

// What the quantile learns from: first attempts that were answered, and the age
// of those that lost; not failures, not hedges, not what a caller left behind.
func TestQuantileLearnsFromFirstAttempts(t *testing.T) {
	for _, tt := range []struct {
		work   []step
		leaves time.Duration
		want   int
		mean   time.Duration
	}{
		{[]step{{after: 30 * ms}}, 0, 1, 30 * ms},
		{[]step{{after: s}, {after: 20 * ms}}, 0, 1, 120 * ms},
		{[]step{{after: ms, class: call.ServerError}, {after: 20 * ms}}, 0, 0, 0},
		{[]step{{hang: true}}, 50 * ms, 0, 0},
	} {
		delay := &QuantileDelay{Quantile: 0.5, Initial: 100 * ms, Age: 10, MinCalls: 20}
		r := newRig(t, &work{steps: tt.work}, hedgeOf(0, 1, func(c *Hedge) { c.Delay = delay }))
		if c := r.call(0, 0); tt.leaves > 0 {
			r.at(tt.leaves, c.leave)
		}
		r.run(10 * s)
		e := r.layers[0].(*hedgeLayer).delay.(*quantileDelay).estimate
		if e.count != tt.want || time.Duration(e.mean) != tt.mean {
			t.Errorf("%v: %d samples, mean %v; want %d, %v", tt.work, e.count, time.Duration(e.mean), tt.want, tt.mean)
		}
	}
}

func TestHedgeValidatesAndDescribes(t *testing.T) {
	for _, tt := range []struct {
		config     *Hedge
		text, want string
	}{
		{hedgeOf(200*ms, 1), "after 200ms", ""},
		{hedgeOf(200*ms, 3, runsOn, at(FailureWait), withBudget("failsafe-go")), "after 200ms, up to 3, losers run on, not at a failure, failsafe-go budget 20%, min 3", ""},
		{hedgeOf(0, 1, at(FailureEnd), fatal("timeout")), "after 0s, a failure ends it, timeout ends it", "warning: fatal: fatal does nothing with on_failure: end, where every failure is the answer (drop fatal, or on_failure: next)"},
		{hedgeOf(0, 1, func(c *Hedge) { c.Delay = &QuantileDelay{Quantile: 0.95, Initial: s, Min: ms, Max: s, MinCalls: 20} }), "after the 95% quantile from 1ms up to 1s, 1s for the first 20", ""},
		{hedgeOf(0, 1, func(c *Hedge) { c.Delay = &QuantileDelay{Quantile: 0.95, Initial: -1, Min: s, Max: ms} }), "after the 95% quantile from 1s up to 1ms", "delay.max: max 1ms is below min 1s (raise max or lower min)"},
	} {
		if got := problems(tt.config.Validate()); tt.config.Text() != tt.text || got != tt.want {
			t.Errorf("%q with %q, want %q with %q", tt.config.Text(), got, tt.text, tt.want)
		}
	}
	if got := strings.Count(problems((&Hedge{Budget: &NoBudget{}}).Validate()), ":"); got != 0 {
		t.Error("a hedge whose delay could not be read has problems of its own")
	}
}

func withBudget(kind string) func(*Hedge) { return func(c *Hedge) { c.Budget = Budgets[kind]() } }

// hedgeTwin plays one hedged call millisecond by millisecond: answers of an
// instant first, in the order of their start, then the delay.
func hedgeTwin(c *Hedge, attempts []step) (answer string, starts []time.Duration) {
	type attempt struct {
		ends  time.Duration
		class call.Class
	}
	var out []attempt
	delay, due := c.Delay.Least(), time.Duration(0)
	closed, failure := false, call.Rejected
	start := func(now time.Duration) {
		a := attempts[min(len(starts), len(attempts)-1)]
		out = append(out, attempt{now + a.after, a.class})
		starts = append(starts, now)
		closed = closed || len(starts) > c.Max
		due = now + delay
	}
	start(0)
	for now := time.Duration(0); ; now += ms {
		for i := 0; i < len(out); i++ {
			if out[i].ends != now {
				continue
			}
			class := out[i].class
			out = append(out[:i], out[i+1:]...)
			i--
			if class.Answered() || c.OnFailure == FailureEnd || slices.Contains(c.Fatal, class.String()) {
				return fmt.Sprintf("%v at %v", class, now), starts
			}
			if failure == call.Rejected || class != call.Rejected {
				failure = class
			}
			closed = closed || class == call.Rejected || class == call.Throttled
			if c.OnFailure == FailureNext && !closed {
				start(now)
			}
		}
		if len(out) == 0 && closed {
			return fmt.Sprintf("%v at %v", failure, now), starts
		}
		if now == due && !closed {
			start(now)
		}
	}
}

func TestHedgeAgreesWithASlowTwin(t *testing.T) {
	outside := t
	rapid.Check(t, func(t *rapid.T) {
		c := hedgeOf(time.Duration(rapid.IntRange(1, 10).Draw(t, "delay"))*ms, rapid.IntRange(1, 4).Draw(t, "max"),
			at(rapid.SampledFrom([]string{FailureNext, FailureWait, FailureEnd}).Draw(t, "on failure")))
		if rapid.Bool().Draw(t, "fatal") {
			c.Fatal = []string{"connect_error"}
		}
		var attempts []step
		for range c.Max + 1 {
			class := rapid.SampledFrom([]call.Class{call.OK, call.ServerError, call.ServerError, call.ConnectError, call.Throttled, call.Rejected, call.Degraded}).Draw(t, "class")
			attempts = append(attempts, step{after: time.Duration(rapid.IntRange(1, 30).Draw(t, "takes")) * ms, class: class})
		}
		r := newRig(outside, &work{steps: attempts}, c)
		r.call(0, 0)
		r.run(s)
		want, starts := hedgeTwin(c, attempts)
		if got := r.got()[0]; got != want || !slices.Equal(r.work.seen, starts) {
			t.Fatalf("%s, %v: %s with attempts at %v, the twin says %s and %v", c.Text(), attempts, got, r.work.seen, want, starts)
		}
	})
}

// A bulkhead outside whose permits wait for the work waits for losers that run
// on.
func TestLosersThatRunOnHoldThePermit(t *testing.T) {
	for release, want := range map[string]string{OnCallerReturn: "ok at 120ms, ok at 150ms", OnWorkDone: "ok at 120ms, ok at 220ms"} {
		r := newRig(t, &work{steps: []step{{after: 200 * ms}, {after: 20 * ms}}}, &Bulkhead{Permits: 1, Queue: -1, MaxWait: -1, Release: release, Order: OrderFIFO}, hedgeOf(100*ms, 1, runsOn))
		r.call(0, 0)
		r.call(130*ms, 0)
		r.run(s)
		if got := strings.Join(r.got(), ", "); got != want {
			t.Errorf("%s: %s, want %s", release, got, want)
		}
		if b := r.layers[0].(*bulkheadLayer); b.pool.InUse.N() != 0 || r.parked.N() != 0 {
			t.Errorf("%s: %d permits and %d goroutines left", release, b.pool.InUse.N(), r.parked.N())
		}
	}
}
