package des

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// guest takes a place of a pool for a time.
type guest struct {
	pool *Pool
	k    *Kernel
	w    Waiter
	hold time.Duration
	log  *[]string
	name string
	has  bool
}

func (g *guest) arrive() {
	switch g.pool.Acquire(&g.w, g) {
	case Granted:
		g.Granted()
	case Refused:
		g.say("refused")
	}
}

func (g *guest) say(what string) {
	*g.log = append(*g.log, fmt.Sprintf("%s %s %d", g.name, what, g.k.Now()))
}

func (g *guest) Granted() {
	g.has = true
	g.say("in")
	g.k.After(g.hold, Release, fireFunc(func() { g.has = false; g.pool.Release(&g.w) }))
}
func (g *guest) Expired() { g.say("expired") }

func TestPoolIsFirstComeFirstServedAndBounded(t *testing.T) {
	k := NewKernel()
	p := NewPool(k, 1, 2, 10)
	var log []string
	for i := range 4 {
		(&guest{pool: p, k: k, hold: 10, log: &log, name: string(rune('a' + i))}).arrive()
	}
	if err := k.Run(context.Background(), 100); err != nil {
		t.Fatal(err)
	}
	// b's place comes free at the instant its wait would expire: Release is
	// before Expire. c's wait ends at the same instant, behind b.
	want := []string{"a in 0", "d refused 0", "b in 10", "c expired 10"}
	if !slices.Equal(log, want) {
		t.Errorf("got %v, want %v", log, want)
	}
	if p.Full != 1 || p.Expired != 1 || p.InUse.N() != 0 || p.Waiting.N() != 0 || k.Live() != 0 {
		t.Errorf("full %d expired %d in use %d waiting %d timers %d", p.Full, p.Expired, p.InUse.N(), p.Waiting.N(), k.Live())
	}
}

func TestPoolWithoutMaxWaitQueuesNobody(t *testing.T) {
	k := NewKernel()
	p := NewPool(k, 1, -1, 0)
	var a, b Waiter
	if p.Acquire(&a, nil) != Granted || p.Acquire(&b, nil) != Refused {
		t.Error("want one granted and one refused")
	}
}

// instant is a holder whose work takes no time.
type instant struct {
	pool  *Pool
	w     Waiter
	depth *int
	most  *int
}

func (h *instant) Granted() {
	*h.depth++
	*h.most = max(*h.most, *h.depth)
	h.pool.Release(&h.w)
	*h.depth--
}
func (h *instant) Expired() {}

func TestLongQueueOverInstantWorkDoesNotDeepenTheStack(t *testing.T) {
	k := NewKernel()
	p := NewPool(k, 1, -1, -1)
	var first Waiter
	p.Acquire(&first, nil)
	depth, most := 0, 0
	for range 100_000 {
		h := &instant{pool: p, depth: &depth, most: &most}
		p.Acquire(&h.w, h)
	}
	p.Release(&first)
	if most != 1 || p.InUse.N() != 0 || p.Waiting.N() != 0 {
		t.Errorf("depth %d, in use %d, waiting %d", most, p.InUse.N(), p.Waiting.N())
	}
}

