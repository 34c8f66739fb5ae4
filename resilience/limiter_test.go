package resilience

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"blastradius/sim/call"
)

// Hand-worked: which of the calls at these instants pass, and when the next one
// and the third from now may.
func TestLimiterTable(t *testing.T) {
	tests := []struct {
		name   string
		limit  Limiter
		at     []time.Duration
		passes string // y or n for each
		next   time.Duration
		third  time.Duration
	}{
		{"a bucket lets its burst pass and then one a gap", &TokenBucket{Rate: 10, Burst: 3},
			[]time.Duration{0, 0, 0, 0, 99 * ms, 100 * ms, 100 * ms}, "yyynnyn", 200 * ms, 400 * ms},
		{"a pause fills it up to the burst and no further", &TokenBucket{Rate: 10, Burst: 3},
			[]time.Duration{10 * s, 10 * s, 10 * s, 10 * s}, "yyyn", 10*s + 100*ms, 10*s + 300*ms},
		{"a full bucket gains nothing, the next token is a whole gap away", &TokenBucket{Rate: 10, Burst: 1},
			[]time.Duration{250 * ms, 349 * ms, 350 * ms}, "yny", 450 * ms, 650 * ms},
		{"a bucket of one a third of a second keeps the third of a nanosecond", &TokenBucket{Rate: 3, Burst: 1},
			[]time.Duration{0, 333333332, 333333333, 666666665, 666666666, 999999999, s}, "ynynyny", 1333333333, 2 * s},
		{"10 a minute is a call in six seconds", &TokenBucket{Rate: 10.0 / 60, Burst: 1},
			[]time.Duration{0, 6*s - 1, 6 * s, 12*s - 1, 12 * s}, "ynyny", 18 * s, 30 * s},
		{"gcra: early by two gaps", &GCRA{Rate: 10, Burst: 3},
			[]time.Duration{0, 0, 0, 0, 99 * ms, 100 * ms, 100 * ms}, "yyynnyn", 200 * ms, 400 * ms},
		{"gcra after a pause", &GCRA{Rate: 10, Burst: 3},
			[]time.Duration{10 * s, 10 * s, 10 * s, 10 * s}, "yyyn", 10*s + 100*ms, 10*s + 300*ms},
		{"gcra without tolerance", &GCRA{Rate: 3, Burst: 1},
			[]time.Duration{0, 333333332, 333333333, 666666665, 666666666, 999999999, s}, "ynynyny", 1333333333, 2 * s},
		{"a leaky bucket never lets two out together", &LeakyBucket{Rate: 10, Size: 5},
			[]time.Duration{0, 0, 99 * ms, 100 * ms, s, s}, "ynnyyn", 1100 * ms, 1300 * ms},
		{"a fixed window turns at its edges", &FixedWindow{Calls: 2, Per: s},
			[]time.Duration{900 * ms, 900 * ms, s - 1, s, s, s, 1999 * ms}, "yynyynn", 2 * s, 3 * s},
		{"a fixed window after many empty ones", &FixedWindow{Calls: 2, Per: s},
			[]time.Duration{7500 * ms}, "y", 7500 * ms, 8 * s},
		{"a log has no edges", &SlidingLog{Calls: 2, Per: s},
			[]time.Duration{900 * ms, 900 * ms, s, 1900*ms - 1, 1900 * ms, 1900 * ms, 2 * s}, "yynnyyn", 2900 * ms, 3900 * ms},
		{"a log that is not full", &SlidingLog{Calls: 3, Per: s},
			[]time.Duration{900 * ms}, "y", 900 * ms, 1900 * ms},
		{"a rate above one a nanosecond is one a nanosecond", &TokenBucket{Rate: 1e300, Burst: 1},
			[]time.Duration{0, 0, 1}, "yny", 2, 4},
		{"a rate of next to nothing comes once", &GCRA{Rate: 1e-300, Burst: 1},
			[]time.Duration{5, 5, 100 * 365 * 24 * time.Hour / 3}, "ynn", 5 + longestPause, 5 + 2*longestPause},
		{"a window longer than any run", &FixedWindow{Calls: 1, Per: math.MaxInt64},
			[]time.Duration{5, 6}, "yn", longestPause, longestPause},
		{"a log longer than any run", &SlidingLog{Calls: 1, Per: math.MaxInt64},
			[]time.Duration{5, 6}, "yn", 5 + longestPause, 5 + 2*longestPause},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, got := tt.limit.New(), ""
			now := tt.at[len(tt.at)-1]
			for _, at := range tt.at {
				got += map[bool]string{true: "y", false: "n"}[a.Take(at)]
			}
			if next, third := a.Next(now, 0), a.Next(now, 2); got != tt.passes || next != tt.next || third != tt.third {
				t.Errorf("got %s, next %v, third %v; want %s, %v, %v", got, next, third, tt.passes, tt.next, tt.third)
			}
		})
	}
}

