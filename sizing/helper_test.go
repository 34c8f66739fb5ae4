package sizing

import (
	"math"
	"testing"
)

// near reports whether got is want within a relative tolerance; infinities and
// NaN must be the same.
func near(got, want, relative float64) bool {
	switch {
	case math.IsNaN(want):
		return math.IsNaN(got)
	case got == want:
		return true
	case math.IsInf(want, 0):
		return false
	}
	return math.Abs(got-want) <= relative*math.Abs(want)
}

func wantNear(t *testing.T, name string, got, want, relative float64) {
	t.Helper()
	if !near(got, want, relative) {
		t.Errorf("%s: got %.17g, want %.17g within %g", name, got, want, relative)
	}
}

// wantRounded holds a figure against one that was printed with so many
// decimals.
func wantRounded(t *testing.T, name string, got, want float64, decimals int) {
	t.Helper()
	if !(math.Abs(got-want) <= 0.5001*math.Pow(10, -float64(decimals))) {
		t.Errorf("%s: got %.10g, want %.*f", name, got, decimals, want)
	}
}

// integral is Simpson's rule over n steps; the integrands of the tests are
// smooth, so 2,000 steps are good to ten digits.
func integral(f func(float64) float64, from, to float64, n int) float64 {
	h := (to - from) / float64(2*n)
	sum := f(from) + f(to)
	for i := 1; i < 2*n; i++ {
		sum += f(from+float64(i)*h) * float64(2+2*(i%2))
	}
	return sum * h / 3
}
