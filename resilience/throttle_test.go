package resilience

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"blastradius/sim/call"
)

func sreOf(change func(*SRE)) *SRE {
	c := newSRE().(*SRE)
	change(c)
	return c
}

func admissionOf(change func(*AdmissionControl)) *AdmissionControl {
	c := newAdmissionControl().(*AdmissionControl)
	change(c)
	return c
}

// chanceAfter is the chance of refusing after n calls, good of them accepted.
func chanceAfter(rule ThrottleRule, n, good int) float64 {
	t := rule.New()
	for i := range n {
		v := Failure
		if i < good {
			v = Success
		}
		t.Ended(0, t.Sent(0), v)
	}
	return max(0, t.Chance(0))
}

// Worked by hand from the formula of the SRE book, that of go-zero's
// googlebreaker.go, and that of Envoy's admission control filter.
func TestThrottleFormulas(t *testing.T) {
	sre, goZero := newSRE(), sreOf(func(c *SRE) { c.K, c.Protection, c.CountAt = 1.5, 5, CountAtCompletion })
	envoy := newAdmissionControl()
	for _, tt := range []struct {
		name    string
		rule    ThrottleRule
		n, good int
		want    float64
	}{
		{"nothing is known", sre, 0, 0, 0},
		{"one failure", sre, 1, 0, 1.0 / 2},
		{"ten failures", sre, 10, 0, 10.0 / 11},
		{"half accepted is enough for k 2", sre, 10, 5, 0},
		{"(10 - 2·4)/11", sre, 10, 4, 2.0 / 11},
		{"all accepted", sre, 10, 10, 0},
		{"k 1 refuses from the first failure: (10 - 9)/11", sreOf(func(c *SRE) { c.K = 1 }), 10, 9, 1.0 / 11},
		{"go-zero: five are free", goZero, 5, 0, 0},
		{"go-zero: (10 - 5)/11", goZero, 10, 0, 5.0 / 11},
		{"go-zero: (100 - 5 - 45)/101", goZero, 100, 30, 50.0 / 101},
		{"go-zero: fewer than the free ones", goZero, 3, 0, 0},
		{"envoy: nothing is known", envoy, 0, 0, 0},
		{"envoy: at the threshold", envoy, 100, 95, 0},
		{"envoy: (100 - 90/0.95)/101", envoy, 100, 90, (100 - 90/0.95) / 101},
		{"envoy: (20 - 10/0.95)/21", envoy, 20, 10, 0.4511278195488722},
		{"envoy: at most 80%", envoy, 10, 0, 0.8},
		{"envoy: one failure", envoy, 1, 0, 0.5},
		{"envoy: the root, with aggression 2", admissionOf(func(c *AdmissionControl) { c.Aggression = 2 }), 100, 90, math.Sqrt((100 - 90/0.95) / 101)},
		{"envoy: 29 in 30 s are below 1/s", admissionOf(func(c *AdmissionControl) { c.MinRate = 1 }), 29, 0, 0},
		{"envoy: 30 are not", admissionOf(func(c *AdmissionControl) { c.MinRate, c.Max = 1, 1 }), 30, 0, 30.0 / 31},
		{"envoy: never", admissionOf(func(c *AdmissionControl) { c.Max = 0 }), 30, 0, 0},
	} {
		if got := chanceAfter(tt.rule, tt.n, tt.good); math.Abs(got-tt.want) > 1e-15 {
			t.Errorf("%s: %.17g, want %.17g", tt.name, got, tt.want)
		}
	}
}