// slowLimit is what a limit means, from the instants of all calls that passed.
type slowLimit struct {
	limit  Limiter
	passed []time.Duration
	level  *big.Rat // of a bucket
	last   time.Duration
}

func (l *slowLimit) bucket(now time.Duration, rate float64, burst int, take bool) bool {
	p, q := fraction(rate)
	perNano := new(big.Rat).SetFrac(new(big.Int).SetUint64(p), new(big.Int).Mul(new(big.Int).SetUint64(q), big.NewInt(1e9)))
	top := new(big.Rat).SetInt64(int64(burst))
	level := new(big.Rat).Set(top)
	if l.level != nil {
		gained := new(big.Rat).Mul(perNano, new(big.Rat).SetInt64(int64(now-l.last)))
		if level.Add(l.level, gained); level.Cmp(top) > 0 {
			level.Set(top)
		}
	}
	// Due before the nanosecond ends.
	one := big.NewRat(1, 1)
	ok := level.Cmp(one) >= 0 || new(big.Rat).Add(level, perNano).Cmp(one) > 0
	if ok && take {
		l.level, l.last = level.Sub(level, one), now
	}
	return ok
}

func (l *slowLimit) may(now time.Duration, take bool) bool {
	inLast, inWindow := 0, 0
	count := func(per time.Duration) {
		for _, at := range l.passed {
			if now-at < per {
				inLast++
			}
			if at/per == now/per {
				inWindow++
			}
		}
	}
	ok := false
	switch c := l.limit.(type) {
	case *TokenBucket:
		ok = l.bucket(now, c.Rate, c.Burst, take)
	case *GCRA:
		ok = l.bucket(now, c.Rate, c.Burst, take)
	case *LeakyBucket:
		ok = l.bucket(now, c.Rate, 1, take)
	case *FixedWindow:
		count(c.Per)
		ok = inWindow < c.Calls
	case *SlidingLog:
		count(c.Per)
		ok = inLast < c.Calls
	}
	if ok && take {
		l.passed = append(l.passed, now)
	}
	return ok
}

// next looks at every nanosecond.
func (l slowLimit) next(now time.Duration, n int64) time.Duration {
	l.passed = slices.Clone(l.passed)
	for {
		for l.may(now, false) {
			if n == 0 {
				return now
			}
			l.may(now, true)
			n--
		}
		now++
	}
}

func TestLimitersAgreeWithTheSlowTwin(t *testing.T) {
	for kind := range Limiters {
		t.Run(kind, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				limit := randomLimiter(t, kind)
				fast, slow := limit.New(), &slowLimit{limit: limit}
				now := time.Duration(0)
				for range rapid.IntRange(1, 60).Draw(t, "calls") {
					now += time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 5, 9, 30, 200}).Draw(t, "gap"))
					n := rapid.Int64Range(0, 12).Draw(t, "others")
					if got, want := fast.Next(now, n), slow.next(now, n); got != want {
						t.Fatalf("%s at %d: next after %d others %d, want %d", limit.Text(), now, n, got, want)
					}
					if got, want := fast.Take(now), slow.may(now, true); got != want {
						t.Fatalf("%s at %d: takes %v, want %v", limit.Text(), now, got, want)
					}
				}
			})
		})
	}
}

