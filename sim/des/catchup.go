package des

import "time"

// CatchUp drives the kernel by a clock of somebody else: it moves the clock to
// now and fires what was due up to due, in order. now must not go back, and due
// is now, or less where what is due at now comes after something that the caller
// is about to do. An event that comes late finds the late clock, so that what it
// schedules counts from when it really happened; a delay of 0 fires at once.
//
// Sources and watchers belong to virtual time, and a kernel that is driven so
// has none.
func (k *Kernel) CatchUp(now, due time.Duration) {
	k.now, k.floor = now, now
	for k.NextAt() <= due && k.step(due) {
	}
}

// NextAt is the earliest instant at which something may be due, Never when
// nothing is. It may be that of a timer that was stopped.
func (k *Kernel) NextAt() time.Duration {
	if len(k.heap) == 0 {
		return Never
	}
	return k.heap[0].at
}

// Exhausted reports that the kernel has scheduled all the events that it can
// tell apart, but for the next billion.
func (k *Kernel) Exhausted() bool { return k.number > lastNumber }
