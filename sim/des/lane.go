package des

import "time"

// lane queues the timers of one constant delay. They fire in the order in
// which they were set, so a ring does what a heap would, in O(1); only the
// lane's head stands in the heap. A timeout that is nearly always cancelled
// then costs one heap step per delay, not one per call.
type lane struct {
	delay    time.Duration
	priority Priority
	ring     []entry // power-of-two ring
	head, n  int
	stale    int
}

// maxLanes bounds the linear search in After; further constant delays use the
// heap.
const maxLanes = 8

// Constant gives the delay a lane of its own, if there is one left.
func (k *Kernel) Constant(d time.Duration, p Priority) {
	if len(k.lanes) == maxLanes || d < 0 {
		return
	}
	for i := range k.lanes {
		if k.lanes[i].delay == d && k.lanes[i].priority == p {
			return
		}
	}
	k.lanes = append(k.lanes, lane{delay: d, priority: p})
}

func (k *Kernel) enqueue(l *lane, index int, e entry) {
	if l.n == len(l.ring) {
		l.grow()
	}
	l.ring[(l.head+l.n)&(len(l.ring)-1)] = e
	if l.n++; l.n == 1 {
		k.push(e.standIn(index))
	}
}

// standIn is the heap's entry for the head of a lane: of the same instant and
// order, but with the lane's slot.
func (a entry) standIn(index int) entry {
	a.key = a.key&^slotMask | uint64(laneSlots+index)
	return a
}

// settleLane drops cancelled heads. It reports whether the head is live and is
// the one that top, the lane's entry in the heap, stands for; if not, the
// lane's place in the heap is corrected.
func (k *Kernel) settleLane(l *lane, index int, top entry) bool {
	for l.n > 0 {
		e := l.ring[l.head]
		if k.live(e) {
			if in := e.standIn(index); in != top {
				k.replaceTop(in)
				return false
			}
			return true
		}
		l.pop()
		l.stale--
	}
	k.pop()
	return false
}

func (l *lane) pop() {
	l.head = (l.head + 1) & (len(l.ring) - 1)
	l.n--
}

func (l *lane) grow() {
	size := 2 * len(l.ring)
	if size == 0 {
		size = 64
	}
	bigger := make([]entry, size)
	for i := 0; i < l.n; i++ {
		bigger[i] = l.ring[(l.head+i)&(len(l.ring)-1)]
	}
	l.ring, l.head = bigger, 0
}

// sweepLane drops the cancelled entries behind the head. The head stays, live
// or not, because the heap holds its key.
func (k *Kernel) sweepLane(l *lane) {
	mask := len(l.ring) - 1
	kept := 1
	for i := 1; i < l.n; i++ {
		e := l.ring[(l.head+i)&mask]
		if k.live(e) {
			l.ring[(l.head+kept)&mask] = e
			kept++
		}
	}
	l.stale = 0
	if !k.live(l.ring[l.head]) {
		l.stale = 1
	}
	l.n = kept
}
