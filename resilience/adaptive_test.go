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
)

// sampleOf is a call of rtt that found the limit fully used.
func sampleOf(rtt time.Duration, inFlight int) Sample { return Sample{RTT: rtt, InFlight: inFlight} }

func dropOf(rtt time.Duration, inFlight int) Sample {
	return Sample{RTT: rtt, InFlight: inFlight, Dropped: true}
}

// limitsAfter feeds samples and lists the limit after each.
func limitsAfter(a Algorithm, samples ...Sample) string {
	l := a.New()
	var out []string
	for _, s := range samples {
		out = append(out, fmt.Sprint(l.Sample(s)))
	}
	return strings.Join(out, " ")
}

func times(n int, s Sample) []Sample { return slices.Repeat([]Sample{s}, n) }

// Worked by hand from AIMDLimit.java of concurrency-limits 0.5.4.
func TestAIMDTable(t *testing.T) {
	aimd := &AIMD{Start: 20, Min: 5, Max: 22, Backoff: 0.9, Timeout: 5 * s}
	for _, tt := range []struct {
		name    string
		samples []Sample
		want    string
	}{
		{"grows by one for each answer while half of it is in use", []Sample{sampleOf(ms, 10), sampleOf(ms, 11), sampleOf(ms, 22)}, "21 22 22"},
		{"not while less is", []Sample{sampleOf(ms, 9), sampleOf(ms, 10), sampleOf(ms, 10)}, "20 21 21"},
		{"a drop leaves nine tenths, rounded down", times(11, dropOf(ms, 1)), "18 16 14 12 10 9 8 7 6 5 5"},
		{"an answer of exactly the timeout is good", []Sample{sampleOf(5*s, 20), sampleOf(5*s+1, 20)}, "21 18"},
	} {
		if got := limitsAfter(aimd, tt.samples...); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Worked by hand from VegasLimit.java of concurrency-limits 0.5.4. At a limit of
// 20 log is 1, so the bounds of the queue are 1, 3 and 6.
func TestVegasTable(t *testing.T) {
	vegas := func(start int, smoothing float64) Algorithm {
		return &Vegas{Start: start, Max: 1000, Smoothing: smoothing, Probe: 30}
	}
	first := sampleOf(10*ms, 20)
	for _, tt := range []struct {
		name    string
		limit   Algorithm
		samples []Sample
		want    string
	}{
		{"the first sample only tells the shortest round trip", vegas(20, 1), []Sample{first}, "20"},
		{"no queue: six more", vegas(20, 1), []Sample{first, sampleOf(10*ms, 20)}, "20 26"},
		{"20(1-10/10.5) = 0.95, a queue of 1: six more", vegas(20, 1), []Sample{first, sampleOf(10500*time.Microsecond, 20)}, "20 26"},
		{"20(1-10/11) = 1.8, a queue of 2: one more", vegas(20, 1), []Sample{first, sampleOf(11*ms, 20)}, "20 21"},
		{"20(1-10/12) = 3.3, a queue of 4: as it is", vegas(20, 1), []Sample{first, sampleOf(12*ms, 20)}, "20 20"},
		{"20(1-10/14) = 5.7, a queue of 6: as it is", vegas(20, 1), []Sample{first, sampleOf(14*ms, 20)}, "20 20"},
		{"20(1-10/15) = 6.7, a queue of 7: one less", vegas(20, 1), []Sample{first, sampleOf(15*ms, 20)}, "20 19"},
		{"less than half used: as it is", vegas(20, 1), []Sample{first, sampleOf(15*ms, 9), sampleOf(10*ms, 9), sampleOf(10*ms, 10)}, "20 20 20 26"},
		{"a drop: one less, however little is used", vegas(20, 1), []Sample{first, dropOf(10*ms, 1)}, "20 19"},
		{"a shorter round trip changes nothing else", vegas(20, 1), []Sample{first, sampleOf(8*ms, 20), sampleOf(10*ms, 20)}, "20 20 20"},
		{"nor does a drop with a shorter one, which all answers are then measured by", vegas(20, 1), []Sample{first, dropOf(ms, 20), sampleOf(10*ms, 20)}, "20 20 19"},
		{"at 100 log is 2", vegas(100, 1), []Sample{first, dropOf(10*ms, 1), dropOf(10*ms, 1)}, "100 98 97"},
		{"at 999 too, at 1000 it is 3", vegas(999, 1), []Sample{first, sampleOf(10*ms, 999), dropOf(10*ms, 1)}, "999 1000 997"},
		{"never below 1", vegas(2, 1), append([]Sample{first}, times(3, dropOf(10*ms, 1))...), "2 1 1 1"},
		{"half of each change", vegas(20, 0.5), []Sample{first, sampleOf(10*ms, 20), dropOf(10*ms, 20), dropOf(10*ms, 20)}, "20 23 22 22"},
	} {
		if got := limitsAfter(tt.limit, tt.samples...); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// A limit of 20 with probe 1 forgets the shortest round trip after 10 to 20
// samples, at another time in each round and for each call that it falls on.
func TestVegasProbes(t *testing.T) {
	seen := map[int]bool{}
	for stream := range uint64(200) {
		l := (&Vegas{Start: 20, Max: 1000, Smoothing: 1, Probe: 1}).New().(*vegas)
		last := 0
		for i := range 100 {
			// A queue of 4: the limit stays. The first sample is the shortest.
			rtt := 12 * ms
			if i == last {
				rtt = 10 * ms
			}
			l.Sample(Sample{RTT: rtt, InFlight: 20, Stream: stream, Request: uint64(i)})
			if i > last && l.samples == 0 {
				if n := i - last + map[bool]int{true: 1}[last == 0]; n < 10 || n > 20 {
					t.Fatalf("probed after %d samples", n)
				}
				if l.shortest != 12*ms {
					t.Fatalf("the shortest round trip is %v after a probe", l.shortest)
				}
				seen[i-last] = true
				l.shortest, last = 10*ms, i
			}
		}
		if last < 60 {
			t.Fatalf("stream %d: the last probe at %d of 100", stream, last)
		}
	}
	if len(seen) < 8 {
		t.Errorf("only %d distances between probes", len(seen))
	}
}

// Worked by hand from Gradient2Limit.java of concurrency-limits 0.5.4.
func TestGradient2Table(t *testing.T) {
	config := func(change func(*Gradient2)) Algorithm {
		c := newGradient2().(*Gradient2)
		c.Min = 5
		change(c)
		return c
	}
	plain := config(func(*Gradient2) {})
	quick := sampleOf(10*ms, 100)
	warm := times(10, sampleOf(10*ms, 1)) // long average 10 ms, limit 20
	for _, tt := range []struct {
		name    string
		limit   Algorithm
		samples []Sample
		want    string
	}{
		{"without a queue 0.2·4 more each: 20.8 21.6 22.4 23.2", plain, times(4, quick), "20 21 22 23"},
		{"less than half used: as it is", plain, []Sample{sampleOf(10*ms, 9), sampleOf(10*ms, 10), sampleOf(10*ms, 10), sampleOf(10*ms, 11)}, "20 20 20 21"},
		// long = 10 + 20·2/601 = 10.0666, g = 1.5·10.0666/30 = 0.5033, 0.8·20 + 0.2(10.07+4) = 18.81
		{"thrice the round trip", plain, append(slices.Clone(warm), sampleOf(30*ms, 20)), "20 20 20 20 20 20 20 20 20 20 18"},
		// g is cut at 0.5: 16 + 0.2·14 = 18.8, 15.04 + 0.2·13.4 = 17.72
		{"however long: half", plain, append(slices.Clone(warm), sampleOf(10*s, 20), sampleOf(100*s, 20)), "20 20 20 20 20 20 20 20 20 20 18 17"},
		{"at most min", newGradient2(), append(slices.Clone(warm), sampleOf(30*ms, 20)), "20 20 20 20 20 20 20 20 20 20 20"},
		{"at most max", config(func(c *Gradient2) { c.Max = 22 }), times(4, quick), "20 21 22 22"},
		{"a drop is a sample like any", plain, []Sample{dropOf(10*ms, 100), dropOf(10*ms, 100)}, "20 21"},
		{"smoothing of all: four more each", config(func(c *Gradient2) { c.Smoothing = 1 }), times(3, quick), "24 28 32"},
		{"once the round trip is 1.5 times as long it grows no more than the queue", config(func(c *Gradient2) { c.Smoothing, c.Queue = 1, 0 }), []Sample{quick, quick}, "20 20"},
	} {
		if got := limitsAfter(tt.limit, tt.samples...); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestGradient2ForgetsALongAverage(t *testing.T) {
	l := newGradient2().New().(*gradient2)
	for range 10 {
		l.Sample(sampleOf(100*ms, 20))
	}
	if l.long != 1e8 {
		t.Fatalf("the mean of ten samples of 100 ms is %g", l.long)
	}
	l.Sample(sampleOf(10*ms, 20))
	// 100 − 90·2/601 = 99.7005 ms, more than twice 10 ms: 5% less
	if want := 0.95 * (1e8 - 9e7*2/601); math.Abs(l.long-want) > 1e-6 {
		t.Errorf("long average %g, want %g", l.long, want)
	}
	n := 0
	for l.long > 2e7 {
		l.Sample(sampleOf(10*ms, 20))
		n++
	}
	// 94.7·0.95^n = 20 alone would take 31; the average itself takes some.
	if n < 26 || n > 31 {
		t.Errorf("the long average took %d samples to come down", n)
	}
}

// slowLimits are the algorithms once more, in the words of their documentation
// and with the library's logarithm.
func slowVegas(c *Vegas, limit, shortest float64, s Sample) float64 {
	log := max(1, math.Floor(math.Log10(math.Floor(limit))+1e-12))
	queue := math.Ceil(limit * (1 - shortest/float64(s.RTT)))
	next := limit
	if s.Dropped {
		next = limit - log
	} else if float64(s.InFlight) >= limit/2 {
		if queue > 6*log {
			next = limit - log
		} else if queue >= 3*log {
			next = limit
		} else if queue > log {
			next = limit + log
		} else {
			next = limit + 6*log
		}
	}
	if next == limit {
		return limit
	}
	return limit + c.Smoothing*(math.Min(math.Max(next, 1), float64(c.Max))-limit)
}

func TestAlgorithmsStayInBoundsAndAgreeWithTheSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.IntRange(1, 30).Draw(t, "min")
		start := least + rapid.IntRange(0, 1200).Draw(t, "more")
		most := start + rapid.IntRange(0, 1200).Draw(t, "most")
		smoothing := rapid.SampledFrom([]float64{1, 0.2, 0.5}).Draw(t, "smoothing")
		a := (&AIMD{Start: start, Min: least, Max: most, Backoff: 0.9, Timeout: s}).New()
		v := (&Vegas{Start: start, Max: most, Smoothing: smoothing, Probe: 1000}).New().(*vegas)
		g := (&Gradient2{Start: start, Min: least, Max: most, Smoothing: smoothing, Queue: 4, Tolerance: 1.5, LongWindow: 20}).New().(*gradient2)
		for range rapid.IntRange(1, 100).Draw(t, "samples") {
			x := Sample{RTT: time.Duration(rapid.IntRange(1, 100).Draw(t, "rtt")) * 20 * ms, InFlight: rapid.IntRange(1, 2000).Draw(t, "in flight"), Dropped: rapid.IntRange(0, 4).Draw(t, "fate") == 0}
			was := a.(*aimd).limit
			got := a.Sample(x)
			want := was
			if x.Dropped || x.RTT > s {
				want = was * 9 / 10
			} else if x.InFlight >= (was+1)/2 {
				want = was + 1
			}
			// 0.9 is not nine tenths: rounding down may differ where it is whole.
			if want = min(max(want, least), most); got != want && (was%10 != 0 || got != want-1) {
				t.Fatalf("aimd %d: %+v gives %d, want %d", was, x, got, want)
			}

			before, shortest := v.estimate, v.shortest
			if v.Sample(x); shortest != 0 && x.RTT >= shortest && v.samples > 0 {
				if want := slowVegas(&v.Vegas, before, float64(shortest), x); math.Abs(v.estimate-want) > 1e-9 {
					t.Fatalf("vegas %g, shortest %v: %+v gives %g, want %g", before, shortest, x, v.estimate, want)
				}
			} else if v.estimate != before || v.shortest != x.RTT {
				t.Fatalf("vegas: a new shortest round trip changed %g to %g", before, v.estimate)
			}

			before = g.estimate
			g.Sample(x)
			if change := g.estimate - before; change > smoothing*4+1e-9 || change < -smoothing*before/2-1e-9 {
				t.Fatalf("gradient2 %g: %+v changes it by %g", before, x, change)
			}
			if g.estimate < float64(least) || g.estimate > float64(most) || v.estimate < 1 || v.estimate > float64(most) {
				t.Fatalf("gradient2 %g, vegas %g, bounds %d and %d", g.estimate, v.estimate, least, most)
			}
		}
	})
}

func TestSampleWindow(t *testing.T) {
	w := sampleWindow{span: s}
	at := func(now time.Duration, rtt time.Duration, inFlight int, dropped bool) string {
		x, ok := w.add(now, Sample{RTT: rtt, InFlight: inFlight, Dropped: dropped, Request: uint64(now)})
		if !ok {
			return "-"
		}
		return fmt.Sprintf("%v %d %v %d", x.RTT, x.InFlight, x.Dropped, x.Request/uint64(ms))
	}
	for i, tt := range []struct{ got, want string }{
		{at(5*ms, ms, 99, true), "-"}, // closes the window from the start, of one sample
		{at(6*ms, 99999, 50, true), "-"},
		{at(7*ms, 2*ms, 3, false), "-"},
		{at(8*ms, 4*ms, 9, true), "-"},
	} {
		if tt.got != tt.want {
			t.Errorf("sample %d: %s, want %s", i, tt.got, tt.want)
		}
	}
	for i := range 7 {
		if got := at(time.Duration(10+i)*ms, 3*ms, 1, false); got != "-" {
			t.Errorf("sample %d of the window closes it: %s", i, got)
		}
	}
	if got := at(1005*ms, 13*ms, 1, false); got != "-" {
		t.Errorf("a sample at the window's end closes it: %s", got)
	}
	// 2 + 4 + 7·3 + 13 + 8 = 48 ms of eleven
	if got, want := at(1006*ms, 8*ms, 2, false), "4.363636ms 9 true 1006"; got != want {
		t.Errorf("the window: %s, want %s", got, want)
	}
	if got := at(3*s, ms, 1, false); got != "-" {
		t.Errorf("a window of one sample counts: %s", got)
	}
}

// concurrencyOf is an adaptive limit of its own.
func concurrencyOf(a Algorithm, change ...func(*ConcurrencyLimit)) *ConcurrencyLimit {
	c := &ConcurrencyLimit{Algorithm: a}
	for _, f := range change {
		f(c)
	}
	return c
}

func TestConcurrencyLimitTable(t *testing.T) {
	two := &AIMD{Start: 2, Min: 1, Max: 3, Backoff: 0.5, Timeout: 50 * ms}
	tests := []struct {
		name     string
		config   ConcurrencyLimit
		work     []step
		calls    []time.Duration
		patience map[int]time.Duration
		want     string
		limit    int
		drops    int64
	}{
		{"as many as the limit are inside, the next is refused", ConcurrencyLimit{Algorithm: two}, []step{{after: 10 * ms}},
			[]time.Duration{0, 1 * ms, 2 * ms}, nil, "ok at 10ms, ok at 11ms, limit_reached at 2ms", 3, 0},
		{"the limit learns before the next one asks", ConcurrencyLimit{Algorithm: two}, []step{{after: 10 * ms}},
			[]time.Duration{0, 10 * ms, 10 * ms, 10 * ms, 10 * ms}, nil, "ok at 10ms, ok at 20ms, ok at 20ms, ok at 20ms, limit_reached at 10ms", 3, 0},
		{"a throttled answer is a drop", ConcurrencyLimit{Algorithm: two}, []step{{after: 10 * ms, class: call.Throttled}},
			[]time.Duration{0, 20 * ms, 20 * ms}, nil, "throttled at 10ms, throttled at 30ms, limit_reached at 20ms", 1, 2},
		{"so is a refused connection, at once", ConcurrencyLimit{Algorithm: two}, []step{{class: call.ConnectError}, {after: ms}},
			[]time.Duration{0, 1 * ms, 1 * ms}, nil, "connect_error at 0s, ok at 2ms, limit_reached at 1ms", 2, 1},
		{"an answer that takes too long is a drop of the algorithm's own", ConcurrencyLimit{Algorithm: two}, []step{{after: 50*ms + 1}},
			[]time.Duration{0}, nil, "ok at 50.000001ms", 1, 0},
		{"errors say nothing", ConcurrencyLimit{Algorithm: two}, []step{{after: ms, class: call.ServerError}, {after: ms, class: call.ClientError}, {after: ms, class: call.Degraded}},
			[]time.Duration{0, 0, 2 * ms}, nil, "server_error at 1ms, client_error at 1ms, degraded at 3ms", 2, 0},
		{"unless the file says so", ConcurrencyLimit{Algorithm: two, Verdicts: map[string]string{"server_error": "drop", "client_error": "success"}}, []step{{after: ms, class: call.ServerError}, {after: ms, class: call.ClientError}},
			[]time.Duration{0, 2 * ms}, nil, "server_error at 1ms, client_error at 3ms", 2, 1},
		{"a caller that leaves gives its place back and says nothing", ConcurrencyLimit{Algorithm: two}, []step{{hang: true}, {hang: true}, {after: ms}},
			[]time.Duration{0, 0, 5 * ms}, map[int]time.Duration{0: 4 * ms, 1: 5 * ms}, "left, left, ok at 6ms", 3, 0},
		{"in windows", ConcurrencyLimit{Algorithm: two, Window: s}, []step{{after: ms}},
			[]time.Duration{0, 2 * ms, 4 * ms}, nil, "ok at 1ms, ok at 3ms, ok at 5ms", 2, 0},
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
			l := r.layers[0].(*concurrencyLayer)
			refused := int64(strings.Count(tt.want, "limit_reached"))
			if l.limit != tt.limit || l.drops != tt.drops || l.limited != refused || l.inUse.N() != 0 || l.level.N() != int64(l.limit) {
				t.Errorf("limit %d, drops %d, limited %d, in use %d", l.limit, l.drops, l.limited, l.inUse.N())
			}
		})
	}
}

// The sawtooth of AIMD. A service of 50 places turns the 51st call away at once,
// and more calls come than it can take. The limit then goes 51, a drop,
// ⌊0.9·51⌋ = 45, and up by one for each of six answers: one drop in seven.
func TestAIMDSawtooth(t *testing.T) {
	const places = 50
	w := &work{}
	n := 0
	w.decide = func(*call.Call) step {
		if w.inside >= places {
			return step{class: call.Throttled}
		}
		n++
		return step{after: 10*ms + time.Duration(n*7919%9973)*time.Microsecond}
	}
	r := newRig(t, w, concurrencyOf(&AIMD{Start: 20, Min: 5, Max: 200, Backoff: 0.9, Timeout: 5 * s}))
	l := r.layers[0].(*concurrencyLayer)
	for i := range 200_000 {
		r.call(time.Duration(i)*10*time.Microsecond, 0)
	}
	r.run(s)
	l.below.Cut(s)
	l.level.Cut(s)
	good, drops := int64(w.answered)-l.drops, l.drops
	r.run(2 * s)
	good, drops = int64(w.answered)-l.drops-good, l.drops-drops
	low, high := int64(200)-l.below.Cut(2*s).Max, l.level.Cut(2*s).Max
	// Two answers within the 10 µs to the next call take the limit past 51.
	if low != 45 || high < 51 || high > 53 {
		t.Errorf("the limit goes from %d to %d, want 45 to 51 and seldom more", low, high)
	}
	if share := float64(drops) / float64(good+drops); drops < 300 || math.Abs(share-1.0/7) > 0.001 {
		t.Errorf("%d drops and %d answers: a share of %.4f, want 1/7", drops, good, share)
	}
}