func randomLimiter(t *rapid.T, kind string) Limiter {
	rate := 1e9 / rapid.SampledFrom([]float64{1, 1.5, 2, 7, 10.0 / 3, 11.3, 25, math.Pi}).Draw(t, "ns a call")
	n := rapid.IntRange(1, 6).Draw(t, "n")
	per := time.Duration(rapid.IntRange(1, 40).Draw(t, "per"))
	switch kind {
	case "token_bucket":
		return &TokenBucket{Rate: rate, Burst: n}
	case "gcra":
		return &GCRA{Rate: rate, Burst: n}
	case "leaky_bucket":
		return &LeakyBucket{Rate: rate, Size: n}
	case "fixed_window":
		return &FixedWindow{Calls: n, Per: per}
	case "sliding_log":
		return &SlidingLog{Calls: n, Per: per}
	}
	t.Fatalf("%s has no random settings in this test", kind)
	return nil
}

// The same limit, counted in tokens and in theoretical arrival times, over
// seconds and years.
func TestTokenBucketAndGCRAAdmitTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.SampledFrom([]float64{1000, 3, 10.0 / 60, 7.0 / 3600, 1e9 / 7, math.E, 0.1 + 0.2, 1e-7}).Draw(t, "rate")
		burst := rapid.SampledFrom([]int{1, 2, 3, 10, 1000}).Draw(t, "burst")
		if len(longBurst(rate, burst)) > 0 {
			return
		}
		b, g := (&TokenBucket{Rate: rate, Burst: burst}).New(), (&GCRA{Rate: rate, Burst: burst}).New()
		now, passed := time.Duration(0), 0
		for range 300 {
			switch step := rapid.IntRange(0, 5).Draw(t, "step"); step {
			case 0, 1: // another at the same instant
			case 2:
				now = max(now, g.Next(now, int64(rapid.IntRange(0, 5).Draw(t, "others")))-time.Duration(rapid.IntRange(0, 1).Draw(t, "early")))
			default:
				now += max(0, time.Duration(float64(rapid.IntRange(0, 3000).Draw(t, "thousandths"))/1000*1e9/rate)+time.Duration(step-4))
			}
			if now > 200*365*24*time.Hour {
				break
			}
			n := rapid.Int64Range(0, 2000).Draw(t, "behind")
			n = min(n, int64(rate*9e8)) // beyond 36 years they only say later
			if x, y := b.Next(now, n), g.Next(now, n); x != y {
				t.Fatalf("%g/s burst %d at %d: next after %d: bucket %d, gcra %d", rate, burst, now, n, x, y)
			}
			x, y := b.Take(now), g.Take(now)
			if x != y {
				t.Fatalf("%g/s burst %d at %d after %d: bucket %v, gcra %v", rate, burst, now, passed, x, y)
			}
			if x {
				passed++
			}
		}
	})
}

