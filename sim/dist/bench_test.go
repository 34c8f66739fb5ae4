package dist

import "testing"

var sink float64

// BenchmarkKey: the price of a stream of its own for every attempt.
func BenchmarkKey(b *testing.B) {
	var r Rand
	n := uint64(0)
	for b.Loop() {
		n++
		r.Key(42, n)
	}
}

func BenchmarkFunction(b *testing.B) {
	for _, f := range []struct {
		name string
		of   func(float64) float64
	}{
		{"nothing", func(x float64) float64 { return x }}, // the draw itself
		{"Log", Log}, {"Exp", Exp}, {"NormQuantile", NormQuantile}, {"NormCDF", NormCDF},
	} {
		b.Run(f.name, func(b *testing.B) {
			var r Rand
			r.Key(1, 2)
			for b.Loop() {
				sink += f.of(r.Open())
			}
		})
	}
}

func BenchmarkSample(b *testing.B) {
	for _, s := range sound {
		b.Run(s.name, func(b *testing.B) {
			d := s.kind.Dist()
			var r Rand
			n := uint64(0)
			for b.Loop() {
				n++
				r.Key(42, n)
				d.Sample(&r)
			}
		})
	}
}
