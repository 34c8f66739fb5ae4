package sizing

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// recursion is Erlang's own, from no permits upwards.
func recursion(c int, a float64) float64 {
	b := 1.0
	for k := 1; k <= c; k++ {
		b = a * b / (float64(k) + a*b)
	}
	return b
}

func TestErlangBIsTheRecursion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := math.Exp(rapid.Float64Range(-8, 9).Draw(t, "ln a"))
		c := int(a * rapid.Float64Range(0, 3).Draw(t, "c/a"))
		c += rapid.IntRange(0, 5).Draw(t, "more")
		if got, want := ErlangB(c, a), recursion(c, a); !near(got, want, 1e-11) && want > 1e-290 {
			t.Errorf("B(%d, %g) = %.15g, want %.15g", c, a, got, want)
		}
	})
	wantNear(t, "B(1e6, 1e6)", ErlangB(1_000_000, 1e6), recursion(1_000_000, 1e6), 1e-9)
	wantNear(t, "B(1.001e6, 1e6)", ErlangB(1_001_000, 1e6), recursion(1_001_000, 1e6), 1e-9)
}

// In a large system B is √(2/(πa)) at c = a.
func TestErlangBOfAHugeLoad(t *testing.T) {
	for _, a := range []float64{1e8, 9e9} {
		wantNear(t, "c = a", ErlangB(int(a), a), math.Sqrt(2/(math.Pi*a)), 1e-4)
	}
	wantNear(t, "fluid", ErlangB(5e14, 1e15), 0.5, 1e-12)
	wantNear(t, "fluid with room", ErlangB(2e15, 1e15), 0, 0)
	wantNear(t, "no room to speak of", ErlangB(5e8, 1e9), 0.5, 1e-8)
}

func TestErlangBProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := math.Exp(rapid.Float64Range(-10, 10).Draw(t, "ln a"))
		c := rapid.IntRange(0, 30_000).Draw(t, "c")
		b := ErlangB(c, a)
		if !(b >= 0 && b <= 1) {
			t.Fatalf("B(%d, %g) = %g is no share", c, a, b)
		}
		if next := ErlangB(c+1, a); next > b || next == b && b > 1e-300 {
			t.Errorf("B(%d, %g) = %g, not below %g of one permit less", c+1, a, next, b)
		}
		if more := ErlangB(c, a*1.01); more < b {
			t.Errorf("B(%d, a) falls from %g to %g with more load", c, b, more)
		}
		if floor := 1 - float64(c)/a; b < floor-1e-12 {
			t.Errorf("B(%d, %g) = %g sheds less than the fluid, %g", c, a, b, floor)
		}
	})
}

func TestPermitsAreTheFewest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := math.Exp(rapid.Float64Range(-8, 10).Draw(t, "ln a"))
		target := math.Exp(rapid.Float64Range(-25, -0.01).Draw(t, "ln target"))
		c := ErlangBPermits(a, target)
		if c < 1 || ErlangB(c, a) > target || ErlangB(c-1, a) <= target {
			t.Errorf("%d permits for %g erlangs and %g: %g, one less %g", c, a, target, ErlangB(c, a), ErlangB(c-1, a))
		}
		wait := math.Exp(rapid.Float64Range(-4, 2).Draw(t, "ln max_wait"))
		c = MMcDPermits(a, 1, wait, target)
		if c < 1 || (MMcD{a, 1, c, wait}).Shed() > target || c > 1 && (MMcD{a, 1, c - 1, wait}).Shed() <= target {
			t.Errorf("%d permits for %g erlangs, max_wait %g and %g", c, a, wait, target)
		}
	})
}

func TestLoadIsTheInverseOfErlangB(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.IntRange(1, 5000).Draw(t, "c")
		target := rapid.Float64Range(1e-6, 0.99).Draw(t, "target")
		if a := ErlangBLoad(c, target); !near(ErlangB(c, a), target, 1e-9) {
			t.Errorf("%d permits carry %g erlangs at %g, but shed %g", c, a, target, ErlangB(c, a))
		}
	})
}

// Rows of the printed Erlang B tables: what so many trunks carry at 1 % and at
// 0.1 % loss.
func TestErlangBTables(t *testing.T) {
	for c, want := range map[int][2]float64{5: {1.361, 0.762}, 10: {4.461, 3.092}, 20: {12.031, 9.411}, 50: {37.901, 32.512}, 100: {84.064, 75.242}} {
		wantNear(t, "1 %", ErlangBLoad(c, 0.01), want[0], 2e-4)
		wantNear(t, "0.1 %", ErlangBLoad(c, 0.001), want[1], 4e-4)
	}
}

// Birth and death written down: weights a^n/n! up to c, in the ratio a/c above.
func TestErlangCAgainstItsStates(t *testing.T) {
	for _, c := range []struct {
		servers int
		a       float64
	}{{1, 0.9}, {2, 0.3}, {3, 2.9}, {10, 8}, {25, 24}} {
		weight, free, wait, queue := 1.0, 0.0, 0.0, 0.0
		for n := 0; n < 20_000; n++ {
			if n < c.servers {
				free += weight
			} else {
				wait += weight
				queue += weight * float64(n-c.servers)
			}
			weight *= c.a / float64(min(n+1, c.servers))
		}
		q := MMc{Rate: c.a / 0.2, Mean: 0.2, Servers: c.servers}
		wantNear(t, "P(wait)", q.PWait(), wait/(free+wait), 1e-9)
		wantNear(t, "queue", q.MeanQueue(), queue/(free+wait), 1e-9)
		wantNear(t, "mean of the tail", integral(q.WaitTail, 0, 60, 40_000), q.MeanWait(), 1e-6)
		wantNear(t, "tail at the quantile", q.WaitTail(q.WaitQuantile(0.995)), 0.005, 1e-9)
	}
	one := MMc{Rate: 5, Mean: 0.1, Servers: 1} // M/M/1: W = ρm/(1−ρ)
	wantNear(t, "M/M/1", one.MeanWait(), 0.1, 1e-12)
	wantNear(t, "M/M/1 as M/G/1", MG1{5, Exponential(0.1)}.MeanWait(), 0.1, 1e-12)
	wantNear(t, "M/D/1 waits half", MG1{5, Constant(0.1)}.MeanWait(), 0.05, 1e-12)
	wantNear(t, "its response", MG1{5, Constant(0.1)}.MeanResponse(), 0.15, 1e-12)
	wantNear(t, "its queue", MG1{5, Constant(0.1)}.MeanQueue(), 0.25, 1e-12)
}

func BenchmarkErlangB10000(b *testing.B) {
	for b.Loop() {
		ErlangB(10_000, 9_900)
	}
}

func BenchmarkErlangBPermits10000(b *testing.B) {
	for b.Loop() {
		ErlangBPermits(9_900, 0.001)
	}
}
