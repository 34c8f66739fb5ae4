package dist

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestFirstDrawsOfSomeKeys are bits: whatever Go, PCG or the processor do, a
// saved seed keeps its meaning.
func TestFirstDrawsOfSomeKeys(t *testing.T) {
	var r Rand
	for _, c := range []struct{ hi, lo, first, second uint64 }{
		{0, 0, 0xb18c97843f57bb91, 0xd7046f21f79eba31},
		{0, 1, 0x217743349a774add, 0x432bb96cfbac8369},
		{1, 0, 0xaf9d32bf75779748, 0xb7672df032bf0473},
		{42, 812, 0x6fe6e5c46b281905, 0x8920a2eda0247c97},
		{1<<64 - 1, 1<<64 - 1, 0xd47285bdb872c163, 0x34f8637cb4cbffc8},
	} {
		r.Key(c.hi, c.lo)
		if a, b := r.Uint64(), r.Uint64(); a != c.first || b != c.second {
			t.Errorf("{%d, %d, %#x, %#x},", c.hi, c.lo, a, b)
		}
	}
	if got := Hash("payments"); got != 0x6570b2129171541f {
		t.Errorf("Hash %#x", got)
	}
	if got := Fold(42, 812); got != 0x315bf8a4123ef84b {
		t.Errorf("Fold %#x", got)
	}
}

// TestTheStreamIsPCG: the same bits as the library's generator with the seed
// that Key makes, and the same again after a second Key.
func TestTheStreamIsPCG(t *testing.T) {
	var r Rand
	for range 2 {
		r.Key(3, 5)
		hi, lo := uint64(3), uint64(5)
		pcg := rand.NewPCG(mix64(hi+golden), mix64((hi^lo)+golden+golden))
		for range 1000 {
			if got, want := r.Uint64(), pcg.Uint64(); got != want {
				t.Fatalf("%#x, want %#x", got, want)
			}
		}
	}
	if n := testing.AllocsPerRun(100, func() { r.Key(1, 2); r.Exp() }); n != 0 {
		t.Errorf("%g allocations a draw", n)
	}
}

// TestOpenHasNoEnds asks for the ends themselves: no stream meets them in a lifetime.
func TestOpenHasNoEnds(t *testing.T) {
	for _, x := range []uint64{0, 1, 1 << 11, 1<<63 - 1, 1 << 63, 1<<64 - 1<<11, 1<<64 - 1} {
		u := open(x)
		if !(u > 0 && u < 1) || math.Abs(u-float64(x)/0x1p64) > 0x1p-53 {
			t.Errorf("open(%#x) = %v", x, u)
		}
		if e := -Log(u); !(e > 0 && e < 38) {
			t.Errorf("exponential of %#x is %v", x, e)
		}
		if z := NormQuantile(u); math.IsInf(z, 0) || math.IsNaN(z) {
			t.Errorf("normal of %#x is %v", x, z)
		}
	}
}

// TestDurationsAreUniform: 20 cells by chi-square, every value of a small
// range, and nothing at or above n.
func TestDurationsAreUniform(t *testing.T) {
	const n = 100_000
	var r Rand
	r.Key(9, 9)
	var cells [20]float64
	for range n {
		d := r.Duration(1000 * time.Second)
		if d < 0 || d >= 1000*time.Second {
			t.Fatalf("%v outside [0, 1000s)", d)
		}
		cells[d/(50*time.Second)]++
	}
	chi := 0.0
	for _, c := range cells {
		chi += (c - n/20) * (c - n/20) / (n / 20)
	}
	if chi > 48 { // 19 degrees of freedom: 48 is the 99.98 % point
		t.Errorf("chi-square %.1f over 20 cells", chi)
	}
	seen := [3]bool{}
	for range 100 {
		seen[r.Duration(3)] = true
	}
	if seen != [3]bool{true, true, true} || r.Duration(1) != 0 || r.Duration(0) != 0 || r.Duration(-5) != 0 {
		t.Errorf("of three values %v were met", seen)
	}
}

// TestKeysAreNotConfused: exchanged, shared or neighbouring parts of a key make
// another stream.
func TestKeysAreNotConfused(t *testing.T) {
	seen := map[uint64][2]uint64{}
	var r Rand
	for hi := range uint64(300) {
		for lo := range uint64(300) {
			r.Key(hi, lo)
			u := r.Uint64()
			if other, ok := seen[u]; ok {
				t.Fatalf("keys (%d, %d) and %v begin alike", hi, lo, other)
			}
			seen[u] = [2]uint64{hi, lo}
		}
	}
	if Fold(1, 2) == Fold(2, 1) || Fold(0, 0) == 0 || Hash("ab") == Hash("ba") || Hash("") == Hash("\x00") {
		t.Error("two keys fold or hash to the same")
	}
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

func TestIntNIsUniform(t *testing.T) {
	var r Rand
	for _, n := range []int{1, 2, 7, 10} {
		counts := make([]int, n)
		const draws = 70_000
		for i := range draws {
			r.Key(9, uint64(i))
			counts[r.IntN(n)]++
		}
		for i, c := range counts {
			p := 1 / float64(n)
			if z := (float64(c) - draws*p) / math.Sqrt(draws*p*(1-p)+1e-9); math.Abs(z) > 4 {
				t.Errorf("%d of %d came %d times, z = %.1f", i, n, c, z)
			}
		}
	}
}
