package dist

import (
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

const ms = time.Millisecond

// sound are kinds with every shape, each with its CDF in nanoseconds as gonum
// has it.
var sound = []struct {
	name string
	kind Kind
	cdf  func(x float64) float64
}{
	{"constant", &Constant{20 * ms}, step(20e6)},
	{"exp", &Exponential{200 * ms}, distuv.Exponential{Rate: 1 / 200e6}.CDF},
	{"lognormal", &Lognormal{50 * ms, 0.5}, distuv.LogNormal{Mu: math.Log(50e6), Sigma: 0.5}.CDF},
	{"lognormal heavy", &Lognormal{50 * ms, 1.5}, distuv.LogNormal{Mu: math.Log(50e6), Sigma: 1.5}.CDF},
	{"percentiles", &Percentiles{50 * ms, 180 * ms}, distuv.LogNormal{Mu: math.Log(50e6), Sigma: math.Log(3.6) / 2.3263478740408408}.CDF},
	{"mean and p99", &MeanP99{60 * ms, 180 * ms}, withMeanP99(60e6, 180e6).CDF},
	{"uniform", &Uniform{10 * ms, 30 * ms}, distuv.Uniform{Min: 10e6, Max: 30e6}.CDF},
	{"mix", &Mix{[]Part{{0.95, &Exponential{50 * ms}}, {0.05, &Constant{8 * time.Second}}}}, func(x float64) float64 {
		return 0.95*distuv.Exponential{Rate: 1 / 50e6}.CDF(x) + 0.05*step(8e9)(x)
	}},
	{"mix of two", &Mix{[]Part{{0.7, &Exponential{50 * ms}}, {0.3, &Uniform{100 * ms, 400 * ms}}}}, func(x float64) float64 {
		return 0.7*distuv.Exponential{Rate: 1 / 50e6}.CDF(x) + 0.3*distuv.Uniform{Min: 100e6, Max: 400e6}.CDF(x)
	}},
	{"quantiles", &Quantiles{[]Point{{0.5, 20 * ms}, {0.99, 180 * ms}, {1, 8 * time.Second}}}, func(x float64) float64 {
		switch {
		case x < 20e6:
			return 0.5 * x / 20e6
		case x < 180e6:
			return 0.5 + 0.49*(x-20e6)/160e6
		default:
			return min(1, 0.99+0.01*(x-180e6)/7820e6)
		}
	}},
}

func step(at float64) func(float64) float64 {
	return func(x float64) float64 {
		if x < at {
			return 0
		}
		return 1
	}
}

// withMeanP99 finds by bisection the smaller sigma that gives both figures.
func withMeanP99(mean, p99 float64) (l distuv.LogNormal) {
	for low, high := 0.0, 2.3263478740408408; high-low > 1e-15; {
		l.Sigma = (low + high) / 2
		l.Mu = math.Log(mean) - l.Sigma*l.Sigma/2
		if l.Quantile(0.99) < p99 {
			low = l.Sigma
		} else {
			high = l.Sigma
		}
	}
	return l
}

// samples are drawn as the simulator draws: each from a stream of its own.
func samples(k Kind, n int) []float64 {
	d := k.Dist()
	var r Rand
	out := make([]float64, n)
	for i := range out {
		r.Key(7, uint64(i))
		out[i] = float64(d.Sample(&r))
	}
	return out
}

func TestPublishedFigures(t *testing.T) {
	bimodal := (&Mix{[]Part{{0.95, &Exponential{50 * ms}}, {0.05, &Constant{8 * time.Second}}}}).Dist()
	table := (&Quantiles{[]Point{{0.5, 20 * ms}, {0.99, 180 * ms}, {1, 8 * time.Second}}}).Dist()
	for name, c := range map[string]struct {
		got  time.Duration
		want float64
	}{
		"exp 0.2 s under 1.5 s":     {(&Exponential{200 * ms}).Dist().MeanMin(1500 * ms), 0.19988938312597046},
		"bimodal under 1.5 s":       {bimodal.MeanMin(1500 * ms), 0.12249999999999557},
		"p50 of the two points":     {(&Percentiles{50 * ms, 180 * ms}).Dist().Quantile(0.5), 0.05},
		"p99 of the two points":     {(&Percentiles{50 * ms, 180 * ms}).Dist().Quantile(0.99), 0.18},
		"mean of mean and p99":      {(&MeanP99{60 * ms, 180 * ms}).Dist().Mean(), 0.06},
		"p99 of mean and p99":       {(&MeanP99{60 * ms, 180 * ms}).Dist().Quantile(0.99), 0.18},
		"p99 of an exponential":     {(&Exponential{200 * ms}).Dist().Quantile(0.99), 0.2 * math.Log(100)},
		"middle of a line":          {table.Quantile(0.745), 0.1},
		"median of a bimodal":       {bimodal.Quantile(0.475), 0.05 * math.Ln2},
		"p99 of a bimodal is const": {bimodal.Quantile(0.99), 8},
		"where the weights add up":  {(&Mix{[]Part{{0.01, &Constant{ms}}, {0.06, &Constant{2 * ms}}, {0.01, &Constant{3 * ms}}, {0.92, &Constant{9 * ms}}}}).Dist().Quantile(0.07), 0.002},
	} {
		if math.Abs(c.got.Seconds()-c.want) > 2e-9 {
			t.Errorf("%s: %v, want %.10f s", name, c.got, c.want)
		}
	}
}
