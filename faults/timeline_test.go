package faults

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTimelineIsHalfOpen(t *testing.T) {
	for _, c := range []struct {
		line Timeline
		on   []time.Duration
		off  []time.Duration
	}{
		{NewTimeline(), []time.Duration{0, 1, math.MaxInt64}, nil},
		{Timeline{From: 10}, []time.Duration{10, 11, math.MaxInt64}, []time.Duration{0, 9}},
		{Timeline{From: 10, For: 5}, []time.Duration{10, 14}, []time.Duration{9, 15, 25, math.MaxInt64}},
		{Timeline{From: 10, For: 5, Every: 20}, []time.Duration{10, 14, 30, 34, 50}, []time.Duration{0, 9, 15, 29, 35, 49}},
		{Timeline{From: 1, For: math.MaxInt64}, []time.Duration{1, math.MaxInt64}, []time.Duration{0}},
	} {
		for _, at := range c.on {
			if !c.line.Active(at) {
				t.Errorf("%+v is off at %d", c.line, at)
			}
		}
		for _, at := range c.off {
			if c.line.Active(at) {
				t.Errorf("%+v is on at %d", c.line, at)
			}
		}
	}
}

func TestWindowsAreCutAtTheEnd(t *testing.T) {
	for _, c := range []struct {
		line     Timeline
		duration time.Duration
		want     []Window
	}{
		{NewTimeline(), 100, []Window{{0, 100}}},
		{Timeline{From: 10, For: 5}, 100, []Window{{10, 15}}},
		{Timeline{From: 10, For: 500}, 100, []Window{{10, 100}}},
		{Timeline{From: 10, For: math.MaxInt64}, 100, []Window{{10, 100}}},
		{Timeline{From: 10}, 100, []Window{{10, 100}}},
		{Timeline{From: 100, For: 5}, 100, nil},
		{Timeline{From: 10, For: 5, Every: 40}, 100, []Window{{10, 15}, {50, 55}, {90, 95}}},
		{Timeline{From: 10, For: 20, Every: 40}, 100, []Window{{10, 30}, {50, 70}, {90, 100}}},
		{Timeline{From: 20, For: 5, Every: 40}, 100, []Window{{20, 25}, {60, 65}}}, // the next would begin at the end
		{Timeline{From: 10, For: 5, Every: math.MaxInt64}, math.MaxInt64, []Window{{10, 15}}},
	} {
		if got := c.line.Windows(c.duration); !slices.Equal(got, c.want) {
			t.Errorf("%+v in %d: %v, want %v", c.line, c.duration, got, c.want)
		}
	}
}

func TestWindowsAreBounded(t *testing.T) {
	line := Timeline{For: 1, Every: 2}
	got := line.Windows(time.Second)
	if len(got) != mostWindows || got[mostWindows-1] != (Window{2 * (mostWindows - 1), time.Second}) {
		t.Errorf("%d windows, the last %v", len(got), got[len(got)-1])
	}
}

func TestEdges(t *testing.T) {
	line := Timeline{From: 10, For: 5, Every: 20}
	for _, c := range []struct{ now, want time.Duration }{{0, 10}, {9, 10}, {10, 15}, {14, 15}, {15, 30}, {29, 30}, {30, 35}} {
		if got, ok := line.Edge(c.now); got != c.want || !ok {
			t.Errorf("after %d comes %d, %v; want %d", c.now, got, ok, c.want)
		}
	}
	for _, c := range []struct {
		line Timeline
		now  time.Duration
	}{
		{Timeline{From: 10}, 10},
		{Timeline{From: 10, For: 5}, 15},
		{Timeline{From: 10, For: math.MaxInt64}, 10},
		{Timeline{From: 10, For: 5, Every: math.MaxInt64}, 20},
	} {
		if got, ok := c.line.Edge(c.now); ok {
			t.Errorf("%+v after %d: an edge at %d", c.line, c.now, got)
		}
	}
}

// Active, Windows and Edge tell the same story.
func TestTimelineAgreesWithItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := func(name string, least, most int) time.Duration {
			return time.Duration(rapid.IntRange(least, most).Draw(t, name))
		}
		line := Timeline{From: d("from", 0, 40), For: d("for", 0, 30)}
		if line.For > 0 && rapid.Bool().Draw(t, "again") {
			line.Every = line.For + d("pause", 1, 30)
		}
		if problems := line.Validate(); len(problems) != 0 {
			t.Fatalf("%+v: %v", line, problems)
		}
		end := d("end", 1, 200)
		windows := line.Windows(end)
		for at := time.Duration(0); at < end; at++ {
			inside := slices.ContainsFunc(windows, func(w Window) bool { return at >= w.From && at < w.To })
			if inside != line.Active(at) {
				t.Fatalf("%+v at %d: active %v, in %v", line, at, line.Active(at), windows)
			}
			next, ok := line.Edge(at)
			for later := at + 1; later < end && (!ok || later < next); later++ {
				if line.Active(later) != line.Active(at) {
					t.Fatalf("%+v changes at %d, Edge(%d) is %d, %v", line, later, at, next, ok)
				}
			}
			if ok && line.Active(next) == line.Active(next-1) {
				t.Fatalf("%+v: nothing changes at Edge(%d) = %d", line, at, next)
			}
		}
	})
}
