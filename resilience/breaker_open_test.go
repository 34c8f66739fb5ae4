package resilience

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

func TestOpenTimeGrows(t *testing.T) {
	tests := []struct {
		name     string
		cooldown time.Duration
		rule     OpenTime
		want     string // lengths of openings in a row
	}{
		{"constant", 10 * s, OpenTime{Growth: 1}, "10s 10s 10s 10s 10s 10s"},
		{"doubled", 10 * s, OpenTime{Growth: 2}, "10s 20s 40s 1m20s 2m40s 5m20s"},
		{"half as much more", 10 * s, OpenTime{Growth: 1.5}, "10s 15s 22.5s 33.75s 50.625s 1m15.9375s"},
		{"at most", 10 * s, OpenTime{Growth: 2, Max: 30 * s}, "10s 20s 30s 30s 30s 30s"},
		{"at most the first", 10 * s, OpenTime{Growth: 2, Max: 10 * s}, "10s 10s 10s 10s 10s 10s"},
		{"a step that passes it", 10 * s, OpenTime{Growth: 1000, Max: 25 * s}, "10s 25s 25s 25s 25s 25s"},
	}
	for _, tt := range tests {
		timer := openTimer{OpenTime: tt.rule, cooldown: tt.cooldown}
		for range 2 { // once it has closed it begins anew
			got := ""
			for i := range 6 {
				if timer.begin(time.Duration(i)); i > 0 {
					got += " "
				}
				got += timer.length.String()
			}
			if got != tt.want {
				t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
			}
			timer.closed()
		}
	}
	// It does not run over however often it grows.
	timer := openTimer{OpenTime: OpenTime{Growth: 1e9}, cooldown: time.Hour}
	for range 1000 {
		if timer.begin(0); timer.length < time.Hour || timer.length > longestPause {
			t.Fatalf("%v after growing", timer.length)
		}
	}
}

func TestOpenTimeIsOver(t *testing.T) {
	for _, tt := range []struct {
		past bool
		over string // at 1 ns before, at and 1 ns after the end
	}{{false, "false true true"}, {true, "false false true"}} {
		timer := openTimer{OpenTime: OpenTime{Growth: 1, Past: tt.past}, cooldown: 10 * s}
		timer.begin(5 * s)
		if got := fmt.Sprint(timer.over(15*s-1), timer.over(15*s), timer.over(15*s+1)); got != tt.over {
			t.Errorf("past %v: %s, want %s", tt.past, got, tt.over)
		}
		if due := timer.due(); !timer.over(due) || timer.over(due-1) {
			t.Errorf("past %v: due at %v, which is not the first instant", tt.past, due)
		}
		timer.restart(7 * s)
		if got := fmt.Sprint(timer.over(17*s-1), timer.over(17*s), timer.over(17*s+1)); got != tt.over {
			t.Errorf("past %v, restarted: %s, want %s", tt.past, got, tt.over)
		}
	}
}

func TestOpenTimeJitter(t *testing.T) {
	lengths := func(stream uint64, jitter float64) (out []time.Duration) {
		timer := openTimer{OpenTime: OpenTime{Growth: 1, Jitter: jitter}, cooldown: 10 * s, stream: stream}
		for range 2000 {
			timer.begin(0)
			out = append(out, timer.length)
		}
		return out
	}
	for _, jitter := range []float64{0.1, 0.5, 1} {
		low, high, sum := time.Duration(math.MaxInt64), time.Duration(0), 0.0
		for _, l := range lengths(1, jitter) {
			low, high, sum = min(low, l), max(high, l), sum+l.Seconds()
		}
		least, most := 10*(1-jitter), 10*(1+jitter)
		// 2,000 uniform draws come within 1 % of the width of each end but for
		// one time in 10^8.
		width := most - least
		if low.Seconds() < least || high.Seconds() > most || low.Seconds() > least+width/100 || high.Seconds() < most-width/100 {
			t.Errorf("jitter %g: %v to %v, want %g to %g s", jitter, low, high, least, most)
		}
		// The mean of 2,000 is within 5 standard errors of 10 s.
		if mean := sum / 2000; math.Abs(mean-10) > 5*width/math.Sqrt(12*2000) {
			t.Errorf("jitter %g: mean %g s", jitter, mean)
		}
	}
	first, again, other := lengths(1, 0.5), lengths(1, 0.5), lengths(2, 0.5)
	equal := 0
	for i := range first {
		if first[i] == other[i] {
			equal++
		}
	}
	if !slices.Equal(first, again) || equal > 1 {
		t.Errorf("the same again: %v; %d of 2000 draws are those of another stream", slices.Equal(first, again), equal)
	}
}

func TestOpenTimeOfAMachine(t *testing.T) {
	tests := []struct {
		name   string
		config func(*Breaker)
		table  []action
	}{
		{"grows with each failed probe and begins anew once closed", quick(func(b *Breaker) { b.Open.Growth = 2 }), []action{
			{0, "fail", Open},
			{1 * s, "fail", Open},
			{3*s - 1, "refused", Open},
			{3 * s, "fail", Open},
			{7*s - 1, "refused", Open},
			{7 * s, "succeed", Closed},
			{7 * s, "fail", Open},
			{8 * s, "succeed", Closed},
		}},
		{"past: not at its end", quick(func(b *Breaker) { b.Open.Past = true }), []action{
			{0, "fail", Open}, {s, "refused", Open}, {s + 1, "succeed", Closed},
		}},
		{"from the last error, that of a call from before too", quick(func(b *Breaker) { b.Open.From, b.Stragglers.Open = fromLastError, stragglerRecord }), []action{
			{0, "admit a", Closed}, {0, "admit b", Closed}, {0, "fail", Open},
			{500 * ms, "a fail", Open},
			{600 * ms, "b succeed", Open},
			{1500*ms - 1, "refused", Open},
			{1500 * ms, "succeed", Closed},
		}},
		{"from the last error, unless it is dropped", quick(func(b *Breaker) { b.Open.From = fromLastError }), []action{
			{0, "admit a", Closed}, {0, "fail", Open},
			{500 * ms, "a fail", Open},
			{s, "succeed", Closed},
		}},
		{"touch: a result or a look after the cooldown turns it half-open", quick(func(b *Breaker) { b.Open.Wake = wakeTouch }), []action{
			{0, "admit a", Closed}, {0, "fail", Open},
			{s - 1, "refused", Open},
			{s, "a fail", HalfOpen}, // of before, and dropped
			{s, "succeed", Closed},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { runTable(t, breakerOf(tt.config).NewMachine(0), tt.table) })
	}
}
