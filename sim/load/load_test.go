package load

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"blastradius/sim/dist"
)

const (
	ms  = time.Millisecond
	sec = time.Second
)

// first are the first n arrivals under one seed; fewer where the stream ends.
func first(c Config, seed uint64, n int) (out []time.Duration) {
	var r dist.Rand
	r.Key(seed, dist.Hash("arrivals"))
	a, prev := c.Arrivals(), time.Duration(-1)
	for len(out) < n {
		at, ok := a.Next(prev, &r)
		if !ok {
			break
		}
		out = append(out, at)
		prev = at
	}
	return out
}

// until are the arrivals before end.
func until(c Config, seed uint64, end time.Duration) (out []time.Duration) {
	var r dist.Rand
	r.Key(seed, dist.Hash("arrivals"))
	a, prev := c.Arrivals(), time.Duration(-1)
	for {
		at, ok := a.Next(prev, &r)
		if !ok || at >= end {
			return out
		}
		out = append(out, at)
		prev = at
	}
}

// varying are curves with every feature: a pause, a jump up and down, ramps
// from, to and between rates.
func varying(process string) map[string]Config {
	return map[string]Config{
		"steps": &Steps{Process: process, Steps: []Step{{80, 2 * sec}, {0, sec}, {10.0 / 60, 6 * sec}, {333.3, 1500 * ms}, {7, sec}}},
		"up":    &Ramp{Process: process, From: 0, To: 120, Over: 4 * sec},
		"down":  &Ramp{Process: process, From: 120, To: 0, Over: 4 * sec},
		"ramp":  &Ramp{Process: process, From: 20, To: 120.5, Over: 7 * sec},
	}
}

func TestEvenIsExactToTheNanosecond(t *testing.T) {
	for _, c := range []struct {
		rate float64
		n    int
		want time.Duration
	}{
		{80, 0, 0}, // the first at the very start
		{80, 1, 12500 * time.Microsecond},
		{20, 609, 30450 * ms},
		{3, 1, 333333333}, {3, 2, 666666667}, {3, 3, sec},
		{10.0 / 60, 7, 42 * sec},
		{1.0 / 3600, 3, 3 * time.Hour},
		{7.0 / 3600, 7, time.Hour},
		{0.1, 3, 30 * sec},
		{1e9, 123456, 123456},
		{12.5, 2, 160 * ms},
		{math.Pi, 1, 318309886},
		{1e-6, 1, 1e6 * sec},
	} {
		if got := first(&EvenRate{Rate: c.rate}, 1, c.n+1); got[c.n] != c.want {
			t.Errorf("even %g/s: arrival %d at %v, want %v", c.rate, c.n, got[c.n], c.want)
		}
	}
}

// A sum of rounded gaps, or a float of seconds, is off by then.
func TestEvenDoesNotDriftInCenturies(t *testing.T) {
	c := newClockwork(3)
	c.n = 3 * 9e9 // after 285 years
	if at, ok := c.Next(0, nil); !ok || at != 9e9*sec {
		t.Errorf("got %d ns, %v, want %d", at, ok, 9e9*sec)
	}
	if at, ok := c.Next(0, nil); !ok || at != 9e9*sec+333333333 {
		t.Errorf("got %d ns, %v, want %d", at, ok, 9e9*sec+333333333)
	}
	for _, c := range []*clockwork{
		{n: math.MaxUint64, count: 3, period: 1e9},
		{n: 1e10, count: 1, period: 1e9}, // above the longest Duration, within 64 bits
		{n: 2e10, count: 1, period: 1e9}, // beyond them
	} {
		if at, ok := c.Next(0, nil); ok {
			t.Errorf("%+v: an arrival at %v, beyond the longest Duration", c, at)
		}
	}
}

// A rate per minute is a rounded number per second, and whole again a minute.
func TestEvenRatesPerMinuteAndHourAreWhole(t *testing.T) {
	for n := 1; n < 5000; n++ {
		for _, seconds := range []int{60, 3600} {
			c := newClockwork(float64(n) / float64(seconds))
			if c == nil || c.count*uint64(seconds)*1e9 != uint64(n)*c.period {
				t.Fatalf("%d per %d s: %+v", n, seconds, c)
			}
		}
	}
	if c := newClockwork(math.Pi); c != nil {
		t.Errorf("pi is %d in %d ns", c.count, c.period)
	}
}

