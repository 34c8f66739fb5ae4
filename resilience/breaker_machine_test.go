package resilience

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// action is one step of a breaker's table: a call that is admitted and reports
// at once, or parts of one under a name.
type action struct {
	at   time.Duration
	do   string // succeed, fail, alive, neutral: admitted and reports; refused; admit NAME; NAME succeed, …
	want State
}

func breakerOf(change func(*Breaker)) *Breaker {
	b := newBreaker().(*Breaker)
	change(b)
	return b
}

// threeInARow is a small breaker: 3 failures in a row, 30 s.
func threeInARow(b *Breaker) { b.Consecutive = 3 }

var verdictWords = map[string]Verdict{"succeed": Success, "fail": Failure, "alive": Alive, "neutral": Neutral}

func runTable(t *testing.T, m *Machine, table []action) {
	t.Helper()
	out := map[string]Token{}
	for i, a := range table {
		words := strings.Fields(a.do)
		switch {
		case words[0] == "refused":
			if _, ok := m.Admit(a.at); ok {
				t.Fatalf("step %d at %v: admitted, want refused", i, a.at)
			}
		case words[0] == "admit":
			token, ok := m.Admit(a.at)
			if !ok {
				t.Fatalf("step %d at %v: refused, want %s admitted", i, a.at, words[1])
			}
			out[words[1]] = token
		case len(words) == 2:
			m.Record(a.at, out[words[0]], verdictWords[words[1]])
		default:
			token, ok := m.Admit(a.at)
			if !ok {
				t.Fatalf("step %d at %v: refused, want admitted", i, a.at)
			}
			m.Record(a.at, token, verdictWords[a.do])
		}
		if got := m.State(a.at); got != a.want {
			t.Fatalf("step %d at %v, %s: %v, want %v", i, a.at, a.do, got, a.want)
		}
	}
}

