package sim

import (
	"math"
	"slices"
	"time"

	"blastradius/sim/dist"
)

// fate is what became of one request in the twin and in the arm: one byte, so
// that the two can be compared request by request after both runs.
type fate uint8

const (
	fateDone fate = 1 << iota // it ended, or is past saving
	fateGood                  // answered within the SLO, or the deadline when there is none; degraded or not
	fateLive                  // answered undegraded
	armShift = 3              // the arm's bits stand above the twin's
)

// Hurt names a request that was good in the twin and is not in the arm.
type Hurt struct {
	Endpoint string
	Request  uint64
	Took     time.Duration
	Direct   bool // its endpoint calls a faulted dependency
}

// settle notes the fate of one request.
func (e *endpoint) settle(r *request, took time.Duration, good, live bool) {
	f := fateDone
	if good {
		f |= fateGood
	}
	if live {
		f |= fateLive
	}
	at := &e.fates[r.number()]
	if e.sys.config.Twin {
		*at |= f
		return
	}
	*at |= f << armShift
	if !good && *at&fateGood != 0 && (e.worst == nil || took > e.worst.Took) && e.sys.inFault(r.arrived) {
		e.worst = &Hurt{Endpoint: e.name, Request: r.number(), Took: took, Direct: e.direct}
	}
}

func (s *system) inFault(at time.Duration) bool {
	for _, p := range s.phases {
		if p.Name == PhaseFault {
			return at >= p.From && at < p.To
		}
	}
	return false
}

// settleInside notes the requests that the end of the run finds in flight:
// those older than what counts as good are lost whatever comes.
func (e *endpoint) settleInside(now time.Duration) {
	e.requests.Each(func(r *request) {
		if !r.active || now-r.arrived <= e.good {
			return
		}
		r.account().lateInside++
		e.bins[3][r.bin]++
		if e.fates != nil {
			e.settle(r, now-r.arrived, false, false)
		}
	})
}

// hurtCount counts the requests of one set of endpoints in one window.
type hurtCount struct{ hurt, all int64 }

func (h hurtCount) put(out *Figures, name, none string) {
	out.ratio(name, float64(h.hurt), float64(h.all), none)
}

// recovery: back within recoverShare of the twin for recoverSpan, looked at in
// steps of recoverSlot.
const (
	recoverShare = 0.01
	recoverSpan  = 10 * time.Second
	recoverSlot  = 100 * time.Millisecond
)

// Reasons for which a blast radius has no figure.
const (
	noFault      = "no fault in the scenario"
	noTwin       = "the run ended before its twin could be compared"
	allDirect    = "every endpoint calls a faulted dependency"
	noneDirect   = "no endpoint calls a faulted dependency"
	neverContain = "never: requests that do not need it were hurt until the fault ended"
	neverRecover = "never: not within 1% of the twin for 10 s before the run ended"
	faultToEnd   = "the fault lasts until the run ends"
)

// blast compares every request with its twin. Arrival instants are drawn
// again from their streams instead of being kept.
func (s *system) blast(out map[string]*Figures) {
	from, to, faulty := faultSpan(s.config)
	if !faulty {
		for _, f := range out {
			for _, name := range blastMetrics {
				f.absent("blast_radius."+name, noFault)
			}
		}
		return
	}
	from, to = max(from, s.config.Warmup), min(to, s.config.Duration)
	contain, lastHurt := false, time.Duration(-1)
	counts := map[string]*[2]hurtCount{}
	for _, p := range s.phases {
		counts[p.Name] = &[2]hurtCount{}
	}
	for _, e := range s.endpoints {
		e.replay(func(n uint64, at time.Duration) bool {
			f := e.fates[n]
			if f&fateDone == 0 || f&(fateDone<<armShift) == 0 {
				return true
			}
			hurt := f&fateGood != 0 && f&(fateGood<<armShift) == 0
			for _, p := range s.phases {
				if at >= p.From && at < p.To {
					c := &counts[p.Name][bit(e.direct)]
					c.all++
					if hurt {
						c.hurt++
					}
				}
			}
			if hurt && !e.direct && at >= from && at < to {
				contain = true
				lastHurt = max(lastHurt, at)
			}
			return true
		})
	}
	for name, f := range out {
		c := counts[name]
		if name == PhaseAll && counts[PhaseFault] != nil {
			c = counts[PhaseFault]
		}
		c[0].put(f, "blast_radius.collateral", s.none(false, allDirect))
		c[1].put(f, "blast_radius.direct", s.none(true, noneDirect))
		s.putTimes(f, name, from, to, contain, lastHurt)
	}
}

