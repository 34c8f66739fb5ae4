package dist

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// latency draws a duration of any magnitude from 1 ns to the longest.
func latency(t *rapid.T, name string) time.Duration {
	top := time.Duration(1) << rapid.IntRange(1, 62).Draw(t, name+" magnitude")
	return time.Duration(rapid.Int64Range(int64(top/2), int64(min(top, longest))).Draw(t, name))
}

// anyKind draws a valid kind; mixtures go depth deep.
func anyKind(t *rapid.T, depth int) Kind {
	a, b := latency(t, "a"), latency(t, "b")
	a, b = min(a, b), max(a, b)
	switch rapid.IntRange(0, 6+min(1, depth)).Draw(t, "kind") {
	case 0:
		return &Constant{a}
	case 1:
		return &Exponential{a}
	case 2:
		return &Lognormal{a, rapid.Float64Range(0, 10).Draw(t, "sigma")}
	case 3:
		return &Percentiles{a, b}
	case 4:
		return &MeanP99{a, min(b, time.Duration(float64(min(a, longest/16))*14.9)+a%2)}
	case 5:
		return &Uniform{a, b}
	case 6:
		p := rapid.Float64Range(0.01, 0.99).Draw(t, "p")
		return &Quantiles{[]Point{{p, a}, {1, b}}}
	default:
		w := rapid.Float64Range(0, 1).Draw(t, "weight")
		return &Mix{[]Part{{w, anyKind(t, depth-1)}, {1 - w, anyKind(t, depth-1)}}}
	}
}

// TestAnyKindKeepsTheLaws over parameters of every magnitude: nothing negative,
// quantiles rise and are the inverse of the CDF, E[min(S,t)] is at most t and the
// mean, and rises. Sums of float64 are given their rounding, 1 in 2^46 of the figure.
func TestAnyKindKeepsTheLaws(t *testing.T) {
	slack := func(d time.Duration) time.Duration { return 2 + d>>46 }
	rapid.Check(t, func(t *rapid.T) {
		k := anyKind(t, 2)
		if m, ok := k.(*MeanP99); ok && len(m.Validate()) > 0 {
			t.Skip("no such lognormal")
		}
		if p := k.Validate(); len(p) > 0 {
			t.Skip(p)
		}
		d := k.Dist()
		var r Rand
		r.Key(rapid.Uint64().Draw(t, "hi"), rapid.Uint64().Draw(t, "lo"))
		for range 20 {
			if v := d.Sample(&r); v < 0 || v > longest {
				t.Fatalf("sample %d", v)
			}
		}
		p, q := rapid.Float64Range(0, 1).Draw(t, "p"), rapid.Float64Range(0, 1).Draw(t, "q")
		p, q = min(p, q), max(p, q)
		if d.Quantile(0) < 0 || d.Quantile(0) > d.Quantile(p) || d.Quantile(p) > d.Quantile(q) || d.Quantile(q) > d.Quantile(1) {
			t.Fatalf("Q(0) %d, Q(%g) %d, Q(%g) %d, Q(1) %d", d.Quantile(0), p, d.Quantile(p), q, d.Quantile(q), d.Quantile(1))
		}
		// Away from the neighbourhood of Q where rounding decides, the CDF is on the right side of p.
		at := d.Quantile(p)
		if up := at + slack(at); at < longest && CDF(d, up) < p-1e-12 {
			t.Fatalf("P(S <= %d) %.17g < %.17g", up, CDF(d, up), p)
		}
		if down := at - slack(at); down >= 0 && CDF(d, down) > p+1e-12 {
			t.Fatalf("P(S <= %d) %.17g > %.17g", down, CDF(d, down), p)
		}
		a, b := latency(t, "t"), latency(t, "u")
		a, b = min(a, b), max(a, b)
		early, late := d.MeanMin(a), d.MeanMin(b)
		if early < 0 || early > a || early > d.Mean()+slack(d.Mean()) || early > late+slack(late) {
			t.Fatalf("E[min(S, %d)] %d, E[min(S, %d)] %d, mean %d", a, early, b, late, d.Mean())
		}
		if d.MeanMin(0) != 0 || d.MeanMin(-a) != 0 {
			t.Fatalf("E[min(S, 0)] %d, E[min(S, -%d)] %d", d.MeanMin(0), a, d.MeanMin(-a))
		}
	})
}
