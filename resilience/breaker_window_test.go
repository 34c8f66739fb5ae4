package resilience

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// trial is a window with a trip rule, asked at every result.
type trial struct {
	window
	rule tripRule
}

func (w *trial) add(now time.Duration, failed bool) bool {
	w.window.add(now, 0, result{failed: failed})
	return w.rule.trips(w.counts())
}

func (w *trial) clear() { w.window.reset(0) }

func inARow(n int) *trial {
	return &trial{(&SinceClear{}).make(false), tripRule{row: n}}
}

func lastCallsOf(size, minCalls int, ratio float64) *trial {
	return &trial{(&LastCalls{N: size}).make(false), tripRule{min: minCalls, ratio: ratio}}
}

func lastSpanOf(span time.Duration, minCalls int, ratio float64) *trial {
	return &trial{(&LastSpan{Span: span}).make(false), tripRule{min: minCalls, ratio: ratio}}
}

// tripsAt feeds F (failed) and anything else (succeeded), one result a second
// from 0, and gives the number of the result that trips the window, 0 for none.
func tripsAt(w *trial, results string) int {
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
		make    func() *trial
		results string
		want    int
	}{
		{"5 in a row", func() *trial { return inARow(5) }, "FFFFF", 5},
		{"5 in a row", func() *trial { return inARow(5) }, "FFFFSFFFF", 0},
		{"1 in a row", func() *trial { return inARow(1) }, "SSF", 3},
		{"50% of 20, min 5", func() *trial { return lastCallsOf(20, 5, 0.5) }, "FFFF", 0},
		{"50% of 20, min 5", func() *trial { return lastCallsOf(20, 5, 0.5) }, "FFFFF", 5},
		{"50% of 20, min 5, a success completes the minimum", func() *trial { return lastCallsOf(20, 5, 0.5) }, "FFFSS", 5},
		{"50% of 20, min 5, two of five are 40%", func() *trial { return lastCallsOf(20, 5, 0.5) }, "FFSSS", 0},
		{"50% of 20, min 5, three of six are enough", func() *trial { return lastCallsOf(20, 5, 0.5) }, "SSSFFF", 6},
		{"ten of twenty", func() *trial { return lastCallsOf(20, 20, 0.5) }, "SSSSSSSSSSFFFFFFFFFF", 20},
		{"nine of twenty", func() *trial { return lastCallsOf(20, 20, 0.5) }, "SSSSSSSSSSSFFFFFFFFF", 0},
		{"the oldest falls out", func() *trial { return lastCallsOf(4, 4, 0.5) }, "FSSSFSSSF", 0},
		{"the oldest success falls out", func() *trial { return lastCallsOf(4, 4, 0.5) }, "SSSFF", 5},
		{"7% of 100 is 7 though binary fractions say 7.000000000000001", func() *trial { return lastCallsOf(100, 100, 0.07) },
			"FFFFFFF" + repeat("S", 93), 100},
		{"7% of 100 is not 6", func() *trial { return lastCallsOf(100, 100, 0.07) }, "FFFFFF" + repeat("S", 194), 0},
		{"100%", func() *trial { return lastCallsOf(3, 3, 1) }, "FFSFFSFFF", 9},
		{"a ratio next to nothing takes one failure", func() *trial { return lastCallsOf(10, 2, 1e-12) }, "SSSF", 4},
		{"65 calls need two words", func() *trial { return lastCallsOf(65, 65, 1) }, "S" + repeat("F", 65), 66},
		{"span 4s holds four results of one a second", func() *trial { return lastSpanOf(4*s, 5, 0.5) }, "FFFFFFFFFF", 0},
		{"span 4s, min 4", func() *trial { return lastSpanOf(4*s, 4, 0.5) }, "FFFF", 4},
		{"a failure of exactly the span ago is gone", func() *trial { return lastSpanOf(4*s, 4, 0.4) }, "FSSSFSSSF", 0},
		{"a nanosecond more and it counts", func() *trial { return lastSpanOf(4*s+1, 4, 0.4) }, "FSSSF", 5},
	}
	for _, tt := range tests {
		t.Run(tt.window, func(t *testing.T) {
			w := tt.make()
			for range 2 { // a reset window is a new one
				if got := tripsAt(w, tt.results); got != tt.want {
					t.Errorf("%s trips at result %d, want %d", tt.results, got, tt.want)
				}
				w.clear()
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

type outcomeAt struct {
	at     time.Duration
	failed bool
}

// slow is every window as its definition reads: it keeps all results and looks
// at all of them again.
type slow struct {
	calls   int
	span    time.Duration
	min     int
	ratio   float64
	row     int
	results []outcomeAt
}

func (w *slow) add(now time.Duration, failed bool) bool {
	w.results = append(w.results, outcomeAt{now, failed})
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

func (w *slow) clear() { w.results = nil }

// drawWindow gives a window and its slow twin.
func drawWindow(t *rapid.T) (*trial, *slow) {
	ratio := float64(rapid.IntRange(1, 20).Draw(t, "ratio in twentieths")) / 20
	switch rapid.SampledFrom([]string{"row", "calls", "span"}).Draw(t, "window") {
	case "row":
		n := rapid.IntRange(1, 4).Draw(t, "row")
		return inARow(n), &slow{row: n}
	case "calls":
		size := rapid.IntRange(1, 70).Draw(t, "size")
		minimum := rapid.IntRange(1, size).Draw(t, "min")
		return lastCallsOf(size, minimum, ratio), &slow{calls: size, min: minimum, ratio: ratio}
	default:
		span := time.Duration(rapid.IntRange(1, 30).Draw(t, "span"))
		minimum := rapid.IntRange(1, 6).Draw(t, "min")
		return lastSpanOf(span, minimum, ratio), &slow{span: span, min: minimum, ratio: ratio}
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
				w.clear()
				twin.clear()
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
		w := lastSpanOf(2*s, 100, 0.5)
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
