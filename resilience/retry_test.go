package resilience

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/dist"
)

func retryOf(attempts int, b Backoff, change ...func(*Retry)) *Retry {
	c := newRetry().(*Retry)
	c.Attempts, c.Backoff = attempts, b
	for _, f := range change {
		f(c)
	}
	return c
}

func budgeted(kind string) func(*Retry) { return func(c *Retry) { c.Budget = Budgets[kind]() } }

func on(classes ...string) func(*Retry) { return func(c *Retry) { c.RetryOn = classes } }

func elapsed(d time.Duration) func(*Retry) { return func(c *Retry) { c.MaxElapsed = d } }

func ignoring(c *Retry) { c.RetryAfter = RetryAfterIgnore }

func TestRetryTable(t *testing.T) {
	fails := step{after: 10 * ms, class: call.ServerError}
	atOnce := step{class: call.ConnectError}
	tests := []struct {
		name      string
		config    *Retry
		work      []step
		deadline  time.Duration
		want      string
		starts    string
		retries   int64
		exhausted int64
	}{
		{"attempts include the first", retryOf(3, &NoBackoff{}), []step{fails}, 0, "server_error at 30ms", "[0s 10ms 20ms]", 2, 1},
		{"one attempt is no retry", retryOf(1, &NoBackoff{}), []step{fails}, 0, "server_error at 10ms", "[0s]", 0, 1},
		{"a success ends it", retryOf(3, &NoBackoff{}), []step{fails, {after: ms}}, 0, "ok at 11ms", "[0s 10ms]", 1, 0},
		{"failures within Start", retryOf(5, &NoBackoff{}), []step{atOnce}, 0, "connect_error at 0s", "[0s 0s 0s 0s 0s]", 4, 1},
		{"failures within Start, then one that takes time", retryOf(5, &NoBackoff{}), []step{atOnce, atOnce, {after: ms}}, 0, "ok at 1ms", "[0s 0s 0s]", 2, 0},
		{"constant backoff", retryOf(3, &ConstantBackoff{Wait: 100 * ms}), []step{fails}, 0, "server_error at 230ms", "[0s 110ms 220ms]", 2, 1},
		{"constant backoff after failures within Start", retryOf(3, &ConstantBackoff{Wait: 100 * ms}), []step{atOnce}, 0, "connect_error at 200ms", "[0s 100ms 200ms]", 2, 1},
		{"exponential backoff", retryOf(5, &ExponentialBackoff{Base: 10 * ms, Factor: 3, Max: 50 * ms}), []step{atOnce}, 0, "connect_error at 140ms", "[0s 10ms 40ms 90ms 140ms]", 4, 1},
		{"client_error is not tried again", retryOf(3, &NoBackoff{}), []step{{class: call.ClientError}}, 0, "client_error at 0s", "[0s]", 0, 0},
		{"nor is what our own layers refused", retryOf(3, &NoBackoff{}), []step{{class: call.Rejected}}, 0, "rejected at 0s", "[0s]", 0, 0},
		{"unless listed", retryOf(3, &NoBackoff{}, on("rejected")), []step{{class: call.Rejected}}, 0, "rejected at 0s", "[0s 0s 0s]", 2, 1},
		{"throttled is not", retryOf(3, &NoBackoff{}), []step{{class: call.Throttled, retry: s}}, 0, "throttled at 0s", "[0s]", 0, 0},
		{"throttled without Retry-After never is", retryOf(3, &NoBackoff{}, on("throttled")), []step{{class: call.Throttled}}, 0, "throttled at 0s", "[0s]", 0, 0},
		{"throttled waits for its Retry-After", retryOf(2, &ConstantBackoff{Wait: ms}, on("throttled")), []step{{class: call.Throttled, retry: 2 * s}, {}}, 0, "ok at 2s", "[0s 2s]", 1, 0},
		{"a pause that would end after the deadline is not begun", retryOf(3, &ConstantBackoff{Wait: 100 * ms}), []step{fails}, 200 * ms, "server_error at 120ms", "[0s 110ms]", 1, 1},
		{"nor one that ends at it", retryOf(3, &ConstantBackoff{Wait: 100 * ms}), []step{fails}, 110 * ms, "server_error at 10ms", "[0s]", 0, 1},
		{"one that ends a nanosecond before it is", retryOf(3, &ConstantBackoff{Wait: 100 * ms}), []step{fails}, 110*ms + 1, "left", "[0s 110ms]", 1, 0},
		{"at the deadline itself there is no retry", retryOf(3, &NoBackoff{}), []step{fails}, 10 * ms, "server_error at 10ms", "[0s]", 0, 1},
		{"a Retry-After beyond the deadline fails at once", retryOf(3, &NoBackoff{}, on("throttled")), []step{{class: call.Throttled, retry: 60 * s}}, 30 * s, "throttled at 0s", "[0s]", 0, 1},
		{"a longer Retry-After is waited for up to max_retry_after", retryOf(2, &NoBackoff{}, on("throttled"), func(c *Retry) { c.MaxRetryAfter = s }), []step{{class: call.Throttled, retry: 60 * s}, {}}, 30 * s, "ok at 1s", "[0s 1s]", 1, 0},
		{"a shorter one as it is", retryOf(2, &NoBackoff{}, on("throttled"), func(c *Retry) { c.MaxRetryAfter = s }), []step{{class: call.Throttled, retry: 300 * ms}, {}}, 0, "ok at 300ms", "[0s 300ms]", 1, 0},
		{"a Retry-After of other failures counts too", retryOf(2, &NoBackoff{}), []step{{class: call.ServerError, retry: s}, {}}, 0, "ok at 1s", "[0s 1s]", 1, 0},
		{"an ignored one does not", retryOf(2, &ConstantBackoff{Wait: ms}, on("throttled"), ignoring), []step{{class: call.Throttled, retry: 60 * s}, {}}, 0, "ok at 1ms", "[0s 1ms]", 1, 0},
		{"and need not be there", retryOf(2, &ConstantBackoff{Wait: ms}, on("throttled"), ignoring), []step{{class: call.Throttled}, {}}, 0, "ok at 1ms", "[0s 1ms]", 1, 0},
		{"no attempt starts after max_elapsed", retryOf(9, &ConstantBackoff{Wait: 100 * ms}, elapsed(219*ms)), []step{fails}, 0, "server_error at 120ms", "[0s 110ms]", 1, 1},
		{"one starts at it", retryOf(9, &ConstantBackoff{Wait: 100 * ms}, elapsed(220*ms)), []step{fails}, 0, "server_error at 230ms", "[0s 110ms 220ms]", 2, 1},
		{"an attempt that outlasts max_elapsed is the last", retryOf(3, &NoBackoff{}, elapsed(9*ms)), []step{fails}, 0, "server_error at 10ms", "[0s]", 0, 1},
		{"max_elapsed counts from the first attempt, Retry-After included", retryOf(3, &NoBackoff{}, on("throttled"), elapsed(30*s)), []step{{class: call.Throttled, retry: 60 * s}}, 0, "throttled at 0s", "[0s]", 0, 1},
		{"a caller that leaves in a pause", retryOf(3, &ConstantBackoff{Wait: 100 * ms}), []step{{after: 10 * ms, class: call.Timeout}, {hang: true}}, 150 * ms, "left", "[0s 110ms]", 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, &work{steps: tt.work}, tt.config)
			r.call(0, tt.deadline)
			r.run(100 * s)
			if got := strings.Join(r.got(), ", "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if got := fmt.Sprint(r.work.seen); got != tt.starts {
				t.Errorf("attempts at %s, want %s", got, tt.starts)
			}
			if l := r.layers[0].(*retryLayer); l.retries != tt.retries || l.exhausted != tt.exhausted || r.k.Live() != 0 {
				t.Errorf("retries %d, exhausted %d, timers %d; want %d, %d, 0", l.retries, l.exhausted, r.k.Live(), tt.retries, tt.exhausted)
			}
		})
	}
}

