package sizing

import "math"

// The breaker formulas take the results of calls as independent, each a
// failure with probability p, in the order in which they complete.

// Consecutive is a breaker that opens after so many failures in a row, at
// least 1.
type Consecutive int

// MeanCalls returns the mean number of calls until it opens:
// (p^−n − 1)/(1 − p) = p^−1 + … + p^−n (Feller, volume I, XIII.7). +Inf for
// p = 0, n for p = 1.
func (n Consecutive) MeanCalls(p float64) float64 {
	switch {
	case n < 1 || !(p >= 0 && p <= 1):
		return math.NaN()
	case p == 1:
		return float64(n)
	}
	return math.Expm1(-float64(n)*math.Log(p)) / (1 - p)
}

// OpenWithin returns the probability that it has opened by its k-th call after
// a start or a close. A run that ends at call j follows a success before which
// it had not opened: f_j = (1−p)·p^n·(1 − F_(j−n−1)). Once the hazard has
// settled the rest is geometric, so k may be as large as it likes. 0 for
// k < n; NaN for n above a million when k is above 2n.
func (n Consecutive) OpenWithin(p float64, k int) float64 {
	run, fresh := int(n), math.Pow(p, float64(n))
	switch {
	case n < 1 || !(p >= 0 && p <= 1):
		return math.NaN()
	case k < run:
		return 0
	case k-run <= run: // at most one run fits
		return fresh * (1 + float64(k-run)*(1-p))
	case run > 1_000_000:
		return math.NaN()
	}
	closed := make([]float64, run+1) // 1 − F of the last n+1 calls, at call mod (n+1)
	for i := range closed {
		closed[i] = 1
	}
	stays, opened, hazard := 1-fresh, fresh, 0.0
	closed[run] = stays
	last := min(k, 64*run+1_000_000)
	for j, slot := run+1, 0; j <= last; j, slot = j+1, slot+1 {
		if slot > run {
			slot = 0
		}
		step := (1 - p) * fresh * closed[slot] // still that of call j−n−1
		hazard = step / stays
		opened += step
		stays -= step
		closed[slot] = stays
	}
	if k == last || !(stays > 0) {
		return math.Min(opened, 1)
	}
	rest := math.Log(stays)
	if opened < 0.5 {
		rest = math.Log1p(-opened)
	}
	return -math.Expm1(rest + float64(k-last)*math.Log1p(-hazard))
}

// Detection returns mean and standard deviation of the time from the moment a
// dependency starts to fail every call until the breaker opens, with Poisson
// arrivals: the n-th call after it, plus the time until a call is known to
// have failed, min(latency, timeout): T + n/λ and √n/λ. +Inf at rate 0. For a
// ratio window use the failures it needs among the calls it remembers.
func (n Consecutive) Detection(rate, timeout float64) (mean, sd float64) {
	if n < 1 {
		return math.NaN(), math.NaN()
	}
	mean, sd = PoolExhaustion(rate, float64(n))
	return timeout + mean, sd
}

// DetectionEven returns the detection delay with evenly spaced calls the first
// of which meets the failure: T + (n−1)/λ.
func (n Consecutive) DetectionEven(rate, timeout float64) float64 {
	if n < 1 {
		return math.NaN()
	}
	mean, _ := PoolExhaustion(rate, float64(n-1))
	return timeout + mean
}

// ParkedAtDetection returns about how many calls are under way when it opens,
// if no permits bind: the n whose results opened it and λT behind them.
func (n Consecutive) ParkedAtDetection(rate, timeout float64) float64 {
	if n < 1 {
		return math.NaN()
	}
	return Little(rate, timeout) + float64(n)
}
