package report

import (
	"math"
	"strconv"
	"strings"

	"blastradius/sim/spec"
)

// FormatFigure writes a figure of the catalogue for people: one figure looks
// the same in every format.
func FormatFigure(metric string, unit spec.Unit, v float64) string {
	switch unit {
	case spec.Share:
		return FormatShare(v)
	case spec.Seconds:
		if strings.Contains(metric, "latency_") || strings.Contains(metric, "wait_") {
			return FormatDuration(v)
		}
		return FormatSpan(v)
	case spec.PerSec:
		return FormatRate(v)
	case spec.PerHour:
		return number(v) + "/h"
	case spec.Ratio:
		return FormatRatio(v)
	}
	return FormatLevel(v)
}

// noFigure stands where there is no figure and no better word.
const noFigure = "–"

// FormatShare writes 0…1 as a percentage with one decimal, and with up to four
// where one would say none or all of what is neither: 0.9996 is 99.96%, not
// 100.0%, and 0.0004 is 0.04%.
func FormatShare(v float64) string {
	switch {
	case math.IsNaN(v):
		return noFigure
	case v < 0:
		return "-" + FormatShare(-v)
	case v == 0:
		return "0.0%"
	case v == 1:
		return "100.0%"
	case v > 100:
		return number(v*100) + "%"
	}
	percent := v * 100
	for decimals := 1; decimals <= 4; decimals++ {
		text := strconv.FormatFloat(percent, 'f', decimals, 64)
		if r, _ := strconv.ParseFloat(text, 64); r != 0 && r != 100 {
			return text + "%"
		}
	}
	switch {
	case percent < 50:
		return "<0.0001%"
	case percent < 100:
		return ">99.9999%"
	}
	return "100.0001%"
}

// wholePercents writes shares of one whole as integers that add up to 100
// (largest remainder): 0/90/10. "<1" and ">99" stand for what would otherwise
// round to none or all.
func wholePercents(shares ...float64) []string {
	floors, used := make([]int, len(shares)), 0
	rest := make([]float64, len(shares))
	for i, s := range shares {
		p := 100 * min(1, max(0, s))
		// A share computed as 1 - a - b misses an integer by a few bits.
		if r := math.Round(p); math.Abs(p-r) < 1e-9 {
			p = r
		}
		floors[i] = int(p)
		rest[i] = p - math.Floor(p)
		used += floors[i]
	}
	for ; used < 100; used++ {
		best := -1
		for i := range rest {
			if rest[i] > 0 && (best < 0 || rest[i] > rest[best]) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		floors[best]++
		rest[best] = 0
	}
	out := make([]string, len(shares))
	for i, s := range shares {
		switch {
		case floors[i] == 0 && s > 1e-11:
			out[i] = "<1"
		case floors[i] == 100 && s < 1-1e-11:
			out[i] = ">99"
		default:
			out[i] = strconv.Itoa(floors[i])
		}
	}
	return out
}

// FormatCount writes a whole number with separators of thousands, from ten
// millions up with three digits: 14,378, 12.3M.
func FormatCount(v float64) string {
	if math.IsNaN(v) {
		return noFigure
	}
	if math.Abs(v) < 1e7 {
		return thousands(int64(math.Round(v)))
	}
	return number(v)
}

// FormatLevel writes a count or the mean of one: below ten with a decimal
// where there is one, 0.3, 6.2, 289.
func FormatLevel(v float64) string {
	a := math.Abs(v)
	if math.IsNaN(v) || v == math.Trunc(v) || a >= 9.95 {
		return FormatCount(v)
	}
	if a < 0.05 {
		if a < 0.001 {
			return "<0.001"
		}
		return strconv.FormatFloat(v, 'g', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

// FormatRatio writes a factor: 1.3.
func FormatRatio(v float64) string { return number(v) }

// FormatRate writes a rate per second: 200/s, 33.3/s.
func FormatRate(v float64) string { return number(v) + "/s" }

// number writes three digits without trailing zeros: 0.25, 33.3, 1,234, 12.3M.
func number(v float64) string {
	a := math.Abs(v)
	switch {
	case math.IsNaN(v):
		return noFigure
	case a != 0 && a < 1e-4, a >= 999.5e12:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case a >= 999.5e9:
		return scaled(v/1e12, "T")
	case a >= 999.5e6:
		return scaled(v/1e9, "G")
	case a >= 1e7:
		return scaled(v/1e6, "M")
	case a >= 99.95:
		return thousands(int64(math.Round(v)))
	}
	return scaled(v, "")
}

// scaled writes a number below 1000 with three digits and a suffix.
func scaled(v float64, suffix string) string {
	a, decimals := math.Abs(v), 2
	switch {
	case a >= 99.95:
		decimals = 0
	case a >= 9.995:
		decimals = 1
	case a < 0.001:
		decimals = 6
	case a < 0.0995:
		decimals = 4
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		text = "0"
	}
	return text + suffix
}

func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, text = "-", text[1:]
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return sign + text
}
