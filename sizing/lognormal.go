package sizing

import "math"

// Lognormal is a latency whose logarithm is normal with mean Mu (of seconds)
// and standard deviation Sigma ≥ 0; Sigma 0 is the constant e^Mu. Sigma is
// about 0.5 for a quiet service, 1 for a usual one, 1.5 for a heavy tail.
type Lognormal struct{ Mu, Sigma float64 }

var _ Latency = Lognormal{}

// z99 is the 99 % point of the standard normal.
const z99 = 2.3263478740408411

// LognormalFromMedian returns the lognormal with that median and sigma; its
// fields are NaN unless median > 0 and sigma ≥ 0.
func LognormalFromMedian(median, sigma float64) Lognormal {
	if !(median > 0 && sigma >= 0) {
		return Lognormal{math.NaN(), math.NaN()}
	}
	return Lognormal{math.Log(median), sigma}
}

// LognormalFromMean returns the lognormal with that mean and sigma: the median
// is mean·e^(−σ²/2).
func LognormalFromMean(mean, sigma float64) Lognormal {
	l := LognormalFromMedian(mean, sigma)
	l.Mu -= sigma * sigma / 2
	return l
}

// LognormalFromMedianP99 returns the lognormal through the median and the 99th
// percentile: σ = ln(p99/p50)/2.3263. Its fields are NaN unless 0 < p50 ≤ p99.
func LognormalFromMedianP99(p50, p99 float64) Lognormal {
	return LognormalFromMedian(p50, math.Log(p99/p50)/z99)
}

// LognormalFromMeanP99 returns the lognormal with that mean and 99th
// percentile. ln(p99/mean) = zσ − σ²/2 has two roots; the lighter tail,
// σ = z − √(z² − 2·ln(p99/mean)) ≤ z, is the one meant. No lognormal has
// p99 < mean below σ = 2z nor p99 > 14.97·mean: the fields are NaN there.
func LognormalFromMeanP99(mean, p99 float64) Lognormal {
	excess := math.Log(p99 / mean)
	return LognormalFromMean(mean, 2*excess/(z99+math.Sqrt(z99*z99-2*excess)))
}

// Mean returns e^(μ+σ²/2).
func (l Lognormal) Mean() float64 { return math.Exp(l.Mu + l.Sigma*l.Sigma/2) }

// Tail returns 1 − Φ((ln t − μ)/σ).
func (l Lognormal) Tail(t float64) float64 { return normalBelow(-l.standard(t)) }

// Quantile returns e^(μ+σz).
func (l Lognormal) Quantile(p float64) float64 {
	if l.Sigma == 0 {
		return inUnit(p, math.Exp(l.Mu))
	}
	return math.Exp(l.Mu + l.Sigma*normalQuantile(p))
}

// MeanMin returns E[S]·Φ((ln t − μ − σ²)/σ) + t·P(S>t).
func (l Lognormal) MeanMin(t float64) float64 { return l.momentMin(1, t) }

// SquareMin returns E[S²]·Φ((ln t − μ − 2σ²)/σ) + t²·P(S>t), where E[S²] is
// e^(2μ+2σ²).
func (l Lognormal) SquareMin(t float64) float64 { return l.momentMin(2, t) }

// momentMin returns E[min(S,t)^k].
func (l Lognormal) momentMin(k, t float64) float64 {
	moment := math.Exp(k*l.Mu + k*k*l.Sigma*l.Sigma/2)
	switch {
	case t <= 0:
		return 0
	case math.IsInf(t, 1):
		return moment
	}
	return moment*normalBelow(l.standard(t)-k*l.Sigma) + math.Pow(t, k)*l.Tail(t)
}

// standard returns (ln t − μ)/σ, ∓Inf around the constant of σ = 0.
func (l Lognormal) standard(t float64) float64 {
	distance := math.Log(math.Max(t, 0)) - l.Mu
	if l.Sigma == 0 {
		return math.Inf(2*int(indicator(distance >= 0)) - 1)
	}
	return distance / l.Sigma
}
