package resilience

import "time"

// ages finds the calls that are still running once they are slow. Calls are
// admitted in the order of time, so the one that becomes slow next is the first
// that has not reported.
type ages struct {
	over  time.Duration
	ring  []aged // of a power of two
	first int64  // number of the oldest call held
	n     int
}

// aged is one admitted call.
type aged struct {
	Token
	ended bool
}

// begin notes an admission and gives the call's number.
func (a *ages) begin(t Token) int64 {
	if a.n == len(a.ring) {
		a.grow()
	}
	number := a.first + int64(a.n)
	a.ring[int(number)&(len(a.ring)-1)] = aged{Token: t}
	a.n++
	return number
}

// end notes that a call has reported; false: it was counted as slow before.
func (a *ages) end(number int64) bool {
	if number < a.first {
		return false
	}
	a.ring[int(number)&(len(a.ring)-1)].ended = true
	a.skip()
	return true
}

// due is when the next call becomes slow.
func (a *ages) due() (time.Duration, bool) {
	if a.n == 0 {
		return 0, false
	}
	return a.ring[int(a.first)&(len(a.ring)-1)].at + a.over, true
}

// take removes the call that is due.
func (a *ages) take() aged {
	r := a.ring[int(a.first)&(len(a.ring)-1)]
	a.first++
	a.n--
	a.skip()
	return r
}

// skip drops calls that have reported from the front.
func (a *ages) skip() {
	for a.n > 0 && a.ring[int(a.first)&(len(a.ring)-1)].ended {
		a.first++
		a.n--
	}
}

func (a *ages) grow() {
	bigger := make([]aged, max(64, 2*len(a.ring)))
	for i := range a.n {
		number := int(a.first) + i
		bigger[number&(len(bigger)-1)] = a.ring[number&(len(a.ring)-1)]
	}
	a.ring = bigger
}
