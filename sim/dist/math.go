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

// Log is the natural logarithm of x > 0; -Inf at 0, NaN below. Within 1 ulp.
// The method is fdlibm's (Sun Microsystems 1993, e_log.c): x = 2^k(1+f) with
// 1+f near 1, then a minimax polynomial in f/(2+f).
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
	m := math.Float64frombits(b&(1<<52-1) + rootHalf) // √½ <= m < √2
	f := m - 1
	s := f / (2 + f)
	z := s * s
	w := z * z
	t1 := float64(w * (3.999999999940941908e-01 + float64(w*(2.222219843214978396e-01+float64(w*1.531383769920937332e-01)))))
	t2 := float64(z * (6.666666666666735130e-01 + float64(w*(2.857142874366239149e-01+float64(w*(1.818357216161805012e-01+float64(w*1.479819860511658591e-01)))))))
	half := float64(0.5 * float64(f*f))
	dk := float64(k)
	return float64(dk*ln2Hi) - ((half - (float64(s*(half+(t1+t2))) + float64(dk*ln2Lo))) - f)
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
