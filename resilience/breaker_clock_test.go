package resilience

import (
	"testing"
	"time"
)

func TestBreakerMovesByItself(t *testing.T) {
	tick := func(b *Breaker) {
		b.Ratio, b.Window, b.MinCalls, b.Cooldown = 0.5, &Buckets{Span: 10 * s, N: 10, Align: alignGeneration}, 2, s
		b.Evaluate, b.Tick = atTick, 500*ms
	}
	tests := []struct {
		name   string
		config func(*Breaker)
		table  []action
	}{
		{"tick: decides at the next one", tick, []action{
			{0, "fail", Closed}, {100 * ms, "fail", Closed}, {500*ms - 1, "fail", Closed},
			{500 * ms, "refused", Open},
			{1500*ms - 1, "refused", Open},
			{1500 * ms, "succeed", Closed}, // the cooldown counts from the tick
		}},
		{"tick: what comes before it counts, not what comes at it", tick, []action{
			{0, "fail", Closed}, {0, "fail", Closed},
			{499 * ms, "succeed", Closed}, {499 * ms, "succeed", Closed}, {499 * ms, "succeed", Closed},
			{500 * ms, "fail", Closed}, {500 * ms, "fail", Closed},
			{999 * ms, "fail", Closed},
			{1000 * ms, "refused", Open}, // 5 of 8
		}},
		{"tick: nor when it is the first thing", tick, []action{
			{500 * ms, "fail", Closed}, {500 * ms, "fail", Closed},
			{1000*ms - 1, "fail", Closed},
			{1000 * ms, "refused", Open},
		}},
		{"tick: after a silence it was decided at the first", tick, []action{
			{0, "fail", Closed}, {0, "fail", Closed},
			{time.Hour, "succeed", Closed}, // opened at 500 ms, so this is the probe
			{time.Hour, "succeed", Closed},
		}},
		{"tick: counts from closing", tick, []action{
			{0, "fail", Closed}, {0, "fail", Closed},
			{1700 * ms, "succeed", Closed},
			{1700 * ms, "fail", Closed}, {1700 * ms, "fail", Closed},
			{2000 * ms, "fail", Closed}, {2200*ms - 1, "fail", Closed},
			{2200 * ms, "refused", Open},
		}},
		{"tick: an old window is looked at as it was then", func(b *Breaker) {
			tick(b)
			b.Window = &Buckets{Span: s, N: 1, Align: alignGeneration}
			b.Tick = 10 * s
		}, []action{
			{0, "fail", Closed}, {0, "fail", Closed},
			{20 * s, "fail", Closed}, // forgotten long before the tick of 10 s
		}},

		{"timer: half-open at the cooldown", quick(func(b *Breaker) { b.Open.Wake, b.Stragglers.HalfOpen = wakeTimer, stragglerCount }), []action{
			{0, "admit old", Closed}, {0, "fail", Open},
			{s - 1, "refused", Open},
			{s, "old succeed", Closed}, // no call had to come first
		}},
		{"timer: a result just before is one of open", quick(func(b *Breaker) { b.Open.Wake, b.Stragglers.HalfOpen = wakeTimer, stragglerCount }), []action{
			{0, "admit old", Closed}, {0, "fail", Open},
			{s - 1, "old succeed", Open},
			{s, "succeed", Closed},
		}},

		{"max_stay: opens", quick(func(b *Breaker) { b.Probes, b.Lease, b.HalfOpen.MaxStay = 2, -1, 5*s }), []action{
			{0, "fail", Open},
			{s, "admit a", HalfOpen}, {s, "succeed", HalfOpen},
			{6*s - 1, "refused", HalfOpen},
			{6 * s, "refused", Open},
			{6 * s, "a succeed", Open},
			{7*s - 1, "refused", Open},
			{7 * s, "succeed", HalfOpen}, {7 * s, "succeed", Closed},
		}},
		{"max_stay: closes", quick(func(b *Breaker) { b.Lease, b.HalfOpen.MaxStay, b.HalfOpen.Then = -1, 5*s, "closed" }), []action{
			{0, "fail", Open},
			{s, "admit a", HalfOpen},
			{6*s - 1, "refused", HalfOpen},
			{6 * s, "succeed", Closed},
			{6 * s, "a fail", Closed}, // of before
			{6 * s, "fail", Open},
		}},
		{"max_stay: several in a long silence", quick(func(b *Breaker) { b.HalfOpen.MaxStay, b.Open.Wake = 5*s, wakeTimer }), []action{
			{0, "fail", Open},
			{12*s + 500*ms, "refused", Open}, // half-open from 1 to 6 s, from 7 to 12 s
			{13 * s, "succeed", Closed},
		}},

		{"age: a call is slow as soon as it runs longer", func(b *Breaker) {
			b.Ratio, b.MinCalls, b.Cooldown, b.Slow = 0, 2, 10*s, Slow{Over: s, Ratio: 0.5, InFlight: true}
		}, []action{
			{0, "admit a", Closed}, {200 * ms, "admit b", Closed},
			{1200*ms - 1, "admit c", Closed},
			{1200*ms + 1, "refused", Open},
			{1300 * ms, "a fail", Open}, // counted when it became slow
		}},
		{"age: one that returns at the limit is not slow", func(b *Breaker) {
			b.Ratio, b.MinCalls, b.Cooldown, b.Slow = 0, 1, 10*s, Slow{Over: s, Ratio: 0.5, InFlight: true}
		}, []action{
			{0, "admit a", Closed},
			{s, "a succeed", Closed},
			{2 * s, "admit b", Closed},
			{3*s + 1, "b succeed", Open},
		}},
		{"age: nor is one that returned before, though it came first", func(b *Breaker) {
			b.Ratio, b.MinCalls, b.Cooldown, b.Slow = 0, 2, 10*s, Slow{Over: s, Ratio: 1, InFlight: true}
		}, []action{
			{0, "admit a", Closed}, {0, "admit b", Closed}, {0, "admit c", Closed},
			{500 * ms, "b succeed", Closed},
			{1500 * ms, "admit d", Closed}, // a and c are slow, 2 of 3
			{1500 * ms, "a succeed", Closed}, {1500 * ms, "c succeed", Closed},
			{1500 * ms, "d succeed", Closed}, // 2 of 4
		}},
		{"age: a probe that hangs is slow", func(b *Breaker) {
			b.Ratio, b.MinCalls, b.Cooldown, b.Lease, b.Slow = 0.5, 1, 10*s, -1, Slow{Over: s, Ratio: 1, InFlight: true}
		}, []action{
			{0, "fail", Open},
			{10 * s, "admit p", HalfOpen},
			{11 * s, "refused", HalfOpen},
			{11*s + 1, "refused", Open},
			{11*s + 1, "p succeed", Open},
		}},
		{"age: what becomes slow at a tick waits for the next one, which still comes", func(b *Breaker) {
			b.Ratio, b.MinCalls, b.Cooldown, b.Slow = 0, 1, 10*s, Slow{Over: s, Ratio: 0.5, InFlight: true}
			b.Evaluate, b.Tick = atTick, s
		}, []action{
			{0, "admit a", Closed},
			{s, "admit b", Closed},
			{2*s - 1, "admit c", Closed},
			{2 * s, "refused", Open},
		}},
		{"age: the end of half-open at the same instant is not missed", func(b *Breaker) {
			b.Ratio, b.MinCalls, b.Cooldown, b.Lease, b.HalfOpen.MaxStay, b.HalfOpen.Then = 0.5, 1, 10*s, -1, s, "closed"
			b.Slow = Slow{Over: s, Ratio: 1, InFlight: true}
		}, []action{
			{0, "fail", Open},
			{10 * s, "admit p", HalfOpen},
			{11 * s, "succeed", Closed},
		}},
		{"age: a call from before is nothing to half-open", func(b *Breaker) {
			b.Ratio, b.MinCalls, b.Cooldown, b.Lease, b.Slow = 0.5, 1, 10*s, -1, Slow{Over: 10*s + 500*ms, Ratio: 1, InFlight: true}
		}, []action{
			{0, "admit old", Closed}, {0, "fail", Open},
			{10 * s, "admit p", HalfOpen},
			{10*s + 501*ms, "refused", HalfOpen},
			{10*s + 501*ms, "p succeed", Closed},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { runTable(t, breakerOf(tt.config).NewMachine(0), tt.table) })
	}
}

// C05 of practice: a dependency that hangs for 30 s is seen by a slow-call rule
// when calls return, at 30.45 s with a minimum of 10, and by one that looks at
// the age of calls in flight at 2.45 s.
func TestSlowCallsInFlight(t *testing.T) {
	for _, tt := range []struct {
		inFlight bool
		want     time.Duration
	}{{true, 2450 * ms}, {false, 30450 * ms}} {
		m := breakerOf(func(b *Breaker) {
			b.Ratio, b.Window, b.MinCalls, b.Slow = 0, &LastSpan{Span: 10 * s}, 10, Slow{Over: 2 * s, Ratio: 0.5, InFlight: tt.inFlight}
		}).NewMachine(0)
		var calls []Token
		opened, ended := never, 0
		for now := time.Duration(0); now < 60*s && opened == never; now += 50 * ms {
			for due := m.Due(); due <= now && opened == never; due = m.Due() {
				if m.Tick(due); m.state == Open {
					opened = due
				}
			}
			if now >= 30*s && opened == never {
				m.Record(now, calls[ended], Success)
				if ended++; m.state == Open {
					opened = now
				}
			}
			if token, ok := m.Admit(now); ok {
				calls = append(calls, token)
			}
		}
		if opened != tt.want {
			t.Errorf("in flight %v: opened at %v, want %v", tt.inFlight, opened, tt.want)
		}
	}
}

// A clock that goes in steps shows what is due at its next step, and is not
// turned back by being told the time.
func TestDueOfACoarseClock(t *testing.T) {
	m := breakerOf(func(b *Breaker) {
		b.Consecutive, b.Cooldown, b.Open.Wake, b.Resolution = 1, 1500*time.Microsecond, wakeTimer, ms
	}).NewMachine(0)
	runTable(t, m, []action{{0, "fail", Open}})
	if m.Due() != 2*ms {
		t.Errorf("due at %v, want 2ms", m.Due())
	}
	if m.Tick(2*ms - 1); m.state != Open {
		t.Errorf("%v a nanosecond before", m.state)
	}
	if m.Tick(2 * ms); m.state != HalfOpen {
		t.Errorf("%v at 2ms", m.state)
	}
}

// What is due is told, and telling it early changes nothing.
func TestDueIsTheNextMove(t *testing.T) {
	config := func(b *Breaker) {
		b.Consecutive, b.Cooldown, b.Open.Wake, b.HalfOpen.MaxStay = 1, 10*s, wakeTimer, 5*s
	}
	m := breakerOf(config).NewMachine(0)
	if m.Due() != never {
		t.Errorf("closed: due at %v, want never", m.Due())
	}
	runTable(t, m, []action{{0, "fail", Open}})
	for i, want := range []struct {
		at    time.Duration
		state State
	}{{10 * s, HalfOpen}, {15 * s, Open}, {25 * s, HalfOpen}, {30 * s, Open}} {
		before := m.state
		if m.Due() != want.at {
			t.Fatalf("move %d due at %v, want %v", i, m.Due(), want.at)
		}
		if m.Tick(want.at - 1); m.state != before {
			t.Fatalf("move %d a nanosecond early", i)
		}
		if m.Tick(want.at); m.state != want.state {
			t.Fatalf("move %d: %v, want %v", i, m.state, want.state)
		}
	}
}
