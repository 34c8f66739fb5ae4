package resilience

import (
	"fmt"
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

func on(classes ...string) func(*Retry) { return func(c *Retry) { c.RetryOn = classes } }

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

// C15 of practice: three attempts of 30 s each hold their caller for 90.75 s,
// whatever anybody hoped.
func TestRetriesHoldTheirCaller(t *testing.T) {
	r := newRig(t, &work{steps: []step{{hang: true}}}, retryOf(3, &ExponentialBackoff{Base: 250 * ms, Factor: 2}), &Timeout{After: 30 * s})
	r.call(0, 0)
	r.run(200 * s)
	if got, want := r.got()[0], "timeout at 1m30.75s"; got != want {
		t.Errorf("got %s, want %s", got, want)
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
		r := newRig(t, &work{steps: []step{{class: call.ServerError}}}, retryOf(4, &ConstantBackoff{Wait: s}, func(c *Retry) { c.Jitter = JitterFull }))
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
	if got := (&ExponentialBackoff{Base: s, Factor: 10}).Pause(1000); got != longestPause {
		t.Errorf("without a largest pause the thousandth is %v", got)
	}
}

func TestJitterStaysInItsBounds(t *testing.T) {
	b := &ExponentialBackoff{Base: 100 * ms, Factor: 2, Max: 2 * s}
	tests := []struct {
		jitter   string
		n        int
		last     time.Duration
		from, to time.Duration
	}{
		{JitterNone, 3, 0, 400 * ms, 400 * ms},
		{JitterFull, 3, 0, 0, 400 * ms},
		{JitterFull, 30, 0, 0, 2 * s},
		{JitterEqual, 3, 0, 200 * ms, 400 * ms},
		{JitterDecorrelated, 1, 0, 100 * ms, 300 * ms},
		{JitterDecorrelated, 9, 200 * ms, 100 * ms, 600 * ms},
		{JitterDecorrelated, 9, 2 * s, 100 * ms, 2 * s},
	}
	for _, tt := range tests {
		var r dist.Rand
		r.Key(1, 2)
		var sum sample
		least, most := time.Duration(1<<62), time.Duration(0)
		for range 10000 {
			d := Delay(b, tt.jitter, tt.n, tt.last, &r)
			least, most = min(least, d), max(most, d)
			sum.add(float64(d))
		}
		if least < tt.from || most > tt.to {
			t.Errorf("%s, retry %d after %v: from %v to %v, want within %v and %v", tt.jitter, tt.n, tt.last, least, most, tt.from, tt.to)
		}
		// The whole range is used, evenly where nothing cuts it.
		if room := (tt.to - tt.from) / 100; least > tt.from+room || most < tt.to-room {
			t.Errorf("%s, retry %d after %v: only %v to %v of %v to %v", tt.jitter, tt.n, tt.last, least, most, tt.from, tt.to)
		}
		if middle := float64(tt.from+tt.to) / 2; tt.last != 2*s && (sum.mean() < 0.98*middle || sum.mean() > 1.02*middle) {
			t.Errorf("%s, retry %d after %v: mean %v, want %v", tt.jitter, tt.n, tt.last, time.Duration(sum.mean()), time.Duration(middle))
		}
	}
}

// Without a largest pause decorrelated jitter grows threefold a time; it must
// level off before it overflows.
func TestDecorrelatedJitterWithoutALargestPauseLevelsOff(t *testing.T) {
	var r dist.Rand
	r.Key(3, 4)
	last, most := time.Duration(0), time.Duration(0)
	for n := 1; n <= 1000; n++ {
		last = Delay(&ConstantBackoff{Wait: s}, JitterDecorrelated, n, last, &r)
		if last < s || last > longestPause {
			t.Fatalf("retry %d: %v", n, last)
		}
		most = max(most, last)
	}
	if most < longestPause/4 {
		t.Errorf("it never grew beyond %v", most)
	}
}
