package sim

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// The reference loop is the workload W3 written out by hand in one function:
// what the simulator's generality is measured against. It records what the
// design's yardstick does: draws keyed by request, four gauges with area,
// maximum and one-second bins, and a log-linear histogram. It knows one
// dependency, one breaker, one bulkhead, one timeout, one pool and nothing else.

var referenceOpen float64 // seconds open in the last loop

type refEvent struct {
	at   int64
	kind uint8 // 0 reply, 1 timeout, 2 wait expired
	id   int32
	gen  uint32
}

type refHeap []refEvent

func (h *refHeap) push(e refEvent) {
	*h = append(*h, e)
	s := *h
	i := len(s) - 1
	for i > 0 {
		p := (i - 1) / 2
		if s[p].at <= e.at {
			break
		}
		s[i] = s[p]
		i = p
	}
	s[i] = e
}

func (h *refHeap) pop() refEvent {
	s := *h
	top := s[0]
	n := len(s) - 1
	e := s[n]
	s = s[:n]
	*h = s
	i := 0
	for {
		c := 2*i + 1
		if c >= n {
			break
		}
		if c+1 < n && s[c+1].at < s[c].at {
			c++
		}
		if e.at <= s[c].at {
			break
		}
		s[i] = s[c]
		i = c
	}
	if n > 0 {
		s[i] = e
	}
	return top
}

// refGauge has area, maximum and one-second bins, as the simulator's have.
type refGauge struct {
	n, max, area, last int64
	bin                int64
	binArea, binMax    []int64
}

func (g *refGauge) add(now, d int64) {
	for now >= (g.bin+1)*1e9 {
		end := (g.bin + 1) * 1e9
		g.area += g.n * (end - g.last)
		g.last = end
		g.binArea[g.bin], g.binMax[g.bin] = g.area, g.max
		g.area, g.max = 0, g.n
		g.bin++
	}
	g.area += g.n * (now - g.last)
	g.last = now
	g.n += d
	if g.n > g.max {
		g.max = g.n
	}
}

type refCall struct {
	start   int64
	gen     uint32
	breaker uint32
	waiting bool
	probe   bool
}

// referenceLoop simulates end seconds and returns the number of requests.
func referenceLoop(end, slowFrom, slowTo int64) int {
	end, slowFrom, slowTo = end*1e9, slowFrom*1e9, slowTo*1e9
	arrivals, draws := rand.NewPCG(1, 2), rand.NewPCG(0, 0)
	exp, normal := rand.New(arrivals), rand.New(draws)
	var h refHeap
	calls := make([]refCall, 0, 1024)
	var free, queue []int32
	bins := end/1e9 + 1
	gauges := [4]refGauge{}
	for i := range gauges {
		gauges[i].binArea, gauges[i].binMax = make([]int64, bins), make([]int64, bins)
	}
	parked, permits, pool, working := &gauges[0], &gauges[1], &gauges[2], &gauges[3]
	var hist [64 * 64]int64
	state, generation := 0, uint32(0)
	openedAt, openTime := int64(0), int64(0)
	var window [20]bool
	wn, wi, wf := 0, 0, 0
	probing := false
	requests := 0
	next := int64(exp.ExpFloat64() / 200 * 1e9)
	observe := func(d int64) {
		d >>= 10
		e := bits.Len64(uint64(d))
		shift := max(0, e-6)
		hist[(shift<<6)+int(d>>shift)&4095]++
	}
	toOpen := func(now int64) { state, openedAt = 2, now; generation++ }
	record := func(now int64, c *refCall, failed bool) {
		if c.breaker != generation {
			return
		}
		if state == 1 {
			probing = false
			if failed {
				toOpen(now)
			} else {
				state, wn, wi, wf = 0, 0, 0, 0
				generation++
			}
			return
		}
		if wn == 20 {
			if window[wi] {
				wf--
			}
		} else {
			wn++
		}
		window[wi] = failed
		if failed {
			wf++
		}
		wi = (wi + 1) % 20
		if wn >= 5 && 2*wf >= wn {
			toOpen(now)
		}
	}
	start := func(now int64, id int32, request uint64) {
		c := &calls[id]
		c.waiting = false
		permits.add(now, 1)
		pool.add(now, 1)
		working.add(now, 1)
		draws.Seed(42, request)
		latency := int64(5e7 * math.Exp(0.5*normal.NormFloat64()))
		if now >= slowFrom && now < slowTo {
			latency = 8e9
		}
		if latency <= 15e8 {
			h.push(refEvent{now + latency, 0, id, c.gen})
		} else {
			h.push(refEvent{now + 15e8, 1, id, c.gen})
		}
	}
	done := func(now int64, id int32) {
		c := &calls[id]
		parked.add(now, -1)
		observe(now - c.start)
		c.gen++
		free = append(free, id)
	}
	release := func(now int64) {
		permits.add(now, -1)
		pool.add(now, -1)
		working.add(now, -1)
		for len(queue) > 0 && permits.n < 20 {
			id := queue[0]
			queue = queue[1:]
			if calls[id].waiting {
				start(now, id, uint64(id))
			}
		}
	}
	for {
		if len(h) == 0 || next <= h[0].at {
			now := next
			if now >= end {
				break
			}
			next = now + int64(exp.ExpFloat64()/200*1e9)
			requests++
			if state == 2 && now-openedAt >= 30e9 {
				openTime += now - openedAt
				state, probing = 1, false
				generation++
			}
			if state == 2 || state == 1 && probing {
				observe(0)
				continue
			}
			var id int32
			if n := len(free); n > 0 {
				id = free[n-1]
				free = free[:n-1]
			} else {
				calls = append(calls, refCall{})
				id = int32(len(calls) - 1)
			}
			c := &calls[id]
			c.start, c.breaker, c.probe, c.waiting = now, generation, state == 1, false
			probing = probing || state == 1
			parked.add(now, 1)
			if permits.n < 20 {
				start(now, id, uint64(requests))
			} else {
				c.waiting = true
				queue = append(queue, id)
				h.push(refEvent{now + 25e7, 2, id, c.gen})
			}
			continue
		}
		e := h.pop()
		c := &calls[e.id]
		switch {
		case c.gen != e.gen:
		case e.kind < 2:
			record(e.at, c, e.kind == 1)
			done(e.at, e.id)
			release(e.at)
		case c.waiting:
			c.waiting = false
			if c.probe && c.breaker == generation {
				probing = false
			}
			done(e.at, e.id)
		}
	}
	referenceOpen = float64(openTime) / 1e9
	return requests
}
