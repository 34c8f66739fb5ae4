package report

import (
	"math"
	"strings"
	"testing"

	"blastradius/sim/spec"
)

func TestFiguresAreWrittenForPeople(t *testing.T) {
	for _, c := range []struct {
		name string
		got  string
		want string
	}{
		{"share", FormatShare(0.956), "95.6%"},
		{"share none", FormatShare(0), "0.0%"},
		{"share all", FormatShare(1), "100.0%"},
		{"share nearly none", FormatShare(0.0004), "0.04%"},
		{"share nearly all", FormatShare(0.9996), "99.96%"},
		{"share one in a million", FormatShare(1e-6), "0.0001%"},
		{"share below what is written", FormatShare(1e-9), "<0.0001%"},
		{"share above what is written", FormatShare(1 - 1e-9), ">99.9999%"},
		{"share above one", FormatShare(1.25), "125.0%"},
		{"share a hair above one", FormatShare(1 + 1e-9), "100.0001%"},
		{"share negative", FormatShare(-0.25), "-25.0%"},
		{"share absurd", FormatShare(1e300), "1e+302%"},
		{"ms", FormatDuration(0.05), "50ms"},
		{"small ms", FormatDuration(0.00123), "1.2ms"},
		{"ms carries into seconds", FormatDuration(0.9996), "1.00s"},
		{"µs", FormatDuration(0.00085), "850µs"},
		{"ns", FormatDuration(3e-9), "3ns"},
		{"seconds", FormatDuration(1.07), "1.07s"},
		{"ten seconds", FormatDuration(12.34), "12.3s"},
		{"carries into a minute", FormatDuration(59.96), "1m00s"},
		{"minutes", FormatDuration(180), "3m00s"},
		{"carries into an hour", FormatDuration(3599.7), "1h00m"},
		{"hours", FormatDuration(3900), "1h05m"},
		{"no time", FormatDuration(0), "0ms"},
		{"no span", FormatSpan(0), "0.0s"},
		{"short span", FormatSpan(0.045), "45ms"},
		{"span", FormatSpan(1.62), "1.6s"},
		{"span carries", FormatSpan(0.9997), "1.0s"},
		{"span of minutes", FormatSpan(180), "3m00s"},
		{"setting", FormatSetting(8), "8s"},
		{"setting ms", FormatSetting(0.25), "250ms"},
		{"setting minutes", FormatSetting(180), "3m"},
		{"setting hours", FormatSetting(5400), "1h30m"},
		{"setting whole hours", FormatSetting(7200), "2h"},
		{"setting ten minutes", FormatSetting(600), "10m"},
		{"setting that is a mean", FormatSetting(0.058123456), "58ms"},
		{"count", FormatCount(14378), "14,378"},
		{"million", FormatCount(1234567), "1,234,567"},
		{"ten millions", FormatCount(12345678), "12.3M"},
		{"thousand millions", FormatCount(2.5e9), "2.5G"},
		{"negative", FormatCount(-1234), "-1,234"},
		{"level", FormatLevel(289.4), "289"},
		{"small level", FormatLevel(6.24), "6.2"},
		{"whole level", FormatLevel(6), "6"},
		{"level carries", FormatLevel(9.97), "10"},
		{"tiny level", FormatLevel(0.034), "0.03"},
		{"rate", FormatRate(200), "200/s"},
		{"rate with a fraction", FormatRate(33.333), "33.3/s"},
		{"slow rate", FormatRate(0.0125), "0.0125/s"},
		{"figure that is a latency", FormatFigure("endpoint.a.latency_p99", spec.Seconds, 1.07), "1.07s"},
		{"figure that is a span", FormatFigure("blast_radius.time_to_recover", spec.Seconds, 9.34), "9.3s"},
		{"figure that is a ratio", FormatFigure("dependency.a.amplification", spec.Ratio, 2.5), "2.5"},
		{"figure per hour", FormatFigure("dependency.a.breaker.opens_per_hour", spec.PerHour, 36), "36/h"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, c.got, c.want)
		}
	}
}

func TestNoFormatSaysNoneOrAllOfWhatIsNeither(t *testing.T) {
	for e := 1; e <= 16; e++ {
		v := math.Pow(10, -float64(e))
		if s := FormatShare(v); strings.Trim(s, "0.%") == "" {
			t.Errorf("FormatShare(%g) = %q reads as none", v, s)
		}
		if s := FormatShare(1 - v); 1-v < 1 && strings.HasPrefix(s, "100") {
			t.Errorf("FormatShare(1-%g) = %q reads as all", v, s)
		}
		if s := FormatLevel(v); strings.Trim(s, "0.") == "" {
			t.Errorf("FormatLevel(%g) = %q reads as none", v, s)
		}
		if s := FormatDuration(v); e <= 9 && strings.Trim(s, "0.nµms") == "" {
			t.Errorf("FormatDuration(%g) = %q reads as none", v, s)
		}
	}
}

func TestWholePercentsAddUpAndNeverRoundAway(t *testing.T) {
	for _, c := range []struct {
		shares []float64
		want   string
	}{
		{[]float64{0, 0.9, 0.1}, "0/90/10"},
		{[]float64{0, 0, 1}, "0/0/100"},
		{[]float64{0.996, 0.004, 0}, ">99/<1/0"},
		{[]float64{0, 0.895, 0.105}, "0/90/10"},
		{[]float64{1.0 / 3, 1.0 / 3, 1.0 / 3}, "34/33/33"},
		{[]float64{0.7, 0.2, 1 - 0.7 - 0.2}, "70/20/10"},
		{[]float64{0.5, 0, 1 - 0.5}, "50/0/50"},
	} {
		if got := strings.Join(wholePercents(c.shares...), "/"); got != c.want {
			t.Errorf("%v: got %s, want %s", c.shares, got, c.want)
		}
	}
}
