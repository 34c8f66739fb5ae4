package resilience

import (
	"strings"
	"testing"
	"time"
)

// quick opens at the first failure and probes a second later.
func quick(change func(*Breaker)) func(*Breaker) {
	return func(b *Breaker) {
		b.Consecutive, b.Cooldown = 1, s
		change(b)
	}
}

func TestHalfOpenAdmits(t *testing.T) {
	tests := []struct {
		name   string
		config func(*Breaker)
		table  []action
	}{
		{"total: a result makes no room", quick(func(b *Breaker) { b.Probes = 2 }), []action{
			{0, "fail", Open},
			{s, "succeed", HalfOpen}, {s, "admit a", HalfOpen},
			{s, "refused", HalfOpen},
			{2 * s, "a succeed", Closed},
		}},
		{"in flight: a result makes room", quick(func(b *Breaker) { b.Probes, b.HalfOpen.Admit, b.HalfOpen.Need = 2, admitInFlight, 4 }), []action{
			{0, "fail", Open},
			{s, "admit a", HalfOpen}, {s, "admit b", HalfOpen}, {s, "refused", HalfOpen},
			{2 * s, "a succeed", HalfOpen},
			{2 * s, "admit c", HalfOpen}, {2 * s, "refused", HalfOpen},
			{3 * s, "b succeed", HalfOpen}, {3 * s, "c succeed", HalfOpen},
			{3 * s, "succeed", Closed},
		}},
		{"in flight: a neutral probe makes room too", quick(func(b *Breaker) { b.HalfOpen.Admit = admitInFlight }), []action{
			{0, "fail", Open},
			{s, "admit a", HalfOpen}, {s, "refused", HalfOpen},
			{2 * s, "a neutral", HalfOpen},
			{2 * s, "admit b", HalfOpen}, {2 * s, "refused", HalfOpen},
		}},
		{"in flight: an episode begins with all its room", quick(func(b *Breaker) { b.HalfOpen.Admit = admitInFlight }), []action{
			{0, "fail", Open},
			{s, "fail", Open},
			{2 * s, "admit a", HalfOpen}, {2 * s, "refused", HalfOpen},
		}},
		{"everyone", quick(func(b *Breaker) { b.Probes, b.HalfOpen.Admit = 2, admitEveryone }), []action{
			{0, "fail", Open},
			{s, "admit a", HalfOpen}, {s, "admit b", HalfOpen}, {s, "admit c", HalfOpen}, {s, "admit d", HalfOpen},
			{2 * s, "a succeed", HalfOpen},
			{2 * s, "b neutral", HalfOpen},
			{2 * s, "c succeed", Closed},
		}},
		{"interval: one test a cooldown while it stays open", quick(func(b *Breaker) { b.HalfOpen.Admit = admitInterval }), []action{
			{0, "fail", Open},
			{s - 1, "refused", Open},
			{s, "admit a", Open},
			{s, "refused", Open},
			{2*s - 1, "refused", Open},
			{2 * s, "admit b", Open}, // whether or not the last one has ended
			{2 * s, "a fail", Open},
			{3*s - 1, "refused", Open}, // a failed test changes nothing
			{3 * s, "b succeed", Closed},
		}},
		{"interval: several tests, and so many in a row close", quick(func(b *Breaker) { b.Probes, b.HalfOpen.Admit, b.HalfOpen.Need = 2, admitInterval, 3 }), []action{
			{0, "fail", Open},
			{s, "succeed", Open}, {s, "succeed", Open}, {s, "refused", Open},
			{2 * s, "fail", Open}, // the row begins anew
			{2 * s, "succeed", Open}, {2 * s, "refused", Open},
			{3 * s, "alive", Open}, {3 * s, "neutral", Open}, {3 * s, "refused", Open},
			{4 * s, "succeed", Closed},
		}},
		{"an answer that is alive is a result to every jury: it once was none to those of several results, and half-open never ended", func(b *Breaker) {
			b.Ratio, b.Window, b.MinCalls, b.Cooldown, b.Probes, b.Lease, b.HalfOpen.Decide = 0.5, &LastCalls{N: 4}, 2, s, 2, -1, decideResults
		}, []action{
			{0, "fail", Closed}, {0, "fail", Open},
			{s, "alive", HalfOpen}, {s, "alive", Closed},
		}},
		{"refusal: one refused opens it, and the cooldown starts over", quick(func(b *Breaker) { b.HalfOpen.Refusal = refusalReopens }), []action{
			{0, "fail", Open},
			{s, "admit a", HalfOpen},
			{s + 500*ms, "refused", Open},
			{s + 600*ms, "a succeed", Open},
			{2*s + 500*ms - 1, "refused", Open},
			{2*s + 500*ms, "succeed", Closed},
		}},
		{"keep: the result that closes is the first of the window", func(b *Breaker) {
			b.Ratio, b.Window, b.MinCalls, b.Cooldown, b.HalfOpen.Keep = 0.5, &LastCalls{N: 4}, 2, s, true
		}, []action{
			{0, "fail", Closed}, {0, "fail", Open},
			{s, "succeed", Closed},
			{s, "fail", Open}, // 1 of 2
		}},
		{"without keep it is not", func(b *Breaker) {
			b.Ratio, b.Window, b.MinCalls, b.Cooldown = 0.5, &LastCalls{N: 4}, 2, s
		}, []action{
			{0, "fail", Closed}, {0, "fail", Open},
			{s, "succeed", Closed},
			{s, "fail", Closed}, {s, "fail", Open},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { runTable(t, breakerOf(tt.config).NewMachine(0), tt.table) })
	}
}

// What each word does with a neutral probe, an attempt, a lost and a suspect one.
func TestNeutralProbe(t *testing.T) {
	slots := func(word string, v Verdict) string {
		m := breakerOf(quick(func(b *Breaker) { b.Probes, b.Lease, b.NeutralProbe = 2, -1, word })).NewMachine(0)
		runTable(t, m, []action{{0, "fail", Open}, {s, "admit a", HalfOpen}})
		p, _ := m.Admit(s)
		m.Record(s, p, v)
		out := []string{m.State(s).String()}
		for range 2 {
			if _, ok := m.Admit(s); ok {
				out = append(out, "admitted")
			} else {
				out = append(out, "refused")
			}
		}
		return strings.Join(out, ", ")
	}
	for _, tt := range []struct {
		word string
		v    Verdict
		want string
	}{
		{neutralSlotBack, Neutral, "half-open, admitted, refused"},
		{neutralSlotBack, Attempt, "half-open, admitted, refused"},
		{neutralLost, Neutral, "half-open, refused, refused"},
		{neutralSuccess, Neutral, "half-open, refused, refused"}, // the first of two
		{neutralFailure, Neutral, "open, refused, refused"},
		{neutralReopen, Neutral, "open, admitted, admitted"}, // the cooldown that has passed counts
		{neutralSlotBack, Lost, "half-open, refused, refused"},
		{neutralSlotBack, Suspect, "open, refused, refused"},
		{neutralSlotBack, Alive, "half-open, refused, refused"},
	} {
		if got := slots(tt.word, tt.v); got != tt.want {
			t.Errorf("%s, %v: %s, want %s", tt.word, tt.v, got, tt.want)
		}
	}
	m := breakerOf(quick(func(b *Breaker) { b.NeutralProbe = neutralSuccess })).NewMachine(0)
	runTable(t, m, []action{{0, "fail", Open}, {s, "neutral", Closed}})
}

// A neutral straggler that gives a place gives it for one episode: it once
// stayed for good, so that a breaker of 2 probes let 3 through ever after.
func TestAnAddedPlaceLastsOneEpisode(t *testing.T) {
	m := breakerOf(quick(func(b *Breaker) {
		b.Probes, b.Lease = 2, -1
		b.Stragglers.HalfOpen = stragglerCount
	})).NewMachine(0)
	runTable(t, m, []action{
		{0, "admit old", Closed}, {0, "admit older", Closed}, {0, "fail", Open},
		{s, "admit a", HalfOpen}, {s, "admit b", HalfOpen}, {s, "refused", HalfOpen},
		{s, "old neutral", HalfOpen},
		{s, "admit c", HalfOpen}, {s, "refused", HalfOpen},
		{s, "c fail", Open},
		{2 * s, "admit d", HalfOpen}, {2 * s, "admit e", HalfOpen}, {2 * s, "refused", HalfOpen},
		// A place that was spent is given again before one is added.
		{2 * s, "d succeed", HalfOpen}, {2 * s, "older neutral", HalfOpen},
		{2 * s, "admit f", HalfOpen}, {2 * s, "refused", HalfOpen},
	})
}

func TestSlotsOfALease(t *testing.T) {
	p := &slots{lease: 10, size: 2, slots: make([]slot, 2)}
	a, _ := p.admit(0)
	b, _ := p.admit(5)
	if _, ok := p.admit(9); ok {
		t.Error("a third before the first lease is over")
	}
	c, ok := p.admit(10)
	if !ok || p.holds(a) || !p.holds(b) || !p.holds(c) {
		t.Errorf("at 10: admitted %v, holds %v, %v, %v; want the first's place for the third", ok, p.holds(a), p.holds(b), p.holds(c))
	}
	p.end(c)
	if _, ok := p.admit(14); ok || p.holds(c) {
		t.Error("a spent place was given again")
	}
	d, ok := p.admit(time.Hour)
	if !ok || p.holds(b) || !p.holds(d) {
		t.Error("the second's lease is over at 15")
	}
}
