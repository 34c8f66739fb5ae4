// Package des is the simulation kernel: a virtual clock in integer
// nanoseconds, an event queue, timers that cost nothing to cancel, and the
// gauges and stations every figure is made from.
package des

import "time"

// Event is something that happens at an instant. A pooled frame implements it,
// so that scheduling allocates nothing.
type Event interface{ Fire() }

// Priority orders events of one instant; within one priority first come,
// first served.
type Priority uint8

// At one instant replies come before timeouts, timeouts before arrivals, and
// whoever only looks comes last: a reply due exactly at the deadline is in
// time.
const (
	Release Priority = iota
	Expire
	Arrive
	Observe
)

// Timer is a scheduled event: a slot and the number of the scheduling, modulo
// 2^32. The zero Timer is none; stopping it, or one that has fired, does nothing.
type Timer struct{ slot, number uint32 }

// Scheduler is all that a policy sees of time.
type Scheduler interface {
	// Now is the time since the start of the run.
	Now() time.Duration
	// After fires e when d has passed; d must not be negative.
	After(d time.Duration, p Priority, e Event) Timer
	// Stop cancels t and reports whether it was still to fire.
	Stop(t Timer) bool
}

// ConstantDelays is an optional ability of a Scheduler: a policy that always
// waits the same time names it once, and those timers cost a queue step
// instead of a heap step.
type ConstantDelays interface {
	Constant(d time.Duration, p Priority)
}

// NameConstant tells s about a constant delay where s can use it.
func NameConstant(s Scheduler, d time.Duration, p Priority) {
	if c, ok := s.(ConstantDelays); ok {
		c.Constant(d, p)
	}
}
