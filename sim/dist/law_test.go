package dist

import (
	"math"
	"slices"
	"testing"
	"time"
)

// TestSamplesFollowTheirDistribution: Kolmogorov–Smirnov over 200,000 samples;
// the critical value at 1e-4 is 2.226/√n. Equal samples are taken together, and
// the law is asked on both sides of them: constants are a step.
func TestSamplesFollowTheirDistribution(t *testing.T) {
	const n = 200_000
	for _, s := range sound {
		x := samples(s.kind, n)
		slices.Sort(x)
		most := 0.0
		for i := 0; i < n; {
			below := i
			for i < n && x[i] == x[below] {
				i++
			}
			most = max(most, math.Abs(s.cdf(x[below]-0.5)-float64(below)/n), math.Abs(s.cdf(x[below]+0.5)-float64(i)/n))
		}
		if limit := 2.226 / math.Sqrt(n); most > limit {
			t.Errorf("%s: KS distance %.5f, critical %.5f", s.name, most, limit)
		}
	}
}

// TestFiguresAgreeWithSamples holds Mean and MeanMin against sample means.
func TestFiguresAgreeWithSamples(t *testing.T) {
	const n = 100_000
	for _, s := range sound {
		x := samples(s.kind, n)
		d := s.kind.Dist()
		for _, limit := range []time.Duration{5 * ms, 50 * ms, 300 * ms, 1500 * ms, longest} {
			sum, squares := 0.0, 0.0
			for _, v := range x {
				v = min(v, float64(limit))
				sum += v
				squares += v * v
			}
			mean := sum / n
			se := math.Sqrt(max(0, squares/n-mean*mean)/n) + 1
			want := float64(d.MeanMin(limit))
			if limit == longest {
				want = float64(d.Mean())
			}
			if z := (mean - want) / se; math.Abs(z) > 4 {
				t.Errorf("%s: E[min(S, %v)] %.0f, samples %.0f ± %.0f (z %.1f)", s.name, limit, want, mean, se, z)
			}
		}
		if math.Abs(float64(d.MeanMin(longest)-d.Mean())) > 2 {
			t.Errorf("%s: E[min(S, ∞)] %v is not the mean %v", s.name, d.MeanMin(longest), d.Mean())
		}
	}
}

// TestMeanMinIsTheIntegralOfTheTail: E[min(S,t)] = ∫₀ᵗ P(S>x) dx, by the midpoint
// rule with gonum's tail. The steps of the constants fall on the grid.
func TestMeanMinIsTheIntegralOfTheTail(t *testing.T) {
	const steps = 20_000
	for _, s := range sound {
		for _, limit := range []time.Duration{32 * ms, 400 * ms, 16 * time.Second} {
			sum, width := 0.0, float64(limit)/steps
			for i := range steps {
				sum += 1 - s.cdf((float64(i)+0.5)*width)
			}
			got, want := float64(s.kind.Dist().MeanMin(limit)), sum*width
			if math.Abs(got-want) > 2e-5*want {
				t.Errorf("%s: E[min(S, %v)] %.0f, integral %.0f", s.name, limit, got, want)
			}
		}
	}
}

// TestCDFIsGonums holds each CDF against gonum's, a nanosecond's middle on
// either side, and the bisection that serves kinds without one against both.
func TestCDFIsGonums(t *testing.T) {
	for _, s := range sound {
		d := s.kind.Dist()
		for _, at := range []time.Duration{0, 1, ms, 15 * ms, 20*ms - 1, 20 * ms, 50 * ms, 180 * ms, 350 * ms, time.Second, 8*time.Second - 1, 8 * time.Second, time.Hour} {
			want := s.cdf(float64(at) + 0.5)
			if got := CDF(d, at); math.Abs(got-want) > 1e-7 { // uniform: one of 20,000,001 whole nanoseconds
				t.Errorf("%s: P(S <= %v) %.12g, want %.12g", s.name, at, got, want)
			}
			if got := CDF(unaided{d}, at); math.Abs(got-CDF(d, at)) > 1e-12 {
				t.Errorf("%s: P(S <= %v) by bisection %.15g, directly %.15g", s.name, at, got, CDF(d, at))
			}
		}
		if CDF(d, -1) != 0 || CDF(unaided{d}, -1) != 0 {
			t.Errorf("%s: a latency below 0 has a probability", s.name)
		}
	}
}

// unaided hides the CDF of a distribution.
type unaided struct{ Dist }
