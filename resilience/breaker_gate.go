package resilience

import "time"

// How many probes half-open admits.
const (
	admitTotal    = "total"
	admitInFlight = "in_flight"
	admitEveryone = "everyone"
	admitInterval = "interval"
)

// What a neutral outcome means for a probe.
const (
	neutralSlotBack = "slot_back"
	neutralSuccess  = "success"
	neutralFailure  = "failure"
	neutralLost     = "lost"
	neutralReopen   = "reopen"
)

// What a call refused while half-open does.
const (
	refusalNothing = "nothing"
	refusalReopens = "reopens"
)

// gate is one half-open episode: what it admits, and what the results of the
// probes decide.
type gate struct {
	permits permits
	jury    jury
	neutral string

	refusalReopens bool // a call refused here opens the breaker
	keep           bool // the result that closes is the first of the new window
}

// reset begins an episode.
func (g *gate) reset(now time.Duration) {
	g.permits.reset()
	g.jury.reset(now)
}

// record notes a probe's result; judged are its verdict and slowness. A
// straggler has no slot of its own.
func (g *gate) record(now time.Duration, id slotID, v Verdict, r result, straggler bool) decision {
	if !straggler && !g.permits.holds(id) {
		return stale
	}
	if v == Neutral || v == Attempt {
		switch g.neutral {
		case neutralSlotBack:
			g.permits.giveBack(id)
			return undecided
		case neutralReopen:
			return reopens
		case neutralLost:
			return undecided
		case neutralSuccess:
			v = Success
		case neutralFailure:
			v = Failure
		}
	}
	if v == Lost {
		return undecided
	}
	r.failed, r.void = v == Failure || v == Suspect, false
	if !straggler {
		g.permits.end(id)
	}
	return g.jury.hear(now, r)
}

// permits bound the probes of an episode.
type permits interface {
	admit(now time.Duration) (slotID, bool)
	holds(id slotID) bool // the probe still has its slot
	end(id slotID)        // the probe gave a result
	giveBack(id slotID)   // the probe said nothing
	reset()
}

// slotID names one use of one slot.
type slotID struct {
	index int32
	gen   uint32
}

// slots lets exactly a number of probes through in one episode. A probe that
// has not reported within its lease gives its slot back.
type slots struct {
	lease time.Duration // -1: for ever
	size  int           // at the start of an episode
	slots []slot
}

// slot is one place; its generation tells a late result from that of the call
// which has the slot now.
type slot struct {
	state slotState
	gen   uint32
	since time.Duration
}

type slotState uint8

const (
	slotFree slotState = iota
	slotOut
	slotSpent
)

var _ permits = (*slots)(nil)

// admit takes a free slot. Leases are looked at here and nowhere else: a slot
// whose lease has passed is free again when the next call asks.
func (s *slots) admit(now time.Duration) (slotID, bool) {
	free := -1
	for i := range s.slots {
		p := &s.slots[i]
		if p.state == slotOut && s.lease >= 0 && now-p.since >= s.lease {
			p.state = slotFree
		}
		if p.state == slotFree && free < 0 {
			free = i
		}
	}
	if free < 0 {
		return slotID{}, false
	}
	p := &s.slots[free]
	p.state, p.since = slotOut, now
	p.gen++
	return slotID{int32(free), p.gen}, true
}

func (s *slots) holds(id slotID) bool {
	p := &s.slots[id.index]
	return p.gen == id.gen && p.state == slotOut
}

func (s *slots) end(id slotID) { s.slots[id.index].state = slotSpent }

// giveBack frees the slot; a straggler, which has none, makes one.
func (s *slots) giveBack(id slotID) {
	if id.gen == 0 {
		s.extra()
		return
	}
	s.slots[id.index].state = slotFree
}

// extra frees a spent slot, or adds one.
func (s *slots) extra() {
	for i := range s.slots {
		if s.slots[i].state == slotSpent {
			s.slots[i].state = slotFree
			return
		}
	}
	s.slots = append(s.slots, slot{})
}

func (s *slots) reset() {
	s.slots = s.slots[:s.size] // what was added in the last episode is gone
	for i := range s.slots {
		s.slots[i].state = slotFree
	}
}

// inFlight lets a number of probes through at once: a result makes room for the
// next.
type inFlight struct{ size, free int }

var _ permits = (*inFlight)(nil)

func (p *inFlight) admit(time.Duration) (slotID, bool) {
	if p.free <= 0 {
		return slotID{}, false
	}
	p.free--
	return slotID{gen: 1}, true
}

func (p *inFlight) holds(slotID) bool { return true }

func (p *inFlight) end(slotID) { p.free++ }

func (p *inFlight) giveBack(slotID) { p.free++ }

func (p *inFlight) reset() { p.free = p.size }

// everyone lets every call through.
type everyone struct{}

var _ permits = everyone{}

func (everyone) admit(time.Duration) (slotID, bool) { return slotID{gen: 1}, true }
func (everyone) holds(slotID) bool                  { return true }
func (everyone) end(slotID)                         {}
func (everyone) giveBack(slotID)                    {}
func (everyone) reset()                             {}

// tests let a number of calls through in each cooldown while the breaker stays
// open: need of them in a row that succeed close it.
type tests struct {
	size, need int
	left       int // of the present cooldown
	good       int
}

func (t *tests) admit(now time.Duration, timer *openTimer) bool {
	if timer.over(now) {
		timer.restart(now)
		t.left = t.size
	}
	if t.left == 0 {
		return false
	}
	t.left--
	return true
}

// hear reports whether the result closes the breaker.
func (t *tests) hear(v Verdict) bool {
	switch v {
	case Success, Alive:
		t.good++
		return t.good >= t.need
	case Failure, Suspect:
		t.good = 0
	}
	return false
}

func (t *tests) reset() { t.left, t.good = 0, 0 }
