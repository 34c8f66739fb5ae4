package sizing

import "math"

// RulePermits returns the rule of thumb that most bulkheads are sized by:
// ceil(peak rate × p99). It is 0.17 to 10 times the number that
// [ErlangBPermits] gives: too few for a quiet dependency, many times too many
// for a busy one with a heavy tail. [NoAnswer] for a negative or NaN product,
// math.MaxInt where it does not fit.
func RulePermits(peakRate, p99 float64) int {
	product := Little(peakRate, p99)
	if math.IsNaN(product) {
		return NoAnswer
	}
	return ceilInt(product)
}

// FillTime returns the seconds until all permits are held when the dependency
// stops answering: permits ÷ λ, from empty. It takes the n-th arrival, so with
// Poisson arrivals the standard deviation is √n/λ ([PoolExhaustion]).
func FillTime(permits, rate float64) float64 {
	mean, _ := PoolExhaustion(rate, permits)
	return mean
}

// OutageParked returns how many calls hold a permit while the dependency hangs
// and each call stays until the timeout, +Inf for none: min(permits, λT). It
// is the number of goroutines an outage costs, and what permits are for.
func OutageParked(permits, rate, timeout float64) float64 {
	return Saturated{Rate: rate, Permits: permits, Timeout: timeout}.Holding()
}

// PermitSum returns the permits of the bulkheads that draw on one pool, added
// up, and by how many they exceed its size: the connections that an outage of
// all of them lacks, 0 when they fit.
func PermitSum(poolSize int, permits ...int) (sum, excess int) {
	for _, p := range permits {
		sum += p
	}
	return sum, max(0, sum-poolSize)
}
