package dist

import "math"

// NormQuantile is the standard normal z with Φ(z) = p, 0 < p < 1; ∓Inf at the
// ends and beyond. Relative error about 1e-16: Wichura (1988), algorithm AS 241.
func NormQuantile(p float64) float64 {
	q := p - 0.5
	if q >= -0.425 && q <= 0.425 {
		r := 0.180625 - float64(q*q)
		return q * (poly7(r, &centreNum) / poly7(r, &centreDen))
	}
	tail := min(p, 1-p)
	if tail <= 0 {
		return math.Inf(int(math.Copysign(1, q)))
	}
	r := math.Sqrt(-Log(tail))
	num, den := &middleNum, &middleDen
	far := 1.6
	if r > 5 {
		num, den, far = &tailNum, &tailDen, 5
	}
	r -= far
	return math.Copysign(poly7(r, num)/poly7(r, den), q)
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

// poly7 evaluates c[0] + c[1]x + … + c[7]x^7 in pairs (Estrin 1960): a third of
// Horner's waiting for one product after the other.
func poly7(x float64, c *[8]float64) float64 {
	x2 := x * x
	return (c[0] + float64(c[1]*x) + float64(x2*(c[2]+float64(c[3]*x)))) +
		float64(x2*x2*(c[4]+float64(c[5]*x)+float64(x2*(c[6]+float64(c[7]*x)))))
}

// NormCDF is Φ(x), to a relative error of about 1e-15 down to Φ(-37). Cody
// (1969, 1993: ANORM, algorithm 715): one rational function of x² in the middle,
// two times e^(-x²/2) outside.
func NormCDF(x float64) float64 {
	const middle, outer, rootTwoPi = 0.67448975, 5.656854249492380195206755, 2.506628274631000502415765
	y := math.Abs(x)
	switch {
	case x != x:
		return x
	case y <= middle:
		return 0.5 + float64(x*ratio(float64(x*x), cdfCentreNum[:], cdfCentreDen[:]))
	case y > 38.5:
		if x > 0 {
			return 1
		}
		return 0
	}
	var upper float64 // Φ(-y) without its e^(-y²/2)
	if y <= outer {
		upper = ratio(y, cdfMiddleNum[:], cdfMiddleDen[:])
	} else {
		z := 1 / float64(y*y)
		upper = (1/rootTwoPi - float64(z*ratio(z, cdfTailNum[:], cdfTailDen[:]))) / y
	}
	// y² = near² + rest with near² exact, or the exponential would lose digits.
	near := float64(math.Floor(float64(y*16)) / 16)
	rest := float64((y - near) * (y + near))
	upper = float64(Exp(float64(near*near)*-0.5) * Exp(rest*-0.5) * upper)
	if x > 0 {
		return 1 - upper
	}
	return upper
}

// ratio is a quotient of two polynomials of the same degree, the highest
// coefficient first.
func ratio(x float64, num, den []float64) float64 {
	n, d := num[0], den[0]
	for i := 1; i < len(num); i++ {
		n = float64(n*x) + num[i]
		d = float64(d*x) + den[i]
	}
	return n / d
}

// Coefficients of ANORM, the highest first.
var (
	cdfCentreNum = [5]float64{6.5682337918207449113e-2, 2.2352520354606839287e0, 1.6102823106855587881e2, 1.0676894854603709582e3, 1.8154981253343561249e4}
	cdfCentreDen = [5]float64{1, 4.7202581904688241870e1, 9.7609855173777669322e2, 1.0260932208618978205e4, 4.5507789335026729956e4}
	cdfMiddleNum = [9]float64{1.0765576773720192317e-8, 3.9894151208813466764e-1, 8.8831497943883759412e0, 9.3506656132177855979e1, 5.9727027639480026226e2, 2.4945375852903726711e3, 6.8481904505362823326e3, 1.1602651437647350124e4, 9.8427148383839780218e3}
	cdfMiddleDen = [9]float64{1, 2.2266688044328115691e1, 2.3538790178262499861e2, 1.5193775994075548050e3, 6.4855582982667607550e3, 1.8615571640885098091e4, 3.4900952721145977266e4, 3.8912003286093271411e4, 1.9685429676859990727e4}
	cdfTailNum   = [6]float64{2.3073441764940173030e-2, 2.1589853405795699e-1, 1.274011611602473639e-1, 2.2235277870649807e-2, 1.421619193227893466e-3, 2.9112874951168792e-5}
	cdfTailDen   = [6]float64{1, 1.28426009614491121e0, 4.68238212480865118e-1, 6.59881378689285515e-2, 3.78239633202758244e-3, 7.29751555083966205e-5}
)