// Three attempts of 30 s each hold their caller for 90.75 s, whatever anybody
// hoped; with 10 s to start the last of them in, the first one is the last.
func TestRetriesHoldTheirCaller(t *testing.T) {
	pauses := &ExponentialBackoff{Base: 250 * ms, Factor: 2}
	for _, tt := range []struct {
		config *Retry
		work   step
		want   string
		tries  int
	}{
		{retryOf(3, pauses), step{hang: true}, "timeout at 1m30.75s", 3},
		{retryOf(3, pauses, elapsed(10*s)), step{hang: true}, "timeout at 30s", 1},
		{retryOf(3, pauses), step{after: 5 * ms, class: call.ServerError}, "server_error at 765ms", 3},
		{retryOf(3, pauses, elapsed(10*s)), step{after: 5 * ms, class: call.ServerError}, "server_error at 765ms", 3},
	} {
		r := newRig(t, &work{steps: []step{tt.work}}, tt.config, &Timeout{After: 30 * s})
		r.call(0, 0)
		r.run(200 * s)
		if got := r.got()[0]; got != tt.want || r.work.started != tt.tries {
			t.Errorf("%s: %s after %d attempts, want %s after %d", tt.config.Text(), got, r.work.started, tt.want, tt.tries)
		}
	}
}