// TestPoolLaws drives a pool at random: never above its size, nobody passed
// over, everything back at the end, and Little's law exact in every window.
func TestPoolLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := NewKernel()
		size := rapid.IntRange(1, 4).Draw(t, "size")
		p := NewPool(k, size, rapid.IntRange(-1, 3).Draw(t, "queue"), time.Duration(rapid.IntRange(-1, 20).Draw(t, "max wait")))
		var log []string
		var guests []*guest
		area, age := int64(0), int64(0)
		cut := func() {
			f := p.InUse.CutFlow(k.Now())
			if f.Area != f.Sojourn+f.Age-age {
				t.Fatalf("∫N dt %d, Σ sojourns %d + ages %d - %d", f.Area, f.Sojourn, f.Age, age)
			}
			if f.Max > int64(size) {
				t.Fatalf("%d of %d places", f.Max, size)
			}
			age = f.Age
			area += f.Area
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "do") {
			case 0, 1:
				g := &guest{pool: p, k: k, hold: time.Duration(rapid.IntRange(0, 30).Draw(t, "hold")), log: &log, name: fmt.Sprint(len(guests))}
				guests = append(guests, g)
				g.arrive()
			case 2:
				for _, g := range guests {
					if g.w.Waits() {
						p.Leave(&g.w)
						break
					}
				}
			default:
				if err := k.Run(context.Background(), k.Now()+time.Duration(rapid.IntRange(0, 15).Draw(t, "run"))); err != nil {
					t.Fatal(err)
				}
				cut()
			}
		}
		if err := k.Run(context.Background(), k.Now()+10_000); err != nil {
			t.Fatal(err)
		}
		cut()
		if p.InUse.N() != 0 || p.Waiting.N() != 0 || k.Live() != 0 || age != 0 {
			t.Fatalf("left behind: in use %d, waiting %d, timers %d", p.InUse.N(), p.Waiting.N(), k.Live())
		}
		if p.Asked != p.Full+p.Expired+p.Left+int64(granted(log)) {
			t.Fatalf("asked %d, full %d, expired %d, left %d, granted %d", p.Asked, p.Full, p.Expired, p.Left, granted(log))
		}
	})
}

func granted(log []string) (n int) {
	for _, l := range log {
		if slices.Contains([]string{"in"}, word(l, 1)) {
			n++
		}
	}
	return n
}

func word(s string, i int) string {
	var a, b string
	var c int
	_, _ = fmt.Sscanf(s, "%s %s %d", &a, &b, &c)
	return [...]string{a, b}[i]
}

func TestGaugeCutGivesAreaAndMaximum(t *testing.T) {
	var g Gauge
	g.Set(0, 2)
	g.Set(10, 5)
	g.Set(20, 1)
	got := g.Cut(30)
	want := Span{Area: 20 + 50 + 10, Max: 5, End: 1}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if next := g.Cut(40); next != (Span{Area: 10, Max: 1, End: 1}) {
		t.Errorf("the next window starts with what stands: got %+v", next)
	}
}

func TestHistIsExactInCountSumAndMax(t *testing.T) {
	var a, b, both Hist
	for i := 1; i <= 1000; i++ {
		d := time.Duration(i) * 1234567
		both.Record(d)
		if i%2 == 0 {
			a.Record(d)
		} else {
			b.Record(d)
		}
	}
	a.Merge(&b)
	if a.Count() != 1000 || a.Mean() != both.Mean() || a.Max() != 1000*1234567 {
		t.Errorf("count %d mean %g max %v", a.Count(), a.Mean(), a.Max())
	}
	for _, p := range []float64{0, 0.5, 0.99, 1} {
		exact := time.Duration(max(1, p*1000)) * 1234567
		got := a.Quantile(p)
		if got < exact || float64(got) > float64(exact)*1.0011+1000 || got != both.Quantile(p) {
			t.Errorf("p%g: got %v, exact %v", p*100, got, exact)
		}
	}
	var none Hist
	if none.Quantile(0.5) != 0 || none.Mean() != 0 {
		t.Error("an empty set has no figures")
	}
	none.Record(1 << 62)
	if none.Max() != 1<<62 {
		t.Error("the maximum is exact beyond the buckets")
	}
}

// TestHistBucketsCoverEveryDuration: neighbouring buckets touch, and none is
// wider than a thousandth of what it holds.
func TestHistBucketsCoverEveryDuration(t *testing.T) {
	last := uint64(0)
	for i := 1; i < 28_000; i++ {
		end := upperEnd(i)
		if bucketOf(last+1) != uint(i) || bucketOf(end) != uint(i) {
			t.Fatalf("bucket %d is (%d, %d], but they go to %d and %d", i, last, end, bucketOf(last+1), bucketOf(end))
		}
		if width := end - last; width > 1 && float64(width) > float64(end)/1000 {
			t.Fatalf("bucket %d of %d µs is %d wide", i, end, width)
		}
		last = end
	}
}