// A billion calls (fewer of those that last longer than any run) end where one multiplication says, to the nanosecond.
func TestGapsDoNotDrift(t *testing.T) {
	for _, tt := range []struct {
		name     string
		rate     float64
		num, den uint64 // nanoseconds a call
	}{
		{"3/s", 3, 1e9, 3},
		{"10/min", 10.0 / 60, 6e9, 1},
		{"7/min", 7.0 / 60, 60e9, 7},
		{"1/h", 1.0 / 3600, 3600e9, 1},
		{"0.1/s", 0.1, 1e10, 1},
		{"30% of 1/s, added up in tenths", 0.1 + 0.2, 0, 0},
		{"44100/s", 44100, 1e9, 44100},
		{"1e9/7 a second", 1e9 / 7, 7, 1},
		{"pi a second", math.Pi, 0, 0},
	} {
		g := gapOf(tt.rate)
		if p, q := fraction(tt.rate); float64(p)/float64(q) != tt.rate {
			t.Errorf("%s: %d/%d is %g", tt.name, p, q, float64(p)/float64(q))
		}
		if tt.den != 0 && new(big.Rat).SetFrac64(int64(g.num), int64(g.den)).Cmp(new(big.Rat).SetFrac64(int64(tt.num), int64(tt.den))) != 0 {
			t.Errorf("%s: a gap of %d/%d ns, want %d/%d", tt.name, g.num, g.den, tt.num, tt.den)
		}
		exactly := func(n int64) time.Duration {
			x := new(big.Int).Mul(new(big.Int).SetUint64(g.num), big.NewInt(n))
			return time.Duration(x.Quo(x, new(big.Int).SetUint64(g.den)).Int64())
		}
		steps := min(1_000_000, int64(longestPause)/1000/int64(g.ns+1))
		var m moment
		for range steps {
			m = g.after(m)
		}
		if m.ns != exactly(steps) || m != g.times(moment{}, steps) {
			t.Errorf("%s: %d gaps end at %d, want %d", tt.name, steps, m.ns, exactly(steps))
		}
		for range 999 {
			m = g.times(m, steps)
		}
		if want := exactly(1000 * steps); m.ns != want {
			t.Errorf("%s: %d gaps end at %d, want %d", tt.name, 1000*steps, m.ns, want)
		}
		if n := g.within(moment{}, exactly(steps)); n != steps {
			t.Errorf("%s: %d gaps reached after %d", tt.name, n, steps)
		}
	}
}

// An even stream of exactly the rate passes whole, whichever way its instants
// were rounded down; one of twice the rate passes by half.
func TestEvenStreamAtTheRatePasses(t *testing.T) {
	for _, rate := range []int64{3, 7, 1000, 44100, 999_999} {
		for _, kind := range []string{"token_bucket", "gcra", "leaky_bucket"} {
			limits := map[string]Limiter{"token_bucket": &TokenBucket{Rate: float64(rate), Burst: 1}, "gcra": &GCRA{Rate: float64(rate), Burst: 1}, "leaky_bucket": &LeakyBucket{Rate: float64(rate)}}
			whole, half := limits[kind].New(), limits[kind].New()
			passed := [2]int64{}
			const calls = 20000
			for i := range int64(calls) {
				if whole.Take(time.Duration(i * 1e9 / rate)) {
					passed[0]++
				}
				if half.Take(time.Duration(i * 5e8 / rate)) {
					passed[1]++
				}
			}
			if passed != [2]int64{calls, calls / 2} {
				t.Errorf("%s %d/s: %d and %d of %d passed, want all and half", kind, rate, passed[0], passed[1], calls)
			}
		}
	}
}

