package dist

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestOddValues(t *testing.T) {
	var r Rand
	r.Key(1, 2)
	for name, d := range map[string]Dist{
		"constant 0":         (&Constant{}).Dist(),
		"constant too long":  (&Constant{1<<63 - 1}).Dist(),
		"exp 0":              (&Exponential{}).Dist(),
		"exp 1 ns":           (&Exponential{1}).Dist(),
		"exp too long":       (&Exponential{1<<63 - 1}).Dist(),
		"lognormal sigma 0":  (&Lognormal{50 * ms, 0}).Dist(),
		"lognormal sigma 10": (&Lognormal{50 * ms, 10}).Dist(),
		"lognormal median 0": (&Lognormal{0, 1}).Dist(),
		"p99 equal to p50":   (&Percentiles{50 * ms, 50 * ms}).Dist(),
		"uniform of a point": (&Uniform{5, 5}).Dist(),
		"one quantile":       (&Quantiles{[]Point{{1, 5}}}).Dist(),
		"two at 1 ns":        (&Percentiles{1, 1<<63 - 1}).Dist(),
		"mean of 1 ns":       (&MeanP99{1, 14}).Dist(),
		"mean too long":      (&MeanP99{1<<63 - 1, 1<<63 - 1}).Dist(),
		"uniform too long":   (&Uniform{0, 1<<63 - 1}).Dist(),
		"mix too long":       (&Mix{[]Part{{0.5, &Constant{1<<63 - 1}}, {0.5, &Exponential{1<<63 - 1}}}}).Dist(),
		"part of no weight":  (&Mix{[]Part{{1, &Constant{5}}, {0, &Constant{longest}}}}).Dist(),
		"table too long":     (&Quantiles{[]Point{{0, 1<<63 - 1}, {1, 1<<63 - 1}}}).Dist(),
	} {
		for _, v := range []time.Duration{d.Sample(&r), d.Mean(), d.Quantile(0), d.Quantile(0.5), d.Quantile(1), d.Quantile(math.NaN()), d.MeanMin(0), d.MeanMin(-5), d.MeanMin(1), d.MeanMin(longest)} {
			if v < 0 || v > longest {
				t.Errorf("%s gives %d", name, v)
			}
		}
		if d.MeanMin(0) != 0 {
			t.Errorf("%s: E[min(S, 0)] = %v", name, d.MeanMin(0))
		}
	}
}

// TestFiguresKeepTheirDigitsAtTheEnds: differences of nearly equal numbers, sums
// that pass their bound by a rounding, and weights that miss 100 % by one.
func TestFiguresKeepTheirDigitsAtTheEnds(t *testing.T) {
	const high, at = 3948267632792389574, 3948267632792388766 // where (t-low)²/2(high-low) rounds down too far
	wide := (&Quantiles{[]Point{{0, 0}, {1e-9, 1 << 61}, {0.13122270879426634, 1 << 61}, {0.2234550903512309, 1 << 61}, {1, 1 << 61}}}).Dist()
	for name, c := range map[string]struct{ got, want time.Duration }{
		"exponential, t 1e-2 of the mean":  {(&Exponential{100 * time.Second}).Dist().MeanMin(900 * ms), time.Duration(-100e9 * math.Expm1(-0.009))},
		"exponential, t 2e-7 of the mean":  {(&Exponential{longest}).Dist().MeanMin(1e12), 999999891579},
		"exponential, mean above 2^53":     {(&Exponential{1<<56 + 9}).Dist().MeanMin(1<<63 - 1), 1<<56 + 9},
		"median below 1 ns":                {(&MeanP99{1, 14}).Dist().Quantile(0.99), 14},
		"weights 8e-10 above 100 %":        {(&Mix{[]Part{{0.5 + 8e-10, &Constant{8 * time.Second}}, {0.5, &Constant{8 * time.Second}}}}).Dist().Mean(), 8 * time.Second},
		"table, at most t":                 {min(wide.MeanMin(1<<61), 1<<61), wide.MeanMin(1 << 61)},
		"uniform, at most the mean":        {min((&Uniform{0, high}).Dist().MeanMin(at), high/2), (&Uniform{0, high}).Dist().MeanMin(at)},
		"part of no weight has no say":     {(&Mix{[]Part{{1, &Constant{5}}, {0, &Constant{1}}}}).Dist().Quantile(0), 5},
		"lowest of a mixture is its least": {(&Mix{[]Part{{0.5, &Constant{5}}, {0.5, &Constant{9}}}}).Dist().Quantile(0), 5},
	} {
		if d := c.got - c.want; d < -1 || d > 1 || strings.Contains(name, "at most") && d != 0 {
			t.Errorf("%s: %d, want %d", name, c.got, c.want)
		}
	}
}