func TestAPauseBeginsOnTime(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []Step
		want  []time.Duration // the arrivals around the pause
	}{
		// 23/60·300 is a digit above 115 in floats: the 116th is due when the pause
		// begins, not just before.
		{"rounded count", []Step{{23.0 / 60, 300 * sec}, {0, 60 * sec}, {1, sec}}, []time.Duration{297391304348, 360 * sec}},
		// Due 2/3 s after the start, a third of a nanosecond before the pause.
		{"rounded instant", []Step{{1.5, 666666667}, {0, sec}, {1, sec}}, []time.Duration{0, 666666666, 2666666666}},
	} {
		times := first(&Steps{Process: Even, Steps: c.steps}, 1, 200)
		i := slices.Index(times, c.want[0])
		if i < 0 || !slices.Equal(times[i:i+2], c.want[:2]) {
			t.Errorf("%s: %d around arrival %d, want %d", c.name, times[max(0, i):max(0, i)+3], i, c.want)
		}
	}
}

func TestFirstArrivals(t *testing.T) {
	for _, c := range []struct {
		name string
		kind Config
		want []time.Duration
	}{
		{"poisson", &PoissonRate{Rate: 80}, []time.Duration{828600, 3891876, 6848974, 23949922, 28401125}},
		{"even steps over a pause", &Steps{Process: Even, Steps: []Step{{2, sec}, {0, 3 * sec}, {1, sec}}},
			[]time.Duration{0, 500 * ms, 4 * sec, 5 * sec, 6 * sec}}, // the third is due when the pause begins
		{"even steps of 10/min", &Steps{Process: Even, Steps: []Step{{10.0 / 60, 12 * sec}, {1, sec}}},
			[]time.Duration{0, 6 * sec, 12 * sec, 13 * sec, 14 * sec}},
		{"even ramp from 0", &Ramp{Process: Even, From: 0, To: 2, Over: 2 * sec},
			[]time.Duration{0, 1414213562, 2 * sec, 2500 * ms, 3 * sec}}, // t²/2 = n, then 2/s
		{"even ramp to 0", &Ramp{Process: Even, From: 2, To: 0, Over: 2 * sec},
			[]time.Duration{0, 585786438}}, // 2t - t²/2 = n; the third would take for ever
		{"at", &At{Times: []time.Duration{0, 0, 1500 * ms}}, []time.Duration{0, 0, 1500 * ms}},
	} {
		if got := first(c.kind, 42, 5); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

func TestEvenCountIsTheMeanToWithinOne(t *testing.T) {
	kinds := varying(Even)
	kinds["even"] = &EvenRate{Rate: 77.7}
	kinds["slow"] = &EvenRate{Rate: 7.0 / 60}
	for name, c := range kinds {
		times := until(c, 1, 14*sec)
		for to := time.Duration(0); to <= 14*sec; to += 37 * ms {
			n, _ := slices.BinarySearch(times, to)
			// Arrivals at counts 0, 1, … below the mean: its ceiling.
			if mean := c.Mean(0, to); float64(n) < mean-1e-6 || float64(n) > mean+1+1e-6 {
				t.Fatalf("%s: %d arrivals in [0, %v), mean %.9g", name, n, to, mean)
			}
		}
	}
}

func TestPoissonCountsHaveTheirMeanAndVariance(t *testing.T) {
	const seeds = 1000
	kinds := varying(Poisson)
	kinds["poisson"] = &PoissonRate{Rate: 12.5}
	kinds["rare"] = &PoissonRate{Rate: 1.0 / 3600}
	kinds["dense"] = &PoissonRate{Rate: 300}
	windows := [][2]time.Duration{{0, 3 * sec}, {1900 * ms, 3300 * ms}, {2 * sec, 3 * sec}, {5 * sec, 5100 * ms}, {3 * sec, 12 * sec}}
	sumZ, n := 0.0, 0
	for name, c := range kinds {
		sum, squares := make([]float64, len(windows)), make([]float64, len(windows))
		for seed := range uint64(seeds) {
			times := until(c, seed, 12*sec)
			for i, w := range windows {
				k := float64(between(times, w[0], w[1]))
				sum[i] += k
				squares[i] += k * k
			}
		}
		for i, w := range windows {
			want, mean := c.Mean(w[0], w[1]), sum[i]/seeds
			if want == 0 {
				if sum[i] != 0 {
					t.Errorf("%s: %g arrivals in %v of rate 0", name, sum[i], w)
				}
				continue
			}
			z := (mean - want) / math.Sqrt(want/seeds)
			sumZ, n = sumZ+math.Abs(z), n+1
			if math.Abs(z) > 4 {
				t.Errorf("%s %v: mean %.5g, want %.5g (z %.1f)", name, w, mean, want, z)
			}
			// The variance of a sample variance of Poisson counts is (2m² + m)/n.
			variance := squares[i]/seeds - mean*mean
			if z := (variance - want) / math.Sqrt((2*want*want+want)/seeds); math.Abs(z) > 4.5 {
				t.Errorf("%s %v: variance %.5g, want %.5g (z %.1f)", name, w, variance, want, z)
			}
		}
	}
	if mean := sumZ / float64(n); mean > 1.5 {
		t.Errorf("mean |z| of %d windows is %.2f", n, mean)
	}
}

// Rounding to the nearest nanosecond would take half of one from the first
// window: 2.5 arrivals in three nanoseconds at 1e9/s.
func TestPoissonWindowsOfSingleNanoseconds(t *testing.T) {
	const seeds = 2000
	for _, c := range []Config{&PoissonRate{Rate: 1e9}, &Steps{Process: Poisson, Steps: []Step{{1e9, 3}, {0, 5}, {1e9, 1}}}} {
		sum := 0
		for seed := range uint64(seeds) {
			sum += len(until(c, seed, 3))
		}
		if z := (float64(sum) - 3*seeds) / math.Sqrt(3*seeds); math.Abs(z) > 4 {
			t.Errorf("%d arrivals in 3 ns under %d seeds (z %.1f)", sum, seeds, z)
		}
	}
}

// Counts of disjoint windows of a Poisson stream do not know of each other.
func TestPoissonWindowsAreIndependent(t *testing.T) {
	const seeds = 1000
	c := &Ramp{Process: Poisson, From: 20, To: 60, Over: 2 * sec}
	a, b := c.Mean(0, sec), c.Mean(sec, 2*sec)
	sum := 0.0
	for seed := range uint64(seeds) {
		times := until(c, seed, 2*sec)
		sum += (float64(between(times, 0, sec)) - a) * (float64(between(times, sec, 2*sec)) - b)
	}
	if z := sum / math.Sqrt(seeds*a*b); math.Abs(z) > 4 {
		t.Errorf("covariance %.3g (z %.1f)", sum/seeds, z)
	}
}

func TestRateMeanAndPeakAgree(t *testing.T) {
	kinds := varying(Poisson)
	kinds["poisson"], kinds["even"] = &PoissonRate{Rate: 33}, &EvenRate{Rate: 33}
	for name, c := range kinds {
		a := c.Arrivals()
		for _, w := range [][2]time.Duration{{0, 14 * sec}, {sec, 2500 * ms}, {2 * sec, 3 * sec}, {6 * sec, 20 * sec}} {
			// The midpoint rule is exact on straight lines, and no step falls inside a cell.
			const cell = 500 * time.Microsecond
			integral, high := 0.0, 0.0
			for at := w[0]; at < w[1]; at += cell {
				rate := a.Rate(at + cell/2)
				integral += rate * cell.Seconds()
				high = max(high, rate, a.Rate(at))
			}
			if got := c.Mean(w[0], w[1]); math.Abs(got-integral) > 1e-9*max(1, integral) {
				t.Errorf("%s %v: mean %.12g, integral of the rate %.12g", name, w, got, integral)
			}
			if got := c.Peak(w[0], w[1]); got < high || got > high+120*cell.Seconds() {
				t.Errorf("%s %v: peak %.9g, largest rate seen %.9g", name, w, got, high)
			}
		}
	}
}

func TestFiguresAtTheEdges(t *testing.T) {
	// 0.1 plus its slope times 3 s is a digit above 0.3.
	if got := (&Ramp{From: 0.1, To: 0.3, Over: 3 * sec}).Peak(0, time.Minute); got != 0.3 {
		t.Errorf("peak of a ramp to 0.3/s is %v", got)
	}
	if got := (&PoissonRate{Rate: 80}).Mean(-5*sec, sec); got != 80 {
		t.Errorf("%g arrivals before the start", got-80)
	}
	c := &Steps{Process: Even, Steps: []Step{{1e-9, forEver - 1}, {1e-9, forEver - 1}, {1, forEver - 1}}}
	if got := len(first(c, 1, 100)); got != 10 { // at 0, 1e9 s, …, 9e9 s
		t.Errorf("%d arrivals of 9.2 in 292 years", got)
	}
}

func TestListFigures(t *testing.T) {
	c := &At{Times: []time.Duration{0, 0, 900 * ms, sec, 1500 * ms, 5 * sec}}
	for _, x := range []struct {
		from, to   time.Duration
		mean, peak float64
	}{
		{0, 6 * sec, 6, 3}, // 0, 0, 900ms; 1s is a second later
		{0, sec, 3, 3},
		{1, sec, 1, 1},
		{sec, 5 * sec, 2, 2}, // half-open: 5s is outside
		{2 * sec, 3 * sec, 0, 0},
		{3 * sec, 2 * sec, 0, 0},
	} {
		if mean, peak := c.Mean(x.from, x.to), c.Peak(x.from, x.to); mean != x.mean || peak != x.peak {
			t.Errorf("[%v, %v): mean %g peak %g, want %g and %g", x.from, x.to, mean, peak, x.mean, x.peak)
		}
	}
	if got := c.Arrivals().Rate(sec); got != 2 { // [0.5s, 1.5s)
		t.Errorf("rate around 1s is %g, want 2", got)
	}
}

func TestArrivalsNeverGoBack(t *testing.T) {
	kinds := map[string]Config{
		"huge poisson": &PoissonRate{Rate: 1e9},
		"huge even":    &EvenRate{Rate: 1e9},
		"odd even":     &EvenRate{Rate: 999999999.5},
		"huge steps":   &Steps{Process: Poisson, Steps: []Step{{1e9, 3}, {0, 1}, {1e-9, 1}, {1e9, 1}}},
		"huge ramp":    &Ramp{Process: Even, From: 0, To: 1e9, Over: 50},
	}
	for _, process := range []string{Poisson, Even} {
		for name, c := range varying(process) {
			kinds[process+" "+name] = c
		}
	}
	for name, c := range kinds {
		times := first(c, 3, 20000)
		if !slices.IsSorted(times) || times[0] < 0 {
			t.Errorf("%s: arrivals go back", name)
		}
		if last := times[len(times)-1]; len(times) == 20000 && last <= times[0] {
			t.Errorf("%s: 20,000 arrivals and time stands still", name)
		}
	}
	// 1e9/s is one a nanosecond on average, also from a clock of nanoseconds.
	times := first(&PoissonRate{Rate: 1e9}, 3, 20000)
	if last := float64(times[len(times)-1]); math.Abs(last-20000) > 4*math.Sqrt(20000) {
		t.Errorf("20,000 arrivals at 1e9/s take %g ns", last)
	}
}

func TestStreamsThatEnd(t *testing.T) {
	long := forEver - 1
	for name, c := range map[string]Config{
		"last step 0":        &Steps{Process: Poisson, Steps: []Step{{40, sec}, {0, sec}}},
		"ramp to 0":          &Ramp{Process: Poisson, From: 80, To: 0, Over: sec},
		"beyond all time":    &PoissonRate{Rate: 5e-10},
		"steps past the end": &Steps{Process: Even, Steps: []Step{{1e-9, long}, {1e-9, long}, {1, long}}},
	} {
		a, prev, n := c.Arrivals(), time.Duration(-1), 0
		var r dist.Rand
		r.Key(7, 7)
		for ; n < 1000; n++ {
			at, ok := a.Next(prev, &r)
			if !ok {
				break
			}
			prev = at
		}
		if n == 1000 {
			t.Errorf("%s: never ends", name)
		}
		if at, ok := a.Next(prev, &r); ok {
			t.Errorf("%s: ended, and then %v", name, at)
		}
	}
}

func TestEachStreamStartsAnew(t *testing.T) {
	for name, make := range Kinds {
		c := make()
		switch c := c.(type) {
		case *PoissonRate:
			c.Rate = 5
		case *EvenRate:
			c.Rate = 5
		case *Steps:
			c.Steps = []Step{{5, sec}}
		case *Ramp:
			c.To, c.Over = 5, sec
		case *At:
			c.Times = []time.Duration{1, 2, 3}
		default:
			t.Fatalf("%s: give the new kind some fields here", name)
		}
		if problems := c.Validate(); len(problems) != 0 {
			t.Errorf("%s: %v", name, problems)
		}
		if a, b := first(c, 9, 50), first(c, 9, 50); !slices.Equal(a, b) || len(a) < 3 {
			t.Errorf("%s: %v, then %v", name, a, b)
		}
		if c.Help() == "" || c.Example() == "" {
			t.Errorf("%s does not explain itself", name)
		}
	}
}

func TestProblems(t *testing.T) {
	for _, c := range []struct {
		kind  Config
		field string // "" is no problem
	}{
		{&Steps{Steps: []Step{{0, sec}, {3, sec}}}, ""},
		{&Steps{Steps: []Step{{0, sec}, {0, sec}}}, "steps"},
		{&Steps{}, "steps"},
		{&Ramp{From: 3}, ""},
		{&Ramp{To: 3}, ""},
		{&Ramp{}, "to"},
		{&At{Times: []time.Duration{1, 1, 2}}, ""},
		{&At{Times: []time.Duration{1, 2, 1}}, "at"},
		{&At{}, "at"},
	} {
		var fields []string
		for _, p := range c.kind.Validate() {
			if p.Text == "" || p.Hint == "" || p.Warning {
				t.Errorf("%+v: a problem without text or hint, or a warning: %+v", c.kind, p)
			}
			fields = append(fields, p.Field)
		}
		if want := slices.DeleteFunc([]string{c.field}, func(s string) bool { return s == "" }); !slices.Equal(fields, want) {
			t.Errorf("%+v: problems with %q, want %q", c.kind, fields, want)
		}
	}
}

// Every field that a scenario file can give says what it is.
func TestFieldsAreDescribed(t *testing.T) {
	for name, make := range Kinds {
		for f := range fields(reflect.TypeOf(make()).Elem()) {
			if f.Tag.Get("yaml") == "" || f.Tag.Get("help") == "" {
				t.Errorf("%s: field %s lacks a yaml or help tag", name, f.Name)
			}
		}
	}
}

func fields(t reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
			if f := t.Field(i).Type; f.Kind() == reflect.Slice && f.Elem().Kind() == reflect.Struct {
				for inner := range fields(f.Elem()) {
					if !yield(inner) {
						return
					}
				}
			}
		}
	}
}

func BenchmarkNext(b *testing.B) {
	for name, c := range map[string]Config{
		"poisson": &PoissonRate{Rate: 80}, "even": &EvenRate{Rate: 80},
		"steps": &Steps{Process: Poisson, Steps: slices.Repeat([]Step{{80, sec}, {90, sec}}, 500)},
		"ramp":  &Ramp{Process: Poisson, From: 20, To: 120, Over: 1e6 * sec},
	} {
		b.Run(name, func(b *testing.B) {
			var r dist.Rand
			r.Key(1, 2)
			a, prev := c.Arrivals(), time.Duration(-1)
			b.ReportAllocs()
			for b.Loop() {
				prev, _ = a.Next(prev, &r)
			}
		})
	}
}
