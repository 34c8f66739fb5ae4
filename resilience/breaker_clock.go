package resilience

import (
	"math"
	"time"
)

// machineClock holds what a breaker does by itself as time passes: decide at a
// tick, turn half-open, end half-open, find calls slow that still run. The
// machine reads no clock, so it catches up whenever it is asked; due says when
// it should be asked.
type machineClock struct {
	used    bool
	tick    time.Duration // 0: none
	ticked  time.Duration // last tick looked at, or the entry into closed
	wakes   bool
	maxStay time.Duration // -1: for ever
	then    State
	entry   time.Duration // into the present state
	ages    *ages
}

func (c *Breaker) clock() machineClock {
	k := machineClock{wakes: c.Open.Wake == wakeTimer, maxStay: c.HalfOpen.MaxStay, then: Open}
	if c.HalfOpen.MaxStay == 0 {
		k.maxStay = -1
	}
	if c.HalfOpen.Then == "closed" {
		k.then = Closed
	}
	if c.Evaluate == atTick {
		k.tick = c.Tick
	}
	if c.Slow.InFlight && c.Slow.Over > 0 {
		k.ages = &ages{over: c.Slow.Over}
	}
	k.used = k.wakes || k.maxStay >= 0 || k.tick > 0 || k.ages != nil
	return k
}

const never = time.Duration(math.MaxInt64)

// due is the next instant at which something happens by itself.
func (k *machineClock) due(m *Machine) time.Duration {
	return min(k.move(m), k.age(m))
}

// age is when the next call becomes slow.
func (k *machineClock) age(m *Machine) time.Duration {
	if k.ages != nil && !m.forced && !m.disabled {
		if at, ok := k.ages.due(); ok {
			return at
		}
	}
	return never
}

// move is when the state moves, or it is decided whether it does.
func (k *machineClock) move(m *Machine) time.Duration {
	next := never
	if m.forced || m.disabled {
		return next
	}
	switch m.state {
	case Closed:
		if k.tick > 0 && m.held.failures+m.held.slow > 0 {
			next = k.ticked + k.tick
		}
	case Open:
		if k.wakes {
			next = m.timer.due()
		}
	case HalfOpen:
		if k.maxStay >= 0 {
			next = k.entry + k.maxStay
		}
	}
	return next
}

// advance lets everything happen that is due before now and, of what is due at
// now, all but ages: a call that returns at that instant is not slow. With all
// those happen too.
func (k *machineClock) advance(m *Machine, now time.Duration, all bool) {
	for {
		age := k.age(m)
		k.skipTicks(m, min(now, age))
		at := k.move(m)
		if age < at && (age < now || age == now && all) {
			k.slow(m, age)
			continue
		}
		if at > now {
			return
		}
		switch m.state {
		case Closed:
			k.ticked = at
			m.window.touch(at - 1) // the buckets that end here are whole
			if m.rule.trips(m.held) {
				m.enter(at, Open)
			}
		case Open:
			m.enter(at, HalfOpen)
		case HalfOpen:
			m.enter(at, k.then)
		}
	}
}

// skipTicks passes the ticks at which there is nothing to decide.
func (k *machineClock) skipTicks(m *Machine, now time.Duration) {
	if k.tick == 0 || m.state != Closed {
		return
	}
	if c := m.held; c.failures+c.slow == 0 {
		// With nothing to decide that of now is passed too: what comes at a
		// tick always waits for the next one.
		k.ticked = max(k.ticked, k.entry+(now-k.entry)/k.tick*k.tick)
	}
}

// slow counts the call that is due as a slow one, if it is of this state.
func (k *machineClock) slow(m *Machine, at time.Duration) {
	if call := k.ages.take(); call.generation == m.generation && m.state != Open {
		m.settle(at, &call.Token, Success, result{slow: true})
	}
}

// Due is the next instant at which the breaker changes by itself, a far one
// when it does not.
func (m *Machine) Due() time.Duration {
	if !m.clock.used {
		return never
	}
	due := m.clock.due(m)
	if r := m.resolution; r > 0 && due < never-r {
		due = (due + r - 1) / r * r // its clock shows that instant only then
	}
	return due
}

// Tick lets everything happen that is due at now.
func (m *Machine) Tick(now time.Duration) {
	if m.clock.used {
		m.clock.advance(m, m.coarse(now), true)
	}
}
