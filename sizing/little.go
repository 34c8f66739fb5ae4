// Package sizing holds the closed forms that answer sizing questions without a
// simulation: Little's law, Erlang's formulas, queues with a patience, breaker
// chains, retry amplification. It knows nothing of the simulated system, which
// is held against it.
//
// Rates are per second, times are seconds, loads are erlangs (rate × mean
// time held), shares and probabilities lie in [0, 1]. Unless a function says
// otherwise, a negative or NaN argument, or a share outside [0, 1], gives NaN
// (or [NoAnswer] where the result is an integer); nothing here panics.
package sizing

import "math"

// NoAnswer is the integer that stands where a float would be NaN: the
// arguments make no sense, or no finite number does what was asked.
const NoAnswer = -1

// Little returns L = λW, the time-averaged number inside of anything that rate
// enters per second and stays in for time seconds on average. It holds for
// every distribution, order and dependence as long as the system is stable
// (Little 1961). 0 × ∞ is 0: nobody stays for ever when nobody comes.
func Little(rate, time float64) float64 {
	if !(rate >= 0 && time >= 0) {
		return math.NaN()
	}
	if rate == 0 || time == 0 {
		return 0
	}
	return rate * time
}

// Parked returns the mean number of calls under way when nothing bounds them:
// λ·E[min(S,T)] with timeout T, +Inf for none. With Poisson arrivals the
// number is Poisson distributed with this mean whatever the latency's shape
// (M/G/∞, Khinchine 1932), so its quantiles are [PoissonQuantile]'s.
func Parked(rate float64, l Latency, timeout float64) float64 {
	return Little(rate, l.MeanMin(timeout))
}

// ParkedQuantile returns the number of calls under way that is not exceeded
// for a share q of the time, under the conditions of [Parked].
func ParkedQuantile(rate float64, l Latency, timeout, q float64) int {
	return PoissonQuantile(Parked(rate, l, timeout), q)
}

// ParkedAfterStep returns the mean number of calls under way t seconds after
// the latency of new calls stepped from before to after, having been before
// for long:
//
//	λ·E[min(S_after,t)] + λ·(E[S_before] − E[min(S_before,t)])
//
// the new ones that are still out and the old ones that are. With Poisson
// arrivals the number is Poisson distributed at every instant (M_t/G/∞,
// Eick, Massey & Whitt 1993). Wrap both in [Limited] for a timeout; t below 0
// counts as 0.
func ParkedAfterStep(rate, t float64, before, after Latency) float64 {
	return ParkedAfterStepMeans(rate, t, before.Mean(), before.MeanMin, after.MeanMin)
}

// ParkedAfterStepMeans is [ParkedAfterStep] for latencies of which only
// E[S_before] and the functions t → E[min(S,t)] are known.
func ParkedAfterStepMeans(rate, t, meanBefore float64, meanMinBefore, meanMinAfter func(float64) float64) float64 {
	t = math.Max(t, 0)
	return Little(rate, meanMinAfter(t)) + Little(rate, math.Max(meanBefore-meanMinBefore(t), 0))
}

// PoolExhaustion returns mean and standard deviation of the time from the
// moment a dependency stops answering until n free places are taken, with
// Poisson arrivals: the n-th arrival is Erlang(n, λ), so n/λ and √n/λ. The
// old calls that still finish give places back and put it off by at most the
// old latency. A pool only runs out if [PoolRunsOut].
func PoolExhaustion(rate, n float64) (mean, sd float64) {
	if !(rate >= 0 && n >= 0) {
		return math.NaN(), math.NaN()
	}
	if n == 0 {
		return 0, 0
	}
	if rate == 0 {
		return math.Inf(1), math.NaN()
	}
	return n / rate, math.Sqrt(n) / rate
}

// PoolRunsOut reports whether n places are taken on average when each call
// holds one for held seconds: n < λ·held. At held = min(S,T) it says whether
// the timeout saves the pool.
func PoolRunsOut(rate, held, n float64) bool {
	return n < Little(rate, held)
}
