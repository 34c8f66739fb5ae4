package resilience

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"blastradius/sim/call"
	"blastradius/sim/des"
	"blastradius/sim/dist"
)

func outlierOf(set func(*Outlier)) *Outlier {
	c := newOutlier().(*Outlier)
	if set != nil {
		set(c)
	}
	return c
}

func dialectOf(name string, set func(*Outlier)) *Outlier {
	return outlierOf(func(c *Outlier) {
		c.UsePreset(name)
		if set != nil {
			set(c)
		}
	})
}

// How many hosts may be out at once, over the numbers of hosts that matter.
func TestEjectLimit(t *testing.T) {
	for _, c := range []struct {
		name    string
		outlier *Outlier
		may     map[int]int // hosts → out at once
	}{
		{"envoy", outlierOf(nil), map[int]int{1: 0, 3: 0, 9: 0, 10: 1, 19: 1, 20: 2, 100: 10}},
		{"envoy, at least one", outlierOf(func(c *Outlier) { c.AlwaysEjectOneHost = true }), map[int]int{1: 1, 3: 1, 10: 1, 20: 2}},
		{"envoy, half", outlierOf(func(c *Outlier) { c.MaxEjectionPercent = 0.5 }), map[int]int{1: 0, 2: 1, 3: 1, 4: 2, 5: 2}},
		{"envoy, all", outlierOf(func(c *Outlier) { c.MaxEjectionPercent = 1 }), map[int]int{1: 1, 3: 3}},
		{"envoy, none", outlierOf(func(c *Outlier) { c.MaxEjectionPercent = 0 }), map[int]int{1: 0, 1000: 0}},
		{"envoy, a third", outlierOf(func(c *Outlier) { c.MaxEjectionPercent = 0.33 }), map[int]int{3: 0, 4: 1, 100: 33}},
		{"envoy, 29 %: no 28.999", outlierOf(func(c *Outlier) { c.MaxEjectionPercent = 0.29 }), map[int]int{100: 29}},
		// Pull request 27066 has the example: three hosts and 67 %, all three go.
		{"envoy-old, 67 %", dialectOf(DialectEnvoyOld, func(c *Outlier) { c.MaxEjectionPercent = 0.67 }), map[int]int{3: 3}},
		{"envoy-old", dialectOf(DialectEnvoyOld, nil), map[int]int{1: 1, 3: 1, 9: 1, 10: 1, 11: 2, 15: 2, 20: 2, 21: 3}},
		{"envoy-old, none", dialectOf(DialectEnvoyOld, func(c *Outlier) { c.MaxEjectionPercent = 0 }), map[int]int{3: 0}},
		{"grpc", dialectOf(DialectGRPC, nil), map[int]int{1: 1, 3: 1, 10: 1, 11: 2}},
	} {
		for hosts, want := range c.may {
			if got := c.outlier.MayEject(hosts); got != want {
				t.Errorf("%s: %d of %d hosts may be out, want %d", c.name, got, hosts, want)
			}
		}
	}
}

// The length of the nth ejection in a row, and how an interval of good conduct
// shortens the next.
func TestEjectionsGrowAndShrink(t *testing.T) {
	lengths := func(base, most time.Duration, unbounded bool, n int) (out []time.Duration) {
		var e ejection
		for i := range n {
			e.begin(time.Duration(i), 0, base, most, unbounded)
			out = append(out, e.length(base, most))
		}
		return out
	}
	if got, want := lengths(30*s, 100*s, false, 6), []time.Duration{30 * s, 60 * s, 90 * s, 100 * s, 100 * s, 100 * s}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	multiplier := func(base, most time.Duration, unbounded bool, n int) int64 {
		var e ejection
		for range n {
			e.begin(0, 0, base, most, unbounded)
		}
		return e.multiplier
	}
	for _, c := range []struct {
		base, most time.Duration
		unbounded  bool
		want       int64
	}{
		{30 * s, 300 * s, false, 11}, // while m·30 < 330
		{30 * s, 299 * s, false, 11}, // 10·30 < 329
		{30 * s, 301 * s, false, 12}, // 11·30 < 331
		{30 * s, 30 * s, false, 2},
		{30 * s, 300 * s, true, 50},
		{1, math.MaxInt64, false, 50},
		{math.MaxInt64, math.MaxInt64, false, 2},
	} {
		if got := multiplier(c.base, c.most, c.unbounded, 50); got != c.want {
			t.Errorf("base %v, most %v: the multiplier ends at %d, want %d", c.base, c.most, got, c.want)
		}
	}
	e := ejection{multiplier: 3, back: 100 * s}
	for _, c := range []struct {
		now  time.Duration
		want int64
	}{{100 * s, 3}, {109 * s, 3}, {110 * s, 2}, {120 * s, 1}, {130 * s, 0}, {140 * s, 0}} {
		if e.rest(c.now, 10*s); e.multiplier != c.want {
			t.Errorf("at %v the multiplier is %d, want %d", c.now, e.multiplier, c.want)
		}
	}
	e.begin(0, 5*s, 30*s, 20*s, false)
	if got := e.length(30*s, 20*s); got != 25*s {
		t.Errorf("the longest time and the jitter: %v, want 25s", got)
	}
}

