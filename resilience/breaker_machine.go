package resilience

import (
	"slices"
	"time"
)

// Machine is a breaker as a pure state machine: no clock, no lock, no running
// generator. Time comes in with every call and must not go back. What it does is
// put together of parts, each in a file of its own: a window and a trip rule
// say when closed opens, an open timer when open ends, a gate what half-open
// admits and when it ends, a thinner what closed admits at first.
type Machine struct {
	window window
	rule   tripRule
	timer  openTimer
	gate   gate
	thin   thinner
	clock  machineClock

	held       *counts       // of the window
	early      bool          // the window counts admissions
	atResult   bool          // it decides at every result,
	atFailure  bool          // or at failures,
	atEntry    bool          // or when a call asks
	plain      bool          // while closed a call does nothing but enter, and a result but count
	resolution time.Duration // steps of its clock; 0: none
	slowOver   time.Duration // 0: no call is slow
	tests      *tests        // probes while open, in place of half-open; nil: half-open it is
	stragglers Stragglers
	countsLate bool    // stragglers count while closed
	clears     [3]bool // states whose entry empties the window
	observes   bool    // refuses nothing
	forced     bool    // stays open
	disabled   bool    // stays closed and counts nothing

	state      State
	generation uint32        // of admissions: every transition starts a new one
	lastError  time.Duration // instants that a cooldown may count from
	lastProbe  time.Duration

	*Tally
}

