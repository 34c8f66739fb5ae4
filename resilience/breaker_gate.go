package resilience

import "time"

// gate lets exactly a number of probes through in one half-open episode. It
// closes the breaker when all of them succeeded and opens it at the first
// failure. A probe that says nothing, or that does not report within its lease,
// gives its slot back.
type gate struct {
	lease time.Duration
	slots []probe
	good  int
}

// probe is one slot; its generation tells a late result from that of the call
// which has the slot now.
type probe struct {
	state probeState
	gen   uint32
	since time.Duration
}

type probeState uint8

const (
	probeFree probeState = iota
	probeOut
	probeGood
)

// slotID names one use of one slot.
type slotID struct {
	index int32
	gen   uint32
}

func newGate(probes int, lease time.Duration) gate {
	return gate{lease: lease, slots: make([]probe, probes)}
}

// reset begins an episode.
func (g *gate) reset() {
	g.good = 0
	for i := range g.slots {
		g.slots[i].state = probeFree
	}
}

// admit takes a free slot. Leases are looked at here and nowhere else: a slot
// whose lease has passed is free again when the next call asks.
func (g *gate) admit(now time.Duration) (slotID, bool) {
	free := -1
	for i := range g.slots {
		p := &g.slots[i]
		if p.state == probeOut && now-p.since >= g.lease {
			p.state = probeFree
		}
		if p.state == probeFree && free < 0 {
			free = i
		}
	}
	if free < 0 {
		return slotID{}, false
	}
	p := &g.slots[free]
	p.state, p.since = probeOut, now
	p.gen++
	return slotID{int32(free), p.gen}, true
}

// record notes a probe's result.
func (g *gate) record(id slotID, v Verdict) decision {
	p := &g.slots[id.index]
	if p.gen != id.gen || p.state != probeOut {
		return stale
	}
	switch v {
	case Success, Alive:
		p.state = probeGood
		if g.good++; g.good == len(g.slots) {
			return closes
		}
	case Failure:
		return opens
	case Neutral:
		p.state = probeFree
	}
	return undecided
}
