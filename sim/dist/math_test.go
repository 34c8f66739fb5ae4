package dist

import (
	"math"
	"math/big"
	"testing"
)

// The functions are held against series summed in 200 bits, not against the
// library's: that one is off by itself here and there, and wrong for the
// logarithm of the smallest numbers on amd64.

const precision = 200

func exact(x float64) *big.Float   { return new(big.Float).SetPrec(precision).SetFloat64(x) }
func fresh() *big.Float            { return new(big.Float).SetPrec(precision) }
func negligible(x *big.Float) bool { return x.Sign() == 0 || x.MantExp(nil) < -precision }

// bigLog is 2·artanh((m-1)/(m+1)) + k ln 2.
func bigLog(x float64) *big.Float {
	m, k := math.Frexp(x)
	artanh := func(m float64) *big.Float {
		y := fresh().Quo(fresh().Sub(exact(m), exact(1)), fresh().Add(exact(m), exact(1)))
		square, sum := fresh().Mul(y, y), fresh()
		for i := 1.0; !negligible(y); i += 2 {
			sum.Add(sum, fresh().Quo(y, exact(i)))
			y.Mul(y, square)
		}
		return sum.Mul(sum, exact(2))
	}
	return fresh().Add(artanh(m), fresh().Mul(artanh(2), exact(float64(k))))
}

// bigExp is the 2^64th power of the Taylor series at x/2^64, in 400 bits.
func bigExp(x *big.Float) *big.Float {
	wide := func() *big.Float { return new(big.Float).SetPrec(2 * precision) }
	y := wide().SetMantExp(wide().Set(x), -64)
	sum, term := wide().SetInt64(1), wide().SetInt64(1)
	for i := int64(1); i < 12; i++ {
		term.Mul(term, y).Quo(term, wide().SetInt64(i))
		sum.Add(sum, term)
	}
	for range 64 {
		sum.Mul(sum, sum)
	}
	return fresh().Set(sum)
}

// bigCDF is Φ(-y) for y >= 0: ½ less the Taylor series of the density's integral
// below 6, the continued fraction of Mills' ratio above (Abramowitz and Stegun
// 26.2.10 and 26.2.14).
func bigCDF(y float64) *big.Float {
	square := fresh().Mul(exact(y), exact(y))
	pi, _ := fresh().SetString("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")
	root := fresh().Sqrt(fresh().Mul(pi, exact(2)))
	if y < 6 {
		term, sum := exact(y), fresh()
		for n := 0.0; !negligible(term); n++ {
			sum.Add(sum, fresh().Quo(term, exact(2*n+1)))
			term.Mul(term, square).Quo(term, exact(-2*(n+1)))
		}
		return fresh().Sub(exact(0.5), sum.Quo(sum, root))
	}
	f := exact(y)
	for n := 300.0; n >= 1; n-- {
		f = fresh().Add(exact(y), fresh().Quo(exact(n), f))
	}
	density := bigExp(fresh().Quo(square, exact(-2)))
	return density.Quo(density, root).Quo(density, f)
}

// ulps is how far got is from want, in units of got's last place.
func ulps(got float64, want *big.Float) float64 {
	off, _ := fresh().Sub(exact(got), want).Float64()
	at, _ := want.Float64()
	at = math.Abs(at)
	return math.Abs(off) / (math.Nextafter(at, math.Inf(1)) - at)
}

// arguments are n numbers from low to high by a stream of their own.
func arguments(n int, low, high float64) []float64 {
	var r Rand
	r.Key(0, uint64(n))
	out := make([]float64, n)
	for i := range out {
		out[i] = low + (high-low)*r.Float64()
	}
	return out
}

