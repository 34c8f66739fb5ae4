package resilience

import (
	"math/big"
	"math/bits"
	"time"
)

// A rate limit counts in fractions: 3/s is a call every 333,333,333⅓ ns. What
// follows keeps such a gap and the instants it leads to as whole nanoseconds and
// an exact rest, so that a billion gaps end where one multiplication says.
//
// The clock has whole nanoseconds. A call at instant t stands for [t, t+1): it
// passes when it would be due within that nanosecond, and the fraction is not
// lost, so an even stream of exactly the rate passes whole.

// gap is the time between two calls at a rate: num/den = ns + rest/den
// nanoseconds, rest below den.
type gap struct{ num, den, ns, rest uint64 }

// moment is an instant of ns + frac/den nanoseconds, den being that of the gap
// it was made with.
type moment struct {
	ns   time.Duration
	frac uint64
}

// Rates that a limit takes, per second: one call a nanosecond, and one in 36
// years.
const fastestRate = 1e9

// gapOf is the gap of a rate per second. The rate is taken for the first
// continued fraction that is it as a float64: 10/min is 1/6, whatever a float64
// makes of it. Denominators end at 9·10^9, which a rate below one call in three
// hours can exceed; such a rate is met to 10^-11 of it.
func gapOf(perSec float64) gap {
	p, q := fraction(min(perSec, fastestRate))
	if p == 0 {
		return gap{num: uint64(longestPause), den: 1, ns: uint64(longestPause)}
	}
	g := gap{num: 1e9 * q, den: p}
	g.ns, g.rest = g.num/p, g.num%p
	g.ns = min(g.ns, uint64(longestPause))
	return g
}

// fraction gives x >= 0 as p/q by its continued fraction, ended as soon as it is
// x as a float64. A rate below one in 36 years gives 0.
func fraction(x float64) (p, q uint64) {
	const most = 9_000_000_000
	if x*float64(longestPause) < 1e9 {
		return 0, 1
	}
	rest := new(big.Rat).SetFloat64(x)
	a, b := rest.Num(), rest.Denom()
	p0, q0, p1, q1 := big.NewInt(0), big.NewInt(1), big.NewInt(1), big.NewInt(0)
	for b.Sign() != 0 {
		whole, left := new(big.Int).QuoRem(a, b, new(big.Int))
		p2 := new(big.Int).Add(new(big.Int).Mul(whole, p1), p0)
		q2 := new(big.Int).Add(new(big.Int).Mul(whole, q1), q0)
		if q2.Cmp(big.NewInt(most)) > 0 {
			break
		}
		p0, q0, p1, q1 = p1, q1, p2, q2
		if f, _ := new(big.Rat).SetFrac(p1, q1).Float64(); f == x {
			break
		}
		a, b = b, left
	}
	return p1.Uint64(), q1.Uint64()
}

// after is m and one gap.
func (g *gap) after(m moment) moment {
	m.ns += time.Duration(g.ns)
	if m.frac += g.rest; m.frac >= g.den {
		m.frac -= g.den
		m.ns++
	}
	return m
}

// times is m and n gaps, at most the longest pause after m.
func (g *gap) times(m moment, n int64) moment {
	hi, lo := bits.Mul64(g.rest, uint64(n))
	lo, carry := bits.Add64(lo, m.frac, 0)
	whole, frac := bits.Div64(hi+carry, lo, g.den)
	hi, lo = bits.Mul64(g.ns, uint64(n))
	lo, carry = bits.Add64(lo, whole, 0)
	if hi+carry > 0 || lo > uint64(longestPause) {
		return moment{ns: m.ns + longestPause}
	}
	return moment{m.ns + time.Duration(lo), frac}
}

// before is m less a span, which was made with the same gap.
func (g *gap) before(m, span moment) moment {
	m.ns -= span.ns
	if m.frac < span.frac {
		m.frac += g.den
		m.ns--
	}
	m.frac -= span.frac
	return m
}

// within is how many gaps after m have been reached at now, which is not before
// m.ns and less than 2^63 gaps after it.
func (g *gap) within(m moment, now time.Duration) int64 {
	hi, lo := bits.Mul64(uint64(now-m.ns)+1, g.den)
	lo, borrow := bits.Sub64(lo, m.frac+1, 0)
	n, _ := bits.Div64(hi-borrow, lo, g.num)
	return int64(n)
}
