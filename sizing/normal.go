package sizing

import "math"

// normalBelow returns Φ(x), the standard normal distribution function, with
// full relative precision in the lower tail.
func normalBelow(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// normalQuantile returns z with Φ(z) = q; ∓Inf for 0 and 1. Newton's steps on
// ln Φ, which is nearly a parabola far out, mend the digits that Erfcinv loses
// near 0.
func normalQuantile(q float64) float64 {
	switch {
	case !(q >= 0 && q <= 1):
		return math.NaN()
	case q == 0:
		return math.Inf(-1)
	case q == 1:
		return math.Inf(1)
	case q > 0.5:
		return -normalQuantile(1 - q)
	}
	z := -math.Sqrt2 * math.Erfcinv(2*q)
	if math.IsInf(z, 0) {
		z = -math.Sqrt(-2 * math.Log(q)) // Erfcinv works on 1−2q, which is 1 here
	}
	for range 6 {
		below, density := normalBelow(z), math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)
		if below == 0 || density == 0 {
			break // q is near the smallest float, and z was right to a percent
		}
		z -= math.Log(below/q) * below / density
	}
	return z
}

// Wilson returns the score interval for a probability of which hits in n
// independent trials were seen, at the two-sided confidence level (0.95).
// It stays inside [0, 1] and is sensible for 0 and n hits (Wilson 1927). No
// trials say nothing: (0, 1). NaN for a negative count, more hits than trials
// or a level outside [0, 1).
func Wilson(hits, n int, level float64) (low, high float64) {
	if hits < 0 || n < hits || !(level >= 0 && level < 1) {
		return math.NaN(), math.NaN()
	}
	if n == 0 {
		return 0, 1
	}
	z := normalQuantile(0.5 + level/2)
	size, share := float64(n), float64(hits)/float64(n)
	centre := share + z*z/(2*size)
	half := z * math.Sqrt(share*(1-share)/size+z*z/(4*size*size))
	scale := 1 + z*z/size
	low, high = math.Max(0, (centre-half)/scale), math.Min(1, (centre+half)/scale)
	if hits == 0 {
		low = 0 // exactly, whatever the roots round to
	}
	if hits == n {
		high = 1
	}
	return low, high
}
