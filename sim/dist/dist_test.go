package dist

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

const ms = time.Millisecond

// sound are kinds with every shape, and where gonum has the same one its CDF in
// nanoseconds.
var sound = []struct {
	name string
	kind Kind
	cdf  func(x float64) float64
}{
	{"constant", &Constant{20 * ms}, nil},
	{"exp", &Exponential{200 * ms}, distuv.Exponential{Rate: 1 / 200e6}.CDF},
	{"lognormal", &Lognormal{50 * ms, 0.5}, distuv.LogNormal{Mu: math.Log(50e6), Sigma: 0.5}.CDF},
	{"lognormal heavy", &Lognormal{50 * ms, 1.5}, distuv.LogNormal{Mu: math.Log(50e6), Sigma: 1.5}.CDF},
	{"percentiles", &Percentiles{50 * ms, 180 * ms}, distuv.LogNormal{Mu: math.Log(50e6), Sigma: math.Log(3.6) / 2.3263478740408408}.CDF},
	{"mean and p99", &MeanP99{60 * ms, 180 * ms}, nil},
	{"uniform", &Uniform{10 * ms, 30 * ms}, distuv.Uniform{Min: 10e6, Max: 30e6}.CDF},
	{"mix", &Mix{[]Part{{0.95, &Exponential{50 * ms}}, {0.05, &Constant{8 * time.Second}}}}, nil},
	{"mix of two", &Mix{[]Part{{0.7, &Exponential{50 * ms}}, {0.3, &Uniform{100 * ms, 400 * ms}}}}, func(x float64) float64 {
		return 0.7*distuv.Exponential{Rate: 1 / 50e6}.CDF(x) + 0.3*distuv.Uniform{Min: 100e6, Max: 400e6}.CDF(x)
	}},
	{"quantiles", &Quantiles{[]Point{{0.5, 20 * ms}, {0.99, 180 * ms}, {1, 8 * time.Second}}}, func(x float64) float64 {
		switch {
		case x < 20e6:
			return 0.5 * x / 20e6
		case x < 180e6:
			return 0.5 + 0.49*(x-20e6)/160e6
		default:
			return min(1, 0.99+0.01*(x-180e6)/7820e6)
		}
	}},
}

func samples(k Kind, n int) []float64 {
	d := k.Dist()
	var r Rand
	out := make([]float64, n)
	for i := range out {
		r.Key(7, uint64(i)) // as the simulator draws: every sample from a stream of its own
		out[i] = float64(d.Sample(&r))
	}
	return out
}

// TestSamplesFollowTheirDistribution: Kolmogorov–Smirnov over 200,000 samples;
// the critical value at 1e-4 is 2.226/√n.
func TestSamplesFollowTheirDistribution(t *testing.T) {
	const n = 200_000
	for _, s := range sound {
		if s.cdf == nil {
			continue
		}
		x := samples(s.kind, n)
		slices.Sort(x)
		most := 0.0
		for i, v := range x {
			f := s.cdf(v)
			most = max(most, math.Abs(f-float64(i)/n), math.Abs(f-float64(i+1)/n))
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
			if z := (mean - want) / se; math.Abs(z) > 4.5 {
				t.Errorf("%s: E[min(S, %v)] %.0f, samples %.0f ± %.0f (z %.1f)", s.name, limit, want, mean, se, z)
			}
		}
		if d.MeanMin(longest) != d.Mean() && math.Abs(float64(d.MeanMin(longest)-d.Mean())) > 2 {
			t.Errorf("%s: E[min(S, ∞)] %v is not the mean %v", s.name, d.MeanMin(longest), d.Mean())
		}
	}
}

// TestMeanMinIsTheIntegralOfTheTail: E[min(S,t)] = ∫₀ᵗ P(S>x) dx, with the tail
// from the quantile function.
func TestMeanMinIsTheIntegralOfTheTail(t *testing.T) {
	for _, s := range sound {
		d := s.kind.Dist()
		for _, limit := range []time.Duration{30 * ms, 400 * ms} {
			const steps = 300
			sum := 0.0
			for i := range steps {
				sum += 1 - CDF(d, time.Duration((float64(i)+0.5)*float64(limit)/steps))
			}
			got, want := sum*float64(limit)/steps, float64(d.MeanMin(limit))
			if math.Abs(got-want) > 6e-3*want {
				t.Errorf("%s: E[min(S, %v)] %.0f, integral %.0f", s.name, limit, want, got)
			}
		}
	}
}

