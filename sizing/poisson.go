package sizing

import "math"

// PoissonProbability returns P(N = k) for a Poisson number N of the given
// mean, 0 for k below 0. The saddle-point form of Loader (2000), "Fast and
// accurate computation of binomial probabilities", keeps 14 digits where
// e^-m·m^k/k! would overflow or cancel.
func PoissonProbability(mean float64, k int) float64 {
	switch {
	case !(mean >= 0):
		return math.NaN()
	case k < 0 || math.IsInf(mean, 1):
		return 0
	case k == 0:
		return math.Exp(-mean)
	case mean == 0:
		return 0
	}
	x := float64(k)
	return math.Exp(-stirlingError(x)-deviance(x, mean)) / math.Sqrt(2*math.Pi*x)
}

// PoissonAtMost returns P(N ≤ k). It sums the shorter tail, in about 10·√mean
// steps.
func PoissonAtMost(mean float64, k int) float64 {
	switch {
	case !(mean >= 0):
		return math.NaN()
	case k < 0 || math.IsInf(mean, 1):
		return 0
	case float64(k) < mean:
		return PoissonProbability(mean, k) * belowInUnits(mean, k)
	}
	sum, term := 0.0, PoissonProbability(mean, k)
	for x := float64(k) + 1; ; x++ {
		term *= mean / x
		if sum += term; term <= sum*0x1p-54 {
			return 1 - sum
		}
	}
}

// PoissonQuantile returns the smallest k with P(N ≤ k) ≥ q: [NoAnswer] for
// a mean or q out of range, math.MaxInt for q = 1 of a positive mean. Above a
// mean of 1e12 it is the Cornish–Fisher expansion to the second order, right
// to the nearest few.
func PoissonQuantile(mean, q float64) int {
	switch {
	case !(mean >= 0 && q >= 0 && q <= 1):
		return NoAnswer
	case mean == 0 || q == 0:
		return 0
	case q == 1 || mean >= math.MaxInt/2:
		return math.MaxInt
	}
	z := normalQuantile(q)
	guess := math.Max(0, math.Floor(mean+z*math.Sqrt(mean)+(z*z-1)/6))
	k := int(guess)
	if mean > 1e12 {
		return k
	}
	for k > 0 && PoissonAtMost(mean, k-1) >= q {
		k--
	}
	for PoissonAtMost(mean, k) < q {
		k++
	}
	return k
}

// belowInUnits returns P(N ≤ k)/P(N = k) = 1 + k/m + k(k-1)/m² + …, which is
// also the reciprocal of Erlang B. Terms fall from the start when k ≤ m; above
// it they rise first and may overflow to +Inf.
func belowInUnits(mean float64, k int) float64 {
	sum, term := 1.0, 1.0
	for x := float64(k); x > 0; x-- {
		term *= x / mean
		sum += term
		if term <= sum*0x1p-54 && x <= mean {
			break
		}
	}
	return sum
}

// binomialProbability returns the chance of k successes in n trials of
// probability p, 0 outside 0..n; Loader (2000).
func binomialProbability(n, k int, p float64) float64 {
	switch {
	case k < 0 || k > n:
		return 0
	case k == 0:
		return math.Exp(float64(n) * math.Log1p(-p))
	case k == n:
		return math.Exp(float64(n) * math.Log(p))
	case p <= 0 || p >= 1:
		return 0
	}
	all, in, out := float64(n), float64(k), float64(n-k)
	log := stirlingError(all) - stirlingError(in) - stirlingError(out) - deviance(in, all*p) - deviance(out, all*(1-p))
	return math.Exp(log) * math.Sqrt(all/(2*math.Pi*in*out))
}

// stirlingError returns ln(n!) − ln(√(2πn)·(n/e)^n), what Stirling's formula
// leaves out.
func stirlingError(n float64) float64 {
	if n < 16 {
		log, _ := math.Lgamma(n + 1)
		return log - (n+0.5)*math.Log(n) + n - 0.5*math.Log(2*math.Pi)
	}
	inverse := 1 / (n * n)
	return (1./12 - inverse*(1./360-inverse*(1./1260-inverse*(1./1680-inverse/1188)))) / n
}

// deviance returns x·ln(x/m) + m − x for x > 0, without cancellation where x
// is near m: with v = (x−m)/(x+m) it is v(x−m) + 2x(v³/3 + v⁵/5 + …).
func deviance(x, m float64) float64 {
	v := (x - m) / (x + m)
	if math.Abs(v) > 0.1 {
		return x*math.Log(x/m) + m - x
	}
	sum, power := v*(x-m), 2*x*v
	for n := 3.0; ; n += 2 {
		power *= v * v
		next := sum + power/n
		if next == sum {
			return sum
		}
		sum = next
	}
}
