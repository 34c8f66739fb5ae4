package sizing

import "math"

// Latency is what a closed form needs to know of a time that is never
// negative: how long a call takes, or how long it holds something.
type Latency interface {
	Mean() float64               // E[S], may be +Inf
	Tail(t float64) float64      // P(S > t); 1 for t below 0
	Quantile(p float64) float64  // smallest t with P(S ≤ t) ≥ p; NaN outside 0 ≤ p ≤ 1
	MeanMin(t float64) float64   // E[min(S,t)]; 0 for t ≤ 0, E[S] for t = +Inf
	SquareMin(t float64) float64 // E[min(S,t)²]; 0 for t ≤ 0, E[S²] for t = +Inf
}

var (
	_ Latency = Constant(0)
	_ Latency = Exponential(0)
	_ Latency = Limited{}
)

// Constant is a latency that is always so many seconds.
type Constant float64

// Mean returns the constant.
func (c Constant) Mean() float64 { return float64(c) }

// Tail returns 1 before the constant, 0 from it on.
func (c Constant) Tail(t float64) float64 { return indicator(t < float64(c)) }

// Quantile returns the constant for every p.
func (c Constant) Quantile(p float64) float64 { return inUnit(p, float64(c)) }

// MeanMin returns min(c,t).
func (c Constant) MeanMin(t float64) float64 { return math.Max(0, math.Min(float64(c), t)) }

// SquareMin returns min(c,t)².
func (c Constant) SquareMin(t float64) float64 { return square(c.MeanMin(t)) }

// Exponential is an exponentially distributed latency with that mean.
type Exponential float64

// Mean returns m.
func (m Exponential) Mean() float64 { return float64(m) }

// Tail returns e^(−t/m); 0 at m = 0.
func (m Exponential) Tail(t float64) float64 {
	if m == 0 || t < 0 {
		return indicator(t < 0)
	}
	return math.Exp(-t / float64(m))
}

// Quantile returns −m·ln(1−p).
func (m Exponential) Quantile(p float64) float64 {
	if m == 0 {
		return inUnit(p, 0)
	}
	return inUnit(p, -float64(m)*math.Log1p(-p))
}

// MeanMin returns m(1 − e^(−t/m)).
func (m Exponential) MeanMin(t float64) float64 {
	if m == 0 || t <= 0 {
		return 0
	}
	return -float64(m) * math.Expm1(-t/float64(m))
}

// SquareMin returns 2m²(1 − e^(−x)(1+x)) with x = t/m.
func (m Exponential) SquareMin(t float64) float64 {
	if m == 0 || t <= 0 {
		return 0
	}
	x := t / float64(m)
	if math.IsInf(x, 1) {
		return 2 * square(float64(m))
	}
	if x < 1e-3 { // the difference cancels: x²/2 − x³/3 + x⁴/8 − …
		return 2 * square(float64(m)) * x * x * (0.5 - x*(1./3-x*(1./8-x/30)))
	}
	return 2 * square(float64(m)) * (-math.Expm1(-x) - x*math.Exp(-x))
}

// Limited is min(S, Limit): what a timeout makes of a latency. A Limit of
// +Inf is no timeout.
type Limited struct {
	Of    Latency
	Limit float64 // seconds
}

// Mean returns E[min(S,T)].
func (l Limited) Mean() float64 { return l.Of.MeanMin(l.Limit) }

// Tail is that of S before the limit, 0 from it on.
func (l Limited) Tail(t float64) float64 {
	if t >= l.Limit {
		return 0
	}
	return l.Of.Tail(t)
}

// Quantile is that of S, at most the limit.
func (l Limited) Quantile(p float64) float64 { return math.Min(l.Of.Quantile(p), l.Limit) }

// MeanMin returns E[min(S,T,t)].
func (l Limited) MeanMin(t float64) float64 { return l.Of.MeanMin(math.Min(t, l.Limit)) }

// SquareMin returns E[min(S,T,t)²].
func (l Limited) SquareMin(t float64) float64 { return l.Of.SquareMin(math.Min(t, l.Limit)) }

// ShareHeldAbove returns the share of the calls under way at a random instant
// whose latency is above t: (E[S] − E[min(S,t)] + t·P(S>t))/E[S]. Long calls
// are met more often than they start: of a lognormal with sigma 1.5, one call
// in a hundred is above the p99 but one in five of those parked. NaN for a
// mean of 0 or +Inf.
func ShareHeldAbove(l Latency, t float64) float64 {
	if math.IsInf(t, 1) || t < 0 {
		return indicator(t < 0)
	}
	return (l.Mean() - l.MeanMin(t) + t*l.Tail(t)) / l.Mean()
}

func square(x float64) float64 { return x * x }

func indicator(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// inUnit returns v if p is a probability, else NaN.
func inUnit(p, v float64) float64 {
	if p >= 0 && p <= 1 {
		return v
	}
	return math.NaN()
}