// What counts, and when.
func TestThrottleCounts(t *testing.T) {
	atSend, atEnd := newSRE(), sreOf(func(c *SRE) { c.CountAt = CountAtCompletion })
	for _, tt := range []struct {
		name string
		rule ThrottleRule
		do   func(ThrottleState)
		want float64
	}{
		{"at send: calls that hang count", atSend, func(s ThrottleState) { s.Sent(0); s.Sent(0); s.Sent(0) }, 3.0 / 4},
		{"at completion they do not", atEnd, func(s ThrottleState) { s.Sent(0); s.Sent(0); s.Sent(0) }, 0},
		{"envoy: nor there", newAdmissionControl(), func(s ThrottleState) { s.Sent(0) }, 0},
		{"at send: refusals count", atSend, func(s ThrottleState) { s.Refused(0) }, 1.0 / 2},
		{"at completion: refusals are failures", atEnd, func(s ThrottleState) { s.Refused(0) }, 1.0 / 2},
		{"envoy: refusals do not count", newAdmissionControl(), func(s ThrottleState) { s.Refused(0) }, 0},
		{"at send: a neutral end takes the request back", atSend, func(s ThrottleState) { s.Sent(0); s.Ended(0, s.Sent(0), Neutral) }, 1.0 / 2},
		{"at completion it counts nothing", atEnd, func(s ThrottleState) { s.Ended(0, s.Sent(0), Neutral) }, 0},
		{"envoy: nor there", newAdmissionControl(), func(s ThrottleState) { s.Ended(0, s.Sent(0), Neutral) }, 0},
	} {
		s := tt.rule.New()
		if tt.do(s); math.Abs(max(0, s.Chance(0))-tt.want) > 1e-15 {
			t.Errorf("%s: %g, want %g", tt.name, s.Chance(0), tt.want)
		}
	}
}

func TestThrottleForgets(t *testing.T) {
	s := sreOf(func(c *SRE) { c.Window, c.Buckets = 10*s, 5 }).New()
	chance := func(now time.Duration) string { return fmt.Sprintf("%.3f", max(0, s.Chance(now))) }
	const sec = time.Second
	mark := s.Sent(1999 * ms) // the bucket of 0 s
	s.Sent(2 * sec)           // that of 2 s
	for _, tt := range []struct {
		now  time.Duration
		want string
	}{{2 * sec, "0.667"}, {10*sec - 1, "0.667"}, {10 * sec, "0.500"}, {12*sec - 1, "0.500"}, {12 * sec, "0.000"}, {500 * sec, "0.000"}} {
		if got := chance(tt.now); got != tt.want {
			t.Errorf("at %v: %s, want %s", tt.now, got, tt.want)
		}
	}
	s.Ended(501*sec, mark, Neutral) // long forgotten
	s.Sent(501 * sec)
	if got := chance(501 * sec); got != "0.500" {
		t.Errorf("a request that was forgotten is taken back: %s", got)
	}
}

// The buckets against a list of everything.
func TestRecentCountsAgreeWithTheSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(t, "buckets")
		window := time.Duration(rapid.IntRange(1, 50).Draw(t, "window"))
		c := newRecentCounts(window, n)
		width := time.Duration(math.Ceil(float64(window) / float64(n)))
		type event struct {
			at                time.Duration
			requests, accepts int64
		}
		var all []event
		now := time.Duration(0)
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			now += time.Duration(rapid.SampledFrom([]int{0, 0, 1, 2, 7, 40, 300}).Draw(t, "gap"))
			e := event{now, int64(rapid.IntRange(0, 2).Draw(t, "requests")), int64(rapid.IntRange(0, 1).Draw(t, "accepts"))}
			if number := c.add(now, e.requests, e.accepts); number != int64(now/width) {
				t.Fatalf("bucket %d at %d", number, now)
			}
			all = append(all, e)
			if i := rapid.IntRange(0, len(all)-1).Draw(t, "undone"); rapid.Bool().Draw(t, "undo") && all[i].requests > 0 {
				c.undo(now, int64(all[i].at/width))
				all[i].requests--
			}
			want := requestCount{}
			for _, e := range all {
				if now/width-e.at/width < time.Duration(n) {
					want.requests += e.requests
					want.accepts += e.accepts
				}
			}
			if c.total != want {
				t.Fatalf("at %d: %+v, want %+v", now, c.total, want)
			}
		}
	})
}

// throttleOf is a throttle of its own.
func throttleOf(rule ThrottleRule, change ...func(*Throttle)) *Throttle {
	c := &Throttle{Rule: rule}
	for _, f := range change {
		f(c)
	}
	return c
}

