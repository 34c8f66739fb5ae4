package report

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// FormatDuration writes a measured time with about three digits: 850µs, 1.2ms,
// 50ms, 1.07s, 12.3s, 3m00s, 1h05m.
func FormatDuration(seconds float64) string {
	decimals := func(v float64, n int, unit string) string { return strconv.FormatFloat(v, 'f', n, 64) + unit }
	switch s := seconds; {
	case math.IsNaN(s):
		return noFigure
	case s < 0:
		return "-" + FormatDuration(-s)
	case s == 0:
		return "0ms"
	case s < 999.5e-9:
		return decimals(s*1e9, 0, "ns")
	case s < 999.5e-6:
		return decimals(s*1e6, 0, "µs")
	case s < 9.95e-3:
		return decimals(s*1e3, 1, "ms")
	case s < 0.9995:
		return decimals(s*1e3, 0, "ms")
	case s < 9.995:
		return decimals(s, 2, "s")
	case s < 59.95:
		return decimals(s, 1, "s")
	}
	return clock(seconds)
}

// FormatSpan writes a stretch of the run (detection, recovery, time open) to a
// tenth of a second: 0.0s, 45ms, 1.6s, 3m00s.
func FormatSpan(seconds float64) string {
	switch s := seconds; {
	case s < 0:
		return "-" + FormatSpan(-s)
	case s == 0:
		return "0.0s"
	case s >= 0.9995 && s < 59.95:
		return strconv.FormatFloat(s, 'f', 1, 64) + "s"
	}
	return FormatDuration(seconds)
}

// clock writes from a minute up: 3m00s to the second, 1h05m to the minute.
func clock(s float64) string {
	two := func(n int64) string { return strconv.FormatInt(100+n, 10)[1:] }
	if s < 3599.5 {
		n := int64(math.Round(s))
		return strconv.FormatInt(n/60, 10) + "m" + two(n%60) + "s"
	}
	if s > 1e9 {
		return number(s/3600) + "h"
	}
	n := int64(math.Round(s / 60))
	return thousands(n/60) + "h" + two(n%60) + "m"
}

// FormatSetting writes a time as a file has it: 8s, 1.5s, 250ms, 3m, 1h30m. One
// that is not round (a mean) is rounded like a measured one.
func FormatSetting(seconds float64) string {
	if math.IsNaN(seconds) || math.Abs(seconds) > 9e9 {
		return FormatDuration(seconds)
	}
	text := time.Duration(math.Round(seconds * 1e9)).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	if len(text) > 7 {
		return FormatDuration(seconds)
	}
	return text
}
