package dist

import "math"

// The logarithm, exponential and normal quantile below are written out so that
// every processor gives the same bits: no library call that an architecture
// replaces, and every product that meets a sum is rounded by a conversion, so
// that no compiler fuses the two.

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

// Exp is e^x: 0 below -745, +Inf above 709.78. Within 1 ulp. The method is
// fdlibm's (e_exp.c): x = k ln 2 + r, a rational function of r, then 2^k.
func Exp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 7.09782712893383973096e+02:
		return math.Inf(1)
	case x < -7.45133219101941108420e+02:
		return 0
	}
	k := 0
	if x < 0 {
		k = int(float64(x*(1/math.Ln2)) - 0.5)
	} else {
		k = int(float64(x*(1/math.Ln2)) + 0.5)
	}
	hi := x - float64(float64(k)*ln2Hi)
	lo := float64(float64(k) * ln2Lo)
	r := hi - lo
	t := float64(r * r)
	c := r - float64(t*(1.66666666666666657415e-01+float64(t*(-2.77777777770155933842e-03+float64(t*(6.61375632143793436117e-05+float64(t*(-1.65339022054652515390e-06+float64(t*4.13813679705723846039e-08)))))))))
	y := 1 - ((lo - float64(r*c)/(2-c)) - hi)
	return scale(y, k)
}

// scale is y·2^k for y in [0.5, 2), exact but for subnormal results.
func scale(y float64, k int) float64 {
	switch {
	case k > 1023:
		return y * 2 * math.Float64frombits(uint64(1023+k-1)<<52)
	case k < -1022:
		return y * math.Float64frombits(uint64(1023+k+64)<<52) * 0x1p-64
	}
	return y * math.Float64frombits(uint64(1023+k)<<52)
}

// poly evaluates c[0] + c[1]x + … + c[7]x^7.
func poly(x float64, c *[8]float64) float64 {
	s := c[7]
	s = float64(s*x) + c[6]
	s = float64(s*x) + c[5]
	s = float64(s*x) + c[4]
	s = float64(s*x) + c[3]
	s = float64(s*x) + c[2]
	s = float64(s*x) + c[1]
	return float64(s*x) + c[0]
}

// Coefficients of AS 241, PPND16.
var (
	centreNum = [8]float64{3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3}
	centreDen = [8]float64{1, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3, 2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3}
	middleNum = [8]float64{1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4}
	middleDen = [8]float64{1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}
	tailNum   = [8]float64{6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7}
	tailDen   = [8]float64{1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}
)

// NormQuantile is the standard normal z with Φ(z) = p, 0 < p < 1; ∓Inf at the
// ends. Relative error about 1e-16: Wichura (1988), algorithm AS 241.
func NormQuantile(p float64) float64 {
	q := p - 0.5
	if q >= -0.425 && q <= 0.425 {
		r := 0.180625 - float64(q*q)
		return q * poly(r, &centreNum) / poly(r, &centreDen)
	}
	tail := p
	if q > 0 {
		tail = 1 - p
	}
	if tail <= 0 {
		return math.Inf(int(math.Copysign(1, q)))
	}
	r := math.Sqrt(-Log(tail))
	var z float64
	if r <= 5 {
		r -= 1.6
		z = poly(r, &middleNum) / poly(r, &middleDen)
	} else {
		r -= 5
		z = poly(r, &tailNum) / poly(r, &tailDen)
	}
	if q < 0 {
		return -z
	}
	return z
}

// NormCDF is Φ(x), by bisection of NormQuantile in the lower half: absolute
// error below 1e-16, relative 1e-13 down to Φ(-8). For figures, not for the
// event path: about 2 µs.
func NormCDF(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 0:
		return 1 - NormCDF(-x)
	case x < -38:
		return 0
	}
	// Bisect the exponent first: p = e^y.
	low, high := -745.0, -math.Ln2
	for range 200 {
		mid := float64((low + high) / 2)
		if mid == low || mid == high {
			break
		}
		if NormQuantile(Exp(mid)) < x {
			low = mid
		} else {
			high = mid
		}
	}
	return Exp(high)
}
