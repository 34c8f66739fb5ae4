package sizing

import "math"

// RetryAttempts returns the mean attempts per request with at most n, the
// first included, each failing with probability p: 1 + p + … + p^(n−1) =
// (1 − p^n)/(1 − p). n for p = 1, NaN for n below 1.
func RetryAttempts(n int, p float64) float64 {
	switch {
	case n < 1 || !(p >= 0 && p <= 1):
		return math.NaN()
	case p == 1:
		return float64(n)
	}
	return RetrySuccess(n, p) / (1 - p)
}

// RetrySuccess returns the share of requests of which an attempt succeeds:
// 1 − p^n.
func RetrySuccess(n int, p float64) float64 {
	switch {
	case n < 1 || !(p >= 0 && p <= 1):
		return math.NaN()
	case p == 0:
		return 1
	}
	return -math.Expm1(float64(n) * math.Log(p))
}

// LayerAttempts returns the attempts at the bottom of depth layers that each
// make up to n when everything fails: n^depth. 4 attempts in 3 layers are 64.
func LayerAttempts(n, depth int) float64 {
	if n < 1 || depth < 0 {
		return math.NaN()
	}
	return math.Pow(float64(n), float64(depth))
}

// RetryHeld returns the seconds a request is held when every one of its
// attempts times out: attempts × timeout and the backoffs between them, of
// which the last is repeated when there are too few. Retries multiply the
// goroutines parked in an outage as they multiply the load.
func RetryHeld(attempts int, timeout float64, backoffs ...float64) float64 {
	if attempts < 1 || !(timeout >= 0) {
		return math.NaN()
	}
	held := float64(attempts) * timeout
	between := attempts - 1
	for i, pause := range backoffs {
		if i >= between {
			return held
		}
		if i == len(backoffs)-1 {
			return held + pause*float64(between-i)
		}
		held += pause
	}
	return held
}

// StickyRegion returns the loads between which a system of that capacity with
// up to n attempts per request has two steady states: below capacity/n retries
// cannot keep it overloaded, above capacity it is overloaded without them, and
// between it stays bad once it is (Bronson et al. 2021, metastable failures).
func StickyRegion(capacity float64, n int) (low, high float64) {
	if n < 1 || !(capacity >= 0) {
		return math.NaN(), math.NaN()
	}
	return capacity / float64(n), capacity
}

// FanOut returns the share of requests that meet at least one slow or failed
// part when each of n parts is so with probability q: 1 − (1−q)^n (Dean &
// Barroso 2013).
func FanOut(n int, q float64) float64 {
	switch {
	case n < 0 || !(q >= 0 && q <= 1):
		return math.NaN()
	case n == 0:
		return 0
	}
	return -math.Expm1(float64(n) * math.Log1p(-q))
}