func TestRateLimitTable(t *testing.T) {
	bucket := &TokenBucket{Rate: 10, Burst: 1}
	tests := []struct {
		name     string
		config   RateLimit
		work     []step
		calls    []time.Duration
		patience map[int]time.Duration
		want     string
	}{
		{"beyond the limit a call is refused", RateLimit{Limit: bucket, WhenFull: WhenFullRefuse, MaxWait: -1}, []step{{after: 10 * ms}},
			[]time.Duration{0, 0, 100 * ms}, nil, "ok at 10ms, rate_limited at 0s, ok at 110ms"},
		{"the limit counts starts: a long call holds nothing", RateLimit{Limit: bucket, WhenFull: WhenFullRefuse, MaxWait: -1}, []step{{after: s}},
			[]time.Duration{0, 100 * ms}, nil, "ok at 1s, ok at 1.1s"},
		{"or waits for its turn", RateLimit{Limit: bucket, WhenFull: WhenFullWait, MaxWait: -1}, []step{{after: 10 * ms}},
			[]time.Duration{0, 1 * ms, 2 * ms, 3 * ms}, nil, "ok at 10ms, ok at 110ms, ok at 210ms, ok at 310ms"},
		{"a turn that is too late is refused at once", RateLimit{Limit: bucket, WhenFull: WhenFullWait, MaxWait: 150 * ms}, []step{{after: 10 * ms}},
			[]time.Duration{0, 1 * ms, 2 * ms, 50 * ms}, nil, "ok at 10ms, ok at 110ms, rate_limited at 2ms, ok at 210ms"},
		{"max_wait 0s is no wait", RateLimit{Limit: bucket, WhenFull: WhenFullWait, MaxWait: 0}, []step{{after: 10 * ms}},
			[]time.Duration{0, 1 * ms, 100 * ms}, nil, "ok at 10ms, rate_limited at 1ms, ok at 110ms"},
		{"nobody overtakes those who wait", RateLimit{Limit: bucket, WhenFull: WhenFullWait, MaxWait: -1}, []step{{after: 10 * ms}},
			[]time.Duration{0, 1 * ms, 100 * ms}, nil, "ok at 10ms, ok at 110ms, ok at 210ms"},
		{"who leaves gives the turn to the next", RateLimit{Limit: bucket, WhenFull: WhenFullWait, MaxWait: -1}, []step{{after: 10 * ms}},
			[]time.Duration{0, 1 * ms, 2 * ms, 3 * ms}, map[int]time.Duration{1: 50 * ms}, "ok at 10ms, left, ok at 110ms, ok at 210ms"},
		{"the last one leaves", RateLimit{Limit: bucket, WhenFull: WhenFullWait, MaxWait: -1}, []step{{after: 10 * ms}},
			[]time.Duration{0, 1 * ms, 150 * ms}, map[int]time.Duration{1: 50 * ms}, "ok at 10ms, left, ok at 160ms"},
		{"a deadline at the turn comes after it", RateLimit{Limit: bucket, WhenFull: WhenFullWait, MaxWait: -1}, []step{{after: 10 * ms}},
			[]time.Duration{0, 1 * ms, 2 * ms}, map[int]time.Duration{1: 100 * ms}, "ok at 10ms, left, ok at 210ms"},
		{"a new window lets several in at once", RateLimit{Limit: &FixedWindow{Calls: 2, Per: s}, WhenFull: WhenFullWait, MaxWait: -1}, []step{{after: 10 * ms}},
			[]time.Duration{0, 0, 1 * ms, 2 * ms, 3 * ms}, nil, "ok at 10ms, ok at 10ms, ok at 1.01s, ok at 1.01s, ok at 2.01s"},
		{"a leaky bucket holds its size and refuses the rest", RateLimit{Limit: &LeakyBucket{Rate: 10, Size: 2}, WhenFull: WhenFullRefuse, MaxWait: -1}, []step{{after: 10 * ms}},
			[]time.Duration{0, 0, 0, 0, 100 * ms}, nil, "ok at 10ms, ok at 110ms, ok at 210ms, rate_limited at 0s, ok at 310ms"},
		{"a leaky bucket of no size", RateLimit{Limit: &LeakyBucket{Rate: 10}, WhenFull: WhenFullRefuse, MaxWait: -1}, []step{{}},
			[]time.Duration{0, 99 * ms, 100 * ms}, nil, "ok at 0s, rate_limited at 99ms, ok at 100ms"},
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
			l := r.layers[0].(*rateLimitLayer)
			refused := int64(strings.Count(tt.want, "rate_limited"))
			if l.limited != refused || l.asked != int64(len(tt.calls)) || l.waiting.N() != 0 || l.head != nil || r.k.Live() != 0 || r.work.inside != 0 {
				t.Errorf("limited %d of %d, waiting %d, timers %d, inside %d", l.limited, l.asked, l.waiting.N(), r.k.Live(), r.work.inside)
			}
		})
	}
}