// A limit around a retry that is no longer than one attempt leaves the second
// server untried; with a quarter of it each call is answered by that one.
func TestALimitOutsideLeavesNoSecondAttempt(t *testing.T) {
	for _, tt := range []struct {
		attempt time.Duration
		want    string
		tries   int
	}{
		{40 * s, "timeout at 20s", 1},
		{20 * s, "timeout at 20s", 1},
		{5 * s, "ok at 5.01s", 2},
	} {
		r := newRig(t, &work{steps: []step{{hang: true}, {after: 10 * ms}}}, &Timeout{After: 20 * s}, retryOf(2, &NoBackoff{}), &Timeout{After: tt.attempt})
		r.call(0, 0)
		r.run(100 * s)
		if got := r.got()[0]; got != tt.want || r.work.started != tt.tries {
			t.Errorf("attempts of %v: %s after %d, want %s after %d", tt.attempt, got, r.work.started, tt.want, tt.tries)
		}
	}
}

// What fails for want of time is told apart from what has no attempt left.
func TestRetryTellsWhyItGaveUp(t *testing.T) {
	for _, tt := range []struct {
		config                        *Retry
		deadline                      time.Duration
		exhausted, outOfTime, refused int64
	}{
		{retryOf(2, &NoBackoff{}), 0, 1, 0, 0},
		{retryOf(2, &ConstantBackoff{Wait: s}, elapsed(ms)), 0, 1, 1, 0},
		{retryOf(2, &ConstantBackoff{Wait: s}), s, 1, 1, 0},
		{retryOf(2, &NoBackoff{}, func(c *Retry) { c.Budget = &EnvoyBudget{} }), 0, 0, 0, 1},
		{retryOf(2, &NoBackoff{}, on("timeout")), 0, 0, 0, 0},
	} {
		r := newRig(t, &work{steps: []step{{class: call.ServerError}}}, tt.config)
		r.call(0, tt.deadline)
		r.run(10 * s)
		if l := r.layers[0].(*retryLayer); l.exhausted != tt.exhausted || l.outOfTime != tt.outOfTime || l.refused != tt.refused {
			t.Errorf("%s: exhausted %d, out of time %d, refused %d; want %d, %d, %d", tt.config.Text(), l.exhausted, l.outOfTime, l.refused, tt.exhausted, tt.outOfTime, tt.refused)
		}
	}
}