// none says why a set of endpoints has no figure.
func (s *system) none(direct bool, why string) string {
	if slices.ContainsFunc(s.endpoints, func(e *endpoint) bool { return e.direct == direct }) {
		return "no request arrived"
	}
	return why
}

// putTimes gives time_to_contain and time_to_recover, for the whole run and
// the fault.
func (s *system) putTimes(f *Figures, phase string, from, to time.Duration, hurt bool, last time.Duration) {
	const contain, recoverName = "blast_radius.time_to_contain", "blast_radius.time_to_recover"
	if phase != PhaseAll && phase != PhaseFault {
		f.absent(contain, "only given for the whole run and for phase fault")
		f.absent(recoverName, "only given for the whole run and for phase fault")
		return
	}
	switch {
	case !slices.ContainsFunc(s.endpoints, func(e *endpoint) bool { return !e.direct }):
		f.absent(contain, allDirect)
	case !hurt:
		f.put(contain, 0)
	case last >= to-time.Second:
		f.absent(contain, neverContain)
	default:
		f.put(contain, seconds(last-from))
	}
	if to >= s.config.Duration {
		f.absent(recoverName, faultToEnd)
		return
	}
	if t, ok := s.recovered(to); ok {
		f.put(recoverName, seconds(t-to))
	} else {
		f.absent(recoverName, neverRecover)
	}
}

// replay draws an endpoint's arrivals again.
func (e *endpoint) replay(visit func(n uint64, at time.Duration) bool) {
	c := e.sys.config
	var arrivals = e.sys.endpointConfig(e.name).Arrivals.Arrivals()
	var r dist.Rand
	r.Key(arrivalStream(c.Seed, e.name))
	last := time.Duration(-1)
	for n := uint64(0); n < uint64(len(e.fates)); n++ {
		at, ok := arrivals.Next(last, &r)
		if !ok || at >= e.end {
			return
		}
		last = at
		if !visit(n, at) {
			return
		}
	}
}

// recovered finds the first instant from end on after which, for recoverSpan,
// every endpoint answers as large a share undegraded as its twin, less 1 %.
func (s *system) recovered(end time.Duration) (time.Duration, bool) {
	slots := int((s.config.Duration - end) / recoverSlot)
	span := int(recoverSpan / recoverSlot)
	if slots < span {
		return 0, false
	}
	good := make([]bool, slots-span+1)
	for i := range good {
		good[i] = true
	}
	for _, e := range s.endpoints {
		// deficit[i] and count[i] are prefix sums over slots of requests that the
		// twin answered and the arm did not, and of all.
		deficit, count := make([]int32, slots+1), make([]int32, slots+1)
		e.replay(func(n uint64, at time.Duration) bool {
			if at < end {
				return true
			}
			slot := int((at - end) / recoverSlot)
			f := e.fates[n]
			if slot >= slots || f&fateDone == 0 {
				return slot < slots
			}
			count[slot+1]++
			deficit[slot+1] += int32(f&fateLive>>2) - int32(f&(fateLive<<armShift)>>(2+armShift))
			return true
		})
		for i := 1; i <= slots; i++ {
			deficit[i] += deficit[i-1]
			count[i] += count[i-1]
		}
		for i := range good {
			d, n := deficit[i+span]-deficit[i], count[i+span]-count[i]
			if float64(d) > math.Max(0, recoverShare*float64(n)) {
				good[i] = false
			}
		}
	}
	i := slices.Index(good, true)
	return end + time.Duration(i)*recoverSlot, i >= 0
}

// blastMetrics are the figures of subject blast_radius.
var blastMetrics = []string{"collateral", "direct", "time_to_contain", "time_to_recover"}
