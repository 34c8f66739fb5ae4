package sim

import (
	"blastradius/sim/des"
)

// register makes the endpoint's figures. A request belongs to the phase in
// which it arrived, whenever it ended; one still in flight at the end of the
// run is in requests and in in_flight, and in no share — except that one older
// than the SLO has missed it.
func (e *endpoint) register(r *recorder) {
	prefix := "endpoint." + e.name
	s := &scope{r: r, prefix: prefix}
	s.Level("parked", &e.parked)
	r.add(func(p phaseView, out *Figures) { e.figures(prefix, p, out) })

	share := func(kind int) func(bin int) (float64, bool) {
		return func(bin int) (float64, bool) {
			settled := e.bins[1][bin] + e.bins[2][bin] + e.bins[3][bin]
			if settled == 0 {
				return 0, false
			}
			return float64(e.bins[kind][bin]) / float64(settled), true
		}
	}
	r.line(prefix+".rate", func(bin int) (float64, bool) {
		return float64(e.bins[0][bin]) / r.binWidth(bin).Seconds(), true
	})
	r.line(prefix+".live_rate", share(1))
	r.line(prefix+".degraded_rate", share(2))
	r.line(prefix+".lost_rate", share(3))
}

// sum adds up the counts of a phase.
func (e *endpoint) sum(p phaseView) (a account) {
	for _, w := range p.windows {
		b := &e.accounts[w]
		a.requests += b.requests
		a.done += b.done
		a.live += b.live
		a.liveInTime += b.liveInTime
		a.degraded += b.degraded
		a.inTime += b.inTime
		a.clientError += b.clientError
		a.lateInside += b.lateInside
		for i := range b.failures {
			a.failures[i] += b.failures[i]
		}
	}
	return a
}

// latencyIn is the latency of the requests that arrived in the phase. It is to
// be read before the next call.
func (e *endpoint) latencyIn(p phaseView) *des.Hist {
	if len(p.windows) == 1 {
		return &e.accounts[p.windows[0]].latency
	}
	h := p.merged
	h.Reset()
	for _, w := range p.windows {
		h.Merge(&e.accounts[w].latency)
	}
	return h
}

func (e *endpoint) figures(prefix string, p phaseView, out *Figures) {
	a := e.sum(p)
	put := func(name string, v float64) { out.put(prefix+"."+name, v) }
	share := func(name string, part int64, whole int64) {
		why := "no request arrived"
		if a.requests > 0 {
			why = "every request was still in flight at the end"
		}
		out.ratio(prefix+"."+name, float64(part), float64(whole), why)
	}
	put("requests", float64(a.requests))
	put("rate", float64(a.requests)/p.seconds)
	put("in_flight", float64(a.requests-a.done))
	failed := int64(0)
	for i, n := range a.failures {
		put("failures."+failureNames[i], float64(n))
		failed += n
	}
	put("outcomes.client_error", float64(a.clientError))
	share("success_rate", a.live, a.done)
	share("degraded_rate", a.degraded, a.done)
	share("answered_rate", a.live+a.degraded, a.done)
	share("failure_rate", failed, a.done)
	settled := a.done + a.lateInside
	share("slo_rate", a.inTime, settled)
	share("live_rate", a.liveInTime, settled)
	share("lost_rate", settled-a.inTime, settled)
	put("goodput", float64(a.inTime)/p.seconds)
	out.durations(prefix+".latency", e.latencyIn(p), latencyStats)
}

// registerProcess makes the figures of the process.
func (s *system) registerProcess() {
	r := s.recorder
	process := &scope{r: r, prefix: "process"}
	process.Level("parked", &s.parked)
	process.Series("parked", &s.parked)
	bounded := func(name string, p *des.Pool) {
		if p == nil {
			return
		}
		sc := &scope{r: r, prefix: name}
		registerPool(sc, p)
		timeouts(sc, p)
	}
	bounded("process.workers", s.workers)
	bounded("process.pool", s.pool)
	for _, name := range sortedKeys(s.pools) {
		bounded("pool."+name, s.pools[name])
	}
	fallbacks := 0
	for _, d := range s.deps {
		fallbacks += d.fallbacks
	}
	r.add(func(p phaseView, out *Figures) {
		var degraded, done, inTime, settled int64
		for _, e := range s.endpoints {
			a := e.sum(p)
			degraded, done, inTime, settled = degraded+a.degraded, done+a.done, inTime+a.inTime, settled+a.done+a.lateInside
		}
		if fallbacks == 0 {
			out.absent("process.fallback_rate", "no fallback layer")
		} else {
			out.ratio("process.fallback_rate", float64(degraded), float64(done), "no request was answered")
		}
		out.ratio("process.lost_rate", float64(settled-inTime), float64(settled), "no request was answered")
	})
	overall := func(kind int) func(bin int) (float64, bool) {
		return func(bin int) (float64, bool) {
			part, settled := int64(0), int64(0)
			for _, e := range s.endpoints {
				part += e.bins[kind][bin]
				settled += e.bins[1][bin] + e.bins[2][bin] + e.bins[3][bin]
			}
			if settled == 0 {
				return 0, false
			}
			return float64(part) / float64(settled), true
		}
	}
	r.line("process.lost_rate", overall(3))
	if fallbacks > 0 {
		r.line("process.fallback_rate", overall(2))
	}
}
