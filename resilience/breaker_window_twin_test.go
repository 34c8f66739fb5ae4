package resilience

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// plainWindow is every kind of window as its description reads: it keeps
// everything since it was emptied and counts anew when asked.
type plainWindow struct {
	kind   WindowKind
	early  bool
	era    int
	began  time.Duration // when it was emptied, or its interval began
	items  []*plainItem
	judged []*plainItem // by the time of the result
	errors []time.Duration
	total  []int64 // seconds of results, for lagging
	failed []int64
}

// plainItem is one call in the total.
type plainItem struct {
	era    int
	placed time.Duration // what puts it into a bucket: its admission, or its result
	at     time.Duration // of the result
	result
	pending bool
}

func (w *plainWindow) clear(now time.Duration) {
	*w = plainWindow{kind: w.kind, early: w.early, era: w.era + 1, began: now}
}

func (w *plainWindow) touch(now time.Duration) {
	if f, ok := w.kind.(*Fixed); ok && now-w.began > f.Interval {
		w.clear(now)
	}
}

func (w *plainWindow) admit(now time.Duration) *plainItem {
	w.touch(now)
	x := &plainItem{era: w.era, placed: now, pending: true}
	if w.early {
		w.items = append(w.items, x)
	}
	return x
}

// add takes a result; x is nil for a call that it did not see come.
func (w *plainWindow) add(now time.Duration, x *plainItem, r result) {
	w.touch(now)
	switch k := w.kind.(type) {
	case *Fixed:
		if x != nil && x.era != w.era {
			return
		}
	case *ErrorTimes:
		if r.failed && !r.void {
			var kept []time.Duration
			for _, e := range w.errors {
				if now-e <= k.Span {
					kept = append(kept, e)
				}
			}
			w.errors = append(kept, now)
		}
		return
	case *Lagging:
		if r.void {
			return
		}
		second := int64(now / (k.Span / time.Duration(k.N)))
		forget := func(list []int64) (out []int64) {
			for _, n := range list {
				if n > second-int64(k.N) {
					out = append(out, n)
				}
			}
			return append(out, second)
		}
		w.total = forget(w.total)
		if r.failed {
			w.failed = forget(w.failed)
		}
	}
	seen := w.early && x != nil && x.era == w.era
	if seen {
		x.pending = false
	}
	if r.void {
		if seen {
			x.void = true
		}
		return
	}
	if !seen {
		x = &plainItem{placed: now}
		w.items = append(w.items, x)
	}
	x.at, x.result = now, r
	w.judged = append(w.judged, x)
}

// held reports whether an item is in the window at now.
func (w *plainWindow) held(now time.Duration) func(x *plainItem) bool {
	switch k := w.kind.(type) {
	case *LastCalls:
		last := w.judged[max(0, len(w.judged)-k.N):]
		return func(x *plainItem) bool {
			for _, y := range last {
				if x == y {
					return true
				}
			}
			return x.pending
		}
	case *LastSpan:
		return func(x *plainItem) bool {
			age := now - x.at
			return x.pending || !x.void && (age < k.Span || age == k.Span && k.Inclusive)
		}
	case *Buckets:
		width := k.Span / time.Duration(k.N)
		switch k.Align {
		case alignEpoch:
			return func(x *plainItem) bool { return now/width-x.placed/width < time.Duration(k.N) }
		case alignGeneration:
			return func(x *plainItem) bool { return (now-w.began)/width-(x.placed-w.began)/width < time.Duration(k.N) }
		}
		starts := map[*plainItem]time.Duration{}
		start := -width
		for _, x := range w.items { // they are placed in the order of time
			if x.placed-start >= width {
				start = x.placed
			}
			starts[x] = start
		}
		return func(x *plainItem) bool { return now-starts[x] < width*time.Duration(k.N) }
	}
	return func(*plainItem) bool { return true }
}

