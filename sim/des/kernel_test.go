package des

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// note is an event that writes its name down.
type note struct {
	log  *[]string
	name string
	then func()
}

func (n *note) Fire() {
	*n.log = append(*n.log, n.name)
	if n.then != nil {
		n.then()
	}
}

func TestOneInstantReleaseExpireArriveObserveThenFirstCome(t *testing.T) {
	k := NewKernel()
	var log []string
	k.Constant(time.Second, Expire) // a lane must not change the order
	for _, p := range []Priority{Observe, Arrive, Expire, Release} {
		for _, which := range []string{"1", "2"} {
			k.After(time.Second, p, &note{log: &log, name: [...]string{"release", "expire", "arrive", "observe"}[p] + which})
		}
	}
	if err := k.Run(context.Background(), 2*time.Second); err != nil {
		t.Fatal(err)
	}
	want := []string{"release1", "release2", "expire1", "expire2", "arrive1", "arrive2", "observe1", "observe2"}
	if !slices.Equal(log, want) {
		t.Errorf("order at one instant: got %v, want %v", log, want)
	}
}

// script is a Source with given instants.
type script struct {
	at    []time.Duration
	fired func()
}

func (s *script) Next() (time.Duration, bool) {
	if len(s.at) == 0 {
		return 0, false
	}
	at := s.at[0]
	s.at = s.at[1:]
	return at, true
}
func (s *script) Fire() { s.fired() }

func TestSourcesTieWithTimersByPriorityAndOrder(t *testing.T) {
	k := NewKernel()
	var log []string
	for _, name := range []string{"a", "b"} {
		k.AddSource(&script{at: []time.Duration{1, 1, 3}, fired: func() { log = append(log, name) }})
	}
	k.After(1, Release, &note{log: &log, name: "reply"})
	k.After(1, Observe, &note{log: &log, name: "look"})
	k.After(3, Expire, &note{log: &log, name: "timeout"})
	if err := k.Run(context.Background(), 10); err != nil {
		t.Fatal(err)
	}
	want := []string{"reply", "a", "b", "a", "b", "look", "timeout", "a", "b"}
	if !slices.Equal(log, want) {
		t.Errorf("got %v, want %v", log, want)
	}
}

func TestStoppedAndStaleTimersDoNothing(t *testing.T) {
	k := NewKernel()
	k.Constant(5, Expire)
	var log []string
	heap := k.After(3, Expire, &note{log: &log, name: "heap"})
	lane := k.After(5, Expire, &note{log: &log, name: "lane"})
	if !k.Stop(heap) || !k.Stop(lane) {
		t.Error("a pending timer must report that it was stopped")
	}
	if k.Stop(heap) || k.Stop(lane) || k.Stop(Timer{}) {
		t.Error("a stopped timer and the zero timer are not pending")
	}
	again := k.After(4, Expire, &note{log: &log, name: "again"}) // takes a freed slot
	if k.Stop(heap) || k.Stop(lane) {
		t.Error("a stale timer stopped the slot's next owner")
	}
	if err := k.Run(context.Background(), 10); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(log, []string{"again"}) || k.Stop(again) || k.Live() != 0 {
		t.Errorf("got %v, live %d", log, k.Live())
	}
}

// plan is one timer of the random test.
type plan struct {
	at    time.Duration
	prio  Priority
	order int
	name  int
}

// TestKernelFiresLikeASortedList compares the kernel with the obvious twin: all
// timers that were not stopped, sorted by instant, priority, order of setting.
func TestKernelFiresLikeASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := NewKernel()
		for _, d := range rapid.SliceOfN(rapid.IntRange(0, 20), 0, 4).Draw(t, "lanes") {
			k.Constant(time.Duration(d), Priority(d%4))
		}
		var got, want []int
		var pending []plan
		timers := map[int]Timer{}
		order := 0
		set := func(d time.Duration, p Priority) {
			order++
			name := order
			pending = append(pending, plan{k.Now() + d, p, order, name})
			timers[name] = k.After(d, p, fireFunc(func() { got = append(got, name); delete(timers, name) }))
		}
		steps := rapid.IntRange(1, 60).Draw(t, "steps")
		for range steps {
			switch rapid.IntRange(0, 3).Draw(t, "do") {
			case 0, 1:
				set(time.Duration(rapid.IntRange(0, 20).Draw(t, "delay")), Priority(rapid.IntRange(0, 3).Draw(t, "priority")))
			case 2:
				if len(timers) > 0 {
					names := make([]int, 0, len(timers))
					for n := range timers {
						names = append(names, n)
					}
					slices.Sort(names)
					n := rapid.SampledFrom(names).Draw(t, "stop")
					k.Stop(timers[n])
					delete(timers, n)
					pending = slices.DeleteFunc(pending, func(p plan) bool { return p.name == n })
				}
			default:
				until := k.Now() + time.Duration(rapid.IntRange(0, 10).Draw(t, "run"))
				slices.SortFunc(pending, func(a, b plan) int {
					if a.at != b.at {
						return int(a.at - b.at)
					}
					if a.prio != b.prio {
						return int(a.prio) - int(b.prio)
					}
					return a.order - b.order
				})
				for len(pending) > 0 && pending[0].at < until {
					want = append(want, pending[0].name)
					pending = pending[1:]
				}
				if err := k.Run(context.Background(), until); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("fired %v, want %v", got, want)
		}
		if k.Live() != len(pending) {
			t.Fatalf("live %d, want %d", k.Live(), len(pending))
		}
	})
}

