package sizing

import "math"

// Hedged is the latency of a call that is sent a second time after Delay
// seconds without an answer; the earlier of two independent answers counts.
type Hedged struct {
	Of    Latency
	Delay float64 // seconds
}

// Tail returns P(R > t) = F(t) up to the delay and F(t)·F(t−d) after it, with
// F the tail of one call.
func (h Hedged) Tail(t float64) float64 {
	if t < h.Delay {
		return h.Of.Tail(t)
	}
	return h.Of.Tail(t) * h.Of.Tail(t-h.Delay)
}

// Quantile returns the smallest t with P(R ≤ t) ≥ p.
func (h Hedged) Quantile(p float64) float64 {
	alone := h.Of.Quantile(p) // never faster than with a second call
	if math.IsNaN(alone) || p == 1 && math.IsInf(alone, 1) {
		return alone
	}
	if alone <= h.Delay {
		return alone
	}
	return smallestWhere(math.Max(0, h.Delay), alone, func(t float64) bool { return h.Tail(t) <= 1-p })
}

// ExtraLoad returns the second calls per call, F(d).
func (h Hedged) ExtraLoad() float64 { return h.Of.Tail(h.Delay) }
