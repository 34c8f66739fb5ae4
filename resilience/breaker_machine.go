package resilience

import "time"

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
	slot       int32
	slotGen    uint32
}

// Machine is a breaker as a pure state machine: no clock, no lock, no
// generator. Time comes in with every call and must not go back.
type Machine struct {
	window   window
	gate     gate
	thin     thinner
	cooldown time.Duration

	state      State
	generation uint32 // of admissions: every transition starts a new one
	openedAt   time.Duration

	Rejected, Stale, Probes, Opens, Closes int64
}

// Admit decides whether a call at now may pass; its token goes to Record.
func (m *Machine) Admit(now time.Duration) (Token, bool) {
	t := Token{generation: m.generation}
	switch m.state {
	case Closed:
		if !m.thin.admit(now) {
			m.Rejected++
			return t, false
		}
		return t, true
	case Open:
		if now-m.openedAt < m.cooldown {
			m.Rejected++
			return t, false
		}
		m.enter(HalfOpen)
		t.generation = m.generation
		m.gate.reset()
	}
	slot, gen, ok := m.gate.admit(now)
	if !ok {
		m.Rejected++
		return t, false
	}
	m.Probes++
	t.slot, t.slotGen = slot, gen
	return t, true
}

// Record notes how an admitted call ended. A result from an earlier generation,
// or from a probe whose lease has passed, counts as stale and decides nothing.
func (m *Machine) Record(now time.Duration, t Token, v Verdict) {
	if t.generation != m.generation {
		if v != Neutral {
			m.Stale++
		}
		return
	}
	if m.state == HalfOpen {
		switch m.gate.record(t.slot, t.slotGen, v) {
		case closes:
			m.enter(Closed)
			m.Closes++
			m.window.reset()
			m.thin.begin(now)
		case reopens:
			m.open(now)
		case late:
			if v != Neutral {
				m.Stale++
			}
		case undecided:
		}
		return
	}
	if v == Success || v == Failure {
		if m.window.add(now, v == Failure) {
			m.open(now)
		}
	}
}

// State is the state at now. It becomes half-open with the first call after the
// cooldown, not before.
func (m *Machine) State(time.Duration) State { return m.state }

func (m *Machine) open(now time.Duration) {
	m.enter(Open)
	m.openedAt = now
	m.Opens++
}

func (m *Machine) enter(s State) {
	m.state = s
	m.generation++
}