func TestLogIsWithinOneUlp(t *testing.T) {
	var r Rand
	r.Key(1, 1)
	x := []float64{1, 2, 0.5, math.Sqrt2, 1 / math.Sqrt2, 1 - 0x1p-53, 1 + 0x1p-52, 5e-324, 0x1p-1022, math.MaxFloat64, 0x1p-54, 1e300}
	x = append(x, arguments(2000, 0.5, 2)...)
	for range 1000 {
		x = append(x, r.Open(), math.Ldexp(1+r.Float64(), int(r.Duration(2000))-1000))
	}
	worst := 0.0
	for _, x := range x {
		u := ulps(Log(x), bigLog(x))
		if worst = max(worst, u); u > 1 {
			t.Fatalf("Log(%v) = %v is off by %.2f ulp", x, Log(x), u)
		}
	}
	t.Logf("worst %.3f ulp", worst)
	if Log(1) != 0 || !math.IsInf(Log(0), -1) || !math.IsNaN(Log(-1)) || !math.IsNaN(Log(math.NaN())) || !math.IsInf(Log(math.Inf(1)), 1) {
		t.Error("a logarithm at an end is wrong")
	}
}

func TestExpIsWithinTwoUlp(t *testing.T) {
	x := []float64{0, 1, -1, 1e-20, -1e-20, 700, -700, 708.999, 709.5, 709.78, -707.9, -708, -708.3}
	x = append(x, arguments(2000, -40, 40)...)
	x = append(x, arguments(500, -708, 709.7)...)
	worst := 0.0
	for _, x := range x {
		u := ulps(Exp(x), bigExp(exact(x)))
		if worst = max(worst, u); u > 1.1 {
			t.Fatalf("Exp(%v) = %v is off by %.2f ulp", x, Exp(x), u)
		}
	}
	t.Logf("worst %.3f ulp", worst)
	for _, x := range []float64{-709, -720, -740, -745} { // subnormal: the smallest step is the unit
		if want, _ := bigExp(exact(x)).Float64(); math.Abs(Exp(x)-want) > 5e-324 {
			t.Errorf("Exp(%v) %v, want %v", x, Exp(x), want)
		}
	}
	if Exp(0) != 1 || Exp(-745.2) != 0 || Exp(math.Inf(-1)) != 0 || !math.IsInf(Exp(709.79), 1) || !math.IsInf(Exp(math.Inf(1)), 1) || !math.IsNaN(Exp(math.NaN())) {
		t.Error("an exponential at an end is wrong")
	}
}

func TestPowersAreRoundedToNearest(t *testing.T) {
	for i, bits := range powers {
		want, _ := bigExp(fresh().Mul(bigLog(2), exact(float64(i)/128))).Float64()
		if got := math.Float64frombits(bits); got != want {
			t.Errorf("2^(%d/128) %v, want %v", i, got, want)
		}
	}
}

// TestNormCDFKeepsItsDigits far into the lower tail.
func TestNormCDFKeepsItsDigits(t *testing.T) {
	worst := 0.0
	y := append(arguments(1500, 0, 8), arguments(300, 8, 37)...)
	y = append(y, 0, 1e-300, 1e-9, 0.67448975, 0.6744898, 5.656854249492380, 5.656854249492381, 37)
	for _, y := range y {
		lower := bigCDF(y)
		want, _ := lower.Float64()
		off := math.Abs(NormCDF(-y)-want) / want
		if worst = max(worst, off); off > 2e-15 {
			t.Fatalf("NormCDF(%v) = %v, want %v (off by %.1g)", -y, NormCDF(-y), want, off)
		}
		if upper, _ := fresh().Sub(exact(1), lower).Float64(); math.Abs(NormCDF(y)-upper) > 2.3e-16 {
			t.Fatalf("NormCDF(%v) = %v, want %v", y, NormCDF(y), upper)
		}
	}
	t.Logf("worst relative error %.2g", worst)
	if NormCDF(0) != 0.5 || NormCDF(-50) != 0 || NormCDF(50) != 1 || NormCDF(math.Inf(-1)) != 0 || NormCDF(math.Inf(1)) != 1 || !math.IsNaN(NormCDF(math.NaN())) {
		t.Error("a probability at an end is wrong")
	}
}

