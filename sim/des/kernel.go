package des

import (
	"context"
	"errors"
	"time"
)

// Never is an instant after every run.
const Never = time.Duration(1<<63 - 1)

// ErrBudget says that a run used up its event budget.
var ErrBudget = errors.New("event budget exceeded")

// ErrTooLong says that a run scheduled all the events that can be told apart.
var ErrTooLong = errors.New("more than 136 billion events in one run")

// Source is a stream of events known one ahead, such as the arrivals of an
// endpoint: its next instant is kept beside the heap.
type Source interface {
	// Next gives the instant of the next event, not before the last one; ok is
	// false when the stream has ended.
	Next() (at time.Duration, ok bool)
	Event
}

// Watcher is told when the clock is about to pass an instant it asked for,
// before any event of that instant: windows are half-open, [from, to).
type Watcher interface {
	// Cross closes everything up to at and returns the next instant to watch.
	Cross(at time.Duration) (next time.Duration)
}

// Kernel is the discrete-event engine. It is used by one goroutine.
type Kernel struct {
	now    time.Duration
	floor  time.Duration // the clock shows at least this while events fire; 0 in virtual time
	number uint64        // of the last scheduling
	fired  uint64

	heap      []entry
	heapStale int
	slots     []*[slotChunk]slot // in chunks: they never move, and growing leaves no garbage
	made      uint32             // slots made so far; slot 0 is nobody's
	free      []uint32
	lanes     []lane

	sources []source
	first   int // index of the source with the earliest next event

	watchAt time.Duration
	watcher Watcher

	Budget uint64 // events a run may fire; 0 is no limit
}

// entry is one place in the queue: 16 bytes, so that four children of a node
// share a cache line. key is, from the top, the priority (2 bits), the number of
// the scheduling (37 bits) and the slot (25 bits): one comparison settles a tie,
// and the number tells whether the slot still holds this timer.
type entry struct {
	at  time.Duration
	key uint64
}

const (
	slotBits   = 25
	numberBits = 37
	slotMask   = 1<<slotBits - 1
	numberMask = 1<<numberBits - 1
	slotChunk  = 1 << 10

	// laneSlots are the slots, at the end of their range, that stand for the
	// head of a lane.
	laneSlots = slotMask + 1 - maxLanes

	// lastNumber leaves room for what is scheduled between two polls.
	lastNumber = numberMask - 1<<30
)

func keyOf(p Priority, number uint64, slot uint32) uint64 {
	return uint64(p)<<62 | number<<slotBits | uint64(slot)
}

// slot is the place of a timer that the entry refers to.
func (a entry) slot() uint32 { return uint32(a.key & slotMask) }

// number is the entry's place in the order of scheduling.
func (a entry) number() uint64 { return a.key >> slotBits & numberMask }

func (a entry) before(b entry) bool {
	return a.at < b.at || (a.at == b.at && a.key < b.key)
}

// slot is a timer's. state is the number of its scheduling, 0 when it is free,
// and in the lowest byte the lane that queues it: its index and 1, 0 for the heap.
type slot struct {
	event Event
	state uint64
}

type source struct {
	at  time.Duration
	key uint64
	src Source
}

// sweepAt is the number of cancelled entries from which a queue that is mostly
// cancelled entries is swept.
const sweepAt = 4096

// NewKernel returns a kernel at time 0.
func NewKernel() *Kernel {
	return &Kernel{slots: []*[slotChunk]slot{new([slotChunk]slot)}, made: 1, watchAt: Never, first: -1}
}

var (
	_ Scheduler      = (*Kernel)(nil)
	_ ConstantDelays = (*Kernel)(nil)
)

// Now is the current instant.
func (k *Kernel) Now() time.Duration { return k.now }

// Fired is the number of events fired so far.
func (k *Kernel) Fired() uint64 { return k.fired }

// Live is the number of timers still to fire; 0 at the end of a run in which
// nothing was left behind.
func (k *Kernel) Live() int { return int(k.made) - 1 - len(k.free) }

// Watch has w told before the clock reaches at.
func (k *Kernel) Watch(at time.Duration, w Watcher) { k.watchAt, k.watcher = at, w }

// AddSource adds a stream of events; they fire at priority Arrive.
func (k *Kernel) AddSource(s Source) {
	k.sources = append(k.sources, source{src: s})
	k.pull(len(k.sources) - 1)
}

// After fires e when d has passed.
func (k *Kernel) After(d time.Duration, p Priority, e Event) Timer {
	if d < 0 {
		panic("des: negative delay")
	}
	at := k.now + d
	if at < k.now {
		at = Never
	}
	var id uint32
	if n := len(k.free); n > 0 {
		id = k.free[n-1]
		k.free = k.free[:n-1]
	} else {
		id = k.grow()
	}
	s := k.slot(id)
	s.event = e
	k.number++
	s.state = k.number << 8
	en := entry{at: at, key: keyOf(p, k.number, id)}
	for i := range k.lanes {
		if l := &k.lanes[i]; l.delay == d && l.priority == p {
			s.state |= uint64(i + 1)
			k.enqueue(l, i, en)
			return Timer{id, uint32(k.number)}
		}
	}
	k.push(en)
	return Timer{id, uint32(k.number)}
}

