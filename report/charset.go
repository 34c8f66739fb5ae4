package report

import (
	"strings"
	"unicode"
)

// charset is what a text report is drawn with.
type charset struct {
	rule, dash, left, right, single, ellipsis string
	levels                                    []string // of a sparkline, lowest first
	blank                                     string   // where a sparkline has no value
	clean                                     func(string) string
}

var unicodeCharset = charset{
	rule: "─", dash: "─", left: "└", right: "┘", single: "┴", ellipsis: "…",
	levels: strings.Split("▁▂▃▄▅▆▇█", ""), blank: " ", clean: printable,
}

var asciiCharset = charset{
	rule: "-", dash: "-", left: "\\", right: "/", single: "|", ellipsis: "..",
	levels: strings.Split(".:-=+*#@", ""), blank: " ", clean: func(s string) string { return toASCII(printable(s)) },
}

// printable makes foreign text safe to print: what would move the cursor,
// colour the screen or turn the writing direction becomes a space.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == 0x200d: // joins emoji
			return r
		case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs):
			return ' '
		}
		return r
	}, s)
}

// asciiWords stand for the signs that reports are written with.
var asciiWords = strings.NewReplacer(
	"×", "x", "÷", "/", "·", "*", "±", "+-", "≥", ">=", "≤", "<=", "≠", "!=", "≈", "~",
	"–", "-", "—", "-", "−", "-", "…", "..", "→", "->", "²", "^2", "³", "^3", "√", "sqrt ",
	"µ", "u", "μ", "u", "λ", "lambda", "Σ", "sum ", "∫", "integral ", "∞", "infinity",
	"‘", "'", "’", "'", "“", "\"", "”", "\"", "«", "\"", "»", "\"", "\u00a0", " ", "\u202f", " ",
)

// toASCII spells the signs of reports in ASCII; a letter of another script
// becomes a question mark, and what combines with it goes.
func toASCII(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < unicode.MaxASCII:
			return r
		case runeWidth(r) == 0 || r == 0xfe0f:
			return -1
		}
		return '?'
	}, asciiWords.Replace(s))
}