func TestPublishedFigures(t *testing.T) {
	for name, c := range map[string]struct {
		got  time.Duration
		want float64
	}{
		"exp 0.2 s under 1.5 s":     {(&Exponential{200 * ms}).Dist().MeanMin(1500 * ms), 0.19988938312597046},
		"bimodal under 1.5 s":       {sound[7].kind.Dist().MeanMin(1500 * ms), 0.12249999999999557},
		"p50 of the two points":     {(&Percentiles{50 * ms, 180 * ms}).Dist().Quantile(0.5), 0.05},
		"p99 of the two points":     {(&Percentiles{50 * ms, 180 * ms}).Dist().Quantile(0.99), 0.18},
		"mean of mean and p99":      {(&MeanP99{60 * ms, 180 * ms}).Dist().Mean(), 0.06},
		"p99 of mean and p99":       {(&MeanP99{60 * ms, 180 * ms}).Dist().Quantile(0.99), 0.18},
		"p99 of an exponential":     {(&Exponential{200 * ms}).Dist().Quantile(0.99), 0.2 * math.Log(100)},
		"middle of a line":          {sound[9].kind.Dist().Quantile(0.745), 0.1},
		"median of a bimodal":       {sound[7].kind.Dist().Quantile(0.475), 0.05 * math.Ln2},
		"p99 of a bimodal is const": {sound[7].kind.Dist().Quantile(0.99), 8},
	} {
		if math.Abs(c.got.Seconds()-c.want) > 2e-9 {
			t.Errorf("%s: %v, want %.10f s", name, c.got, c.want)
		}
	}
}

// TestMixturesOfMixturesAreFast: their quantile was found by a bisection whose
// every step was another bisection, which took minutes at three levels.
func TestMixturesOfMixturesAreFast(t *testing.T) {
	var k Kind = &Exponential{20 * ms}
	for range 8 {
		k = &Mix{[]Part{{0.5, k}, {0.5, &Percentiles{20 * ms, 30 * ms}}}}
	}
	d := k.Dist()
	for _, p := range []float64{0, 0.01, 0.5, 0.99, 1} {
		q := d.Quantile(p)
		if got := CDF(d, q); got < p-1e-9 {
			t.Errorf("P(S <= Q(%g)) is %g", p, got)
		}
	}
	if m := d.MeanMin(25 * ms); m <= 0 || m > d.Mean() {
		t.Errorf("E[min(S, 25ms)] %v of mean %v", m, d.Mean())
	}
}

func TestOddValues(t *testing.T) {
	var r Rand
	r.Key(1, 2)
	for name, d := range map[string]Dist{
		"constant 0":         (&Constant{}).Dist(),
		"constant too long":  (&Constant{1<<63 - 1}).Dist(),
		"exp 0":              (&Exponential{}).Dist(),
		"exp 1 ns":           (&Exponential{1}).Dist(),
		"exp too long":       (&Exponential{1<<63 - 1}).Dist(),
		"lognormal sigma 0":  (&Lognormal{50 * ms, 0}).Dist(),
		"lognormal sigma 10": (&Lognormal{50 * ms, 10}).Dist(),
		"lognormal median 0": (&Lognormal{0, 1}).Dist(),
		"p99 equal to p50":   (&Percentiles{50 * ms, 50 * ms}).Dist(),
		"uniform of a point": (&Uniform{5, 5}).Dist(),
		"one quantile":       (&Quantiles{[]Point{{1, 5}}}).Dist(),
	} {
		for _, v := range []time.Duration{d.Sample(&r), d.Mean(), d.Quantile(0), d.Quantile(0.5), d.Quantile(1), d.Quantile(math.NaN()), d.MeanMin(0), d.MeanMin(-5), d.MeanMin(1), d.MeanMin(longest)} {
			if v < 0 || v > longest {
				t.Errorf("%s gives %d", name, v)
			}
		}
		if d.MeanMin(0) != 0 {
			t.Errorf("%s: E[min(S, 0)] = %v", name, d.MeanMin(0))
		}
	}
	for name, k := range map[string]Kind{
		"p99 below p50": &Percentiles{50 * ms, 20 * ms}, "mean above p99": &MeanP99{50 * ms, 20 * ms}, "p99 far above": &MeanP99{ms, time.Second},
		"ends swapped": &Uniform{30, 10}, "weights": &Mix{[]Part{{0.5, &Constant{1}}}}, "no parts": &Mix{}, "no 100%": &Quantiles{[]Point{{0.5, 1}}}, "falling": &Quantiles{[]Point{{0.5, 9}, {1, 5}}},
	} {
		if len(k.Validate()) == 0 {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestQuantilesAreMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := sound[rapid.IntRange(0, len(sound)-1).Draw(t, "kind")].kind.Dist()
		p, q := rapid.Float64Range(0, 1).Draw(t, "p"), rapid.Float64Range(0, 1).Draw(t, "q")
		if p > q {
			p, q = q, p
		}
		if d.Quantile(p) > d.Quantile(q) {
			t.Fatalf("Q(%g) %v > Q(%g) %v", p, d.Quantile(p), q, d.Quantile(q))
		}
		a := time.Duration(rapid.Int64Range(0, 1e11).Draw(t, "a"))
		b := a + time.Duration(rapid.Int64Range(0, 1e11).Draw(t, "b"))
		if d.MeanMin(a) > a || d.MeanMin(a) > d.Mean()+1 || d.MeanMin(a) > d.MeanMin(b)+1 {
			t.Fatalf("E[min] at %v: %v, at %v: %v, mean %v", a, d.MeanMin(a), b, d.MeanMin(b), d.Mean())
		}
	})
}

