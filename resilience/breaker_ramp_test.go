package resilience

import (
	"testing"
	"time"
)

// admitted tells which of n calls a ramp admits when they come every gap.
func admitted(ramp *Ramp, n int, gap time.Duration) (out string) {
	thin := thinner{ramp: ramp}
	thin.begin(100 * s)
	for i := range n {
		if thin.admit(100*s + time.Duration(i)*gap) {
			out += "x"
		} else {
			out += "."
		}
	}
	return out
}

func TestRamps(t *testing.T) {
	for _, tt := range []struct {
		name string
		ramp Ramp
		n    int
		gap  time.Duration
		want string
	}{
		// 50 % to 100 % in a straight line: 0.5 0.55 0.6 … of a call is owed at
		// each, so these are owed in turn, less one for each that passes:
		// 0.5 1.05 0.65 1.3 1 0.75 1.55 1.4 1.3 1.25.
		{"over 10 s, a call a second", Ramp{From: 0.5, Over: 10 * s}, 11, s, ".x.xx.xxxxx"},
		// From nothing: 0 0.25 0.5 0.75 and then everything: 0 0.25 0.75 1.5.
		{"over calls, from nothing", Ramp{Calls: 4}, 6, 0, "...xxx"},
		{"over calls, at one instant or far apart", Ramp{Calls: 4}, 6, time.Hour, "...xxx"},
		// Two steps from 50 %: 0.5 for 5 s, then 0.75.
		{"in two steps", Ramp{From: 0.5, Over: 10 * s, Steps: 2}, 12, s, ".x.x.xx.xxxx"},
		// One step: From until the end.
		{"in one step", Ramp{From: 0.5, Over: 10 * s, Steps: 1}, 13, s, ".x.x.x.x.xxxx"},
		{"in steps over calls", Ramp{From: 0.5, Calls: 8, Steps: 2}, 10, 0, ".x.x.xxxxx"},
		{"everything from the start", Ramp{From: 1, Over: 10 * s}, 3, 0, "xxx"},
		{"nothing until the end", Ramp{Over: 10 * s, Steps: 1}, 12, s, "..........xx"},
	} {
		if got := admitted(&tt.ramp, tt.n, tt.gap); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Over many calls the share is that of the line, whatever the steps.
func TestRampShares(t *testing.T) {
	for _, steps := range []int{0, 1, 4, 100} {
		got := 0
		for _, r := range admitted(&Ramp{From: 0.2, Calls: 10_000, Steps: steps}, 10_000, 0) {
			if r == 'x' {
				got++
			}
		}
		// The mean of the line is 60 %; steps lag half a step of 80 %/n behind.
		want := 6000.0
		if steps > 0 {
			want -= 10_000 * 0.8 / float64(steps) / 2
		}
		if float64(got) < want-2 || float64(got) > want+2 {
			t.Errorf("%d steps: %d of 10,000, want about %.0f", steps, got, want)
		}
	}
}
