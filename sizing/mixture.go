package sizing

import "math"

// Mixture is a latency drawn from one of several, each with its weight: the
// usual shape of a dependency with a slow path. Weights are relative to their
// sum; parts of weight 0 do not count. Figures are NaN when the weights have
// no positive sum or one is negative.
type Mixture []Part

// Part is one component of a [Mixture].
type Part struct {
	Weight  float64
	Latency Latency
}

var _ Latency = Mixture(nil)

// Mean returns the weighted mean of the parts.
func (m Mixture) Mean() float64 { return m.weighted(Latency.Mean) }

// Tail returns the weighted tail of the parts.
func (m Mixture) Tail(t float64) float64 {
	return m.weighted(func(l Latency) float64 { return l.Tail(t) })
}

// MeanMin returns the weighted E[min(S,t)] of the parts.
func (m Mixture) MeanMin(t float64) float64 {
	return m.weighted(func(l Latency) float64 { return l.MeanMin(t) })
}

// SquareMin returns the weighted E[min(S,t)²] of the parts.
func (m Mixture) SquareMin(t float64) float64 {
	return m.weighted(func(l Latency) float64 { return l.SquareMin(t) })
}

// Quantile searches between the smallest and the largest of the parts'
// quantiles, where it must lie, by halving down to neighbouring floats. A
// share that the weights meet exactly, as in 95 % of a mixture of 95 % and
// 5 %, counts as reached even if their rounded sum falls short of it.
func (m Mixture) Quantile(p float64) float64 {
	if !(p >= 0 && p <= 1) || math.IsNaN(m.Tail(0)) {
		return math.NaN()
	}
	low, high := math.Inf(1), 0.0
	for _, part := range m {
		if part.Weight > 0 {
			q := part.Latency.Quantile(p)
			low, high = math.Min(low, q), math.Max(high, q)
		}
	}
	if p == 1 {
		return high
	}
	return smallestWhere(low, high, func(t float64) bool { return m.Tail(t) <= 1-p+0x1p-52 })
}

func (m Mixture) weighted(figure func(Latency) float64) float64 {
	sum, weights := 0.0, 0.0
	for _, part := range m {
		if part.Weight < 0 {
			return math.NaN()
		}
		if part.Weight > 0 {
			sum += part.Weight * figure(part.Latency)
			weights += part.Weight
		}
	}
	return sum / weights
}

// smallestWhere returns the smallest float in [low, high] for which a
// condition that once true stays true holds, high if it holds nowhere before.
// Bounds are not negative. Halving the distance between floats, not values,
// takes at most 64 steps whatever the magnitudes.
func smallestWhere(low, high float64, holds func(float64) bool) float64 {
	a, b := math.Float64bits(low), math.Float64bits(high)
	for a < b {
		if middle := a + (b-a)/2; holds(math.Float64frombits(middle)) {
			b = middle
		} else {
			a = middle + 1
		}
	}
	return math.Float64frombits(b)
}
