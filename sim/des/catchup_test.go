package des

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestLateEventsFindTheLateClock(t *testing.T) {
	k := NewKernel()
	var log []string
	event := func(name string, then func()) *note {
		return &note{log: &log, name: name, then: func() {
			log[len(log)-1] += fmt.Sprint("@", int64(k.Now()))
			if then != nil {
				then()
			}
		}}
	}
	k.After(10, Arrive, event("second", func() {
		k.After(0, Arrive, event("at once", nil))
		k.After(5, Arrive, event("from now", nil))
	}))
	k.After(5, Arrive, event("first", nil))
	if at := k.NextAt(); at != 5 {
		t.Errorf("next at %d, want 5", at)
	}
	k.CatchUp(17, 17)
	k.CatchUp(22, 21) // what is due at 22 comes after something else
	log = append(log, "reply")
	k.CatchUp(22, 22)
	want := []string{"first@17", "second@17", "at once@17", "reply", "from now@22"}
	if !slices.Equal(log, want) {
		t.Errorf("got %v, want %v", log, want)
	}
	if k.NextAt() != Never || k.Live() != 0 || k.Now() != 22 {
		t.Errorf("next at %v, %d live, now %d", k.NextAt(), k.Live(), k.Now())
	}
}

// Against a twin that sorts: whatever steps the clock makes, each timer that was
// not stopped fires once, in order, at the first step that is not before it.
func TestCatchUpFiresInOrder(t *testing.T) {
	type timer struct {
		at       time.Duration
		priority Priority
		timer    Timer
		stopped  bool
	}
	rapid.Check(t, func(t *rapid.T) {
		k := NewKernel()
		if rapid.Bool().Draw(t, "lane") {
			k.Constant(3, Expire)
		}
		var timers []*timer
		var got, want []string
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				d := time.Duration(rapid.IntRange(0, 6).Draw(t, "delay"))
				one := &timer{at: k.Now() + d, priority: Priority(rapid.IntRange(0, 3).Draw(t, "priority"))}
				id := len(timers)
				one.timer = k.After(d, one.priority, &note{log: &got, name: fmt.Sprint(id), then: func() {
					got[len(got)-1] += fmt.Sprint("@", int64(k.Now()))
				}})
				timers = append(timers, one)
			case 2:
				if len(timers) > 0 {
					one := timers[rapid.IntRange(0, len(timers)-1).Draw(t, "which")]
					if k.Stop(one.timer) {
						one.stopped = true
					}
				}
			default:
				now := k.Now() + time.Duration(rapid.IntRange(0, 8).Draw(t, "passes"))
				k.CatchUp(now, now)
				var due []int
				for id, one := range timers {
					if !one.stopped && one.at <= now {
						due, one.stopped = append(due, id), true
					}
				}
				slices.SortStableFunc(due, func(a, b int) int {
					if timers[a].at != timers[b].at {
						return int(timers[a].at - timers[b].at)
					}
					return int(timers[a].priority) - int(timers[b].priority)
				})
				for _, id := range due {
					want = append(want, fmt.Sprintf("%d@%d", id, int64(now)))
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}