func TestStreakFiresOnceAtItsLimit(t *testing.T) {
	k := streak{limit: 3}
	var fired []int
	for i := range 8 {
		if k.fail() {
			fired = append(fired, i)
		}
	}
	if !slices.Equal(fired, []int{2}) {
		t.Errorf("fired at %v, want only the third", fired)
	}
	k.clear()
	fired = fired[:0]
	for i := range 4 {
		if k.fail() {
			fired = append(fired, i)
		}
	}
	if !slices.Equal(fired, []int{2}) {
		t.Errorf("after a clear it fired at %v, want the third again", fired)
	}
	none := streak{}
	for range 10 {
		if none.fail() {
			t.Error("a limit of 0 fires")
		}
	}
}

func TestBelowMean(t *testing.T) {
	of := func(percents ...float64) (out []hostRate) {
		for i, p := range percents {
			out = append(out, hostRate{i, p})
		}
		return out
	}
	for _, c := range []struct {
		rates  []hostRate
		factor float64
		want   float64
	}{
		// The example in the comment of DetectorImpl::successRateEjectionThreshold.
		{of(50, 100, 100, 100, 100), 1.9, 52},
		{of(50, 100, 100, 100, 100), 0, 90},
		{of(100, 100, 100), 1.9, 100},
		{of(80), 1.9, 80},
	} {
		if got := belowMean(c.rates, c.factor); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %g, want %g", c.rates, got, c.want)
		}
	}
	// One of n hosts that fails in all is found only if √(n−1) > factor: its
	// distance to the mean is √(n−1)·σ. With 1.9, five hosts are enough and four
	// are not.
	for n, found := range map[int]bool{4: false, 5: true, 10: true} {
		rates := of(slices.Repeat([]float64{100}, n)...)
		rates[0].percent = 0
		if got := rates[0].percent < belowMean(rates, 1.9); got != found {
			t.Errorf("one of %d hosts fails: found %v, want %v", n, got, found)
		}
	}
}

// What Envoy and gRPC do with the outcomes of a call.
func TestHostVerdicts(t *testing.T) {
	of := func(c *Outlier) (out []string) {
		for _, v := range hostVerdictsOf(c.Verdicts) {
			out = append(out, hostVerdictNames[v])
		}
		return out
	}
	// ok, client_error, server_error, throttled, connect_error, timeout, cancelled, rejected, degraded
	if got, want := of(outlierOf(nil)), []string{"success", "success", "failure", "success", "gateway", "gateway", "neutral", "neutral", "neutral"}; !slices.Equal(got, want) {
		t.Errorf("envoy: %v, want %v", got, want)
	}
	if got, want := of(dialectOf(DialectGRPC, nil)), []string{"success", "failure", "failure", "failure", "gateway", "gateway", "failure", "neutral", "neutral"}; !slices.Equal(got, want) {
		t.Errorf("grpc: %v, want %v", got, want)
	}
}

// script drives a detector: "3x" is a failure of host 3, "3g" a gateway failure,
// "3." a success, "tick" a tick 10 s after the last. It returns who was out
// after each word.
func script(d *detector, words ...string) (out []string) {
	now := time.Duration(0)
	for _, w := range words {
		if w == "tick" {
			now += d.config.Interval
			d.tick(now)
		} else {
			var host int
			var what rune
			if _, err := fmt.Sscanf(w, "%d%c", &host, &what); err != nil {
				panic(w)
			}
			d.record(now+1, host, map[rune]hostVerdict{'x': hostFailed, 'g': hostUnreachable, '.': hostSucceeded}[what])
		}
		gone := ""
		for i, h := range d.hosts {
			if h.ejected {
				gone += fmt.Sprint(i)
			}
		}
		out = append(out, gone)
	}
	return out
}

func wordTimes(n int, word string) []string { return slices.Repeat([]string{word}, n) }