// TestMixturesOfMixturesAreFast: their quantile was found by a bisection whose
// every step was another bisection, which took minutes at three levels.
func TestMixturesOfMixturesAreFast(t *testing.T) {
	var k Kind = &Exponential{20 * ms}
	for range 8 {
		k = &Mix{[]Part{{0.5, k}, {0.5, &Percentiles{20 * ms, 30 * ms}}}}
	}
	d := k.Dist()
	for _, p := range []float64{0, 0.01, 0.5, 0.99, 1} {
		q := d.Quantile(p)
		if got := CDF(d, q); got < p-1e-9 {
			t.Errorf("P(S <= Q(%g)) is %g", p, got)
		}
	}
	if m := d.MeanMin(25 * ms); m <= 0 || m > d.Mean() {
		t.Errorf("E[min(S, 25ms)] %v of mean %v", m, d.Mean())
	}
}

// TestWhatCannotBeIsSaid gives every problem a fact and something to type.
func TestWhatCannotBeIsSaid(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		want []string // one text each, in order
	}{
		{&Percentiles{50 * ms, 20 * ms}, []string{"p99 20ms is below p50 50ms"}},
		{&Percentiles{50 * ms, 50 * ms}, nil},
		{&MeanP99{50 * ms, 20 * ms}, []string{"below the mean"}},
		{&MeanP99{50 * ms, 50 * ms}, nil},
		{&MeanP99{ms, time.Second}, []string{"no lognormal has a p99 1000.0 times its mean"}},
		{&MeanP99{100 * ms, 1496 * ms}, nil},
		{&MeanP99{100 * ms, 1498 * ms}, []string{"14.97"}},
		{&Uniform{30, 10}, []string{"below the lower end"}},
		{&Uniform{10, 10}, nil},
		{&Mix{}, []string{"at least one part"}},
		{&Mix{[]Part{{0.5, &Constant{1}}}}, []string{"add up to 50%"}},
		{&Mix{[]Part{{0.5, &Constant{1}}, {0.6, &Uniform{30, 10}}}}, []string{"below the lower end", "add up to 110%"}},
		{&Mix{[]Part{{0.7, &Constant{1}}, {0.2, &Constant{2}}, {0.1, &Constant{3}}}}, nil},
		{&Quantiles{}, []string{"does not reach 100%"}},
		{&Quantiles{[]Point{{0.5, 1}}}, []string{"does not reach 100%"}},
		{&Quantiles{[]Point{{0.5, 9}, {1, 5}}}, []string{"100%: 5ns is below 50%: 9ns"}},
		{&Quantiles{[]Point{{0.5, 9}, {0.4, 10}, {0.9, 3}}}, []string{"does not reach 100%", "40% does not come after 50%", "90%: 3ns is below 40%: 10ns"}},
		{&Quantiles{[]Point{{-0.5, 9}, {1, 10}}}, []string{"-50%: 9ns is no percentile"}},
		{&Quantiles{[]Point{{0.5, -9}, {1, 10}}}, []string{"50%: -9ns is no percentile"}},
		{&Quantiles{[]Point{{0, 5}, {1, 5}}}, nil},
	} {
		got := c.kind.Validate()
		if len(got) != len(c.want) {
			t.Errorf("%+v: %d problems %v, want %d", c.kind, len(got), got, len(c.want))
			continue
		}
		for i, p := range got {
			if !strings.Contains(p.Text, c.want[i]) || p.Hint == "" {
				t.Errorf("%+v: %q (hint %q), want %q", c.kind, p.Text, p.Hint, c.want[i])
			}
		}
	}
}

// TestEveryKindExplainsItself: an example and a sentence, for kinds and help.
func TestEveryKindExplainsItself(t *testing.T) {
	for name, make := range Kinds {
		d, ok := make().(Described)
		if !ok || d.Help() == "" || strings.HasSuffix(d.Help(), ".") || d.Example() == "" || strings.Contains(d.Example(), "\n") {
			t.Errorf("%s does not explain itself", name)
		}
		if make() == make() {
			t.Errorf("%s: two files would share one configuration", name)
		}
	}
}
