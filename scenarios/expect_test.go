package scenarios

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"blastradius/sim"
	"blastradius/sim/spec"
)

func testVocabulary() *Vocabulary {
	return &Vocabulary{
		Arms:   []string{"uncontained", "timeouts", "contained", "timeouts-1s", "cooldown=5s (2)", "cooldown=5s", "ramp={from: 10%, over: 30s}", "cooldown"},
		Phases: []string{"all", "before", "fault", "after"},
		Metrics: map[string]spec.Unit{
			"endpoint.search.slo_rate":                   spec.Share,
			"endpoint.search.latency_p99":                spec.Seconds,
			"endpoint.search.latency_p999":               spec.Seconds,
			"endpoint.search.goodput":                    spec.PerSec,
			"endpoint.checkout.slo_rate":                 spec.Share,
			"endpoint.checkout.failures.timeout":         spec.Count,
			"dependency.payments.amplification":          spec.Ratio,
			"dependency.payments.breaker.opens":          spec.Count,
			"dependency.payments.breaker.flaps_per_hour": spec.PerHour,
			"process.parked_max":                         spec.Count,
			"blast_radius.collateral":                    spec.Share,
		},
	}
}

func TestExpectationsParse(t *testing.T) {
	for _, c := range []struct {
		text string
		want Expectation // exported fields
		form string      // String(); "" is text itself
	}{
		{"endpoint.search.slo_rate@fault >= 99.9%", Expectation{Metric: "endpoint.search.slo_rate", Phase: "fault", Op: ">=", Low: 0.999}, ""},
		{"endpoint.search.slo_rate@all >= 0.5", Expectation{Metric: "endpoint.search.slo_rate", Phase: "all", Op: ">=", Low: 0.5}, ""},
		{"dependency.payments.breaker.opens <= 8", Expectation{Metric: "dependency.payments.breaker.opens", Op: "<=", Low: 8}, ""},
		{"process.parked_max<1_000", Expectation{Metric: "process.parked_max", Op: "<", Low: 1000}, "process.parked_max < 1_000"},
		{"  process.parked_max\t!=\n8  ", Expectation{Metric: "process.parked_max", Op: "!=", Low: 8}, "process.parked_max != 8"},
		{"process.parked_max > 0", Expectation{Metric: "process.parked_max", Op: ">", Low: 0}, ""},
		{"endpoint.search.latency_p99 <= 1m30s", Expectation{Metric: "endpoint.search.latency_p99", Op: "<=", Low: 90}, ""},
		{"endpoint.search.goodput >= 120/min", Expectation{Metric: "endpoint.search.goodput", Op: ">=", Low: 2}, ""},
		{"dependency.payments.breaker.flaps_per_hour < 2", Expectation{Metric: "dependency.payments.breaker.flaps_per_hour", Op: "<", Low: 2}, ""},
		{"dependency.payments.breaker.flaps_per_hour < 2/h", Expectation{Metric: "dependency.payments.breaker.flaps_per_hour", Op: "<", Low: 2}, ""},
		{"dependency.payments.breaker.flaps_per_hour < 1/min", Expectation{Metric: "dependency.payments.breaker.flaps_per_hour", Op: "<", Low: 60}, ""},
		{"dependency.payments.amplification <= 1.2", Expectation{Metric: "dependency.payments.amplification", Op: "<=", Low: 1.2}, ""},
		{"dependency.payments.amplification <= 120%", Expectation{Metric: "dependency.payments.amplification", Op: "<=", Low: 1.2}, ""},

		// Ranges, with and without an operator.
		{"process.parked_max == 10..20", Expectation{Metric: "process.parked_max", Op: "in", Low: 10, High: 20}, "process.parked_max in 10..20"},
		{"process.parked_max in 8..8", Expectation{Metric: "process.parked_max", Op: "in", Low: 8, High: 8}, ""},
		{"process.parked_max in 10 .. 20", Expectation{Metric: "process.parked_max", Op: "in", Low: 10, High: 20}, "process.parked_max in 10..20"},
		{"process.parked_max 10..20", Expectation{Metric: "process.parked_max", Op: "in", Low: 10, High: 20}, "process.parked_max in 10..20"},
		{"blast_radius.collateral 0%..0.1%", Expectation{Metric: "blast_radius.collateral", Op: "in", Low: 0, High: 0.001}, "blast_radius.collateral in 0%..0.1%"},
		{"endpoint.search.latency_p99 in 10ms..1.5s", Expectation{Metric: "endpoint.search.latency_p99", Op: "in", Low: 0.01, High: 1.5}, ""},

		// Arms.
		{"contained: process.parked_max <= 8", Expectation{Arm: "contained", Metric: "process.parked_max", Op: "<=", Low: 8}, ""},
		{"timeouts-1s :process.parked_max <= 8", Expectation{Arm: "timeouts-1s", Metric: "process.parked_max", Op: "<=", Low: 8}, "timeouts-1s: process.parked_max <= 8"},
		{"contained / uncontained blast_radius.collateral < 10%", Expectation{Arm: "contained", Join: "/", Second: "uncontained", Metric: "blast_radius.collateral", Op: "<", Low: 0.1}, ""},
		{"contained/uncontained blast_radius.collateral < 0.1", Expectation{Arm: "contained", Join: "/", Second: "uncontained", Metric: "blast_radius.collateral", Op: "<", Low: 0.1}, "contained / uncontained blast_radius.collateral < 0.1"},
		{"timeouts - timeouts-1s blast_radius.collateral@fault >= -5%", Expectation{Arm: "timeouts", Join: "-", Second: "timeouts-1s", Metric: "blast_radius.collateral", Phase: "fault", Op: ">=", Low: -0.05}, ""},
		{"timeouts - contained endpoint.search.latency_p99 > -1.5s", Expectation{Arm: "timeouts", Join: "-", Second: "contained", Metric: "endpoint.search.latency_p99", Op: ">", Low: -1.5}, ""},
		{"timeouts / contained endpoint.search.latency_p99 > 3", Expectation{Arm: "timeouts", Join: "/", Second: "contained", Metric: "endpoint.search.latency_p99", Op: ">", Low: 3}, ""},
		{"cooldown=5s: process.parked_max <= 8", Expectation{Arm: "cooldown=5s", Metric: "process.parked_max", Op: "<=", Low: 8}, ""},
		{"cooldown=5s (2) / cooldown=5s process.parked_max <= 8", Expectation{Arm: "cooldown=5s (2)", Join: "/", Second: "cooldown=5s", Metric: "process.parked_max", Op: "<=", Low: 8}, ""},
		{"cooldown: process.parked_max <= 8", Expectation{Arm: "cooldown", Metric: "process.parked_max", Op: "<=", Low: 8}, ""},
		{"ramp={from: 10%, over: 30s} - cooldown=5s process.parked_max <= 8", Expectation{Arm: "ramp={from: 10%, over: 30s}", Join: "-", Second: "cooldown=5s", Metric: "process.parked_max", Op: "<=", Low: 8}, ""},

		// Any end of a name that one metric has, and the plurals of the file.
		{"payments.breaker.opens <= 8", Expectation{Metric: "dependency.payments.breaker.opens", Op: "<=", Low: 8}, "dependency.payments.breaker.opens <= 8"},
		{"collateral < 1%", Expectation{Metric: "blast_radius.collateral", Op: "<", Low: 0.01}, "blast_radius.collateral < 1%"},
		{"endpoints.search.slo_rate > 1%", Expectation{Metric: "endpoint.search.slo_rate", Op: ">", Low: 0.01}, "endpoint.search.slo_rate > 1%"},
		{"failures.timeout == 0", Expectation{Metric: "endpoint.checkout.failures.timeout", Op: "=="}, "endpoint.checkout.failures.timeout == 0"},
	} {
		got, err := ParseExpectation(c.text, testVocabulary())
		if err != nil {
			t.Errorf("%q: %v (%s)", c.text, err, err.Hint())
			continue
		}
		if c.want.Phase == "" {
			c.want.Phase = sim.PhaseAll
		}
		if c.want.Op != "in" {
			c.want.High = c.want.Low
		}
		plain := *got
		plain.unit, plain.value, plain.phase = "", "", false
		if math.Abs(plain.Low-c.want.Low) < 1e-15 && math.Abs(plain.High-c.want.High) < 1e-15 {
			plain.Low, plain.High = c.want.Low, c.want.High // 99.9/100 is a digit off 0.999
		}
		if plain != c.want {
			t.Errorf("%q:\n got %+v\nwant %+v", c.text, plain, c.want)
		}
		form := c.form
		if form == "" {
			form = c.text
		}
		if got.String() != form {
			t.Errorf("%q: String is %q, want %q", c.text, got, form)
		}
	}
}