func TestDetector(t *testing.T) {
	short := func(c *Outlier) { c.MaxEjectionPercent, c.BaseEjectionTime = 1, 10*s }
	for _, c := range []struct {
		name     string
		outlier  *Outlier
		hosts    int
		words    []string
		want     string // who is out after the last word
		ejected  int64
		overflow int64
	}{
		{"the fifth failure in a row ejects", outlierOf(nil), 10, wordTimes(5, "3x"), "3", 1, 0},
		{"the fourth does not", outlierOf(nil), 10, wordTimes(4, "3x"), "", 0, 0},
		{"a success begins anew", outlierOf(nil), 10, slices.Concat(wordTimes(4, "3x"), []string{"3."}, wordTimes(4, "3x")), "", 0, 0},
		{"another host's success does not", outlierOf(nil), 10, slices.Concat(wordTimes(4, "3x"), []string{"2."}, wordTimes(1, "3x")), "3", 1, 0},
		{"gateway failures are failures", outlierOf(nil), 10, wordTimes(5, "3g"), "3", 1, 0},
		{"gateway failures alone are not enforced", outlierOf(func(c *Outlier) { c.Consecutive = 0 }), 10, wordTimes(50, "3g"), "", 0, 0},
		{"gateway failures enforced", outlierOf(func(c *Outlier) { c.Gateway, c.EnforceGateway = 2, 1 }), 10, wordTimes(2, "3g"), "3", 1, 0},
		{"a plain failure ends a row of gateway failures", outlierOf(func(c *Outlier) { c.Gateway, c.EnforceGateway = 2, 1 }), 10, []string{"3g", "3x", "3g"}, "", 0, 0},
		{"a gateway failure does not end a row of failures", outlierOf(nil), 10, []string{"3x", "3g", "3x", "3g", "3x"}, "3", 1, 0},
		{"a tenth of nine hosts is nobody", outlierOf(nil), 9, wordTimes(25, "3x"), "", 0, 5},
		{"nine hosts of an old Envoy lose one", dialectOf(DialectEnvoyOld, nil), 9, slices.Concat(wordTimes(5, "3x"), wordTimes(10, "4x")), "3", 1, 2},
		{"one host of any number on request", outlierOf(func(c *Outlier) { c.AlwaysEjectOneHost = true }), 2, slices.Concat(wordTimes(5, "1x"), wordTimes(5, "0x")), "1", 1, 1},
		{"a counter that led to nothing begins anew", outlierOf(func(c *Outlier) { c.EnforceConsecutive = 0 }), 10, wordTimes(25, "3x"), "", 0, 0},
		{"nobody comes back before the tick", outlierOf(short), 2, slices.Concat(wordTimes(5, "1x"), wordTimes(1, "tick")), "1", 1, 0},
		{"nor before the time is over", outlierOf(func(c *Outlier) { short(c); c.BaseEjectionTime = 20 * s }), 2, slices.Concat(wordTimes(5, "1x"), wordTimes(2, "tick")), "1", 1, 0},
		{"the time is over at the second tick", outlierOf(short), 2, slices.Concat(wordTimes(5, "1x"), wordTimes(2, "tick")), "", 1, 0},
		{"failures while out count for nothing", outlierOf(short), 2, slices.Concat(wordTimes(50, "1x"), wordTimes(2, "tick"), wordTimes(4, "1x")), "", 1, 0},
		{"the second time lasts twice as long", outlierOf(short), 2, slices.Concat(wordTimes(5, "1x"), wordTimes(2, "tick"), wordTimes(5, "1x"), wordTimes(2, "tick")), "1", 2, 0},
		{"and is over then", outlierOf(short), 2, slices.Concat(wordTimes(5, "1x"), wordTimes(2, "tick"), wordTimes(5, "1x"), wordTimes(3, "tick")), "", 2, 0},
		{"a good interval makes it short again", outlierOf(short), 2, slices.Concat(wordTimes(5, "1x"), wordTimes(3, "tick"), wordTimes(5, "1x"), wordTimes(2, "tick")), "", 2, 0},
		{"a multiplier at its bound is forgotten", outlierOf(func(c *Outlier) { short(c); c.MaxEjectionTime = 10 * s }), 2, slices.Concat(wordTimes(5, "1x"), wordTimes(2, "tick"), wordTimes(5, "1x"), wordTimes(2, "tick")), "", 2, 0},

		{"half of the answers wrong, among five hosts", outlierOf(short), 5, slices.Concat(spread(5, 100, 0, 50), wordTimes(1, "tick")), "0", 1, 0},
		{"too few answers of it", outlierOf(short), 5, slices.Concat(spread(5, 98, 0, 49), wordTimes(1, "tick")), "", 0, 0},
		{"too few hosts", outlierOf(short), 4, slices.Concat(spread(4, 100, 0, 50), wordTimes(1, "tick")), "", 0, 0},
		{"all alike", outlierOf(short), 5, slices.Concat(spread(5, 100, -1, 0), wordTimes(1, "tick")), "", 0, 0},
		{"only the last interval counts", outlierOf(short), 5, slices.Concat(spread(5, 60, 0, 30), wordTimes(1, "tick"), spread(5, 60, 0, 30), wordTimes(1, "tick")), "", 0, 0},
		{"not enforced", outlierOf(func(c *Outlier) { short(c); c.SuccessRate.Enforcing = 0 }), 5, slices.Concat(spread(5, 100, 0, 50), wordTimes(1, "tick")), "", 0, 0},
		{"who is out is not judged, but back in time", outlierOf(func(c *Outlier) { short(c); c.BaseEjectionTime = 10*s - 1 }), 5, slices.Concat(spread(5, 100, 0, 50), wordTimes(2, "tick")), "", 1, 0},

		{"85 % failures", outlierOf(func(c *Outlier) {
			short(c)
			c.Consecutive, c.SuccessRate.Enforcing, c.FailurePercentage.Enforcing = 0, 0, 1
		}), 5, slices.Concat(spread(5, 100, 0, 85), wordTimes(1, "tick")), "0", 1, 0},
		{"84 % failures", outlierOf(func(c *Outlier) {
			short(c)
			c.Consecutive, c.SuccessRate.Enforcing, c.FailurePercentage.Enforcing = 0, 0, 1
		}), 5, slices.Concat(spread(5, 100, 0, 84), wordTimes(1, "tick")), "", 0, 0},
		{"both rules find it and it is ejected once", outlierOf(func(c *Outlier) { short(c); c.Consecutive, c.FailurePercentage.Enforcing = 0, 1 }), 5, slices.Concat(spread(5, 100, 0, 90), wordTimes(1, "tick")), "0", 1, 0},
		{"85 % failures in gRPC are not above 85 %", dialectOf(DialectGRPC, func(c *Outlier) { short(c); c.SuccessRate.Enforcing = 0 }), 5, slices.Concat(spread(5, 100, 0, 85), wordTimes(1, "tick")), "", 0, 0},
		{"86 % are", dialectOf(DialectGRPC, func(c *Outlier) { short(c); c.SuccessRate.Enforcing = 0 }), 5, slices.Concat(spread(5, 100, 0, 86), wordTimes(1, "tick")), "0", 1, 0},
		{"no failures in a row in gRPC", dialectOf(DialectGRPC, short), 5, wordTimes(90, "3x"), "", 0, 0},
		{"in gRPC nobody comes back exactly in time", dialectOf(DialectGRPC, func(c *Outlier) { short(c); c.BaseEjectionTime = 10 * s }), 5, slices.Concat(spread(5, 100, 0, 50), wordTimes(2, "tick")), "0", 1, 0},
	} {
		d := newDetector(c.outlier, c.hosts, 1)
		got := script(d, c.words...)
		if last := got[len(got)-1]; last != c.want || d.ejections != c.ejected || d.overflow != c.overflow {
			t.Errorf("%s: %q out, %d ejections, %d overflows; want %q, %d, %d", c.name, last, d.ejections, d.overflow, c.want, c.ejected, c.overflow)
		}
		if d.out != len(got[len(got)-1]) {
			t.Errorf("%s: %d counted as out", c.name, d.out)
		}
	}
}