func TestHistWithinAThousandthOfTheExactQuantile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, int64(20*time.Hour)), 1, 300).Draw(t, "durations")
		var h Hist
		for _, v := range values {
			h.Record(time.Duration(v))
		}
		slices.Sort(values)
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		rank := max(1, min(int(p*float64(len(values))+0.5), len(values)))
		exact, got := values[rank-1], int64(h.Quantile(p))
		if got < exact || float64(got) > float64(exact)*1.001+1000 {
			t.Fatalf("p%g of %d: got %d, exact %d", p*100, len(values), got, exact)
		}
	})
}

// Several pools and the one that counts for all of them: every instrument of
// the sum is the sum, at every moment, and the places are those of each alone.
func TestPoolsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := NewKernel()
		n, size := rapid.IntRange(1, 4).Draw(t, "pools"), rapid.IntRange(1, 3).Draw(t, "size")
		queue := rapid.IntRange(-1, 3).Draw(t, "queue")
		wait := time.Duration(rapid.IntRange(-1, 20).Draw(t, "wait"))
		pools, sum := NewPools(k, n, size, queue, wait)
		if len(pools) != n || sum.Size() != int64(n*size) || (n == 1) != (sum == pools[0]) {
			t.Fatalf("%d pools, the sum has %d places", len(pools), sum.Size())
		}
		users := make([]*pooled, 60)
		for i := range users {
			u := &pooled{k: k, pool: pools[rapid.IntRange(0, n-1).Draw(t, "pool")], hold: time.Duration(rapid.IntRange(0, 15).Draw(t, "hold")), quits: rapid.IntRange(0, 3).Draw(t, "quits") == 0}
			users[i] = u
			k.After(time.Duration(rapid.IntRange(0, 60).Draw(t, "at")), Arrive, u)
		}
		for at := time.Duration(5); at <= 2000; at += 5 {
			if err := k.Run(context.Background(), at); err != nil {
				t.Fatal(err)
			}
			var inUse, waiting, asked, full, expired, left int64
			for _, p := range pools {
				if p.InUse.N() > int64(size) {
					t.Fatalf("%d places of %d", p.InUse.N(), size)
				}
				inUse, waiting = inUse+p.InUse.N(), waiting+p.Waiting.N()
				asked, full, expired, left = asked+p.Asked, full+p.Full, expired+p.Expired, left+p.Left
			}
			if sum.InUse.N() != inUse || sum.Waiting.N() != waiting || sum.Asked != asked || sum.Full != full || sum.Expired != expired || sum.Left != left {
				t.Fatalf("at %d: the sum has %d in use, %d waiting, %d asked, %d full, %d expired, %d left; the pools %d %d %d %d %d %d", at,
					sum.InUse.N(), sum.Waiting.N(), sum.Asked, sum.Full, sum.Expired, sum.Left, inUse, waiting, asked, full, expired, left)
			}
		}
		for _, s := range []*Station{&sum.InUse, &sum.Waiting} {
			f := s.CutFlow(2000)
			if f.End != 0 || f.Area != f.Sojourn || f.In != f.Out {
				t.Fatalf("area %d, sojourns %d, %d in, %d out, %d still there", f.Area, f.Sojourn, f.In, f.Out, f.End)
			}
		}
		granted := sum.Asked - sum.Full - sum.Expired - sum.Left
		waits := sum.Waits.Take()
		if waits.Count() != granted {
			t.Fatalf("%d granted, %d waits recorded", granted, waits.Count())
		}
	})
}

// pooled asks for a place, holds it and gives it back; it may quit the queue.
type pooled struct {
	k      *Kernel
	pool   *Pool
	w      Waiter
	hold   time.Duration
	quits  bool
	inside bool
}

// quit takes a pooled user out of the queue, if it is there.
type quit struct{ u *pooled }

func (q quit) Fire() {
	if q.u.w.Waits() {
		q.u.pool.Leave(&q.u.w)
	}
}

func (u *pooled) Fire() {
	if u.inside {
		u.inside = false
		u.pool.Release(&u.w)
		return
	}
	switch u.pool.Acquire(&u.w, u) {
	case Granted:
		u.Granted()
	case Queued:
		if u.quits {
			u.k.After(7, Arrive, quit{u})
		}
	}
}

func (u *pooled) Granted() {
	u.inside = true
	u.k.After(u.hold, Release, u)
}

func (u *pooled) Expired() {}