func (w *plainWindow) counts(now time.Duration) (c counts) {
	switch k := w.kind.(type) {
	case *ErrorTimes:
		n := len(w.errors)
		return counts{total: n, failures: n, row: n}
	case *Lagging:
		second := int64(now / (k.Span / time.Duration(k.N)))
		for _, n := range w.total {
			if n >= second-int64(k.N) {
				c.total++
			}
		}
		for _, n := range w.failed {
			if n >= second-int64(k.N) {
				c.failures++
			}
		}
	default:
		held := w.held(now)
		for _, x := range w.items {
			if !held(x) {
				continue
			}
			c.total++
			if !x.pending && !x.void {
				if x.failed {
					c.failures++
				}
				if x.slow {
					c.slow++
				}
			}
		}
	}
	held := func(*plainItem) bool { return true }
	switch w.kind.(type) {
	case *LastSpan, *Buckets:
		held = w.held(now) // failures in a row leave too
	}
	for i := len(w.judged) - 1; i >= 0 && w.judged[i].failed; i-- {
		if held(w.judged[i]) {
			c.row++
		}
	}
	if _, ok := w.kind.(*Lagging); ok {
		c.row = min(c.row, c.failures)
	}
	return c
}

// drawKind gives a small window of any kind.
func drawKind(t *rapid.T) WindowKind {
	n := rapid.IntRange(1, 5).Draw(t, "n")
	width := time.Duration(rapid.IntRange(1, 7).Draw(t, "width"))
	span := time.Duration(n) * width
	switch rapid.SampledFrom([]string{"all", "calls", "sliding", "buckets", "buckets", "buckets", "lagging", "fixed", "errors"}).Draw(t, "kind") {
	case "all":
		return &SinceClear{}
	case "calls":
		return &LastCalls{N: n}
	case "sliding":
		return &LastSpan{Span: span, Inclusive: rapid.Bool().Draw(t, "inclusive")}
	case "buckets":
		return &Buckets{Span: span, N: n, Align: rapid.SampledFrom([]string{alignEpoch, alignFirstEvent, alignGeneration}).Draw(t, "align")}
	case "lagging":
		return &Lagging{Span: span, N: n}
	case "fixed":
		return &Fixed{Interval: span}
	}
	return &ErrorTimes{Span: span}
}

func TestEveryWindowAgreesWithItsPlainTwin(t *testing.T) {
	drawn := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		kind := drawKind(t)
		drawn[fmt.Sprintf("%T", kind)] = true
		early := rapid.Bool().Draw(t, "early")
		w, plain := kind.make(early), &plainWindow{kind: kind, early: early}
		type out struct {
			stamp stamp
			item  *plainItem
		}
		var calls []out
		_, bucketed := kind.(*Buckets)
		now := time.Duration(0)
		for i := range rapid.IntRange(1, 120).Draw(t, "steps") {
			now += time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 3, 8, 40}).Draw(t, "gap"))
			do := rapid.SampledFrom([]string{"admit", "admit", "admit", "result", "result", "result", "foreign", "look", "reset"}).Draw(t, "do")
			r := result{failed: rapid.Bool().Draw(t, "failed"), slow: rapid.Bool().Draw(t, "slow")}
			if rapid.IntRange(0, 5).Draw(t, "void") == 0 {
				r = result{void: true}
			}
			switch {
			case do == "reset" && rapid.IntRange(0, 3).Draw(t, "really") == 0:
				w.reset(now)
				plain.clear(now)
			case do == "foreign":
				w.add(now, 0, r)
				plain.add(now, nil, r)
			case do == "admit":
				w.touch(now)
				calls = append(calls, out{w.admit(now), plain.admit(now)})
			case do == "result" && len(calls) > 0:
				n := rapid.IntRange(0, len(calls)-1).Draw(t, "call")
				w.add(now, calls[n].stamp, r)
				plain.add(now, calls[n].item, r)
				calls = append(calls[:n], calls[n+1:]...)
			}
			w.touch(now)
			plain.touch(now)
			got, want := *w.counts(), plain.counts(now)
			if _, ok := kind.(*Lagging); ok {
				got.slow = want.slow // it counts none
			}
			if bucketed && early {
				got.row = want.row // results come to buckets out of order: gobreaker's own rule
			}
			if got != want {
				t.Fatalf("%s, early %v, step %d at %v, %s: %+v, twin %+v", kind.Text(), early, i, now, do, got, want)
			}
		}
	})
	for name, make := range Windows {
		if !drawn[fmt.Sprintf("%T", make())] {
			t.Errorf("the kind %s was never drawn", name)
		}
	}
}