// spread is so many answers of each of n hosts, of which one fails in some:
// five times in a row only where that is more than four fifths.
func spread(n, answers, bad, fails int) (out []string) {
	for i := range answers {
		for h := range n {
			word := fmt.Sprintf("%d.", h)
			if h == bad && (i+1)*fails/answers > i*fails/answers {
				word = fmt.Sprintf("%dx", h)
			}
			out = append(out, word)
		}
	}
	return out
}

// A finding is enforced with its share, and the draws are those of the seed.
func TestEnforcingIsAShare(t *testing.T) {
	run := func(stream uint64) int64 {
		c := outlierOf(func(c *Outlier) {
			c.EnforceConsecutive, c.Consecutive, c.MaxEjectionPercent, c.SuccessRate.Enforcing = 0.3, 1, 1, 0
			c.BaseEjectionTime, c.MaxEjectionTime = 1, 1
		})
		d := newDetector(c, 100, stream)
		for i := range 100 {
			for h := range 100 {
				d.record(0, h, hostFailed)
			}
			d.tick(time.Duration(i+1) * 10 * s)
		}
		return d.ejections
	}
	got := run(1)
	if z := (float64(got) - 3000) / math.Sqrt(10_000*0.3*0.7); math.Abs(z) > 4 {
		t.Errorf("%d of 10,000 findings enforced, 3,000 expected", got)
	}
	if run(1) != got || run(2) == got {
		t.Error("the draws are not those of the seed")
	}
}

func TestJitterIsAddedToEachEjection(t *testing.T) {
	d := newDetector(outlierOf(func(c *Outlier) { c.MaxEjectionPercent, c.Jitter = 1, 8*s }), 1000, 3)
	sum, least, most := time.Duration(0), 8*s, time.Duration(0)
	for h := range d.hosts {
		for range 5 {
			d.record(0, h, hostFailed)
		}
		j := d.hosts[h].out.length(30*s, 300*s) - 30*s
		sum, least, most = sum+j, min(least, j), max(most, j)
	}
	if least < 0 || most > 8*s || least > s/10 || most < 79*s/10 {
		t.Errorf("jitter from %v to %v, want 0 to 8s", least, most)
	}
	if mean := float64(sum) / 1000; math.Abs(mean-4e9) > 4*8e9/math.Sqrt(12*1000) {
		t.Errorf("mean jitter %v, want 4s", time.Duration(mean))
	}
}

// Who is in gets an equal share; whoever would have gone to a host that is in
// goes there also when others are out.
func TestPickIsUniformOverTheHostsThatAreIn(t *testing.T) {
	for _, out := range [][]int{nil, {0}, {2, 4}, {0, 1, 2, 3}} {
		d := newDetector(outlierOf(func(c *Outlier) { c.MaxEjectionPercent, c.PanicThreshold = 1, 0 }), 5, 1)
		for _, h := range out {
			for range 5 {
				d.record(0, h, hostFailed)
			}
		}
		var r dist.Rand
		counts := make([]float64, 5)
		const n = 50_000
		for i := range n {
			c := &call.Call{Stream: 5, Request: uint64(i)}
			plain := DrawHost(&r, c, 1, 5)
			got, panicked := d.pick(&r, c)
			if panicked || d.hosts[got].ejected {
				t.Fatalf("%v out: host %d, panic %v", out, got, panicked)
			}
			if !d.hosts[plain].ejected && got != plain {
				t.Fatalf("%v out: host %d instead of %d, which is in", out, got, plain)
			}
			counts[got]++
		}
		p := 1 / float64(5-len(out))
		for h, k := range counts {
			if !d.hosts[h].ejected && math.Abs(k-n*p) > 4*math.Sqrt(n*p*(1-p)+1e-9) {
				t.Errorf("%v out: host %d has %g of %d", out, h, k, n)
			}
		}
	}
}