// Against a dependency that accepts nothing, N requests in the window make the
// chance N/(N+1): one call in N+1 is let out. Ten a second and a window of 10 s
// in 40 buckets give an N of 97 to 99.
func TestSREAgainstADependencyThatIsDown(t *testing.T) {
	const calls, every = 200_000, 100 * ms
	r := newRig(t, &work{steps: []step{{class: call.ConnectError}}}, throttleOf(sreOf(func(c *SRE) { c.Window = 10 * s })))
	want := 0.0
	for i := range calls {
		at := time.Duration(i) * every
		oldest := (at/(250*ms) - 39) * 250 * ms // bucket that still counts
		n := i - int((max(0, oldest)+every-1)/every)
		want += 1 / float64(n+1)
		r.call(at, 0)
	}
	r.run(calls * every)
	if got := float64(r.work.started); math.Abs(got-want) > 4*math.Sqrt(want) {
		t.Errorf("%g of %d let out, want %.0f", got, calls, want)
	}
	if l := r.layers[0].(*throttleLayer); l.throttled+l.failures != calls || l.asked != calls {
		t.Errorf("throttled %d, failures %d of %d", l.throttled, l.failures, l.asked)
	}
}

// A call that is refused and tried again at once has luck of its own each time:
// with three attempts against a chance of 0.8, 1 - 0.8^3 of the calls get out.
func TestThrottledRetriesHaveTheirOwnLuck(t *testing.T) {
	w := &work{steps: []step{{class: call.ServerError}}}
	// What comes out says nothing, so that the chance stays where it is.
	throttle := throttleOf(admissionOf(func(c *AdmissionControl) { c.Window = time.Hour }), func(c *Throttle) {
		c.Verdicts = map[string]string{"server_error": "neutral"}
	})
	r := newRig(t, w, retryOf(3, &NoBackoff{}, on("rejected")), throttle)
	l := r.layers[1].(*throttleLayer)
	for range 1000 {
		l.state.Ended(0, 0, Failure)
	}
	const calls = 20_000
	for i := range calls {
		r.call(time.Duration(i)*ms, 0)
	}
	r.run(calls * ms)
	want := 1 - 0.8*0.8*0.8
	if share := float64(w.started) / calls; math.Abs(share-want) > 4*math.Sqrt(want*(1-want)/calls) {
		t.Errorf("%.4f of the calls got out, want %.4f", share, want)
	}
}

func TestThrottleTable(t *testing.T) {
	certain := &AdmissionControl{Window: 10 * s, Buckets: 10, Threshold: 1, Aggression: 1e9, Max: 1}
	tests := []struct {
		name     string
		config   Throttle
		work     []step
		calls    []time.Duration
		patience map[int]time.Duration
		want     string
	}{
		{"a failure, and nothing gets out until it is forgotten", Throttle{Rule: certain}, []step{{after: ms, class: call.ServerError}, {after: ms}},
			[]time.Duration{0, 2 * ms, 9999 * ms, 10 * s}, nil, "server_error at 1ms, shed_early at 2ms, shed_early at 9.999s, ok at 10.001s"},
		{"what is still out has not failed", Throttle{Rule: certain}, []step{{after: 5 * ms, class: call.Timeout}},
			[]time.Duration{0, 4 * ms, 5 * ms}, nil, "timeout at 5ms, timeout at 9ms, shed_early at 5ms"},
		{"a wrong request was accepted", Throttle{Rule: certain}, []step{{after: ms, class: call.ClientError}},
			[]time.Duration{0, 2 * ms}, nil, "client_error at 1ms, client_error at 3ms"},
		{"a caller that leaves says nothing", Throttle{Rule: certain}, []step{{hang: true}, {after: ms}},
			[]time.Duration{0, 2 * ms}, map[int]time.Duration{0: ms}, "left, ok at 3ms"},
		{"unless the file says so", Throttle{Rule: certain, Verdicts: map[string]string{"cancelled": "failure"}}, []step{{hang: true}, {after: ms}},
			[]time.Duration{0, 2 * ms}, map[int]time.Duration{0: ms}, "left, shed_early at 2ms"},
		{"throttled is a failure, or as envoy has it", Throttle{Rule: certain, Verdicts: map[string]string{"throttled": "success"}}, []step{{class: call.Throttled}},
			[]time.Duration{0, 2 * ms}, nil, "throttled at 0s, throttled at 2ms"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, &work{steps: tt.work}, &tt.config)
			for i, at := range tt.calls {
				r.call(at, tt.patience[i])
			}
			r.run(1000 * s)
			if got := strings.Join(r.got(), ", "); got != tt.want {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
			if l := r.layers[0].(*throttleLayer); l.throttled != int64(strings.Count(tt.want, "shed_early")) || r.k.Live() != 0 || r.work.inside != 0 {
				t.Errorf("throttled %d, timers %d, inside %d", l.throttled, r.k.Live(), r.work.inside)
			}
		})
	}
}