func TestExpectationErrorsHaveAPlaceAndAHint(t *testing.T) {
	for _, c := range []struct{ text, mark, want, hint string }{
		{"", "", "the expectation is empty", "METRIC[@PHASE] OP VALUE"},
		{strings.Repeat("x", 1001), strings.Repeat("x", 1000), "too long", "METRIC[@PHASE] OP VALUE"},
		{"   ", "", "the expectation is empty", "METRIC[@PHASE] OP VALUE"},
		{"contained:", "", "no metric is named", "METRIC[@PHASE] OP VALUE"},
		{"contained / uncontained", "", "no metric is named", "METRIC[@PHASE] OP VALUE"},
		{">= 3", "", "no metric is named", "METRIC[@PHASE] OP VALUE"},
		{"@fault >= 3", "", "no metric is named", "METRIC[@PHASE] OP VALUE"},
		{"endpoint.serch.slo_rate >= 1%", "endpoint.serch.slo_rate", `unknown metric "endpoint.serch.slo_rate"`, "did you mean endpoint.search.slo_rate?"},
		{"endpoint.search.slorate >= 1%", "endpoint.search.slorate", "unknown metric", "did you mean endpoint.search.slo_rate?"},
		{"endpoint.search.p99 >= 1s", "endpoint.search.p99", "unknown metric", "did you mean endpoint.search.latency_p99?"},
		{"payments.braeker.opens >= 1", "payments.braeker.opens", "unknown metric", "did you mean dependency.payments.breaker.opens?"},
		{"collatteral >= 1%", "collatteral", "unknown metric", "did you mean blast_radius.collateral?"},
		{"endpoint.search.latency_p9999 >= 1s", "endpoint.search.latency_p9999", "unknown metric", "did you mean endpoint.search.latency_p999?"},
		{"payments.opens >= 1", "payments.opens", "unknown metric", "did you mean dependency.payments.breaker.opens?"},
		{"payments.breaker >= 1", "payments.breaker", "unknown metric", "blastradius metrics lists them"}, // half of a name
		{"endpointsearch.slorate >= 1%", "endpointsearch.slorate", "unknown metric", "did you mean endpoint.search.slo_rate?"},
		{"endpoint.search.p9 >= 1s", "endpoint.search.p9", "unknown metric", "did you mean endpoint.search.latency_p99?"},
		{"endpoint.search.e >= 1s", "endpoint.search.e", "unknown metric", "blastradius metrics lists them"},
		{"endpoint.search. >= 1s", "endpoint.search.", "unknown metric", "blastradius metrics lists them"},
		{"xyzzy >= 1%", "xyzzy", "unknown metric", "blastradius metrics lists them"},
		{"slo_rate >= 1%", "slo_rate", `"slo_rate" is the end of 2 metrics`, "endpoint.checkout.slo_rate or endpoint.search.slo_rate"},
		{"endpoint.search.slo_rate@falt >= 1%", "falt", `unknown phase "falt"`, `did you mean "fault"?`},
		{"endpoint.search.slo_rate@ >= 1%", "", `unknown phase ""`, "known: all, before, fault, after"},
		{"contianed: process.parked_max < 8", "contianed", `unknown arm "contianed"`, `did you mean "contained"?`},
		{"contained / timeout process.parked_max < 8", "timeout", `unknown arm "timeout"`, `did you mean "timeouts"?`},
		{"contained - nobody process.parked_max < 8", "nobody", "unknown arm", "known: uncontained"},
		{"contained / timeouts: process.parked_max < 8", ":", "two arms take no colon", "arm1 / arm2 metric op value"},
		{"process.parked_max", "", "no comparison follows the metric", "METRIC[@PHASE] OP VALUE"},
		{"process.parked_max = 8", "=", `"=" is no comparison`, "==?"},
		{"process.parked_max => 8", "=>", "is no comparison", ">=?"},
		{"process.parked_max ≤ 8", "≤", "is no comparison", "<=?"},
		{"process.parked_max <> 8", "<>", "is no comparison", "!=?"},
		{"process.parked_max below 8", "below", "is no comparison", "<?"},
		{"process.parked_max between 1..8", "between", "is no comparison", "in?"},
		{"process.parked_max 8", "8", `"8" is no comparison`, "one of < <= > >= == != or a range a..b"},
		{"process.parked_max <", "", "no value follows the comparison", "e.g. < 8"},
		{"endpoint.search.latency_p99 in", "", "no value follows the comparison", "e.g. in 300ms"},
		{"process.parked_max < eight", "eight", `"eight" is not a number`, "e.g. 8"},
		{"process.parked_max < 8ms", "8ms", "is not a plain number", "8?"},
		{"process.parked_max < 8%", "8%", "is not a plain number", "8?"},
		{"process.parked_max < NaN", "NaN", "is not a number", "e.g. 8"},
		{"process.parked_max < 1e999", "1e999", "is too large", "e.g. 8"},
		{"endpoint.search.latency_p99 < 300", "300", "a duration needs a unit", "300s? or 300ms?"},
		{"endpoint.search.slo_rate >= 99", "99", "a share above 1 needs a %", "99%?"},
		{"endpoint.search.slo_rate >= 1", "1", "1 can be read two ways", "100% or 1%?"},
		{"contained - timeouts endpoint.search.slo_rate >= -5", "-5", "a share above 1 needs a %", "-5%?"},
		{"endpoint.search.goodput >= 80", "80", "a rate needs a unit", "80/s?"},
		{"process.parked_max < 8 and more", "and more", `"and more" is left over`, "one comparison in one line"},
		{"endpoint.search.slo_rate >= 99 %", "%", `"%" is left over`, "99%?"},
		{"process.parked_max < 10..20", "10..20", "a range does not go with <", "in 10..20?"},
		{"process.parked_max in 10", "10", "in takes a range a..b", "e.g. in 10..20"},
		{"process.parked_max in 20..10", "20..10", "the range ends before it begins", "10..20?"},
		{"process.parked_max in 10..", "", "a value is missing", "e.g. 8"},
		{"process.parked_max in ..10", "", "a value is missing", "e.g. 8"},
		{"process.parked_max in 10..2x", "2x", "is not a plain number", "2?"},
		{"process.parked_max in 10..20..30", "20..30", "is not", ""},
	} {
		_, err := ParseExpectation(c.text, testVocabulary())
		if err == nil {
			t.Errorf("%q parses", c.text)
			continue
		}
		if mark := c.text[err.Pos : err.Pos+err.Len]; mark != c.mark {
			t.Errorf("%q: marked %q at %d, want %q", c.text, mark, err.Pos, c.mark)
		}
		if c.mark == "" && err.Len == 0 && err.Pos == 0 && strings.TrimLeft(c.text, ">@= 3") != "" && !strings.HasPrefix(c.text, "@") {
			t.Errorf("%q: the place of what is missing is the start", c.text)
		}
		if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Hint(), c.hint) || err.Hint() == "" {
			t.Errorf("%q: %q, hint %q; want %q, hint %q", c.text, err.Error(), err.Hint(), c.want, c.hint)
		}
	}
}