// With less than the threshold in, everybody is used again.
func TestPanic(t *testing.T) {
	for _, c := range []struct {
		hosts, out int
		threshold  float64
		want       bool
	}{{10, 5, 0.5, false}, {10, 6, 0.5, true}, {3, 1, 0.5, false}, {3, 2, 0.5, true}, {3, 3, 0.5, true}, {3, 3, 0, false}, {3, 0, 1, false}, {3, 1, 1, true}, {100, 71, 0.29, false}, {100, 72, 0.29, true}} {
		d := newDetector(outlierOf(func(o *Outlier) { o.MaxEjectionPercent, o.PanicThreshold = 1, c.threshold }), c.hosts, 1)
		for h := range c.out {
			for range 5 {
				d.record(0, h, hostFailed)
			}
		}
		used := map[int]bool{}
		var r dist.Rand
		for i := range 2000 {
			h, panicked := d.pick(&r, &call.Call{Request: uint64(i)})
			if panicked != c.want {
				t.Fatalf("%d of %d out, threshold %g: panic %v", c.out, c.hosts, c.threshold, panicked)
			}
			used[h] = true
		}
		switch {
		case c.want && len(used) != c.hosts, !c.want && c.out < c.hosts && len(used) != c.hosts-c.out:
			t.Errorf("%d of %d out, threshold %g: %d hosts used", c.out, c.hosts, c.threshold, len(used))
		case !c.want && c.out == c.hosts && !used[-1]:
			t.Errorf("every host is out, no panic, and somebody got a host")
		}
	}
}

// slowDetector is the detector again, written down from Envoy's description with
// floats, full histories and no shortcut.
type slowDetector struct {
	c     *Outlier
	hosts []slowHost
	log   []string
}

type slowHost struct {
	history    []hostVerdict // since the last trigger, return or start, for plain failures
	gateway    []hostVerdict // the same for gateway failures
	interval   []hostVerdict
	out        bool
	since      time.Duration
	back       time.Duration
	multiplier float64
}

func trailing(history []hostVerdict, counts func(hostVerdict) bool) (n int) {
	for i := len(history) - 1; i >= 0 && counts(history[i]); i-- {
		n++
	}
	return n
}

func (d *slowDetector) outs() (n int) {
	for _, h := range d.hosts {
		if h.out {
			n++
		}
	}
	return n
}

func (d *slowDetector) eject(now time.Duration, i int, enforced bool) {
	h := &d.hosts[i]
	if h.out {
		return
	}
	n, out, p := float64(len(d.hosts)), float64(d.outs()), math.Round(d.c.MaxEjectionPercent*100)
	allowed := 100*(out+1)/n <= p
	if d.c.Limit == LimitBefore {
		allowed = 100*out/n < p
	}
	if d.c.AlwaysEjectOneHost && out == 0 {
		allowed = true
	}
	if !allowed {
		d.log = append(d.log, fmt.Sprintf("%v overflow %d", now, i))
		return
	}
	if !enforced {
		return
	}
	h.out, h.since = true, now
	if h.multiplier*float64(d.c.BaseEjectionTime) < float64(d.c.Longest()+d.c.BaseEjectionTime) || d.c.Dialect == DialectGRPC {
		h.multiplier++
	}
	d.log = append(d.log, fmt.Sprintf("%v eject %d", now, i))
}

func (d *slowDetector) record(now time.Duration, i int, v hostVerdict) {
	h := &d.hosts[i]
	h.interval = append(h.interval, v)
	h.history, h.gateway = append(h.history, v), append(h.gateway, v)
	if trailing(h.gateway, func(v hostVerdict) bool { return v == hostUnreachable }) == d.c.Gateway && d.c.Gateway > 0 && v == hostUnreachable && !h.out {
		d.eject(now, i, d.c.EnforceGateway == 1)
		h.gateway = nil
	}
	if trailing(h.history, func(v hostVerdict) bool { return v != hostSucceeded }) == d.c.Consecutive && d.c.Consecutive > 0 && v != hostSucceeded && !h.out {
		d.eject(now, i, d.c.EnforceConsecutive == 1)
		h.history = nil
	}
}

func (d *slowDetector) free(now time.Duration, late bool) {
	for i := range d.hosts {
		h := &d.hosts[i]
		length := math.Min(float64(d.c.BaseEjectionTime)*h.multiplier, float64(d.c.Longest()))
		if over := float64(now-h.since) - length; h.out && (over > 0 || over == 0 && !late) {
			h.out, h.back, h.history, h.gateway = false, now, nil, nil
			d.log = append(d.log, fmt.Sprintf("%v return %d", now, i))
		}
	}
}