// grow makes one more slot. It is seldom called: After is faster without it.
//
//go:noinline
func (k *Kernel) grow() uint32 {
	if k.made == laneSlots {
		panic("des: more than 33 million timers pending")
	}
	if k.made%slotChunk == 0 {
		k.slots = append(k.slots, new([slotChunk]slot))
	}
	k.made++
	return k.made - 1
}

func (k *Kernel) slot(id uint32) *slot { return &k.slots[id/slotChunk][id%slotChunk] }

// live reports whether the slot of e still holds e's timer.
func (k *Kernel) live(e entry) bool { return k.slot(e.slot()).state>>8 == e.number() }

// Stop cancels t. The entry stays in its queue until its turn comes or until
// most of the queue is cancelled; the slot is free at once.
func (k *Kernel) Stop(t Timer) bool {
	slot := k.slot(t.slot)
	state := slot.state
	if t.slot == 0 || uint32(state>>8) != t.number {
		return false
	}
	k.release(slot, t.slot)
	lane := int(state & 0xff)
	if lane == 0 {
		if k.heapStale++; k.heapStale > sweepAt && k.heapStale > len(k.heap)/2 {
			k.sweepHeap()
		}
		return true
	}
	l := &k.lanes[lane-1]
	if l.stale++; l.stale > sweepAt && l.stale > l.n/2 {
		k.sweepLane(l)
	}
	return true
}

func (k *Kernel) release(s *slot, id uint32) {
	s.state = 0 // its event stays until the next one: frames are kept anyway
	k.free = append(k.free, id)
}

// step fires the next event, if there is one not after until.
func (k *Kernel) step(until time.Duration) bool {
	for {
		var head entry
		fromSource := false
		if len(k.heap) > 0 {
			head = k.heap[0]
		} else {
			head.at = Never
			head.key = ^uint64(0)
		}
		if k.first >= 0 {
			if s := &k.sources[k.first]; s.at < head.at || (s.at == head.at && s.key < head.key) {
				head.at, fromSource = s.at, true
			}
		}
		if head.at > until || head.at == Never {
			return false
		}
		if !fromSource {
			if slot := head.slot(); slot >= laneSlots {
				index := int(slot - laneSlots)
				l := &k.lanes[index]
				if !k.settleLane(l, index, head) {
					continue // the lane's head was cancelled and another took its place
				}
				head = l.ring[l.head]
				l.pop()
				if l.n > 0 {
					k.replaceTop(l.ring[l.head].standIn(index))
				} else {
					k.pop()
				}
			} else {
				k.pop()
				if !k.live(head) {
					k.heapStale--
					continue
				}
			}
		}
		for head.at >= k.watchAt {
			at := k.watchAt
			k.now = at
			k.watchAt = k.watcher.Cross(at)
		}
		k.now = max(head.at, k.floor)
		k.fired++
		if fromSource {
			i := k.first
			k.sources[i].src.Fire()
			k.pull(i)
			return true
		}
		id := head.slot()
		s := k.slot(id)
		e := s.event
		k.release(s, id)
		e.Fire()
		return true
	}
}

// Run fires every event before until and leaves the clock there. It stops
// early with ctx's error, ErrBudget or ErrTooLong.
func (k *Kernel) Run(ctx context.Context, until time.Duration) error {
	const poll = 1 << 14
	next := k.fired + poll
	for k.step(until - 1) {
		if k.fired >= next {
			next = k.fired + poll
			if err := ctx.Err(); err != nil {
				return err
			}
			if k.number > lastNumber {
				return ErrTooLong
			}
		}
		if k.Budget > 0 && k.fired >= k.Budget {
			return ErrBudget
		}
	}
	for k.watchAt <= until && k.watcher != nil {
		at := k.watchAt
		k.now = at
		k.watchAt = k.watcher.Cross(at)
	}
	k.now = until
	return nil
}

// pull asks source i for its next event and finds the earliest source again.
func (k *Kernel) pull(i int) {
	s := &k.sources[i]
	at, ok := s.src.Next()
	if !ok {
		at = Never
	}
	k.number++
	s.at, s.key = at, keyOf(Arrive, k.number, 0)
	if len(k.sources) == 1 {
		k.first = 0
	} else {
		best := 0
		for j := 1; j < len(k.sources); j++ {
			a, b := &k.sources[j], &k.sources[best]
			if a.at < b.at || (a.at == b.at && a.key < b.key) {
				best = j
			}
		}
		k.first = best
	}
	if k.sources[k.first].at == Never {
		k.first = -1
	}
}