func TestBadExpectationShowsThePlace(t *testing.T) {
	text := "contained: endpoint.search.slo_rate@falt >= 1%"
	_, err := ParseExpectation(text, testVocabulary())
	got := (&BadExpectation{Text: text, Err: err}).Error()
	want := "unknown phase \"falt\"\n  " + text + "\n  " + strings.Repeat(" ", strings.Index(text, "falt")) + "^^^^"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestJudge(t *testing.T) {
	figures := map[string]float64{
		"contained process.parked_max all":                  8,
		"uncontained process.parked_max all":                80,
		"timeouts process.parked_max all":                   0,
		"contained blast_radius.collateral fault":           0.7,
		"uncontained blast_radius.collateral fault":         0.8,
		"contained endpoint.search.slo_rate all":            0.999, // 999 of 1000
		"contained endpoint.search.latency_p99 all":         1.14,
		"contained dependency.payments.breaker.opens all":   math.NaN(),
		"uncontained dependency.payments.breaker.opens all": math.Inf(1),
	}
	get := func(arm, phase, metric string) (float64, string, bool) {
		if arm == "" {
			arm = "contained"
		}
		v, ok := figures[arm+" "+metric+" "+phase]
		return v, "no fallback layer", ok
	}
	for _, c := range []struct {
		text string
		ok   bool
		miss float64
	}{
		{"process.parked_max < 8", false, math.SmallestNonzeroFloat64},
		{"process.parked_max < 9", true, 0},
		{"process.parked_max <= 8", true, 0},
		{"process.parked_max <= 7", false, 1},
		{"process.parked_max > 8", false, math.SmallestNonzeroFloat64},
		{"process.parked_max > 7", true, 0},
		{"process.parked_max >= 8", true, 0},
		{"process.parked_max >= 11", false, 3},
		{"process.parked_max == 8", true, 0},
		{"process.parked_max == 9", false, 1},
		{"process.parked_max != 9", true, 0},
		{"process.parked_max != 8", false, math.SmallestNonzeroFloat64},
		{"process.parked_max in 8..9", true, 0}, // both ends belong to it
		{"process.parked_max in 7..8", true, 0},
		{"process.parked_max in 9..11", false, 1},
		{"process.parked_max in 2..5", false, 3},
		{"uncontained: process.parked_max == 80", true, 0},
		{"contained / uncontained process.parked_max == 0.1", true, 0},
		{"contained / uncontained process.parked_max == 10%", true, 0},
		{"uncontained - contained process.parked_max == 72", true, 0},
		{"contained - uncontained process.parked_max < 0", true, 0},
		{"timeouts / contained process.parked_max <= 0", true, 0},
		{"timeouts - timeouts process.parked_max == 0", true, 0},

		// What floats make of a tenth does not decide.
		{"uncontained - contained collateral@fault <= 10%", true, 0},
		{"uncontained - contained collateral@fault == 10%", true, 0},
		{"endpoint.search.slo_rate >= 99.9%", true, 0},
		{"endpoint.search.slo_rate > 99.9%", false, math.SmallestNonzeroFloat64},
		{"endpoint.search.slo_rate >= 99.9000001%", false, 1e-9},
		{"endpoint.search.latency_p99 == 1.14s", true, 0},
		{"endpoint.search.latency_p99 < 1.140000001s", true, 0},
		{"endpoint.search.latency_p99 < 1.14s", false, math.SmallestNonzeroFloat64},
	} {
		e, err := ParseExpectation(c.text, testVocabulary())
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		v := e.Judge(get)
		if v.OK != c.ok || !v.HasActual || v.Why != "" || v.OK != (v.Miss == 0) || math.Abs(v.Miss-c.miss) > 1e-12 || (c.miss == 0) != (v.Miss == 0) {
			t.Errorf("%q: got %+v, want %v, off by %g", c.text, v, c.ok, c.miss)
		}
	}
	for _, c := range []struct{ text, why string }{
		{"uncontained: blast_radius.collateral >= 0%", "no fallback layer"},
		{"uncontained / contained blast_radius.collateral >= 0", "uncontained: no fallback layer"},
		{"contained - timeouts collateral@fault <= 0%", "timeouts: no fallback layer"},
		{"contained / timeouts process.parked_max <= 5", "timeouts has 0, and nothing can be divided by that"},
		{"dependency.payments.breaker.opens != 3", "not a finite number"},
		{"dependency.payments.breaker.opens == 3", "not a finite number"},
		{"uncontained: dependency.payments.breaker.opens > 3", "not a finite number"},
		{"contained / uncontained dependency.payments.breaker.opens <= 3", "not a finite number"},
	} {
		e, err := ParseExpectation(c.text, testVocabulary())
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if v := e.Judge(get); v.OK || v.HasActual || !strings.Contains(v.Why, c.why) {
			t.Errorf("%q: got %+v, want no figure because of %q", c.text, v, c.why)
		}
	}
	e, _ := ParseExpectation("process.parked_max < 8", testVocabulary())
	if v := e.Judge(func(_, _, _ string) (float64, string, bool) { return 0, "", false }); v.OK || v.Why == "" {
		t.Errorf("a figure that is not there: %+v", v)
	}
}

// The unit decides how the figure is shown.
func TestUnitOfAnExpectation(t *testing.T) {
	for text, want := range map[string]spec.Unit{
		"endpoint.search.latency_p99 < 1s":                           spec.Seconds,
		"contained - timeouts endpoint.search.latency_p99 < 1s":      spec.Seconds,
		"contained / timeouts endpoint.search.latency_p99 < 1":       spec.Ratio,
		"contained / timeouts endpoint.search.slo_rate in 50%..150%": spec.Ratio,
	} {
		if e, err := ParseExpectation(text, testVocabulary()); err != nil || e.Unit() != want {
			t.Errorf("%q: %v, want unit %s", text, err, want)
		}
	}
}

func FuzzParseExpectation(f *testing.F) {
	for _, s := range []string{
		"endpoint.search.slo_rate@fault >= 99.9%", "contained / timeouts collateral <= 1", "contained - timeouts collateral in -5%..5%", "cooldown=5s (2) - ramp={from: 10%, over: 30s} collateral < 1%",
		"contained: process.parked_max == 8 .. 9", "process.parked_max 8..9", "process.parked_max ≤ 8", "a:b:c", "//", "- -", "\xff\xfe", "payments.breaker.flaps_per_hour < 2/h",
		"endpoint.search.goodput > 3/min", "endpoint.search.latency_p99 < 1h30m", "@", "contained/timeouts@", "process.parked_max in ..",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseExpectation(text, testVocabulary())
		if err != nil {
			if err.Pos < 0 || err.Len < 0 || err.Pos+err.Len > len(text) || err.Error() == "" || err.Hint() == "" {
				t.Fatalf("%q: %+v", text, err)
			}
			_ = (&BadExpectation{Text: text, Err: err}).Error()
			return
		}
		again, err := ParseExpectation(e.String(), testVocabulary())
		if err != nil {
			t.Fatalf("%q: String %q does not parse: %v", text, e, err)
		}
		if !reflect.DeepEqual(e, again) {
			t.Fatalf("%q: %+v, again %+v", text, e, again)
		}
		if e.High < e.Low || math.IsNaN(e.Low) || math.IsInf(e.High, 0) || !slices.Contains(operators, e.Op) {
			t.Fatalf("%q: %+v", text, e)
		}
		if v := e.Judge(func(_, _, _ string) (float64, string, bool) { return math.NaN(), "", true }); v.OK {
			t.Fatalf("%q holds of NaN", text)
		}
	})
}