func (d *slowDetector) tick(now time.Duration) {
	late := d.c.Dialect == DialectGRPC
	if !late {
		d.free(now, false)
	}
	rate := map[int]float64{}
	volume := map[int]int{}
	for i := range d.hosts {
		h := &d.hosts[i]
		if n := len(h.interval); n > 0 && !h.out {
			good := 0
			for _, v := range h.interval {
				if v == hostSucceeded {
					good++
				}
			}
			rate[i], volume[i] = 100*float64(good)/float64(n), n
		}
		h.interval = nil
	}
	with := func(least int) (out []int) {
		for i := range d.hosts {
			if n, ok := volume[i]; ok && n >= least {
				out = append(out, i)
			}
		}
		return out
	}
	if judged := with(d.c.SuccessRate.RequestVolume); len(judged) > 0 && len(judged) >= d.c.SuccessRate.MinimumHosts {
		mean, variance := 0.0, 0.0
		for _, i := range judged {
			mean += rate[i] / float64(len(judged))
		}
		for _, i := range judged {
			variance += math.Pow(rate[i]-mean, 2) / float64(len(judged))
		}
		for _, i := range judged {
			if rate[i] < mean-d.c.SuccessRate.StdevFactor*math.Sqrt(variance)-1e-9 {
				d.eject(now, i, d.c.SuccessRate.Enforcing == 1)
			}
		}
	}
	if judged := with(d.c.FailurePercentage.RequestVolume); len(judged) > 0 && len(judged) >= d.c.FailurePercentage.MinimumHosts {
		for _, i := range judged {
			if bad := 100 - rate[i]; bad > 100*d.c.FailurePercentage.Threshold+1e-9 || !late && bad > 100*d.c.FailurePercentage.Threshold-1e-9 {
				d.eject(now, i, d.c.FailurePercentage.Enforcing == 1)
			}
		}
	}
	for i := range d.hosts {
		if h := &d.hosts[i]; !h.out && h.multiplier > 0 && now-h.back >= d.c.Interval {
			h.multiplier--
		}
	}
	if late {
		d.free(now, true)
	}
}

// randomOutlier draws settings for which a hundred answers meet every rule.
func randomOutlier(t *rapid.T) *Outlier {
	c := dialectOf(rapid.SampledFrom([]string{DialectEnvoy, DialectEnvoyOld, DialectGRPC}).Draw(t, "dialect"), nil)
	pick := func(what string, least, most int) int { return rapid.IntRange(least, most).Draw(t, what) }
	flag := func(what string) float64 { return float64(pick(what, 0, 1)) }
	c.Interval, c.BaseEjectionTime = 10, time.Duration(pick("base", 1, 30))
	if pick("bounded", 0, 1) == 1 {
		c.MaxEjectionTime = c.BaseEjectionTime + time.Duration(pick("most", 0, 60))
	}
	c.MaxEjectionPercent, c.AlwaysEjectOneHost = float64(pick("percent", 0, 10))/10, pick("one", 0, 1) == 1
	c.Limit = rapid.SampledFrom([]string{LimitAfter, LimitBefore}).Draw(t, "limit")
	c.Consecutive, c.EnforceConsecutive = pick("consecutive", 0, 4), flag("enforce")
	c.Gateway, c.EnforceGateway = pick("gateway", 0, 4), flag("enforce gateway")
	c.SuccessRate = SuccessRate{pick("hosts", 0, 4), pick("volume", 0, 5), float64(pick("factor", 0, 4)) / 2, flag("enforce rate")}
	c.FailurePercentage = FailurePercentage{float64(pick("threshold", 0, 10)) / 10, pick("hosts of failures", 0, 4), pick("volume of failures", 0, 5), flag("enforce failures")}
	return c
}

func TestDetectorAgainstItsSlowTwin(t *testing.T) {
	ejections := int64(0)
	rapid.Check(t, func(t *rapid.T) {
		c := randomOutlier(t)
		n := rapid.IntRange(1, 6).Draw(t, "hosts")
		fast, slow := newDetector(c, n, 1), &slowDetector{c: c, hosts: make([]slowHost, n)}
		now := time.Duration(0)
		for range rapid.IntRange(1, 200).Draw(t, "answers") {
			at := now + time.Duration(rapid.IntRange(0, 4).Draw(t, "gap"))
			for tick := now - now%10 + 10; tick <= at; tick += 10 {
				fast.tick(tick)
				slow.tick(tick)
			}
			now = at
			host := rapid.IntRange(0, n-1).Draw(t, "host")
			v := rapid.SampledFrom([]hostVerdict{hostSucceeded, hostSucceeded, hostFailed, hostUnreachable, hostUnreachable}).Draw(t, "answer")
			if host == 0 {
				v = max(v, hostFailed) // the bad one
			}
			fast.record(now, host, v)
			slow.record(now, host, v)
			for i := range n {
				if fast.hosts[i].ejected != slow.hosts[i].out || float64(fast.hosts[i].out.multiplier) != slow.hosts[i].multiplier {
					t.Fatalf("at %d host %d: out %v, multiplier %d; the twin has %v, %g: %v", now, i, fast.hosts[i].ejected, fast.hosts[i].out.multiplier, slow.hosts[i].out, slow.hosts[i].multiplier, slow.log)
				}
			}
			if fast.out != slow.outs() {
				t.Fatalf("%d out, the twin has %d", fast.out, slow.outs())
			}
		}
		ejections += fast.ejections
	})
	if ejections < 100 {
		t.Errorf("only %d ejections: the twin says little", ejections)
	}
}