// Random calls, some of which leave: the instants at which the work starts obey
// the limit, in the order of arrival, nobody waits longer than max_wait, and
// there is no waste: whoever waits does so because the limit is used up.
func TestRateLimitLayerObeysItsLimit(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{"token_bucket", "gcra", "leaky_bucket", "fixed_window", "sliding_log"}).Draw(t, "kind")
		c := &RateLimit{Limit: randomLimiter(t, kind), WhenFull: WhenFullWait, MaxWait: time.Duration(rapid.IntRange(-1, 30).Draw(t, "max wait"))}
		w := &work{}
		var order []uint64
		r := newRig(outer, w, c)
		w.decide = func(c *call.Call) step { order = append(order, c.Request); return step{} }
		at := time.Duration(0)
		for range rapid.IntRange(1, 40).Draw(t, "calls") {
			at += time.Duration(rapid.SampledFrom([]int{0, 0, 1, 1, 2, 5, 30}).Draw(t, "gap"))
			deadline := time.Duration(0)
			if rapid.IntRange(0, 2).Draw(t, "leaves") == 0 {
				deadline = at + time.Duration(rapid.IntRange(1, 40).Draw(t, "patience"))
			}
			r.call(at, deadline)
		}
		r.run(s)
		slow := &slowLimit{limit: c.Limit}
		for _, at := range w.seen {
			if !slow.may(at, true) {
				t.Fatalf("%s: a call at %d breaks the limit: %v", c.Text(), at, w.seen)
			}
		}
		if !slices.IsSorted(order) {
			t.Fatalf("%s: order %v", c.Text(), order)
		}
		for i, x := range r.callers {
			wait := x.at - x.started
			switch {
			case x.answers == 0:
			case x.out.Reason != 0 && wait != 0:
				t.Fatalf("%s: call %d refused after %v", c.Text(), i, wait)
			case c.MaxWait >= 0 && wait > c.MaxWait:
				t.Fatalf("%s: call %d waited %v", c.Text(), i, wait)
			}
		}
		if l := r.layers[0].(*rateLimitLayer); l.head != nil || l.waiting.N() != 0 || r.k.Live() != 0 {
			t.Fatalf("%s: waiting %d, timers %d", c.Text(), l.waiting.N(), r.k.Live())
		}
	})
}

// Ten thousand calls that wait over work that takes no time are let in without
// a deep stack.
func TestLongRateQueueStaysFlat(t *testing.T) {
	const n = 10_000
	w := &work{}
	deepest := 0
	w.decide = func(c *call.Call) step {
		if c.Request == n-1 {
			deepest = stackDepth()
		}
		return step{}
	}
	r := newRig(t, w, &RateLimit{Limit: &FixedWindow{Calls: n / 2, Per: s}, WhenFull: WhenFullWait, MaxWait: -1})
	for range n {
		r.call(0, 0)
	}
	r.run(10 * s)
	if c := r.callers[n-1]; w.started != n || c.at != s || deepest == 0 || deepest > 100 {
		t.Errorf("%d started, the last at %v, %d frames deep", w.started, c.at, deepest)
	}
}

// rateLimitOf is a rate limit of its own.
func rateLimitOf(limit Limiter, change ...func(*RateLimit)) *RateLimit {
	c := newRateLimit().(*RateLimit)
	c.Limit = limit
	for _, f := range change {
		f(c)
	}
	return c
}

func waiting10(c *RateLimit) { c.WhenFull, c.MaxWait = WhenFullWait, 10*ms }

func BenchmarkLimiters(b *testing.B) {
	for _, limit := range []Limiter{
		&TokenBucket{Rate: 1e6, Burst: 20}, &GCRA{Rate: 1e6, Burst: 20}, &LeakyBucket{Rate: 1e6},
		&FixedWindow{Calls: 1000, Per: ms}, &SlidingLog{Calls: 1000, Per: ms},
	} {
		b.Run(strings.SplitN(fmt.Sprintf("%T", limit), ".", 2)[1], func(b *testing.B) {
			a, now := limit.New(), time.Duration(0)
			b.ReportAllocs()
			for b.Loop() {
				now += 700
				a.Take(now)
			}
		})
	}
}
