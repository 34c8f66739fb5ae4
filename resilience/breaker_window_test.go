package resilience

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// tripsAt feeds F (failed) and anything else (succeeded), one result a second
// from 0, and gives the number of the result that trips the window, 0 for none.
func tripsAt(w window, results string) int {
	for i, r := range results {
		if w.add(time.Duration(i)*s, r == 'F') {
			return i + 1
		}
	}
	return 0
}

func TestWindowsTripAtTheirBoundary(t *testing.T) {
	tests := []struct {
		window  string
		make    func() window
		results string
		want    int
	}{
		{"5 in a row", func() window { return &consecutive{n: 5} }, "FFFFF", 5},
		{"5 in a row", func() window { return &consecutive{n: 5} }, "FFFFSFFFF", 0},
		{"1 in a row", func() window { return &consecutive{n: 1} }, "SSF", 3},
		{"50% of 20, min 5", func() window { return newLastCalls(20, 5, 0.5) }, "FFFF", 0},
		{"50% of 20, min 5", func() window { return newLastCalls(20, 5, 0.5) }, "FFFFF", 5},
		{"50% of 20, min 5, a success completes the minimum", func() window { return newLastCalls(20, 5, 0.5) }, "FFFSS", 5},
		{"50% of 20, min 5, two of five are 40%", func() window { return newLastCalls(20, 5, 0.5) }, "FFSSS", 0},
		{"50% of 20, min 5, three of six are enough", func() window { return newLastCalls(20, 5, 0.5) }, "SSSFFF", 6},
		{"ten of twenty", func() window { return newLastCalls(20, 20, 0.5) }, "SSSSSSSSSSFFFFFFFFFF", 20},
		{"nine of twenty", func() window { return newLastCalls(20, 20, 0.5) }, "SSSSSSSSSSSFFFFFFFFF", 0},
		{"the oldest falls out", func() window { return newLastCalls(4, 4, 0.5) }, "FSSSFSSSF", 0},
		{"the oldest success falls out", func() window { return newLastCalls(4, 4, 0.5) }, "SSSFF", 5},
		{"7% of 100 is 7 though binary fractions say 7.000000000000001", func() window { return newLastCalls(100, 100, 0.07) },
			"FFFFFFF" + repeat("S", 93), 100},
		{"7% of 100 is not 6", func() window { return newLastCalls(100, 100, 0.07) }, "FFFFFF" + repeat("S", 194), 0},
		{"100%", func() window { return newLastCalls(3, 3, 1) }, "FFSFFSFFF", 9},
		{"a ratio next to nothing takes one failure", func() window { return newLastCalls(10, 2, 1e-12) }, "SSSF", 4},
		{"65 calls need two words", func() window { return newLastCalls(65, 65, 1) }, "S" + repeat("F", 65), 66},
		{"span 4s holds four results of one a second", func() window { return &lastSpan{span: 4 * s, min: 5, ratio: 0.5} }, "FFFFFFFFFF", 0},
		{"span 4s, min 4", func() window { return &lastSpan{span: 4 * s, min: 4, ratio: 0.5} }, "FFFF", 4},
		{"a failure of exactly the span ago is gone", func() window { return &lastSpan{span: 4 * s, min: 4, ratio: 0.4} }, "FSSSFSSSF", 0},
		{"a nanosecond more and it counts", func() window { return &lastSpan{span: 4*s + 1, min: 4, ratio: 0.4} }, "FSSSF", 5},
	}
	for _, tt := range tests {
		t.Run(tt.window, func(t *testing.T) {
			w := tt.make()
			for range 2 { // a reset window is a new one
				if got := tripsAt(w, tt.results); got != tt.want {
					t.Errorf("%s trips at result %d, want %d", tt.results, got, tt.want)
				}
				w.reset()
			}
		})
	}
}

func repeat(x string, n int) (out string) {
	for range n {
		out += x
	}
	return out
}

// slow is every window as its definition reads: it keeps all results and looks
// at all of them again.
type slow struct {
	calls   int
	span    time.Duration
	min     int
	ratio   float64
	row     int
	results []result
}

func (w *slow) add(now time.Duration, failed bool) bool {
	w.results = append(w.results, result{now, failed})
	if w.row > 0 {
		n := len(w.results)
		for i := range w.row {
			if i >= n || !w.results[n-1-i].failed {
				return false
			}
		}
		return true
	}
	n, failures := 0, 0
	for i := len(w.results) - 1; i >= 0; i-- {
		r := w.results[i]
		if (w.calls > 0 && n == w.calls) || (w.span > 0 && now-r.at >= w.span) {
			break
		}
		n++
		if r.failed {
			failures++
		}
	}
	return n >= w.min && failures > 0 && float64(failures) >= w.ratio*float64(n)-1e-9
}

func (w *slow) reset() { w.results = nil }

// drawWindow gives a window and its slow twin.
func drawWindow(t *rapid.T) (window, *slow) {
	ratio := float64(rapid.IntRange(1, 20).Draw(t, "ratio in twentieths")) / 20
	switch rapid.SampledFrom([]string{"row", "calls", "span"}).Draw(t, "window") {
	case "row":
		n := rapid.IntRange(1, 4).Draw(t, "row")
		return &consecutive{n: n}, &slow{row: n}
	case "calls":
		size := rapid.IntRange(1, 70).Draw(t, "size")
		minimum := rapid.IntRange(1, size).Draw(t, "min")
		return newLastCalls(size, minimum, ratio), &slow{calls: size, min: minimum, ratio: ratio}
	default:
		span := time.Duration(rapid.IntRange(1, 30).Draw(t, "span"))
		minimum := rapid.IntRange(1, 6).Draw(t, "min")
		return &lastSpan{span: span, min: minimum, ratio: ratio}, &slow{span: span, min: minimum, ratio: ratio}
	}
}

func TestWindowsAgreeWithTheirSlowTwins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, twin := drawWindow(t)
		now := time.Duration(0)
		share := rapid.IntRange(0, 10).Draw(t, "failures in ten")
		for i := range rapid.IntRange(1, 300).Draw(t, "results") {
			now += time.Duration(rapid.IntRange(0, 3).Draw(t, "gap"))
			failed := rapid.IntRange(0, 9).Draw(t, "luck") < share
			got, want := w.add(now, failed), twin.add(now, failed)
			if got != want {
				t.Fatalf("result %d at %v, failed %v: trips %v, twin %v", i, now, failed, got, want)
			}
			if got && rapid.Bool().Draw(t, "reset") {
				w.reset()
				twin.reset()
			}
		}
	})
}

// C04 of practice: a time window with a minimum it cannot reach is blind for
// ever, one that can reach it opens as soon as it does.
func TestTimeWindowIsBlindBelowItsMinimum(t *testing.T) {
	for _, tt := range []struct {
		perSec int
		opens  time.Duration
	}{{40, 0}, {60, 1650 * ms}} {
		w := &lastSpan{span: 2 * s, min: 100, ratio: 0.5}
		opened := time.Duration(0)
		for i := 0; i < 60*tt.perSec && opened == 0; i++ {
			at := time.Duration(i) * s / time.Duration(tt.perSec)
			if w.add(at, true) {
				opened = at
			}
		}
		if fmt.Sprint(opened.Round(ms)) != fmt.Sprint(tt.opens) {
			t.Errorf("%d failures a second: opens at %v, want %v", tt.perSec, opened, tt.opens)
		}
	}
}