// The layer leaves ticks out that would change nothing: with them it decides
// the same.
func TestTicksLeftOutWouldHaveChangedNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := randomOutlier(t)
		c.Jitter = time.Duration(rapid.IntRange(0, 9).Draw(t, "jitter"))
		n := rapid.IntRange(1, 5).Draw(t, "hosts")
		k := des.NewKernel()
		env := Env{Sched: k, Meter: des.NullMeter{}, Source: "x", Seed: 4, Hosts: n}
		var classes []call.Class
		w := &work{k: k, decide: func(*call.Call) step { return step{class: classes[0]} }}
		h := c.Layer(env)(w)
		l := h.(*outlierLayer)
		always := newDetector(c, n, dist.Fold(4, dist.Hash("x")))
		var r dist.Rand
		ticked := time.Duration(0)
		for i := range rapid.IntRange(1, 120).Draw(t, "calls") {
			// Never at a tick's own instant, where the order is the scheduler's.
			at := (k.Now()/10)*10 + 1 + time.Duration(rapid.IntRange(0, 8).Draw(t, "offset")) + 10*time.Duration(rapid.SampledFrom([]int{0, 0, 0, 0, 1, 7, 40}).Draw(t, "pause"))
			at = max(at, k.Now())
			class := rapid.SampledFrom([]call.Class{call.OK, call.ServerError, call.ConnectError, call.Timeout, call.Rejected}).Draw(t, "class")
			classes = []call.Class{class}
			run(t, k, at)
			for ticked+10 <= at {
				ticked += 10
				always.tick(ticked)
			}
			cl := caller{k: k, call: call.Call{Stream: 1, Request: uint64(i)}}
			host, _ := always.pick(&r, &call.Call{Stream: 1, Request: uint64(i)})
			cl.start(h)
			if int(cl.call.Host)-1 != host {
				t.Fatalf("call %d at %d: host %d, with every tick %d", i, at, int(cl.call.Host)-1, host)
			}
			if v := l.verdicts[class]; host >= 0 && v != hostNeutral {
				always.record(at, host, v)
			}
		}
		if l.detector.ejections != always.ejections || l.detector.overflow != always.overflow {
			t.Fatalf("%d ejections, %d overflows; with every tick %d, %d", l.detector.ejections, l.detector.overflow, always.ejections, always.overflow)
		}
		// Left alone, it comes to rest.
		run(t, k, k.Now()+1_000_000)
		if k.Live() != 0 || l.detector.out != 0 || l.ejected.N() != 0 {
			t.Fatalf("%d timers left, %d hosts out", k.Live(), l.detector.out)
		}
	})
}

func run(t *rapid.T, k *des.Kernel, until time.Duration) {
	if err := k.Run(context.Background(), until); err != nil {
		t.Fatal(err)
	}
}

// In its place, between a retry and a timeout, it hears of the timeouts and
// sends the retry to another host.
func TestOutlierBetweenRetryAndTimeout(t *testing.T) {
	c := outlierOf(func(c *Outlier) { c.Consecutive, c.MaxEjectionPercent = 2, 0.5 })
	var hosts []uint16
	w := &work{decide: func(cl *call.Call) step {
		hosts = append(hosts, cl.Host)
		return step{after: ms, class: call.OK, hang: cl.Host == 1}
	}}
	r := newHostRig(t, w, 4, retryOf(3, &NoBackoff{}), c, &Timeout{After: 5 * ms})
	for i := range 200 {
		r.call(time.Duration(i)*20*ms, 0)
	}
	r.run(5 * s)
	if n := slices.IndexFunc(r.callers, func(c *caller) bool { return c.out.Class != call.OK }); n >= 0 {
		t.Errorf("call %d: %v", n, r.callers[n])
	}
	bad := 0
	for _, h := range hosts {
		if h == 0 || h > 4 {
			t.Fatalf("host %d of 4", h)
		}
		if h == 1 {
			bad++
		}
	}
	l := r.layers[1].(*outlierLayer)
	if bad != 2 || l.detector.ejections != 1 || !l.detector.hosts[0].ejected {
		t.Errorf("%d attempts met the host that hangs, %d ejections; want 2 and 1", bad, l.detector.ejections)
	}
}

