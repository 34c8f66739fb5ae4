package resilience

import "time"

// Machine is a breaker as a pure state machine: no clock, no lock, no
// generator. Time comes in with every call and must not go back.
type Machine struct {
	window window    // when closed opens
	timer  openTimer // when open becomes half-open
	gate   gate      // what half-open admits, and when it ends
	thin   thinner   // what closed admits at first

	state      State
	generation uint32 // of admissions: every transition starts a new one

	// Rejected are the calls not admitted; Stale the results that decided
	// nothing; Probes the calls admitted while half-open; Opens and Closes the
	// transitions to open and to closed.
	Rejected, Stale, Probes, Opens, Closes int64
}

// State of a breaker, numbered as in series and status lines.
type State uint8

// States.
const (
	Closed State = iota
	HalfOpen
	Open
)

var stateNames = [...]string{"closed", "half-open", "open"}

// String gives the state in words.
func (s State) String() string { return stateNames[s] }

// Token is the admission of one call: which generation of the breaker it
// belongs to and, while half-open, which slot.
type Token struct {
	generation uint32
	slot       slotID
}

// Admit decides whether a call at now may pass; its token goes to Record.
func (m *Machine) Admit(now time.Duration) (Token, bool) {
	if m.state == Closed {
		if m.thin.admit(now) {
			return Token{generation: m.generation}, true
		}
		m.Rejected++
		return Token{}, false
	}
	if m.state == Open && m.timer.over(now) {
		m.enter(HalfOpen)
		m.gate.reset()
	}
	if m.state == HalfOpen {
		if slot, ok := m.gate.admit(now); ok {
			m.Probes++
			return Token{m.generation, slot}, true
		}
	}
	m.Rejected++
	return Token{}, false
}

// Record notes how an admitted call ended. A result from an earlier generation,
// or of a probe whose lease has passed, decides nothing and counts as stale,
// unless it says nothing anyway.
func (m *Machine) Record(now time.Duration, t Token, v Verdict) {
	decided := stale
	if t.generation == m.generation {
		decided = m.judge(now, t, v)
	}
	switch decided {
	case opens:
		m.enter(Open)
		m.timer.begin(now)
		m.Opens++
	case closes:
		m.enter(Closed)
		m.window.reset()
		m.thin.begin(now)
		m.Closes++
	case stale:
		if v != Neutral {
			m.Stale++
		}
	case undecided:
	}
}

// decision is what a result does to the breaker.
type decision uint8

const (
	undecided decision = iota
	opens
	closes
	stale
)

func (m *Machine) judge(now time.Duration, t Token, v Verdict) decision {
	if m.state == HalfOpen {
		return m.gate.record(t.slot, v)
	}
	if (v == Success || v == Failure) && m.window.add(now, v == Failure) {
		return opens
	}
	return undecided
}

// State is the state at now. An open breaker becomes half-open with the first
// call after the cooldown, not by itself.
func (m *Machine) State(time.Duration) State { return m.state }

func (m *Machine) enter(s State) {
	m.state = s
	m.generation++
}
