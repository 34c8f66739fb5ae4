package scenarios

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A unitError says what is wrong with a value and what to type instead.
type unitError struct{ text, hint string }

func (e *unitError) Error() string { return e.text }

func bad(hint, format string, args ...any) *unitError {
	return &unitError{fmt.Sprintf(format, args...), hint}
}

// ParseDuration reads 50ms, 2m, 1h30m, 1.5s: to the nanosecond, below 292 years.
func ParseDuration(s string) (time.Duration, error) {
	t := strings.TrimSpace(s)
	if n, err := strconv.ParseFloat(t, 64); err == nil {
		if math.IsNaN(n) || math.IsInf(n, 0) {
			return 0, bad("e.g. 30s", "%s is not a duration", t)
		}
		if n == 0 {
			return 0, bad("0s?", "a duration needs a unit")
		}
		return 0, bad(t+"s? or "+t+"ms?", "a duration needs a unit")
	}
	d, err := time.ParseDuration(t)
	if err == nil {
		return d, nil
	}
	if fixed, ok := respell(t); ok {
		return 0, bad(fixed+"?", "%q is not a duration", s)
	}
	if strings.Contains(t, "d") {
		return 0, bad("hours are the largest unit: 24h", "%q is not a duration", s)
	}
	return 0, bad("e.g. 50ms, 1.5s, 2m, 1h30m", "%q is not a duration", s)
}

// respell turns 30 secs, 5min, 1 hour into what a file takes.
func respell(s string) (string, bool) {
	words := map[string]string{
		"sec": "s", "secs": "s", "second": "s", "seconds": "s", "min": "m", "mins": "m", "minute": "m", "minutes": "m",
		"hour": "h", "hours": "h", "hr": "h", "hrs": "h", "msec": "ms", "msecs": "ms", "millis": "ms", "milliseconds": "ms", "millisecond": "ms",
		"s": "s", "ms": "ms", "m": "m", "h": "h", "us": "us",
	}
	i := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if i <= 0 {
		return "", false
	}
	unit, ok := words[strings.ToLower(strings.TrimSpace(s[i:]))]
	if !ok {
		return "", false
	}
	return s[:i] + unit, true
}

// ParseRate reads 80/s, 10/min, 3/h as a number per second.
func ParseRate(s string) (float64, error) {
	t := strings.ReplaceAll(strings.TrimSpace(s), " ", "")
	number, unit, ok := strings.Cut(t, "/")
	n, err := strconv.ParseFloat(number, 64)
	if !ok {
		if err == nil {
			return 0, bad(t+"/s?", "a rate needs a unit")
		}
		return 0, bad("e.g. 80/s, 10/min", "%q is not a rate", s)
	}
	if math.IsInf(n, 0) || math.IsNaN(n) {
		return 0, bad("e.g. 80/s, 10/min", "%q is not a number", number)
	}
	if err != nil {
		return 0, bad("e.g. 80/s, 10/min", "%q is not a number", number)
	}
	switch unit {
	case "s", "sec", "second":
		return n, nil
	case "m", "min", "minute":
		return n / 60, nil
	case "h", "hour":
		return n / 3600, nil
	case "ms":
		return n * 1000, nil
	}
	return 0, bad(number+"/s, "+number+"/min or "+number+"/h?", "%q is not a unit of a rate", unit)
}

// ParseShare reads 0.1%, 50% or 0.001 as a fraction.
func ParseShare(s string) (float64, error) {
	t := strings.TrimSpace(s)
	number, percent := strings.CutSuffix(t, "%")
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, bad("e.g. 50%, 0.1% or 0.001", "%q is not a share", s)
	}
	switch {
	case percent: // read with its exponent: 99.9/100 is one digit off 0.999
		n, _ = strconv.ParseFloat(strings.TrimSpace(number)+"e-2", 64)
		if n == 0 && strings.ContainsAny(number, "eExXpP") {
			v, _ := strconv.ParseFloat(strings.TrimSpace(number), 64)
			n = v / 100
		}
		return n, nil
	case n == 1:
		return 0, bad("100% or 1%?", "1 can be read two ways")
	case n > 1:
		return 0, bad(t+"%?", "a share above 1 needs a %%")
	}
	return n, nil
}

// ParseCount reads an integer.
func ParseCount(s string) (int, error) {
	t := strings.ReplaceAll(strings.TrimSpace(s), "_", "")
	n, err := strconv.Atoi(t)
	if err == nil {
		return n, nil
	}
	if f, ferr := strconv.ParseFloat(t, 64); ferr == nil {
		if f == math.Trunc(f) && math.Abs(f) < 1e15 {
			return int(f), nil
		}
		if math.Abs(f) < 1e15 {
			return 0, bad(fmt.Sprintf("%.0f?", f), "%s is not a whole number", t)
		}
		return 0, bad("a smaller number", "%s is too large", t)
	}
	return 0, bad("a whole number", "%q is not a whole number", s)
}

// formatDuration is how a file writes d, with no trailing zero units: 2m, 1.5s.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return strings.ReplaceAll(s, "µ", "u")
}

func formatShare(v float64) string {
	return strconv.FormatFloat(roundTo(v*100, 12), 'g', -1, 64) + "%"
}

func formatRate(v float64) string {
	for _, u := range []struct {
		per  string
		secs float64
	}{{"s", 1}, {"min", 60}, {"h", 3600}} {
		n := roundTo(v*u.secs, 12)
		if n >= 1 || u.per == "h" {
			return strconv.FormatFloat(n, 'f', -1, 64) + "/" + u.per
		}
	}
	return ""
}

// roundTo keeps n significant digits, which hides what a division by 60 or 100
// did to the last one.
func roundTo(v float64, n int) float64 {
	f, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', n, 64), 64)
	if err != nil {
		return v
	}
	return f
}