// Outside of a retry it chooses once for all attempts of a call and hears the
// last.
func TestOutlierOutsideOfARetry(t *testing.T) {
	seen := map[uint64][]uint16{}
	w := &work{decide: func(cl *call.Call) step {
		seen[cl.Request] = append(seen[cl.Request], cl.Host)
		return step{after: ms, class: call.ServerError}
	}}
	r := newHostRig(t, w, 10, outlierOf(nil), retryOf(3, &NoBackoff{}))
	for range 4 {
		r.call(0, 0)
	}
	r.run(s)
	for request, hosts := range seen {
		if len(hosts) != 3 || hosts[0] != hosts[1] || hosts[1] != hosts[2] {
			t.Errorf("request %d went to %v", request, hosts)
		}
	}
	answers := int64(0)
	for _, h := range r.layers[0].(*outlierLayer).detector.hosts {
		answers += h.answers.all
	}
	if answers != 4 {
		t.Errorf("%d answers for 4 calls of 3 attempts", answers)
	}
}

// With every host out and no panic a call is refused, with nothing sent.
func TestOutlierRefusesWithoutAHost(t *testing.T) {
	w := &work{steps: []step{{after: ms, class: call.ConnectError}}}
	r := newHostRig(t, w, 2, outlierOf(func(c *Outlier) { c.Consecutive, c.MaxEjectionPercent, c.PanicThreshold = 1, 1, 0 }))
	for i := range 40 {
		r.call(time.Duration(i)*2*ms, 0)
	}
	r.run(s)
	last := r.callers[39]
	if last.out.Class != call.Rejected || last.out.Reason != call.NoHost || w.started != 2+int(int64(38)-r.layers[0].(*outlierLayer).rejected) || w.started > 20 {
		t.Errorf("the last call: %v; %d reached a host", last, w.started)
	}
	r.call(40*s-1, 0) // both are back from the tick at 40 s on, the first at which 30 s are over
	r.call(40*s, 0)
	r.run(41 * s)
	if before, after := r.callers[40].out.Reason, r.callers[41].out.Class; before != call.NoHost || after != call.ConnectError {
		t.Errorf("before the tick %v, after it %v", r.callers[40], r.callers[41])
	}
}

// What a caller ended says nothing to Envoy, and is a failure in gRPC.
func TestCancelledCallsAndTheHost(t *testing.T) {
	for _, c := range []struct {
		outlier *Outlier
		answers int64
	}{{outlierOf(nil), 0}, {dialectOf(DialectGRPC, nil), 3}} {
		r := newHostRig(t, &work{steps: []step{{hang: true}}}, 1, c.outlier)
		for range 3 {
			r.call(0, ms)
		}
		r.run(s)
		h := r.layers[0].(*outlierLayer).detector.hosts[0]
		if h.answers.all != c.answers || h.answers.good != 0 {
			t.Errorf("%s: %d answers, %d good, want %d", c.outlier.Dialect, h.answers.all, h.answers.good, c.answers)
		}
	}
}

func newHostRig(t testing.TB, w *work, hosts int, stack ...Config) *rig {
	r := &rig{t: t, k: des.NewKernel(), work: w}
	w.k = r.k
	h := call.Handler(w)
	for i := len(stack) - 1; i >= 0; i-- {
		h = stack[i].Layer(Env{Sched: r.k, Meter: des.NullMeter{}, Source: fmt.Sprintf("dependency.x.%d", i), Hosts: hosts})(h)
		r.layers = append([]call.Handler{h}, r.layers...)
	}
	r.stack = h
	return r
}

// Hosts that come back are chosen again, and those that go are not, whatever was
// chosen before.
func TestPickFollowsWhoComesAndGoes(t *testing.T) {
	d := newDetector(outlierOf(func(c *Outlier) {
		c.MaxEjectionPercent, c.PanicThreshold, c.Consecutive, c.BaseEjectionTime = 1, 0, 1, 10*s
	}), 4, 1)
	var r dist.Rand
	used := func() (out string) {
		counts := make([]int, 4)
		for i := range 4000 {
			h, _ := d.pick(&r, &call.Call{Request: uint64(i)})
			counts[h]++
		}
		for h, n := range counts {
			if n > 0 {
				out += fmt.Sprint(h)
			}
		}
		return out
	}
	d.record(0, 0, hostFailed)
	if got := used(); got != "123" {
		t.Errorf("host 0 is out: %s used", got)
	}
	d.tick(10 * s) // 0 is back
	d.record(10*s, 1, hostFailed)
	if got := used(); got != "023" {
		t.Errorf("host 1 is out: %s used", got)
	}
	d.record(10*s, 2, hostFailed)
	if got := used(); got != "03" {
		t.Errorf("hosts 1 and 2 are out: %s used", got)
	}
	d.record(15*s, 3, hostFailed)
	if got := used(); got != "0" {
		t.Errorf("hosts 1 to 3 are out: %s used", got)
	}
	d.tick(20 * s) // 1 and 2 are back, 3 is not
	if got := used(); got != "012" {
		t.Errorf("host 3 is out: %s used", got)
	}
	if share := func() (n int) {
		for i := range 4000 {
			if h, _ := d.pick(&r, &call.Call{Request: uint64(i)}); h == 0 {
				n++
			}
		}
		return n
	}(); math.Abs(float64(share)-4000/3.0) > 4*math.Sqrt(4000.0*2/9) {
		t.Errorf("host 0 has %d of 4000 attempts, a third expected", share)
	}
}
