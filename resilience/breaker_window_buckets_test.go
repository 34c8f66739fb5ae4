package resilience

import (
	"fmt"
	"testing"
	"time"
)

// entry is one thing told to a window: a result, or an admission under a name.
type entry struct {
	at   time.Duration
	do   string // succeed, fail, void; admit NAME; NAME fail, …; reset; look
	want string // total/failures/row after it
}

func runWindow(t *testing.T, w window, table []entry) {
	t.Helper()
	stamps := map[string]stamp{}
	for i, e := range table {
		var name, word string
		if n, _ := fmt.Sscan(e.do, &name, &word); n == 1 {
			word = name
		}
		switch {
		case name == "admit":
			stamps[word] = w.admit(e.at)
		case word == "reset":
			w.reset(e.at)
		case word == "look":
			w.touch(e.at)
		default:
			w.add(e.at, stamps[name], result{failed: word == "fail", void: word == "void"})
		}
		c := w.counts()
		if got := fmt.Sprintf("%d/%d/%d", c.total, c.failures, c.row); got != e.want {
			t.Fatalf("step %d at %v, %s: %s, want %s", i, e.at, e.do, got, e.want)
		}
	}
}

func TestBuckets(t *testing.T) {
	ten := func(align string, early bool) window {
		return (&Buckets{Span: 10 * s, N: 10, Align: align}).make(early)
	}
	tests := []struct {
		name   string
		window window
		table  []entry
	}{
		{"epoch: the second of the clock and the nine before", ten(alignEpoch, false), []entry{
			{0, "fail", "1/1/1"},
			{999 * ms, "succeed", "2/1/0"},
			{10*s - 1, "look", "2/1/0"},
			{10 * s, "look", "0/0/0"},
		}},
		{"epoch: what came at the end of a second leaves after little more than nine", ten(alignEpoch, false), []entry{
			{2*s - 1, "fail", "1/1/1"},
			{11*s - 1, "fail", "2/2/2"},
			{11 * s, "look", "1/1/1"},
			{20*s - 1, "look", "1/1/1"},
			{20 * s, "look", "0/0/0"},
		}},
		{"epoch: emptying does not move the seconds", ten(alignEpoch, false), []entry{
			{500 * ms, "reset", "0/0/0"},
			{500 * ms, "fail", "1/1/1"},
			{10*s - 1, "look", "1/1/1"},
			{10 * s, "look", "0/0/0"},
		}},
		{"generation: they begin when it was emptied", ten(alignGeneration, false), []entry{
			{0, "fail", "1/1/1"},
			{500 * ms, "reset", "0/0/0"},
			{500 * ms, "fail", "1/1/1"},
			{10500*ms - 1, "look", "1/1/1"},
			{10500 * ms, "look", "0/0/0"},
		}},
		{"first event: a bucket begins with the first result after the one before", ten(alignFirstEvent, false), []entry{
			{700 * ms, "succeed", "1/0/0"},
			{1600 * ms, "fail", "2/1/1"}, // in the bucket from 0.7 s
			{1700 * ms, "fail", "3/2/2"}, // begins one
			{10700*ms - 1, "look", "3/2/2"},
			{10700 * ms, "look", "1/1/1"}, // the first bucket is 10 s old
			{11700*ms - 1, "fail", "2/2/2"},
			{11700 * ms, "look", "1/1/1"},
			{21700*ms - 2, "look", "1/1/1"},
			{21700*ms - 1, "look", "0/0/0"},
			{21700 * ms, "succeed", "1/0/0"},
			{31700*ms - 1, "look", "1/0/0"},
			{31700 * ms, "succeed", "1/0/0"}, // the old one left, the new one came
			{31700 * ms, "fail", "2/1/1"},
			{time.Hour, "succeed", "1/0/0"},
			{time.Hour, "reset", "0/0/0"},
			{time.Hour + 1, "fail", "1/1/1"},
			{time.Hour + s, "fail", "2/2/2"}, // still in that bucket
			{time.Hour + 2*s, "fail", "3/3/3"},
		}},
		{"a silence longer than the window", ten(alignEpoch, false), []entry{
			{0, "fail", "1/1/1"}, {s, "fail", "2/2/2"}, {9 * s, "fail", "3/3/3"},
			{time.Hour, "look", "0/0/0"},
			{time.Hour, "fail", "1/1/1"},
		}},
		{"the row loses what leaves, when it reaches so far back", ten(alignEpoch, false), []entry{
			{0, "fail", "1/1/1"}, {0, "fail", "2/2/2"}, {s, "fail", "3/3/3"},
			{10 * s, "look", "1/1/1"},
			{11 * s, "look", "0/0/0"},
		}},
		{"the row keeps its failures when a success came between", ten(alignEpoch, false), []entry{
			{0, "fail", "1/1/1"}, {s, "succeed", "2/1/0"}, {s, "fail", "3/2/1"},
			{10 * s, "look", "2/1/1"},
		}},
		{"a void result is none", ten(alignEpoch, false), []entry{
			{0, "void", "0/0/0"}, {0, "fail", "1/1/1"}, {0, "void", "1/1/1"},
		}},
		{"at admission: a call is in the total at once, its failure in its own bucket", ten(alignGeneration, true), []entry{
			{0, "admit a", "1/0/0"},
			{5 * s, "a fail", "1/1/1"},
			{10*s - 1, "look", "1/1/1"},
			{10 * s, "look", "0/0/0"},
		}},
		{"at admission: one whose bucket has left counts nothing", ten(alignGeneration, true), []entry{
			{0, "admit a", "1/0/0"},
			{9 * s, "admit b", "2/0/0"},
			{10 * s, "a fail", "1/0/0"},
			{10 * s, "b fail", "1/1/1"},
		}},
		{"at admission: one from before it was emptied enters with its result", ten(alignGeneration, true), []entry{
			{0, "admit a", "1/0/0"}, {s, "reset", "0/0/0"},
			{s, "admit b", "1/0/0"},
			{2 * s, "a fail", "2/1/1"},
			{2 * s, "b fail", "2/2/2"},
		}},
		{"at admission: a void one stays in the total", ten(alignGeneration, true), []entry{
			{0, "admit a", "1/0/0"}, {s, "a void", "1/0/0"},
		}},
		{"one bucket: a tumbling window", (&Buckets{Span: 10 * s, N: 1, Align: alignEpoch}).make(false), []entry{
			{0, "fail", "1/1/1"}, {10*s - 1, "fail", "2/2/2"}, {10 * s, "fail", "1/1/1"},
		}},
		{"buckets of a nanosecond", (&Buckets{Span: 3, N: 3, Align: alignEpoch}).make(false), []entry{
			{0, "fail", "1/1/1"}, {1, "fail", "2/2/2"}, {2, "fail", "3/3/3"}, {3, "fail", "3/3/3"}, {9, "look", "0/0/0"},
		}},
		{"fixed: all forgotten at the first thing after the interval", (&Fixed{Interval: 10 * s}).make(false), []entry{
			{0, "admit a", "0/0/0"},
			{0, "a fail", "1/1/1"},
			{10 * s, "admit b", "1/1/1"}, // at its very end it is still the first
			{10 * s, "b fail", "2/2/2"},
			{10*s + 1, "look", "0/0/0"},
			{15 * s, "admit c", "0/0/0"},
			{20*s + 2, "c fail", "0/0/0"}, // across the edge
			{20*s + 2, "admit d", "0/0/0"}, {20*s + 2, "d fail", "1/1/1"},
		}},
		{"fixed: the next interval begins where the last was noticed to be over", (&Fixed{Interval: 10 * s}).make(false), []entry{
			{15 * s, "admit a", "0/0/0"}, {15 * s, "a fail", "1/1/1"},
			{25 * s, "look", "1/1/1"},
			{25*s + 1, "look", "0/0/0"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { runWindow(t, tt.window, tt.table) })
	}
}

func TestSpans(t *testing.T) {
	tests := []struct {
		name   string
		window window
		table  []entry
	}{
		{"sliding", (&LastSpan{Span: 10 * s}).make(false), []entry{
			{0, "fail", "1/1/1"}, {10*s - 1, "look", "1/1/1"}, {10 * s, "look", "0/0/0"},
		}},
		{"sliding, inclusive", (&LastSpan{Span: 10 * s, Inclusive: true}).make(false), []entry{
			{0, "fail", "1/1/1"}, {10 * s, "look", "1/1/1"}, {10*s + 1, "look", "0/0/0"},
		}},
		{"sliding, at admission: a call is in the total until its result is", (&LastSpan{Span: 10 * s}).make(true), []entry{
			{0, "admit a", "1/0/0"}, {0, "admit b", "2/0/0"},
			{20 * s, "a fail", "2/1/1"},
			{20 * s, "b void", "1/1/1"},
			{30 * s, "look", "0/0/0"},
		}},
		{"errors: a success leaves no trace", (&ErrorTimes{Span: 10 * s}).make(false), []entry{
			{0, "fail", "1/1/1"}, {0, "succeed", "1/1/1"}, {0, "void", "1/1/1"},
			{10 * s, "fail", "2/2/2"},    // exactly as old is not too old
			{10*s + 1, "fail", "2/2/2"},  // the first left
			{time.Hour, "look", "2/2/2"}, // they leave when one comes
			{time.Hour, "fail", "1/1/1"},
			{time.Hour, "reset", "0/0/0"},
		}},
		{"all", (&SinceClear{}).make(false), []entry{
			{0, "fail", "1/1/1"}, {time.Hour, "fail", "2/2/2"}, {time.Hour, "succeed", "3/2/0"}, {time.Hour, "reset", "0/0/0"},
		}},
		{"all, at admission", (&SinceClear{}).make(true), []entry{
			{0, "admit a", "1/0/0"}, {0, "admit b", "2/0/0"}, {0, "a fail", "2/1/1"}, {0, "b void", "2/1/1"},
		}},
		{"the last calls, at admission", (&LastCalls{N: 2}).make(true), []entry{
			{0, "admit a", "1/0/0"}, {0, "admit b", "2/0/0"}, {0, "admit c", "3/0/0"},
			{0, "a fail", "3/1/1"}, {0, "b fail", "3/2/2"}, {0, "c succeed", "2/1/0"},
			{0, "reset", "0/0/0"},
		}},
		{"the last calls, at admission: one from before does not take the place of another", (&LastCalls{N: 2}).make(true), []entry{
			{0, "admit a", "1/0/0"}, {0, "reset", "0/0/0"},
			{0, "admit b", "1/0/0"},
			{0, "a fail", "2/1/1"}, {0, "b succeed", "2/1/0"},
		}},
		{"all, at admission: one from before is in the total too", (&SinceClear{}).make(true), []entry{
			{0, "admit a", "1/0/0"}, {0, "reset", "0/0/0"},
			{0, "a fail", "1/1/1"},
		}},
		{"sliding, at admission: one from before", (&LastSpan{Span: 10 * s}).make(true), []entry{
			{0, "admit a", "1/0/0"}, {0, "reset", "0/0/0"},
			{0, "admit b", "1/0/0"}, {s, "a void", "1/0/0"}, {s, "b fail", "1/1/1"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { runWindow(t, tt.window, tt.table) })
	}
}
