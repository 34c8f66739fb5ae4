package dist

import "math"

// A normal deviate is the inverse CDF of one uniform, by table. The uniforms
// below ½ fall into stretches of equal relative width, a sixteenth of a power of
// two each, and in each stretch a polynomial of degree 5 stands for NormQuantile:
// the branches, the division, and the logarithm and root of the tail are paid
// once for the table.

const (
	octaves   = 12 // ¼ … ½ down to 2^-13 … 2^-12; 1 sample in 4096 lies beyond
	stretches = 16 // to an octave
	// firstStretch is the exponent and the four upper bits of the mantissa of
	// 2^-13, with probabilities counted in units of 2^-53.
	firstStretch = (1023 + 53 - 1 - octaves) * stretches
)

// deviates holds each stretch's polynomial in the distance from its middle, as a
// part of its octave's lower end, from -1/32 to 1/32.
var deviates = tabulateDeviates()

// Norm is standard normal, by inversion of one uniform; x and its complement
// give z and -z. Off by less than 1e-11 (NormQuantile interpolated).
func (r *Rand) Norm() float64 { return deviate(r.pcg.Uint64()) }

// deviate is NormQuantile of open(x), without open's loss of a bit above ½.
func deviate(x uint64) float64 {
	upper := int64(x) >> 63 // all ones above ½
	cells := float64((x^uint64(upper))>>11) + 0.5
	bits := math.Float64bits(cells)
	var z float64
	if i := int64(bits>>(52-4)) - firstStretch; i >= 0 {
		c := &deviates[i]
		t := math.Float64frombits(bits&(1<<(52-4)-1)|1023<<52) - (1 + 0.5/stretches)
		t2 := float64(t * t)
		z = (c[0] + float64(c[1]*t)) + float64(t2*((c[2]+float64(c[3]*t))+float64(t2*(c[4]+float64(c[5]*t)))))
	} else {
		z = NormQuantile(cells / (1 << 53))
	}
	return math.Float64frombits(math.Float64bits(z) ^ uint64(upper)<<63)
}

// tabulateDeviates interpolates NormQuantile in each stretch through six
// Chebyshev points that include both ends, so that neighbours meet.
func tabulateDeviates() (table [octaves * stretches][6]float64) {
	// cos(πk/5)/32, the half width of a stretch being 1/32.
	points := [6]float64{-1.0 / 32, -0.8090169943749475 / 32, -0.30901699437494745 / 32, 0.30901699437494745 / 32, 0.8090169943749475 / 32, 1.0 / 32}
	for i := range table {
		octave, middle := i/stretches-octaves-1, float64((float64(i%stretches)+0.5)/stretches)
		var c [6]float64
		for k, t := range points {
			c[k] = NormQuantile(math.Ldexp(1+middle+t, octave))
		}
		for order := 1; order < len(c); order++ { // Newton's divided differences
			for k := len(c) - 1; k >= order; k-- {
				c[k] = (c[k] - c[k-1]) / (points[k] - points[k-order])
			}
		}
		for k := len(c) - 2; k >= 0; k-- { // and from Newton's form to powers of t
			for j := k; j < len(c)-1; j++ {
				c[j] -= float64(points[k] * c[j+1])
			}
		}
		table[i] = c
	}
	return table
}
