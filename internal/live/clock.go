package live

import (
	"time"

	"blastradius/sim/des"
)

// enter takes the policies for this goroutine and lets what was due happen
// first. first is 1 when the caller brings a reply, which comes before what is
// due at the same instant, and 0 otherwise. The clock is read outside of the
// mutex: an arrival is when it came and not when it had its turn.
func (e *Engine) enter(first time.Duration) {
	now := time.Since(e.begun)
	e.mu.Lock()
	now = max(now, e.kernel.Now())
	e.kernel.CatchUp(now, now-first)
}

// exit gives the policies back, with the timer set for what is due next. It is
// often set too early, since most timers are stopped before they are due; then
// it goes off for nothing, once for many calls.
func (e *Engine) exit() {
	k := e.kernel
	next := k.NextAt()
	if now := k.Now(); next <= now {
		k.CatchUp(now, now)
		next = k.NextAt()
	}
	if next < e.armed && !e.closed {
		e.arm(next)
	}
	e.mu.Unlock()
}

func (e *Engine) arm(at time.Duration) {
	e.armed = at
	wait := at - e.kernel.Now()
	if e.timer == nil {
		e.timer = time.AfterFunc(wait, e.tick)
		return
	}
	e.timer.Reset(wait)
}

// tick is the timer.
func (e *Engine) tick() {
	e.enter(0)
	e.armed = des.Never
	if e.kernel.Exhausted() {
		panic("live: more than 136 billion timers in one engine")
	}
	e.exit()
}