func TestBreakerTransitions(t *testing.T) {
	tests := []struct {
		name   string
		config func(*Breaker)
		table  []action
	}{
		{"opens, cools down to the nanosecond, probes, closes", threeInARow, []action{
			{1 * s, "fail", Closed},
			{2 * s, "fail", Closed},
			{3 * s, "fail", Open},
			{3 * s, "refused", Open},
			{33*s - 1, "refused", Open},
			{33 * s, "admit p", HalfOpen},
			{33 * s, "refused", HalfOpen},
			{34 * s, "p succeed", Closed},
			{34 * s, "fail", Closed}, // the window is empty again
			{35 * s, "fail", Closed},
			{36 * s, "fail", Open},
		}},
		{"a failed probe opens for a whole cooldown more", threeInARow, []action{
			{0, "fail", Closed}, {0, "fail", Closed}, {0, "fail", Open},
			{30 * s, "admit p", HalfOpen},
			{50 * s, "p fail", Open},
			{79 * s, "refused", Open},
			{80 * s, "succeed", Closed},
		}},
		{"half-open starts with a call, not by itself", threeInARow, []action{
			{0, "fail", Closed}, {0, "fail", Closed}, {0, "fail", Open},
			{99 * s, "admit p", HalfOpen},
			{99 * s, "p succeed", Closed},
		}},
		{"half-open admits probes in total, not at a time", func(b *Breaker) { b.Consecutive, b.Probes = 1, 3 }, []action{
			{0, "fail", Open},
			{30 * s, "succeed", HalfOpen},
			{31 * s, "succeed", HalfOpen},
			{32 * s, "admit c", HalfOpen},
			{33 * s, "refused", HalfOpen},
			{34 * s, "c succeed", Closed},
		}},
		{"one failure of several probes is enough", func(b *Breaker) { b.Consecutive, b.Probes = 1, 3 }, []action{
			{0, "fail", Open},
			{30 * s, "admit a", HalfOpen}, {30 * s, "admit b", HalfOpen}, {30 * s, "admit c", HalfOpen},
			{31 * s, "a succeed", HalfOpen},
			{32 * s, "b fail", Open},
			{33 * s, "c succeed", Open}, // late: of the episode before
			{62 * s, "admit d", HalfOpen},
			{62 * s, "c succeed", HalfOpen},
			{63 * s, "d succeed", HalfOpen},
			{63 * s, "succeed", HalfOpen}, {63 * s, "succeed", Closed},
		}},
		{"a neutral probe gives its slot back", threeInARow, []action{
			{0, "fail", Closed}, {0, "fail", Closed}, {0, "fail", Open},
			{30 * s, "neutral", HalfOpen},
			{31 * s, "neutral", HalfOpen},
			{32 * s, "admit p", HalfOpen},
			{32 * s, "refused", HalfOpen},
			{33 * s, "p succeed", Closed},
		}},
		{"an alive probe closes; alive while closed neither adds nor resets", threeInARow, []action{
			{0, "fail", Closed}, {0, "fail", Closed}, {0, "alive", Closed}, {0, "neutral", Closed}, {0, "fail", Open},
			{30 * s, "alive", Closed},
		}},
		{"a probe that never answers frees its slot after the lease", func(b *Breaker) { b.Consecutive, b.Lease = 1, 10*s }, []action{
			{0, "fail", Open},
			{30 * s, "admit lost", HalfOpen},
			{40*s - 1, "refused", HalfOpen},
			{40 * s, "admit p", HalfOpen},
			{41 * s, "lost fail", HalfOpen}, // decides nothing
			{41 * s, "lost succeed", HalfOpen},
			{42 * s, "p succeed", Closed},
		}},
		{"the lease is the cooldown when not given", func(b *Breaker) { b.Consecutive, b.Cooldown = 1, 5*s }, []action{
			{0, "fail", Open},
			{5 * s, "admit lost", HalfOpen},
			{10*s - 1, "refused", HalfOpen},
			{10 * s, "succeed", Closed},
		}},
		{"a lease is judged when a call comes: until then the late probe decides", func(b *Breaker) { b.Consecutive = 1 }, []action{
			{0, "fail", Open},
			{30 * s, "admit p", HalfOpen},
			{500 * s, "p succeed", Closed},
		}},
		{"every lease is judged, whichever slot is taken", func(b *Breaker) { b.Consecutive, b.Probes = 1, 2 }, []action{
			{0, "fail", Open},
			{30 * s, "admit a", HalfOpen}, {30 * s, "admit b", HalfOpen},
			{31 * s, "a neutral", HalfOpen},
			{60 * s, "admit c", HalfOpen},
			{60 * s, "b fail", HalfOpen}, // its lease had passed when c came
			{61 * s, "c succeed", HalfOpen}, {61 * s, "succeed", Closed},
		}},
		{"late results decide nothing", func(b *Breaker) { b.Consecutive = 2 }, []action{
			{0, "admit a", Closed}, {0, "admit b", Closed}, {0, "admit c", Closed}, {0, "admit d", Closed},
			{1 * s, "a fail", Closed}, {1 * s, "b fail", Open},
			{2 * s, "c fail", Open},  // while open: the cooldown does not start again
			{3 * s, "d alive", Open}, // nor does it close
			{31 * s, "admit p", HalfOpen},
			{31 * s, "c fail", HalfOpen}, // in half-open: not a probe
			{31 * s, "d succeed", HalfOpen},
			{32 * s, "p succeed", Closed},
			{32 * s, "c fail", Closed}, {32 * s, "d fail", Closed}, // after closing: not in the new window
		}},
		{"a ramp refuses while closed, and failures admitted by it open", func(b *Breaker) { b.Consecutive, b.Ramp = 1, &Ramp{From: 0.5, Over: 10 * s} }, []action{
			{0, "fail", Open},
			{30 * s, "succeed", Closed},
			{30 * s, "refused", Closed},
			{30 * s, "succeed", Closed},
			{30 * s, "refused", Closed},
			{30 * s, "fail", Open},
			{60 * s, "succeed", Closed},
			{60 * s, "refused", Closed}, // the ramp starts again
			{70 * s, "succeed", Closed}, {70 * s, "succeed", Closed}, {70 * s, "succeed", Closed},
		}},
		{"a clean half-open forgets what a window of time has lost", func(b *Breaker) {
			b.Consecutive, b.Probes, b.Window, b.HalfOpen.Decide = 1, 3, &LastSpan{Span: 10 * s}, decideClean
		}, []action{
			{0, "fail", Open},
			{30 * s, "fail", HalfOpen},
			{40 * s, "succeed", HalfOpen}, {40 * s, "admit p", HalfOpen},
			{41 * s, "p succeed", HalfOpen}, // the failure is 11 s old
		}},
		{"and what buckets have lost", func(b *Breaker) {
			b.Consecutive, b.Probes, b.Window, b.HalfOpen.Decide = 1, 3, &Buckets{Span: 10 * s, N: 10, Align: alignEpoch}, decideClean
		}, []action{
			{0, "fail", Open},
			{30 * s, "fail", HalfOpen},
			{40 * s, "succeed", HalfOpen}, {40 * s, "admit p", HalfOpen},
			{41 * s, "p succeed", HalfOpen},
		}},
		{"but no result of a window of calls", func(b *Breaker) {
			b.Consecutive, b.Probes, b.Window, b.HalfOpen.Decide = 1, 3, &LastCalls{N: 1}, decideClean
		}, []action{
			{0, "fail", Open},
			{30 * s, "fail", HalfOpen},
			{40 * s, "succeed", HalfOpen}, {40 * s, "admit p", HalfOpen},
			{41 * s, "p succeed", Open},
		}},
		{"an alive probe is one of the results that decide", func(b *Breaker) { b.Consecutive, b.Probes, b.HalfOpen.Decide = 1, 2, decideResults }, []action{
			{0, "fail", Open},
			{30 * s, "alive", HalfOpen}, {30 * s, "alive", Closed},
		}},
		// C11 of practice: a 429 is neutral, a 404 alive.
		{"503 429 503 429 503 opens on the fifth", threeInARow, []action{
			{0, "fail", Closed}, {0, "neutral", Closed}, {0, "fail", Closed}, {0, "neutral", Closed}, {0, "fail", Open},
		}},
		{"503 503 404 503 opens on the fourth", threeInARow, []action{
			{0, "fail", Closed}, {0, "fail", Closed}, {0, "alive", Closed}, {0, "fail", Open},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { runTable(t, breakerOf(tt.config).NewMachine(0), tt.table) })
	}
}

func TestBreakerCounts(t *testing.T) {
	m := breakerOf(func(b *Breaker) { b.Consecutive = 2 }).NewMachine(0)
	runTable(t, m, []action{
		{0, "admit late", Closed}, {0, "admit gone", Closed},
		{0, "fail", Closed}, {0, "fail", Open},
		{1 * s, "refused", Open},
		{1 * s, "late fail", Open},
		{1 * s, "gone neutral", Open}, // says nothing, so it is not a stale result
		{30 * s, "fail", Open},
		{60 * s, "admit p", HalfOpen},
		{60 * s, "refused", HalfOpen},
		{61 * s, "p succeed", Closed},
		{61 * s, "p succeed", Closed},
	})
	got := fmt.Sprintf("rejected %d, stale %d, probes %d, opens %d, closes %d", m.Rejected, m.Stale, m.Probes, m.Opens, m.Closes)
	if want := "rejected 2, stale 2, probes 2, opens 2, closes 1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestHalfOpenAdmitsOneProbeOfAThousand(t *testing.T) {
	for _, probes := range []int{1, 7} {
		m := breakerOf(func(b *Breaker) { b.Consecutive, b.Probes = 1, probes }).NewMachine(0)
		runTable(t, m, []action{{0, "fail", Open}})
		admitted := 0
		for range 1000 {
			if _, ok := m.Admit(30 * s); ok {
				admitted++
			}
		}
		if admitted != probes || m.Rejected != int64(1000-probes) || m.State(30*s) != HalfOpen {
			t.Errorf("%d of 1000 admitted, %d refused, %v; want %d", admitted, m.Rejected, m.State(30*s), probes)
		}
	}
}

func TestRampAdmitsAGrowingShareEvenly(t *testing.T) {
	thin := thinner{ramp: &Ramp{From: 0.1, Over: 10 * s}}
	thin.begin(100 * s)
	// At its very start every tenth call passes, neither the ninth nor the
	// eleventh.
	for i := 1; i <= 30; i++ {
		if got := thin.admit(100 * s); got != (i%10 == 0) {
			t.Fatalf("call %d of the start: admitted %v", i, got)
		}
	}
	// A ramp that starts again owes nothing from before.
	for range 5 {
		thin.admit(100 * s)
	}
	thin.begin(100 * s)
	for i := 1; i <= 10; i++ {
		if got := thin.admit(100 * s); got != (i == 10) {
			t.Fatalf("call %d after starting again: admitted %v", i, got)
		}
	}
	// Over the whole ramp the share is the mean of 10 % and 100 %, and no second
	// strays from the line by more than a call.
	thin.begin(100 * s)
	total := 0
	for sec := range 10 {
		admitted := 0
		for i := range 1000 {
			if thin.admit(100*s + time.Duration(sec)*s + time.Duration(i)*ms) {
				admitted++
			}
		}
		line := 1000 * (0.1 + 0.9*(float64(sec)+0.4995)/10)
		if diff := float64(admitted) - line; diff < -1 || diff > 1 {
			t.Errorf("second %d: %d of 1000 admitted, want %.1f", sec, admitted, line)
		}
		total += admitted
	}
	if total < 5495 || total > 5500 {
		t.Errorf("%d of 10,000 admitted, want 5,495 to 5,500", total)
	}
	for range 1000 {
		if !thin.admit(110 * s) {
			t.Fatal("refused after the ramp")
		}
	}
	none := thinner{}
	none.begin(0)
	if !none.admit(0) {
		t.Error("refused without a ramp")
	}
}

// plainBreaker is the whole breaker as its description reads, with nothing
// clever: the twin of Machine.
type plainBreaker struct {
	config *Breaker
	window *slow
	state  State
	era    int
	opened time.Duration
	probes []*plainProbe // of this half-open episode, by admission

	closed  time.Duration // when the ramp began
	ramping bool
	owed    float64
}

type plainProbe struct {
	since time.Duration
	done  string // "", good, neutral, expired
}

type plainToken struct {
	era   int
	probe *plainProbe
}

func (b *plainBreaker) admit(now time.Duration) (plainToken, bool) {
	if b.state == Open && now >= b.opened+b.config.Cooldown {
		b.state, b.probes = HalfOpen, nil
		b.era++
	}
	switch b.state {
	case Closed:
		if b.ramping && now < b.closed+b.config.Ramp.Over {
			b.owed += b.config.Ramp.From + (1-b.config.Ramp.From)*(float64(now-b.closed)/float64(b.config.Ramp.Over))
			if b.owed < 1-1e-9 {
				return plainToken{}, false
			}
			b.owed--
		}
		return plainToken{era: b.era}, true
	case HalfOpen:
		taken := 0
		for _, p := range b.probes {
			if p.done == "" && now >= p.since+b.config.lease() {
				p.done = "expired"
			}
			if p.done == "" || p.done == "good" {
				taken++
			}
		}
		if taken < b.config.Probes {
			p := &plainProbe{since: now}
			b.probes = append(b.probes, p)
			return plainToken{b.era, p}, true
		}
	}
	return plainToken{}, false
}

func (b *plainBreaker) record(now time.Duration, t plainToken, v Verdict) {
	if t.era != b.era {
		return
	}
	if b.state == Closed {
		if v == Success || v == Failure {
			if b.window.add(now, v == Failure) {
				b.state, b.opened = Open, now
				b.era++
			}
		}
		return
	}
	if t.probe.done != "" {
		return
	}
	switch v {
	case Failure:
		b.state, b.opened = Open, now
		b.era++
	case Neutral:
		t.probe.done = "neutral"
	default:
		t.probe.done = "good"
		good := 0
		for _, p := range b.probes {
			if p.done == "good" {
				good++
			}
		}
		if good == b.config.Probes {
			b.state = Closed
			b.era++
			b.window.clear()
			b.ramping, b.closed, b.owed = b.config.Ramp != nil, now, 0
		}
	}
}

func TestBreakerAgreesWithItsPlainTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newBreaker().(*Breaker)
		w, twin := drawWindow(t)
		c.Cooldown = time.Duration(rapid.IntRange(1, 10).Draw(t, "cooldown"))
		c.Probes = rapid.IntRange(1, 3).Draw(t, "probes")
		c.Lease = time.Duration(rapid.IntRange(0, 8).Draw(t, "lease"))
		if rapid.Bool().Draw(t, "ramp") {
			c.Ramp = &Ramp{From: float64(rapid.IntRange(0, 4).Draw(t, "from")) / 4, Over: time.Duration(rapid.IntRange(1, 20).Draw(t, "over"))}
		}
		m := c.NewMachine(0)
		m.window, m.rule, m.held = w.window, w.rule, w.counts()
		plain := &plainBreaker{config: c, window: twin}
		type out struct {
			fast Token
			slow plainToken
		}
		var calls []out
		now := time.Duration(0)
		for i := range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += time.Duration(rapid.IntRange(0, 4).Draw(t, "gap"))
			if len(calls) == 0 || rapid.IntRange(0, 2).Draw(t, "do") > 0 {
				fast, ok := m.Admit(now)
				slow, want := plain.admit(now)
				if ok != want {
					t.Fatalf("step %d at %v: admitted %v, twin %v", i, now, ok, want)
				}
				if ok {
					calls = append(calls, out{fast, slow})
				}
			} else {
				// Any call, also one that has reported before.
				o := calls[rapid.IntRange(0, len(calls)-1).Draw(t, "call")]
				v := Verdict(rapid.SampledFrom([]int{0, 0, 1, 1, 1, 2, 3}).Draw(t, "verdict"))
				m.Record(now, o.fast, v)
				plain.record(now, o.slow, v)
			}
			if m.State(now) != plain.state {
				t.Fatalf("step %d at %v: %v, twin %v", i, now, m.State(now), plain.state)
			}
		}
	})
}