// TestNormQuantileInvertsTheCDF: the error of z is that of Φ(z) over the density.
func TestNormQuantileInvertsTheCDF(t *testing.T) {
	p := []float64{1e-300, 1e-100, 1e-20, 1e-12, 1e-6, 0.01, 0.075, 0.0750001, 0.3, 0.4999999, 0.5}
	p = append(p, arguments(1000, 0, 0.5)...)
	worst := 0.0
	for _, p := range p {
		z := NormQuantile(p)
		if z > 0 {
			t.Fatalf("NormQuantile(%v) = %v is above the median", p, z)
		}
		off, _ := fresh().Sub(bigCDF(-z), exact(p)).Float64()
		density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
		e := math.Abs(off) / density / max(1e-3, math.Abs(z))
		if worst = max(worst, e); e > 1.2e-15 {
			t.Fatalf("NormQuantile(%v) = %v is off by %.2g of it", p, z, e)
		}
		if p > 0x1p-53 && 1-(1-p) == p && NormQuantile(1-p) != -z {
			t.Fatalf("NormQuantile(%v) = %v, of the other side %v", p, z, NormQuantile(1-p))
		}
	}
	t.Logf("worst relative error %.2g", worst)
	if NormQuantile(0.5) != 0 || !math.IsInf(NormQuantile(0), -1) || !math.IsInf(NormQuantile(1), 1) || !math.IsInf(NormQuantile(-1), -1) || !math.IsInf(NormQuantile(2), 1) || !math.IsNaN(NormQuantile(math.NaN())) {
		t.Error("a quantile at an end is wrong")
	}
	last := math.Inf(-1)
	for i := range 100_000 {
		z := NormQuantile((float64(i) + 0.5) / 100_000)
		if z <= last {
			t.Fatalf("NormQuantile falls at %d of 100,000", i)
		}
		last = z
	}
}

// TestLogsAreWhatTheySay: minus the logarithm of each reciprocal, in two parts
// whose first leaves room for a multiple of ln 2.
func TestLogsAreWhatTheySay(t *testing.T) {
	for i, l := range logs {
		want := fresh()
		if l.reciprocal != 1 {
			want.Neg(bigLog(l.reciprocal))
		}
		off, _ := fresh().Sub(fresh().Sub(want, exact(l.high)), exact(l.low)).Float64()
		if math.Abs(off) > 1e-29 {
			t.Errorf("stretch %d: the logarithm of %v is off by %.2g", i, l.reciprocal, off)
		}
		if l.high*(1<<42) != math.Round(l.high*(1<<42)) || l.reciprocal*(1<<19) != math.Round(l.reciprocal*(1<<19)) {
			t.Errorf("stretch %d: %v or %v has too many digits", i, l.reciprocal, l.high)
		}
		for _, edge := range []uint64{uint64(i), uint64(i + 1)} {
			m := math.Float64frombits(0x3fe6a09e667f3bcd + edge<<45)
			if r := m*l.reciprocal - 1; math.Abs(r) > 1.0/125 {
				t.Errorf("stretch %d: mc - 1 reaches %v", i, r)
			}
		}
	}
}

// TestDeviateIsTheQuantile at the ends of stretches, between them, beyond the
// table, and mirrored above the median.
func TestDeviateIsTheQuantile(t *testing.T) {
	var r Rand
	r.Key(3, 1)
	x := []uint64{0, 1 << 11, 1<<63 - 1, 1<<51 - 1, 1 << 51, 1<<51 + 1<<11}
	for i := range octaves * stretches {
		at := uint64(16+i%stretches) << (63 - 4 - octaves + i/stretches - 1)
		x = append(x, at, at-1, at+1<<11)
	}
	for range 200_000 {
		x = append(x, r.Uint64()>>1, r.Uint64()>>(1+r.Uint64()%30))
	}
	worst := 0.0
	for _, x := range x {
		z := deviate(x)
		if worst = max(worst, math.Abs(z-NormQuantile(open(x)))); worst > 1e-11 {
			t.Fatalf("%#x gives %v, want %v", x, z, NormQuantile(open(x)))
		}
		if deviate(^x) != -z {
			t.Fatalf("%#x gives %v, its complement %v", x, z, deviate(^x))
		}
	}
	t.Logf("worst %.2g", worst)
	last := math.Inf(-1)
	for i := range uint64(1 << 18) {
		z := deviate(i<<45 + 1<<44)
		if z < last {
			t.Fatalf("falls at %d of %d", i, 1<<18)
		}
		last = z
	}
}
