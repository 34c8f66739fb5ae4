package sizing

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

func TestPoissonSumsToOne(t *testing.T) {
	for _, mean := range []float64{0, 1e-9, 0.3, 1, 12.25, 700, 31_000} {
		sum := 0.0
		for k := range int(mean+12*math.Sqrt(mean)) + 30 {
			p := PoissonProbability(mean, k)
			sum += p
			if below := PoissonAtMost(mean, k); !(math.Abs(below-sum) <= 1e-11) {
				t.Fatalf("mean %g: P(N ≤ %d) = %.15g, sum %.15g", mean, k, below, sum)
			}
		}
		wantNear(t, "sum", sum, 1, 1e-11)
	}
}

func TestPoissonAgainstGonum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mean := math.Exp(rapid.Float64Range(-5, 12).Draw(t, "ln mean"))
		k := int(math.Max(0, mean+rapid.Float64Range(-6, 6).Draw(t, "sd")*math.Sqrt(mean)))
		gonum := distuv.Poisson{Lambda: mean}
		if got, want := PoissonProbability(mean, k), gonum.Prob(float64(k)); !near(got, want, 1e-7) {
			t.Errorf("P(N = %d | %g) = %g, gonum %g", k, mean, got, want)
		}
		if got, want := PoissonAtMost(mean, k), gonum.CDF(float64(k)); !(math.Abs(got-want) <= 1e-7) {
			t.Errorf("P(N ≤ %d | %g) = %g, gonum %g", k, mean, got, want)
		}
	})
}

// Stirling: 1/√(2πm)·(1 − 1/(12m)) at the mean itself, and digits left where
// e^−m·m^k/k! has lost them.
func TestPoissonKeepsItsDigits(t *testing.T) {
	for _, mean := range []float64{1e6, 1e9, 1e12} {
		wantNear(t, "at the mean", PoissonProbability(mean, int(mean)), (1-1/(12*mean))/math.Sqrt(2*math.Pi*mean), 1e-13)
		// One state is to the next as k to the mean.
		k := int(mean + 3*math.Sqrt(mean))
		wantNear(t, "beside it", PoissonProbability(mean, k-1)/PoissonProbability(mean, k), float64(k)/mean, 1e-12)
	}
}

func TestPoissonQuantileIsTheFirstThatReaches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mean := math.Exp(rapid.Float64Range(-7, 14).Draw(t, "ln mean"))
		q := rapid.Float64Range(1e-9, 1-1e-9).Draw(t, "q")
		k := PoissonQuantile(mean, q)
		if PoissonAtMost(mean, k) < q || PoissonAtMost(mean, k-1) >= q {
			t.Errorf("%g-quantile of mean %g: %d has %g, one less %g", q, mean, k, PoissonAtMost(mean, k), PoissonAtMost(mean, k-1))
		}
	})
	wantNear(t, "a mean beyond counting", float64(PoissonQuantile(1e14, 0.99)), 1e14+z99*1e7, 1e-14)
}

func TestBinomialAgainstItsProducts(t *testing.T) {
	for _, n := range []int{1, 2, 7, 40} {
		for _, p := range []float64{0, 0.01, 0.5, 0.97, 1} {
			coefficient := 1.0
			for k := 0; k <= n; k++ {
				want := coefficient * math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k))
				wantNear(t, "binomial", binomialProbability(n, k, p), want, 1e-12)
				coefficient *= float64(n-k) / float64(k+1)
			}
		}
	}
}

func TestNormalQuantile(t *testing.T) {
	for _, q := range []float64{1e-300, 1e-100, 1e-17, 1e-9, 0.01, 0.3, 0.5, 0.7, 0.99, 1 - 1e-12} {
		wantNear(t, "Φ(z)", normalBelow(normalQuantile(q)), q, 1e-12)
	}
	wantNear(t, "99 %", normalQuantile(0.99), z99, 1e-15)
	wantNear(t, "97.5 %", normalQuantile(0.975), 1.959963984540054, 1e-14)
}

// Figures of R's prop.test without correction and of Wilson's own formula.
func TestWilsonInterval(t *testing.T) {
	for _, c := range []struct {
		hits, n   int
		low, high float64
	}{{20, 20, 0.8389, 1}, {0, 10, 0, 0.2775}, {1, 2, 0.0945, 0.9055}, {81, 263, 0.2553, 0.3662}, {0, 0, 0, 1}} {
		low, high := Wilson(c.hits, c.n, 0.95)
		wantRounded(t, "low", low, c.low, 4)
		wantRounded(t, "high", high, c.high, 4)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5000).Draw(t, "n")
		hits := rapid.IntRange(0, n).Draw(t, "hits")
		share := float64(hits) / float64(n)
		low, high := Wilson(hits, n, rapid.Float64Range(0, 0.9999).Draw(t, "level"))
		if !(low >= 0 && low <= share+1e-12 && high >= share-1e-12 && high <= 1) {
			t.Errorf("%d of %d: (%g, %g) does not hold %g inside [0, 1]", hits, n, low, high, share)
		}
	})
}