type fireFunc func()

func (f fireFunc) Fire() { f() }

// TestCancelledTimersAreSwept holds the queue to the size of what is live, so
// that a long timeout under a high rate costs no memory.
func TestCancelledTimersAreSwept(t *testing.T) {
	for _, lane := range []bool{false, true} {
		k := NewKernel()
		if lane {
			k.Constant(time.Hour, Expire)
		}
		var log []string
		first := &note{log: &log, name: "kept"}
		for range 10_000 { // nothing live at all
			k.Stop(k.After(time.Hour, Expire, first))
		}
		k.After(time.Hour, Expire, first)
		for range 200_000 {
			k.Stop(k.After(time.Hour, Expire, first))
		}
		size := len(k.heap)
		if lane {
			size = len(k.lanes[0].ring)
		}
		if size > 4*sweepAt {
			t.Errorf("lane %v: %d entries for one live timer", lane, size)
		}
		if err := k.Run(context.Background(), 2*time.Hour); err != nil || len(log) != 1 {
			t.Errorf("lane %v: the live timer fired %d times, err %v", lane, len(log), err)
		}
	}
}

func TestSweptHeapKeepsOrder(t *testing.T) {
	k := NewKernel()
	var got []time.Duration
	for i := range 30_000 {
		d := time.Duration((i * 7919) % 10_007)
		tm := k.After(d, Release, fireFunc(func() { got = append(got, k.Now()) }))
		if i%3 != 0 {
			k.Stop(tm)
		}
	}
	if err := k.Run(context.Background(), time.Second); err != nil {
		t.Fatal(err)
	}
	if len(got) != 10_000 || !slices.IsSorted(got) {
		t.Errorf("%d fired, sorted %v", len(got), slices.IsSorted(got))
	}
}

type cuts struct {
	at  []time.Duration
	log []time.Duration
}

func (c *cuts) Cross(at time.Duration) time.Duration {
	c.log = append(c.log, at)
	if len(c.log) == len(c.at) {
		return Never
	}
	return c.at[len(c.log)]
}

func TestWatcherHearsBeforeTheEventsOfItsInstant(t *testing.T) {
	k := NewKernel()
	c := &cuts{at: []time.Duration{5, 10, 20}}
	k.Watch(5, c)
	seen := -1
	k.After(5, Release, fireFunc(func() { seen = len(c.log) }))
	if err := k.Run(context.Background(), 20); err != nil {
		t.Fatal(err)
	}
	if seen != 1 || !slices.Equal(c.log, c.at) {
		t.Errorf("cuts before the event at 5: %d; all cuts %v", seen, c.log)
	}
}

func TestRunEndsAtItsLimitsAndWithItsContext(t *testing.T) {
	k := NewKernel()
	var again fireFunc
	again = func() { k.After(1, Release, again) }
	k.After(1, Release, again)
	k.Budget = 100
	if err := k.Run(context.Background(), Never); !errors.Is(err, ErrBudget) || k.Fired() != 100 {
		t.Errorf("err %v after %d events", err, k.Fired())
	}
	k.Budget, k.number = 0, lastNumber+1
	if err := k.Run(context.Background(), Never); !errors.Is(err, ErrTooLong) {
		t.Errorf("err %v past the last number", err)
	}
	k.number = 0
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := k.Run(ctx, Never); !errors.Is(err, context.Canceled) {
		t.Errorf("err %v", err)
	}
}

func TestNegativeDelayPanics(t *testing.T) {
	defer func() {
		if r := recover(); r != "des: negative delay" {
			t.Errorf("recovered %v", r)
		}
	}()
	NewKernel().After(-1, Release, fireFunc(func() {}))
}

func TestTimersAllocateNothing(t *testing.T) {
	k := NewKernel()
	k.Constant(time.Second, Expire)
	e := fireFunc(func() {})
	for range 1000 {
		k.After(time.Millisecond, Release, e)
	}
	got := testing.AllocsPerRun(1000, func() {
		k.Stop(k.After(time.Second, Expire, e))
		k.Stop(k.After(time.Minute, Expire, e))
	})
	if got > 0.01 {
		t.Errorf("%g allocations for arming and cancelling", got)
	}
}

func BenchmarkTimerFires(b *testing.B) {
	k := NewKernel()
	var again fireFunc
	n := 0
	again = func() { n++; k.After(time.Duration(n%97), Release, again) }
	for i := range 64 {
		k.After(time.Duration(i), Release, again)
	}
	for b.Loop() {
		k.step(Never - 1)
	}
}

func BenchmarkTimeoutSetAndCancelled(b *testing.B) {
	for _, lane := range []string{"heap", "lane"} {
		b.Run(lane, func(b *testing.B) {
			k := NewKernel()
			if lane == "lane" {
				k.Constant(1500*time.Millisecond, Expire)
			}
			e := fireFunc(func() {})
			for b.Loop() {
				k.Stop(k.After(1500*time.Millisecond, Expire, e))
			}
		})
	}
}
