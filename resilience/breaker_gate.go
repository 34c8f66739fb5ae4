package resilience

import "time"

// gate lets exactly a number of probes through in one half-open episode. A
// probe that says nothing, or that does not report within its lease, gives its
// slot back.
type gate struct {
	lease time.Duration
	slots []probe
	good  int
}

// probe is one slot: its generation tells a late result from its own.
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

// decision is what a probe's result does to the breaker.
type decision uint8

const (
	undecided decision = iota
	closes
	reopens
	late // the probe's lease had passed and its slot is somebody else's
)

func (g *gate) reset() {
	g.good = 0
	for i := range g.slots {
		g.slots[i].state = probeFree
		g.slots[i].gen++
	}
}

// admit takes a slot, one whose lease has passed if no other is free.
func (g *gate) admit(now time.Duration) (slot int32, gen uint32, ok bool) {
	for i := range g.slots {
		p := &g.slots[i]
		if p.state == probeOut && now-p.since >= g.lease {
			p.state = probeFree
		}
		if p.state == probeFree {
			p.gen++
			p.state, p.since = probeOut, now
			return int32(i), p.gen, true
		}
	}
	return 0, 0, false
}

// record notes a probe's result.
func (g *gate) record(slot int32, gen uint32, v Verdict) decision {
	p := &g.slots[slot]
	if p.gen != gen || p.state != probeOut {
		return late
	}
	switch v {
	case Success, Alive:
		p.state = probeGood
		if g.good++; g.good == len(g.slots) {
			return closes
		}
	case Failure:
		return reopens
	case Neutral:
		p.state = probeFree
	}
	return undecided
}
