package resilience

import "testing"

// What the late results of three calls from before do, by each word. The
// breaker opens at 2 failures of the last 3, at least 2, and probes a second
// later.
func TestStragglers(t *testing.T) {
	with := func(change func(*Stragglers)) func(*Breaker) {
		return func(b *Breaker) {
			b.Failures, b.Ratio, b.Window, b.MinCalls, b.Cooldown, b.Probes, b.Lease = 2, 0, &LastCalls{N: 3}, 2, s, 2, -1
			change(&b.Stragglers)
		}
	}
	opened := []action{
		{0, "admit a", Closed}, {0, "admit b", Closed}, {0, "admit c", Closed},
		{0, "fail", Closed}, {0, "fail", Open},
	}
	tests := []struct {
		name  string
		words func(*Stragglers)
		stale int64
		table []action
	}{
		{"open, drop: nothing", func(w *Stragglers) {}, 2, []action{
			{500 * ms, "a fail", Open}, {500 * ms, "b succeed", Open}, {500 * ms, "c neutral", Open},
			{s - 1, "refused", Open}, {s, "succeed", HalfOpen},
		}},
		{"open, record: no transition", func(w *Stragglers) { w.Open = stragglerRecord }, 0, []action{
			{500 * ms, "a fail", Open}, {500 * ms, "b succeed", Open},
			{s - 1, "refused", Open}, {s, "succeed", HalfOpen},
		}},
		{"open, extend: a failure starts the cooldown over, a success does not", func(w *Stragglers) { w.Open = stragglerExtend }, 0, []action{
			{500 * ms, "a fail", Open}, {600 * ms, "b succeed", Open},
			{1500*ms - 1, "refused", Open}, {1500 * ms, "succeed", HalfOpen},
		}},
		{"open, close: at a success, which is the first of the new window", func(w *Stragglers) { w.Open = stragglerClose }, 0, []action{
			{500 * ms, "a fail", Open},
			{500 * ms, "b succeed", Closed},
			{500 * ms, "fail", Closed}, {500 * ms, "fail", Open},
		}},
		{"open, close: not at a sign of life", func(w *Stragglers) { w.Open = stragglerClose }, 0, []action{
			{500 * ms, "a alive", Open}, {500 * ms, "b neutral", Open},
		}},
		{"open, reopen: as a new result would, a success too while the rule trips", func(w *Stragglers) { w.Open = stragglerReopen }, 0, []action{
			{500 * ms, "a succeed", Open}, // 2 of 3 failed: opens again
			{1500*ms - 1, "refused", Open},
			{1500*ms - 1, "b succeed", Open}, // 1 of 3: nothing
			{1500 * ms, "succeed", HalfOpen},
		}},

		{"half-open, drop: nothing", func(w *Stragglers) {}, 2, []action{
			{s, "succeed", HalfOpen},
			{s, "a fail", HalfOpen}, {s, "b succeed", HalfOpen}, {s, "c neutral", HalfOpen},
			{s, "succeed", Closed},
		}},
		{"half-open, count: a success closes without a place", func(w *Stragglers) { w.HalfOpen = stragglerCount }, 0, []action{
			{s, "admit p", HalfOpen}, {s, "admit q", HalfOpen}, {s, "refused", HalfOpen},
			{s, "a succeed", HalfOpen}, {s, "refused", HalfOpen},
			{s, "b succeed", Closed},
		}},
		{"half-open, count: a failure opens", func(w *Stragglers) { w.HalfOpen = stragglerCount }, 0, []action{
			{s, "admit p", HalfOpen},
			{1500 * ms, "a fail", Open},
			{2500*ms - 1, "refused", Open},
			{2500 * ms, "admit q", HalfOpen},
			{2500 * ms, "p succeed", HalfOpen}, // a straggler now too
			{2500 * ms, "q succeed", Closed},
		}},
		{"half-open, permit: a call more", func(w *Stragglers) { w.HalfOpen = stragglerPermit }, 0, []action{
			{s, "admit p", HalfOpen}, {s, "admit q", HalfOpen}, {s, "refused", HalfOpen},
			{s, "a succeed", HalfOpen},
			{s, "admit r", HalfOpen}, {s, "refused", HalfOpen},
		}},

		{"closed, drop", func(w *Stragglers) {}, 2, []action{
			{s, "succeed", HalfOpen}, {s, "succeed", Closed},
			{s, "a fail", Closed}, {s, "b fail", Closed},
			{s, "fail", Closed}, {s, "fail", Open},
		}},
		{"closed, count", func(w *Stragglers) { w.Closed = stragglerCount }, 0, []action{
			{s, "succeed", HalfOpen}, {s, "succeed", Closed},
			{s, "a fail", Closed},
			{s, "b fail", Open},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := breakerOf(with(tt.words)).NewMachine(0)
			runTable(t, m, append(append([]action{}, opened...), tt.table...))
			if m.Stale != tt.stale {
				t.Errorf("%d stale results, want %d", m.Stale, tt.stale)
			}
		})
	}
}

// A window that is not emptied at closing still has what opened it.
func TestClearOn(t *testing.T) {
	config := func(on ...string) *Machine {
		return breakerOf(func(b *Breaker) {
			b.Failures, b.Ratio, b.Window, b.MinCalls, b.Cooldown, b.ClearOn = 2, 0, &LastCalls{N: 4}, 2, s, on
			b.Stragglers.Open = stragglerRecord
		}).NewMachine(0)
	}
	for _, tt := range []struct {
		on   []string
		left [3]int // results held once open, half-open, closed
	}{
		{nil, [3]int{3, 3, 3}},
		{[]string{"closed"}, [3]int{3, 3, 0}},
		{[]string{"half_open"}, [3]int{3, 0, 0}},
		{[]string{"open"}, [3]int{1, 1, 1}},
		{[]string{"open", "half_open", "closed"}, [3]int{1, 0, 0}},
	} {
		m := config(tt.on...)
		runTable(t, m, []action{{0, "admit a", Closed}, {0, "fail", Closed}, {0, "fail", Open}, {0, "a succeed", Open}})
		got := [3]int{m.window.counts().total}
		runTable(t, m, []action{{s, "neutral", HalfOpen}})
		got[1] = m.window.counts().total
		runTable(t, m, []action{{s, "succeed", Closed}})
		got[2] = m.window.counts().total
		if got != tt.left {
			t.Errorf("%v: %v results held, want %v", tt.on, got, tt.left)
		}
	}
}