// TestNeighbouringKeysAreUnrelated draws the first number of a million
// consecutive keys: 100 cells by chi-square, and the serial correlation.
func TestNeighbouringKeysAreUnrelated(t *testing.T) {
	const n = 1_000_000
	for _, vary := range []string{"request", "seed"} {
		var cells [100]float64
		var r Rand
		last, serial := 0.5, 0.0
		for i := range n {
			if vary == "request" {
				r.Key(42, uint64(i))
			} else {
				r.Key(uint64(i), 42)
			}
			u := r.Float64()
			cells[int(u*100)]++
			serial += (u - 0.5) * (last - 0.5)
			last = u
		}
		chi := 0.0
		for _, c := range cells {
			chi += (c - n/100) * (c - n/100) / (n / 100)
		}
		if chi < 50 || chi > 170 { // 99 degrees of freedom: mean 99, sd 14
			t.Errorf("by %s: chi-square %.1f over 100 cells", vary, chi)
		}
		if z := serial / n * 12 * math.Sqrt(n); math.Abs(z) > 4 {
			t.Errorf("by %s: serial correlation z %.1f", vary, z)
		}
	}
}

func TestLogExpAndQuantileAreAccurate(t *testing.T) {
	for i := range 200_000 {
		x := math.Exp(float64(i-100_000) / 150)
		if d := math.Abs(Log(x) - math.Log(x)); d > 2.3e-16*math.Max(1e-3, math.Abs(math.Log(x))) {
			t.Fatalf("Log(%g) %v, want %v", x, Log(x), math.Log(x))
		}
		y := float64(i-100_000) / 145
		if e := math.Exp(y); e > 0 && !math.IsInf(e, 0) && e > 1e-300 {
			if math.Abs(Exp(y)-e) > 4.5e-16*e {
				t.Fatalf("Exp(%g) %v, want %v", y, Exp(y), e)
			}
		}
	}
	n := distuv.UnitNormal
	for _, p := range []float64{1e-300, 1e-20, 1e-6, 0.01, 0.075, 0.3, 0.5, 0.9, 0.99, 1 - 1e-9} {
		z := NormQuantile(p)
		if got := n.CDF(z); math.Abs(got-p) > 1e-9*p+1e-15 {
			t.Errorf("Φ(NormQuantile(%g)) = %g", p, got)
		}
	}
	for _, x := range []float64{-37, -8, -3, -1, -0.1, 0, 0.5, 2, 6} {
		if got, want := NormCDF(x), n.CDF(x); math.Abs(got-want) > 1e-12*want+1e-16 {
			t.Errorf("NormCDF(%g) = %g, want %g", x, got, want)
		}
	}
	for _, x := range []float64{0, -1, math.Inf(1), math.NaN(), math.MaxFloat64} {
		if a, b := Log(x), math.Log(x); a != b && !(math.IsNaN(a) && math.IsNaN(b)) && math.Abs(a-b) > 1e-13 {
			t.Errorf("Log(%g) %g, want %g", x, a, b)
		}
	}
	// The library's own logarithm is wrong here on amd64: ln 2^-1074.
	if got := Log(5e-324); math.Abs(got+1074*math.Ln2) > 1e-12 {
		t.Errorf("Log(5e-324) %v", got)
	}
	for _, x := range []float64{-1e9, -745.2, -740, 709.7, 710, math.NaN()} {
		if a, b := Exp(x), math.Exp(x); a != b && !(math.IsNaN(a) && math.IsNaN(b)) && math.Abs(a-b) > 1e-15*b {
			t.Errorf("Exp(%g) %g, want %g", x, a, b)
		}
	}
}

// TestSamplesAreTheSameBitsEverywhere holds a digest of 10,000 samples of each
// kind: any change of the sampler, of Go, or of the processor shows.
func TestSamplesAreTheSameBitsEverywhere(t *testing.T) {
	var b strings.Builder
	for _, s := range sound {
		digest := uint64(0)
		for _, x := range samples(s.kind, 10_000) {
			digest = Fold(digest, uint64(x))
		}
		fmt.Fprintf(&b, "%s %016x\n", s.name, digest)
	}
	golden := filepath.Join("testdata", "samples.golden")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func BenchmarkSample(b *testing.B) {
	for _, s := range sound {
		b.Run(s.name, func(b *testing.B) {
			d := s.kind.Dist()
			var r Rand
			n := uint64(0)
			for b.Loop() {
				n++
				r.Key(42, n)
				d.Sample(&r)
			}
		})
	}
}
