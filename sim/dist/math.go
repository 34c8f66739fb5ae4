package dist

import "math"

// The logarithm and the exponential here and the normal law in normal.go are
// written out so that every processor gives the same bits: no library call that
// an architecture replaces, and every product that meets a sum is rounded by a
// conversion, so that no compiler fuses the two.

const (
	ln2Hi = 6.93147180369123816490e-01 // ln 2 in two parts, as in fdlibm
	ln2Lo = 1.90821492927058770002e-10
)

// Log is the natural logarithm of x > 0; -Inf at 0, NaN below. Within 1 ulp. The
// method is Tang's (1990, table-driven logarithm): x = 2^k·m with m near 1 and c
// from a table near 1/m, so that ln x = k ln 2 - ln c + ln(1+r) with r = mc - 1
// below 2^-7, a short series; no division and no branch on the way.
func Log(x float64) float64 {
	b := math.Float64bits(x)
	k := 0
	if b-1<<52 >= (2047-1)<<52 { // not a positive normal number
		switch {
		case x < 0 || x != x:
			return math.NaN()
		case x == 0:
			return math.Inf(-1)
		case x > math.MaxFloat64:
			return x
		}
		b = math.Float64bits(x * (1 << 54)) // subnormal: scale up
		k = -54
	}
	// Adding the distance from √½ to 1 carries into the exponent exactly when
	// the mantissa is above √2: no branch to mispredict.
	const one, rootHalf = 1023 << 52, 0x3fe6a09e667f3bcd
	b += one - rootHalf
	k += int(b>>52) - 1023
	near := &logs[b>>45&127]
	m := b&(1<<52-1) + rootHalf // √½ <= m < √2
	// The upper half of m times 20 bits is exact, and so is 1 less.
	upper := math.Float64frombits(m &^ (1<<20 - 1))
	lower := math.Float64frombits(m) - upper
	r := (float64(upper*near.reciprocal) - 1) + float64(lower*near.reciprocal)
	r2 := float64(r * r)
	r4 := float64(r2 * r2)
	series := float64(r2*(float64(r*(1.0/3))-0.5)) +
		float64(r4*((float64(r*(1.0/5))-1.0/4)+float64(r2*(float64(r*(1.0/7))-1.0/6)))) - float64(float64(r4*r4)*(1.0/8))
	dk := float64(k)
	high := float64(dk*ln2Hi) + near.high // exact: both are multiples of 2^-42
	return high + (r + (series + (near.low + float64(dk*ln2Lo))))
}

// Exp is e^x: 0 below -745.13, +Inf above 709.78. Within 1.1 ulp. The method is
// Tang's (1989, table-driven exponential): x = (128e + i)·ln 2/128 + r with
// |r| <= 0.0028, then 2^e times 2^(i/128) from a table times a short Taylor
// series of e^r; no division and no branch on the way.
func Exp(x float64) float64 {
	switch {
	case x > -708 && x < 709:
		return expScaled(x, 0)
	case x != x:
		return x
	case x > 7.09782712893383973096e+02: // ln of the largest double
		return math.Inf(1)
	case x < -7.45133219101941108420e+02: // ln of half the smallest
		return 0
	case x > 0:
		return expScaled(x, -64) * 0x1p64
	}
	return expScaled(x, 64) * 0x1p-64 // rounded once more where the result is subnormal
}

// expScaled is e^x·2^exponent, which must be a normal number.
func expScaled(x float64, exponent int64) float64 {
	const (
		perUnit = 128 / math.Ln2
		shift   = 0x1.8p52 // adding it rounds to an integer, held in the low bits
	)
	n := float64(x*perUnit) + shift
	i := int64(int32(math.Float64bits(n)))
	n -= shift
	r := x - float64(n*(ln2Hi/128)) - float64(n*(ln2Lo/128)) // the first product is exact
	square := float64(r * r)
	tail := r + float64(square*(0.5+float64(r*(1.0/6)))) + float64(float64(square*square)*(1.0/24+float64(r*(1.0/120))))
	s := math.Float64frombits(powers[i&127] + uint64(i>>7+exponent)<<52)
	return s + float64(s*tail)
}
