package dist

import (
	"math/bits"
	"math/rand/v2"
	"time"
)

// Rand is a stream of random numbers keyed by where it is used instead of by
// how much was drawn before: PCG-DXSM (O'Neill 2014; math/rand/v2) seeded with
// two mixed keys. The zero Rand must be keyed before use.
type Rand struct{ pcg rand.PCG }

// Key points r at the start of the stream (hi, lo). Neighbouring keys give
// unrelated streams.
func (r *Rand) Key(hi, lo uint64) {
	r.pcg.Seed(mix64(hi+golden), mix64(lo^hi+golden+golden))
}

const golden = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio, odd

// Uint64 is the next 64 bits.
func (r *Rand) Uint64() uint64 { return r.pcg.Uint64() }

// Float64 is uniform in [0, 1), a multiple of 2^-53.
func (r *Rand) Float64() float64 { return float64(r.pcg.Uint64()>>11) / (1 << 53) }

// Open is uniform in (0, 1), so that an inverse CDF is never asked for 0 or 1.
func (r *Rand) Open() float64 { return open(r.pcg.Uint64()) }

// open takes the middle of one of 2^53 cells. Above ½ a float64 cannot hold the
// middle and rounds to an end of the cell; the topmost would round to 1 and
// gives way to 1 - 2^-53.
func open(x uint64) float64 {
	u := float64(x>>11) + 0.5
	if u >= 1<<53 {
		u = 1<<53 - 1
	}
	return u / (1 << 53)
}

// Exp is exponential with mean 1, by inversion.
func (r *Rand) Exp() float64 { return -Log(r.Open()) }

// Duration is uniform in [0, n), every nanosecond alike to 2^-64; n <= 0 gives 0.
func (r *Rand) Duration(n time.Duration) time.Duration {
	if n <= 0 {
		return 0
	}
	hi, _ := bits.Mul64(r.pcg.Uint64(), uint64(n))
	return time.Duration(hi)
}

// IntN is uniform in [0, n), every number alike to 2^-64; n is at least 1.
func (r *Rand) IntN(n int) int {
	hi, _ := bits.Mul64(r.pcg.Uint64(), uint64(n))
	return int(hi)
}

// mix64 is the finaliser of SplitMix64 (Steele, Lea, Flood 2014; constants of
// Stafford's variant 13): every input bit reaches every output bit.
func mix64(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Fold makes one key of two. Fold(a, b) and Fold(b, a) differ.
func Fold(a, b uint64) uint64 { return mix64(mix64(a+golden) + b) }

// Hash keys a stream by a name: FNV-1a (Fowler, Noll, Vo), mixed.
func Hash(s string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	return mix64(h)
}
