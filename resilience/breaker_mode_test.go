package resilience

import (
	"fmt"
	"testing"
)

func TestModes(t *testing.T) {
	tests := []struct {
		name   string
		mode   string
		counts string // rejected, would reject, opens, closes, probes
		table  []action
	}{
		{"enforce", modeEnforce, "2 0 1 1 1", []action{
			{0, "fail", Open},
			{0, "refused", Open},
			{s, "admit p", HalfOpen}, {s, "refused", HalfOpen},
			{s, "p succeed", Closed},
		}},
		{"observe: moves and counts, refuses nothing, and what it would have refused says nothing", modeObserve, "0 2 1 1 1", []action{
			{0, "fail", Open},
			{0, "fail", Open},
			{s, "admit p", HalfOpen}, {s, "fail", HalfOpen},
			{s, "p succeed", Closed},
		}},
		{"forced open: refuses everything, always", modeForcedOpen, "3 0 0 0 0", []action{
			{0, "refused", Open}, {s, "refused", Open}, {1000 * s, "refused", Open},
		}},
		{"disabled: admits everything and hears nothing", modeDisabled, "0 0 0 0 0", []action{
			{0, "fail", Closed}, {0, "fail", Closed}, {s, "fail", Closed},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := breakerOf(quick(func(b *Breaker) { b.Mode = tt.mode })).NewMachine(0)
			runTable(t, m, tt.table)
			if got := fmt.Sprint(m.Rejected, m.WouldReject, m.Opens, m.Closes, m.Probes); got != tt.counts {
				t.Errorf("rejected, would reject, opens, closes, probes: %s, want %s", got, tt.counts)
			}
		})
	}
}

// Forced open and disabled breakers have nothing to wait for.
func TestModesThatDoNotMove(t *testing.T) {
	for _, mode := range []string{modeForcedOpen, modeDisabled} {
		m := breakerOf(quick(func(b *Breaker) {
			b.Mode, b.Open.Wake, b.HalfOpen.MaxStay, b.Evaluate, b.Tick = mode, wakeTimer, s, atTick, s
		})).NewMachine(0)
		before := m.state
		m.Tick(1000 * s)
		if m.Due() != never || m.State(1000*s) != before {
			t.Errorf("%s: due at %v, %v", mode, m.Due(), m.state)
		}
	}
}