// Tally counts what a breaker does; copies of a breaker share one. Rejected are
// the calls not admitted; Stale the results that decided nothing; Probes the
// calls admitted while half-open; Opens and Closes the transitions to open and to
// closed; WouldReject what observing let through.
type Tally struct {
	Rejected, Stale, Probes, Opens, Closes, WouldReject int64
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

// Token is the admission of one call: when it was, which generation of the
// breaker it belongs to and, while half-open, which slot.
type Token struct {
	at         time.Duration
	stamp      stamp
	number     int64 // among the calls watched for their age
	slot       slotID
	generation uint32
	unwatched  bool // let through by a breaker that does not decide; its result says nothing
}

// NewMachine returns the breaker's state machine, closed. stream keys the draws
// of its cooldowns.
func (c *Breaker) NewMachine(stream uint64) *Machine {
	early := c.CountAt == atAdmission
	m := &Machine{
		window: c.Window.make(early),
		rule: tripRule{
			row: c.Consecutive, failures: c.Failures, ratio: c.Ratio, min: c.MinCalls, above: c.Above, rounding: roundingOf(c.Rounding),
		},
		timer:      openTimer{OpenTime: c.Open, cooldown: c.Cooldown, stream: stream},
		thin:       thinner{ramp: c.Ramp},
		early:      early,
		atResult:   c.Evaluate == atCompletion,
		atFailure:  c.Evaluate == atFailure,
		atEntry:    c.Evaluate == atAdmission,
		resolution: c.Resolution,
		slowOver:   c.Slow.Over,
		stragglers: c.Stragglers,
		countsLate: c.Stragglers.Closed == stragglerCount,
		observes:   c.Mode == modeObserve,
		forced:     c.Mode == modeForcedOpen,
		disabled:   c.Mode == modeDisabled,
		Tally:      &Tally{},
	}
	if size, counted := c.windowCalls(); counted && c.Clamp {
		m.rule.min = min(m.rule.min, size)
	}
	if c.Consecutive > 0 {
		m.rule.failures, m.rule.ratio = 0, 0
		if _, counted := c.windowCalls(); counted {
			m.window = (&SinceClear{}).make(early) // a row needs no window
		}
	}
	m.held = m.window.counts()
	if c.Slow.Over > 0 {
		m.rule.slow = c.Slow.Ratio
	}
	for state, name := range [...]string{Closed: "closed", HalfOpen: "half_open", Open: "open"} {
		m.clears[state] = slices.Contains(c.ClearOn, name)
	}
	if m.gate = c.gate(&m.rule); c.HalfOpen.Admit == admitInterval {
		h := c.halfOpen()
		m.tests = &tests{size: h.probes, need: h.Need}
	}
	m.clock = c.clock()
	m.plain = !m.disabled && !m.forced && !m.early && !m.atEntry && m.resolution == 0 && !m.clock.used
	if m.forced {
		m.state = Open
	}
	return m
}

// gate builds what half-open admits and decides.
func (c *Breaker) gate(rule *tripRule) gate {
	g := gate{neutral: c.NeutralProbe, refusalReopens: c.HalfOpen.Refusal == refusalReopens, keep: c.HalfOpen.Keep}
	h := c.halfOpen()
	switch h.Admit {
	case admitInFlight:
		g.permits = &inFlight{size: h.probes}
	case admitTotal:
		g.permits = &slots{lease: c.lease(), size: h.probes, slots: make([]slot, h.probes)}
	default:
		g.permits = everyone{}
	}
	switch h.Decide {
	case decideResults:
		g.jury = newByRule(*rule, h.Need)
	case decideClean:
		g.jury = newClean(*rule, h.Need, c.Window)
	case decideMirror:
		g.jury = &mirrored{*newByRule(*rule, h.Need)}
	case decideMajority:
		g.jury = &majority{rule: rule, need: h.Need, window: lastCalls{ring: make([]result, h.Of)}}
	default:
		g.jury = &unanimous{rule: rule, need: h.Need}
	}
	return g
}

// Admit decides whether a call at now may pass; its token goes to Record.
func (m *Machine) Admit(now time.Duration) (t Token, ok bool) {
	ok = m.admit(now, &t)
	return t, ok
}

func (m *Machine) admit(now time.Duration, t *Token) bool {
	*t = Token{at: now, generation: m.generation}
	if m.plain && m.state == Closed && !m.thin.on {
		return true
	}
	if m.disabled {
		t.unwatched = true
		return true
	}
	now = m.catchUp(now)
	switch {
	case m.enters(now, t):
		t.at, t.generation = now, m.generation
		if m.clock.ages != nil {
			t.number = m.clock.ages.begin(*t)
		}
		return true
	case m.observes:
		m.WouldReject++
		t.unwatched = true
		return true
	}
	m.Rejected++
	return false
}

// catchUp lets happen what is due by itself and gives the coarse instant.
func (m *Machine) catchUp(now time.Duration) time.Duration {
	now = m.coarse(now)
	if m.clock.used {
		m.clock.advance(m, now, false)
	}
	return now
}

// coarse is the instant as the machine's clock has it.
func (m *Machine) coarse(now time.Duration) time.Duration {
	if m.resolution > 0 {
		now -= now % m.resolution
	}
	return now
}

// enters is the decision of a breaker that decides.
func (m *Machine) enters(now time.Duration, t *Token) bool {
	if m.state == Closed {
		if !m.atEntry || !m.tripped(now) {
			if !m.thin.admit(now) {
				return false
			}
			if m.early {
				t.stamp = m.window.admit(now)
			}
			return true
		}
		m.enter(now, Open)
	}
	if m.state == Open {
		switch {
		case m.forced:
			return false
		case m.tests != nil:
			ok := m.tests.admit(now, &m.timer)
			if ok {
				m.Probes++
			}
			return ok
		case !m.timer.over(now):
			return false
		}
		m.enter(now, HalfOpen)
	}
	slot, ok := m.gate.permits.admit(now)
	if !ok {
		if m.gate.refusalReopens {
			m.enter(now, Open)
		}
		return false
	}
	m.Probes++
	m.lastProbe, t.slot = now, slot
	return true
}

// tripped looks at the window as it is at now.
func (m *Machine) tripped(now time.Duration) bool {
	m.window.touch(now)
	return m.rule.trips(m.held)
}

// Record notes how an admitted call ended. What the result of an earlier state,
// or of a probe whose lease has passed, does is the dialect's; one that decides
// nothing counts as stale, unless it says nothing anyway.
func (m *Machine) Record(now time.Duration, t Token, v Verdict) { m.record(now, &t, v) }

func (m *Machine) record(now time.Duration, t *Token, v Verdict) {
	if t.unwatched {
		return
	}
	if m.plain && m.state == Closed && t.generation == m.generation {
		switch v {
		case Alive, Neutral:
		case Success:
			m.window.add(now, t.stamp, result{slow: m.slowOver > 0 && now-t.at > m.slowOver})
			if m.atResult && m.held.failures+m.held.slow > 0 && m.rule.trips(m.held) {
				m.enter(now, Open)
			}
		default:
			m.count(now, t, v)
		}
		return
	}
	now = m.catchUp(now)
	if m.clock.ages != nil && !m.clock.ages.end(t.number) {
		return // counted when it became slow
	}
	if m.state == Open && m.timer.Wake == wakeTouch && m.timer.over(now) {
		m.enter(now, HalfOpen)
	}
	m.settle(now, t, v, m.resultOf(now, t, v))
}

// count is what a result does to a closed breaker that is plain.
func (m *Machine) count(now time.Duration, t *Token, v Verdict) {
	if m.closedResult(now, t, m.resultOf(now, t, v)) == opens {
		m.enter(now, Open)
	}
}

func (m *Machine) resultOf(now time.Duration, t *Token, v Verdict) result {
	if v == Failure {
		m.lastError = now
	}
	return result{failed: v == Failure, slow: m.slowOver > 0 && now-t.at > m.slowOver, void: v != Success && v != Failure && v != Attempt}
}

// settle lets a result act.
func (m *Machine) settle(now time.Duration, t *Token, v Verdict, r result) {
	switch d := m.judge(now, t, v, r); d {
	case opens:
		m.enter(now, Open)
	case reopens:
		m.state = Open
		m.generation++
		m.Opens++
	case closes:
		m.enter(now, Closed)
		if m.gate.keep {
			m.window.add(now, 0, r)
		}
	case stale:
		if v != Neutral && v != Lost {
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
	reopens // opens, and the cooldown that has passed counts
	closes
	stale
)

func (m *Machine) judge(now time.Duration, t *Token, v Verdict, r result) decision {
	straggler := t.generation != m.generation
	switch m.state {
	case Closed:
		if straggler && !m.countsLate {
			m.window.touch(now)
			return stale
		}
		return m.closedResult(now, t, r)
	case Open:
		if m.tests != nil && !straggler {
			return m.testResult(now, v, r)
		}
		return m.openResult(now, t, v, r)
	case HalfOpen:
		if !straggler {
			return m.gate.record(now, t.slot, v, r, false)
		}
		switch m.stragglers.HalfOpen {
		case stragglerCount:
			return m.gate.record(now, slotID{}, v, r, true)
		case stragglerPermit:
			m.gate.permits.giveBack(slotID{})
			return m.gate.record(now, slotID{}, v, r, true)
		}
		return stale
	}
	return undecided
}

func (m *Machine) closedResult(now time.Duration, t *Token, r result) decision {
	if !m.window.add(now, t.stamp, r) {
		return stale
	}
	if !r.void && (m.atResult || m.atFailure && r.failed) && m.rule.trips(m.held) {
		return opens
	}
	return undecided
}

// testResult is the result of a call let through while open.
func (m *Machine) testResult(now time.Duration, v Verdict, r result) decision {
	if m.tests.hear(v) {
		m.close(now, r)
	}
	return undecided
}

// close closes at a success seen while open. Where any success does, the one
// that did is the first result of the new window, as in hystrix-go.
func (m *Machine) close(now time.Duration, r result) {
	m.enter(now, Closed)
	if m.stragglers.Open == stragglerClose {
		m.window.add(now, 0, r)
	}
}

// openResult is a result that comes while open.
func (m *Machine) openResult(now time.Duration, t *Token, v Verdict, r result) decision {
	does := m.stragglers.Open
	if m.forced {
		return undecided
	}
	if m.timer.From == fromLastError && r.failed && does != stragglerDrop {
		m.timer.restart(now)
	}
	switch does {
	case stragglerRecord:
		m.window.add(now, t.stamp, r)
		return undecided
	case stragglerExtend:
		if r.failed {
			m.timer.restart(now)
		}
		return undecided
	case stragglerClose:
		if v == Success {
			m.close(now, r)
		}
		return undecided
	case stragglerReopen:
		m.window.add(now, t.stamp, r)
		if !r.void && m.rule.trips(m.held) {
			return opens
		}
		return undecided
	}
	return stale
}

// State is the state at now. An open breaker becomes half-open with the first
// call after the cooldown, not by itself, unless its dialect reads the clock.
func (m *Machine) State(now time.Duration) State {
	now = m.catchUp(now)
	switch {
	case m.state == Closed:
		m.window.touch(now)
	case m.state == Open && m.timer.Wake == wakeTouch && !m.forced && m.timer.over(now):
		m.enter(now, HalfOpen)
	}
	return m.state
}

func (m *Machine) enter(now time.Duration, s State) {
	probed := m.state == HalfOpen
	m.state = s
	m.generation++
	if m.clears[s] {
		m.window.reset(now)
	}
	switch s {
	case Open:
		m.timer.begin(now)
		switch {
		case m.timer.From == fromLastError:
			m.timer.since = m.lastError
		case m.timer.From == fromLastProbe && probed:
			m.timer.since = m.lastProbe
		}
		m.Opens++
		if m.tests != nil {
			m.tests.reset()
		}
	case HalfOpen:
		m.gate.reset(now)
	case Closed:
		m.timer.closed()
		m.thin.begin(now)
		m.clock.ticked = now
		m.Closes++
	}
	m.clock.entry = now
}
