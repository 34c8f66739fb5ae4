package sim

import (
	"math"
	"slices"
	"time"

	"blastradius/sim/des"
)

// StateChange is one transition of a breaker.
type StateChange struct {
	Breaker string
	At      time.Duration
	From    int // 0 closed, 1 half-open, 2 open
	To      int
}

// The states of a breaker as gauges and series show them.
const (
	stateClosed   = 0
	stateHalfOpen = 1
	stateOpen     = 2
)

// breakerFigures makes the figures of one breaker from its transitions: flaps,
// dwell, time open, detection. Transitions are few, so they are kept.
type breakerFigures struct {
	name    string // dependency.payments.breaker
	kernel  *des.Kernel
	changes []StateChange
	dwell   time.Duration // a closed spell shorter than this between two opens is a flap

	ratio float64 // trip ratio, 1 for a rule without one
	base  float64 // true failure probability of an attempt that no fault touches
	// touched holds, for the last attempts (as many as the breaker's window),
	// whether a fault changed them.
	touched  []bool
	at       int
	nTouched int
	seen     int

	dep        *dependency
	faultStart time.Duration // first fault of the dependency; -1 without one
	falseOpens []time.Duration

	openTime, halfTime des.Gauge
}

// attempted counts one attempt at the dependency.
func (b *breakerFigures) attempted(touched bool) {
	if b.touched[b.at] {
		b.nTouched--
	}
	b.touched[b.at] = touched
	if touched {
		b.nTouched++
	}
	if b.at++; b.at == len(b.touched) {
		b.at = 0
	}
	b.seen++
}

// observe hears the breaker's transitions.
func (b *breakerFigures) observe(o des.Observation) {
	b.changes = append(b.changes, StateChange{b.name, o.At, o.From, o.To})
	set := func(g *des.Gauge, on bool) {
		n := int64(0)
		if on {
			n = 1
		}
		g.Set(o.At, n)
	}
	set(&b.openTime, o.To == stateOpen)
	set(&b.halfTime, o.To == stateHalfOpen)
	if o.To == stateOpen && o.From == stateClosed && b.isFalse(o.At) {
		b.falseOpens = append(b.falseOpens, o.At)
	}
}

// isFalse reports whether the dependency had no fault active and, over the
// breaker's window, a true failure probability below the trip ratio. An
// attempt that a fault touched counts as a certain failure.
func (b *breakerFigures) isFalse(now time.Duration) bool {
	for i := range b.dep.faults {
		if b.dep.faults[i].Active(now) {
			return false
		}
	}
	n := min(b.seen, len(b.touched))
	if n == 0 {
		return b.base < b.ratio
	}
	share := float64(b.nTouched) / float64(n)
	return share+float64((1-share)*b.base) < b.ratio
}

// register makes the figures of every phase.
func (b *breakerFigures) register(r *recorder) {
	open, half := r.gaugeOf(&b.openTime), r.gaugeOf(&b.halfTime)
	r.add(func(p phaseView, out *Figures) {
		opens, flaps, falseOpens := 0, 0, 0
		firstOpen, shortest := time.Duration(-1), time.Duration(math.MaxInt64)
		closedAt := time.Duration(-1) // the last closing after an open, anywhere before
		for _, c := range b.changes {
			in := c.At >= p.From && c.At < p.To
			switch c.To {
			case stateClosed:
				closedAt = c.At
			case stateOpen:
				if c.From == stateClosed && closedAt >= 0 && in {
					spell := c.At - closedAt
					shortest = min(shortest, spell)
					if spell < b.dwell {
						flaps++
					}
				}
				if in {
					opens++
					if firstOpen < 0 {
						firstOpen = c.At
					}
				}
			}
		}
		for _, at := range b.falseOpens {
			if at >= p.From && at < p.To {
				falseOpens++
			}
		}
		openShare, _ := p.level(open)
		halfShare, _ := p.level(half)
		hours := p.seconds / 3600
		put := func(name string, v float64) { out.put(b.name+"."+name, v) }
		put("opens_per_hour", float64(opens)/hours)
		put("time_open", float64(openShare*p.seconds))
		put("time_open_share", openShare)
		put("time_open_per_hour", float64(openShare*3600))
		put("flaps", float64(flaps))
		put("flaps_per_hour", float64(flaps)/hours)
		put("false_opens", float64(falseOpens))
		put("stuck_half_open", float64(halfShare*p.seconds))
		if shortest < math.MaxInt64 {
			put("closed_dwell_min", seconds(shortest))
		} else {
			out.absent(b.name+".closed_dwell_min", "never closed between two opens")
		}
		if firstOpen >= 0 {
			put("first_open_at", seconds(firstOpen))
		} else {
			out.absent(b.name+".first_open_at", "never opened")
		}
		b.detection(p, out)
	})
}

// detection is the time from the dependency's first fault to the first open
// after it.
func (b *breakerFigures) detection(p phaseView, out *Figures) {
	name := b.name + ".detection_delay"
	switch {
	case b.faultStart < 0:
		out.absent(name, "the dependency has no fault")
		return
	case p.Name != PhaseFault && !p.all:
		out.absent(name, "only given for the whole run and for phase fault")
		return
	}
	i := slices.IndexFunc(b.changes, func(c StateChange) bool { return c.To == stateOpen && c.At >= b.faultStart })
	if i < 0 {
		out.absent(name, "it never opened after the fault began")
		return
	}
	out.put(name, seconds(b.changes[i].At-b.faultStart))
}
