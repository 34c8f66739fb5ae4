package sizing

import (
	"math"
	"math/bits"
)

// windowChain is the distribution over the windows of a breaker that has not
// opened. The oldest call of a full window plays no part in what comes next,
// so a state is the last Window−1 results, the newest in the lowest bit, a 1
// for a failure. Only the proportions of state count; alive carries the scale.
type windowChain struct {
	state, next []float64
	alive       float64 // probability of not having opened yet
	opened      float64 // 1 − alive, with its own digits
	hazard      float64 // of the last call
	needed      int     // failures that open a full window

	// What becomes of a state with so many failures when a success or a
	// failure comes: the share that goes on, the share that opens.
	success, failure, opens []float64
}

type chainFigures struct{ opened, hazard, meanCalls float64 }

// chain follows the breaker until its hazard per call has settled, and not
// less far than n calls unless it settled before. n = 0 asks only for hazard
// and mean.
func (w RatioWindow) chain(p float64, n int) chainFigures {
	switch {
	case !w.valid(p) || w.Window > LargestChain:
		return chainFigures{math.NaN(), math.NaN(), math.NaN()}
	case p == 0:
		return chainFigures{0, 0, math.Inf(1)}
	}
	c := newWindowChain(w, p)
	past := make([]float64, w.Window) // hazards of the last Window calls
	calls, mean := 0, 0.0
	for calls < w.Window-1 && c.alive > 0 {
		mean += c.alive
		calls++
		c.fill(w, p, calls)
	}
	for c.alive > 0 && (n == 0 || calls < n) {
		mean += c.alive
		calls++
		c.step()
		// A window's length apart, so that no slow drift passes for rest.
		settled := math.Abs(c.hazard-past[calls%w.Window]) <= 1e-13*c.hazard
		past[calls%w.Window] = c.hazard
		if settled && calls >= 3*w.Window || calls >= 10_000 {
			break
		}
	}
	out := chainFigures{opened: c.opened, hazard: c.hazard, meanCalls: mean}
	if c.alive > 0 {
		out.meanCalls += c.alive / c.hazard
		out.opened += c.alive * -math.Expm1(float64(max(n-calls, 0))*math.Log1p(-c.hazard))
	}
	out.opened = math.Min(out.opened, 1)
	return out
}

func newWindowChain(w RatioWindow, p float64) *windowChain {
	size := 1 << (w.Window - 1)
	c := &windowChain{
		state: make([]float64, size), next: make([]float64, size), alive: 1, needed: w.Needed(w.Window),
		success: make([]float64, w.Window+1), failure: make([]float64, w.Window+1), opens: make([]float64, w.Window+1),
	}
	c.state[0] = 1
	for failures := range w.Window + 1 {
		switch {
		case failures >= c.needed: // only in the first full window, when MinCalls is the window
			c.opens[failures] = 1
		case failures+1 == c.needed:
			c.success[failures], c.opens[failures] = 1-p, p
		default:
			c.success[failures], c.failure[failures] = 1-p, p
		}
	}
	return c
}

// fill makes the calls-th call while the window has room for one more.
func (c *windowChain) fill(w RatioWindow, p float64, calls int) {
	limit := math.MaxInt
	if calls >= w.minCalls() {
		limit = w.Needed(calls)
	}
	opened, stays := 0.0, 0.0
	for s := 1<<(calls-1) - 1; s >= 0; s-- { // downwards: 2s+1 is written after it is read
		mass := c.state[s]
		for bit, weight := range [2]float64{1 - p, p} {
			t := s<<1 | bit
			if c.state[t] = mass * weight; bits.OnesCount(uint(t)) >= limit {
				opened += c.state[t]
				c.state[t] = 0
			}
			stays += c.state[t]
		}
	}
	c.settle(opened, stays, c.state[:1<<calls])
}

// step makes a call that fills or leaves full the window.
func (c *windowChain) step() {
	half := len(c.state) / 2
	opened, stays := 0.0, 0.0
	if half == 0 { // a window of one call remembers nothing
		opened, stays = c.state[0]*c.opens[0], c.state[0]*c.success[0]
		c.next[0] = stays
	}
	lower, upper := c.state[:half], c.state[half:] // by the result that the next call pushes out
	for s, a := range lower {
		b := upper[s]
		if a == 0 && b == 0 {
			c.next[2*s], c.next[2*s+1] = 0, 0
			continue
		}
		f := bits.OnesCount(uint(s))
		good := a*c.success[f] + b*c.success[f+1]
		bad := a*c.failure[f] + b*c.failure[f+1]
		opened += a*c.opens[f] + b*c.opens[f+1]
		stays += good + bad
		c.next[2*s], c.next[2*s+1] = good, bad
	}
	c.state, c.next = c.next, c.state
	c.settle(opened, stays, c.state)
}

// settle takes note of what opened, and scales the rest up before it is too
// small for a float.
func (c *windowChain) settle(opened, stays float64, states []float64) {
	c.hazard = opened / (opened + stays)
	c.opened += c.alive * c.hazard
	c.alive *= stays / (opened + stays)
	if stays > 0 && stays < 1e-100 {
		for i := range states {
			states[i] /= stays
		}
	}
}