func TestManyAttemptsWithinStartStayFlat(t *testing.T) {
	deepest := 0
	w := &work{decide: func(*call.Call) step {
		deepest = max(deepest, stackDepth())
		return step{class: call.ServerError}
	}}
	r := newRig(t, w, retryOf(1000, &NoBackoff{}))
	r.call(0, 0)
	r.run(s)
	if w.started != 1000 || deepest > 60 {
		t.Errorf("%d attempts, %d frames deep", w.started, deepest)
	}
}

// A request meets the same pauses whatever happens to others, and two requests
// or two attempts meet different ones.
func TestJitterIsKeyedByCallAndAttempt(t *testing.T) {
	pauses := func(requests ...uint64) map[uint64][]time.Duration {
		r := newRig(t, &work{steps: []step{{class: call.ServerError}}}, retryOf(4, &ConstantBackoff{Wait: s}, func(c *Retry) { c.Jitter = &FullJitter{} }))
		out := map[uint64][]time.Duration{}
		r.work.decide = func(c *call.Call) step {
			out[c.Request] = append(out[c.Request], r.k.Now())
			return step{class: call.ServerError}
		}
		for _, n := range requests {
			r.call(0, 0).call.Request = n
		}
		r.run(100 * s)
		return out
	}
	alone, together := pauses(5), pauses(1, 5, 9)
	if !slices.Equal(alone[5], together[5]) {
		t.Errorf("request 5 tries at %v alone and at %v among others", alone[5], together[5])
	}
	if slices.Equal(together[1], together[9]) {
		t.Errorf("requests 1 and 9 both try at %v", together[1])
	}
	if p := alone[5]; p[1]-p[0] == p[2]-p[1] {
		t.Errorf("two pauses alike: %v", p)
	}
}

func TestBackoffPauses(t *testing.T) {
	tests := []struct {
		b    Backoff
		want string
	}{
		{&NoBackoff{}, "[0s 0s 0s 0s]"},
		{&ConstantBackoff{Wait: 70 * ms}, "[70ms 70ms 70ms 70ms]"},
		{&ExponentialBackoff{Base: 100 * ms, Factor: 2, Max: 350 * ms}, "[100ms 200ms 350ms 350ms]"},
		{&ExponentialBackoff{Base: 100 * ms, Factor: 1.5}, "[100ms 150ms 225ms 337.5ms]"},
		{&ExponentialBackoff{Base: 100 * ms, Factor: 1}, "[100ms 100ms 100ms 100ms]"},
		{&ExponentialBackoff{Base: 400 * ms, Factor: 2, Max: 400 * ms}, "[400ms 400ms 400ms 400ms]"},
		{&LinearBackoff{Base: 100 * ms}, "[100ms 200ms 300ms 400ms]"},
		{&LinearBackoff{Base: 100 * ms, Step: 20 * ms, Max: 130 * ms}, "[100ms 120ms 130ms 130ms]"},
		{&LinearBackoff{Base: 100 * ms, Step: s, Max: 100 * ms}, "[100ms 100ms 100ms 100ms]"},
		{&ListBackoff{Pauses: []time.Duration{ms, 0, 7 * ms}}, "[1ms 0s 7ms 7ms]"},
		{&EnvoyBackoff{Base: 25 * ms, Max: 250 * ms}, "[25ms 75ms 175ms 375ms]"},
		{&EnvoyBackoff{Base: 25 * ms, Max: 75 * ms}, "[25ms 75ms 175ms 175ms]"},
	}
	for _, tt := range tests {
		var got []time.Duration
		for n := 1; n <= 4; n++ {
			got = append(got, tt.b.Pause(n))
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%s: %v, want %s", tt.b.Text(), got, tt.want)
		}
	}
	for _, b := range []Backoff{&ExponentialBackoff{Base: s, Factor: 10}, &LinearBackoff{Base: s, Step: 1 << 55}} {
		if got := b.Pause(1000); got != longestPause {
			t.Errorf("%s: without a largest pause the thousandth is %v", b.Text(), got)
		}
	}
	if got := (&EnvoyBackoff{Base: s, Max: 1<<63 - 1}).Pause(1000); got < longestPause || got > 3*longestPause {
		t.Errorf("with the largest of all pauses the thousandth is %v", got)
	}
}

