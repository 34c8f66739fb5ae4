package scenarios

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"blastradius/sim/spec"
)

// figure reads one value of an expectation in the unit of its metric, as a file
// writes it: 300ms, 99.9%, 80/s, 8.
func (w span) figure(unit spec.Unit) (float64, *SyntaxError) {
	if w.text == "" {
		return 0, w.fail("e.g. "+figureLike(unit), "a value is missing")
	}
	if i := strings.IndexAny(w.text, blanks); i >= 0 {
		left := strings.TrimLeft(w.text[i:], blanks)
		hint := "one comparison in one line"
		if joined := w.text[:i] + left; !strings.ContainsAny(left, blanks) {
			if _, err := parseFigure(joined, unit); err == nil {
				hint = joined + "?"
			}
		}
		return 0, span{left, w.pos + len(w.text) - len(left)}.fail(hint, "%q is left over", left)
	}
	v, err := parseFigure(w.text, unit)
	if err == nil {
		return v, nil
	}
	hint := "e.g. " + figureLike(unit)
	if u, ok := err.(*unitError); ok {
		hint = u.hint
	}
	return 0, w.fail(hint, "%s", err.Error())
}

// figureLike is an example of a value in a unit.
func figureLike(unit spec.Unit) string {
	switch unit {
	case spec.Seconds:
		return "300ms"
	case spec.Share:
		return "99.9%"
	case spec.PerSec:
		return "80/s"
	case spec.PerHour:
		return "2/h"
	case spec.Ratio:
		return "1.5"
	}
	return "8"
}

// parseFigure reads a value; any may be negative, since a difference of two arms
// is. A ratio may be given in percent, a figure per hour without its unit,
// which its name says.
func parseFigure(s string, unit spec.Unit) (float64, error) {
	switch unit {
	case spec.Seconds:
		d, err := ParseDuration(s)
		return d.Seconds(), err
	case spec.Share:
		return parseSigned(s, ParseShare)
	case spec.PerSec:
		return ParseRate(s)
	case spec.PerHour:
		number, perHour := strings.CutSuffix(s, "/h")
		if !perHour && strings.Contains(s, "/") {
			v, err := ParseRate(s)
			return v * 3600, err
		}
		return parseNumber(number, s)
	case spec.Ratio:
		if strings.HasSuffix(s, "%") {
			return parseSigned(s, ParseShare)
		}
	}
	return parseNumber(s, s)
}

// parseSigned lets a parser of positive values judge the value without its
// sign: -50 is as much in need of a % as 50.
func parseSigned(s string, parse func(string) (float64, error)) (float64, error) {
	rest, negative := strings.CutPrefix(s, "-")
	v, err := parse(rest)
	if u, ok := err.(*unitError); ok && negative && strings.HasPrefix(u.hint, rest) {
		err = &unitError{u.text, "-" + u.hint}
	}
	if negative {
		v = -v
	}
	return v, err
}

// parseNumber reads a plain number; whole is what was written.
func parseNumber(s, whole string) (float64, error) {
	v, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	if err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
		return v, nil
	}
	if errors.Is(err, strconv.ErrRange) {
		return 0, bad("e.g. 8", "%q is too large", whole)
	}
	digits := s[:len(s)-len(strings.TrimLeft(s, "+-0123456789._"))]
	if _, err := strconv.ParseFloat(digits, 64); err == nil && digits != s {
		return 0, bad(digits+"?", "%q is not a plain number", whole)
	}
	return 0, bad("e.g. 8", "%q is not a number", whole)
}
