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
	if k.ages != nil {
		if at, ok := k.ages.due(); ok {
			next = min(next, at)
		}
	}
	return next
}

// advance lets everything happen that is due before now and, of what is due at
// now, all but ages: a call that returns at that instant is not slow. With all
// those happen too.
func (k *machineClock) advance(m *Machine, now time.Duration, all bool) {
	for {
		k.skipTicks(m, now)
		at := k.due(m)
		if at > now {
			return
		}
		if k.ages != nil {
			if a, ok := k.ages.due(); ok && a == at {
				if at == now && !all {
					return
				}
				k.slow(m, at)
				continue
			}
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
	return m.clock.due(m)
}

// Tick lets everything happen that is due at now.
func (m *Machine) Tick(now time.Duration) {
	if m.clock.used {
		m.clock.advance(m, now, true)
	}
}