func TestJitterStaysInItsBounds(t *testing.T) {
	b := &ExponentialBackoff{Base: 100 * ms, Factor: 2, Max: 2 * s}
	none, full, equal, decorrelated := &NoJitter{}, &FullJitter{}, &EqualJitter{}, &DecorrelatedJitter{}
	tests := []struct {
		jitter   Jitter
		n        int
		last     time.Duration
		from, to time.Duration
	}{
		{none, 3, 0, 400 * ms, 400 * ms},
		{full, 3, 0, 0, 400 * ms},
		{full, 30, 0, 0, 2 * s},
		{equal, 3, 0, 200 * ms, 400 * ms},
		{decorrelated, 1, 0, 100 * ms, 300 * ms},
		{decorrelated, 9, 200 * ms, 100 * ms, 600 * ms},
		{decorrelated, 9, 2 * s, 100 * ms, 2 * s},
		{&SpreadJitter{Share: 0.2}, 3, 0, 320 * ms, 480 * ms},
		{&SpreadJitter{Share: 0.2}, 30, 0, 1600 * ms, 2400 * ms}, // gRPC: above the largest pause
		{&SpreadJitter{Share: 1}, 1, 0, 0, 200 * ms},
	}
	for _, tt := range tests {
		var r dist.Rand
		r.Key(1, 2)
		var sum sample
		least, most := time.Duration(1<<62), time.Duration(0)
		for range 10000 {
			kept := tt.last
			d := tt.jitter.Pause(b, tt.n, &kept, &r)
			least, most = min(least, d), max(most, d)
			sum.add(float64(d))
		}
		if least < tt.from || most > tt.to {
			t.Errorf("%s, retry %d after %v: from %v to %v, want within %v and %v", tt.jitter.Text(), tt.n, tt.last, least, most, tt.from, tt.to)
		}
		// The whole range is used, evenly where nothing cuts it.
		if room := (tt.to - tt.from) / 100; least > tt.from+room || most < tt.to-room {
			t.Errorf("%s, retry %d after %v: only %v to %v of %v to %v", tt.jitter.Text(), tt.n, tt.last, least, most, tt.from, tt.to)
		}
		if middle := float64(tt.from+tt.to) / 2; tt.last != 2*s && (sum.mean() < 0.98*middle || sum.mean() > 1.02*middle) {
			t.Errorf("%s, retry %d after %v: mean %v, want %v", tt.jitter.Text(), tt.n, tt.last, time.Duration(sum.mean()), time.Duration(middle))
		}
	}
}

// Polly's formula as its source has it, in ticks' place nanoseconds and on the
// library's own Pow and Tanh, for the same numbers drawn.
func TestDecorrelatedV2IsPollysFormula(t *testing.T) {
	for _, base := range []time.Duration{7, ms, s, time.Hour} {
		var drawn, again dist.Rand
		drawn.Key(5, uint64(base))
		again.Key(5, uint64(base))
		kept, prev := time.Duration(0), 0.0
		for n := 1; n <= 20; n++ {
			got := (&DecorrelatedV2Jitter{}).Pause(&ExponentialBackoff{Base: base, Factor: 2}, n, &kept, &drawn)
			at := float64(n-1) + again.Float64()
			next := math.Pow(2, at) * math.Tanh(math.Sqrt(4*at))
			want := (next - prev) / 1.4 * float64(base)
			if next/1.4*float64(base) > float64(longestPause) {
				break
			}
			if prev = next; math.Abs(float64(got)-want) > 2+1e-9*want {
				t.Errorf("base %v, retry %d: %v, want %v", base, n, got, time.Duration(want))
			}
		}
	}
}

// The medians of the pauses; that they are near 1, 2, 4 times the base from the
// second retry on is what the 1.4 is for.
func TestDecorrelatedV2Medians(t *testing.T) {
	const runs = 4001
	pauses := make([][]time.Duration, 6)
	var r dist.Rand
	for run := range runs {
		r.Key(9, uint64(run))
		kept := time.Duration(0)
		for i := range pauses {
			pauses[i] = append(pauses[i], (&DecorrelatedV2Jitter{}).Pause(&ExponentialBackoff{Base: s, Factor: 2}, i+1, &kept, &r))
		}
	}
	for i, p := range pauses {
		slices.Sort(p)
		want := []float64{0.9, 1.13, 2, 4, 8, 16}[i]
		if ratio := float64(p[runs/2]) / (want * float64(s)); ratio < 0.95 || ratio > 1.05 {
			t.Errorf("retry %d: median %v, want about %g times the base", i+1, p[runs/2], want)
		}
	}
}

// What cannot be held any more levels off at the longest pause, or the largest.
func TestDecorrelatedV2LevelsOff(t *testing.T) {
	var r dist.Rand
	r.Key(1, 1)
	for _, most := range []time.Duration{0, time.Minute} {
		kept, want := time.Duration(0), most
		if most == 0 {
			want = longestPause
		}
		for n := 1; n <= 1000; n++ {
			d := (&DecorrelatedV2Jitter{}).Pause(&ExponentialBackoff{Base: s, Factor: 2, Max: most}, n, &kept, &r)
			if d < 0 || d > want || (n > 40 && d != want) {
				t.Fatalf("at most %v, retry %d: %v", most, n, d)
			}
		}
	}
}

// Envoy's range is drawn from beyond the largest pause and then cut: of retry 4
// a third of the draws from 375 ms are cut to 250.
func TestEnvoyBackoffIsCutAfterTheJitter(t *testing.T) {
	const draws = 30000
	b, cut := &EnvoyBackoff{Base: 25 * ms, Max: 250 * ms}, 0
	var r dist.Rand
	r.Key(2, 2)
	for range draws {
		switch d := (&FullJitter{}).Pause(b, 4, nil, &r); {
		case d > 250*ms:
			t.Fatalf("a pause of %v", d)
		case d == 250*ms:
			cut++
		}
	}
	if share := float64(cut) / draws; math.Abs(share-1.0/3) > 3*math.Sqrt(2.0/9/draws) {
		t.Errorf("%.4f of the pauses are cut, want a third", share)
	}
	if got := (&NoJitter{}).Pause(b, 9, nil, &r); got != 250*ms {
		t.Errorf("without jitter the pause is %v", got)
	}
}

func TestSpreadJitterCapped(t *testing.T) {
	b, j := &ExponentialBackoff{Base: s, Factor: 2, Max: s}, &SpreadJitter{Share: 0.5, Capped: true}
	var r dist.Rand
	r.Key(3, 3)
	cut := 0
	for range 1000 {
		d := j.Pause(b, 5, nil, &r)
		if d > s || d < s/2 {
			t.Fatalf("a pause of %v", d)
		}
		if d == s {
			cut++
		}
	}
	if cut < 400 || cut > 600 {
		t.Errorf("%d of 1000 pauses are cut", cut)
	}
}

// Without a largest pause decorrelated jitter grows threefold a time; it must
// level off before it overflows.
func TestDecorrelatedJitterWithoutALargestPauseLevelsOff(t *testing.T) {
	var r dist.Rand
	r.Key(3, 4)
	last, most := time.Duration(0), time.Duration(0)
	for n := 1; n <= 1000; n++ {
		if d := (&DecorrelatedJitter{}).Pause(&ConstantBackoff{Wait: s}, n, &last, &r); d != last || d < s || d > longestPause {
			t.Fatalf("retry %d: %v, keeps %v", n, d, last)
		}
		most = max(most, last)
	}
	if most < longestPause/4 {
		t.Errorf("it never grew beyond %v", most)
	}
}
