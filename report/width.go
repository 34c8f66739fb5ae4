package report

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// displayWidth is how many columns of a terminal s takes: 2 for wide letters
// (Unicode TR 11, W and F) and emoji, 0 for marks that combine with the letter
// before. Escape sequences that set a colour take none. A sequence that some
// terminals join into one picture counts as its parts: never too little.
func displayWidth(s string) (width int) {
	for s != "" {
		if n := escapeLength(s); n > 0 {
			s = s[n:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		width += runeWidth(r)
		s = s[size:]
	}
	return width
}

// escapeLength is the length of the colour sequence that s begins with, or 0.
func escapeLength(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	return strings.IndexByte(s, 'm') + 1
}

func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case r == 0xfe0f: // asks for the emoji form of the letter before, which is wide
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf), r >= 0x1160 && r <= 0x11ff:
		return 0
	case unicode.Is(wideRunes, r):
		return 2
	}
	return 1
}

// wideRunes are the blocks that East Asian Width (Unicode 15, EastAsianWidth.txt)
// calls W or F, whole blocks where a few letters in them are narrow.
var wideRunes = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1}, {0x231a, 0x231b, 1}, {0x2329, 0x232a, 1}, {0x23e9, 0x23ec, 1}, {0x23f0, 0x23f3, 3},
		{0x25fd, 0x25fe, 1}, {0x2614, 0x2615, 1}, {0x2648, 0x2653, 1}, {0x267f, 0x2693, 20}, {0x26a1, 0x26aa, 9},
		{0x26ab, 0x26bd, 18}, {0x26be, 0x26c4, 6}, {0x26c5, 0x26ce, 9}, {0x26d4, 0x26ea, 22}, {0x26f2, 0x26f3, 1},
		{0x26f5, 0x26fa, 5}, {0x26fd, 0x2705, 8}, {0x270a, 0x270b, 1}, {0x2728, 0x274c, 36}, {0x274e, 0x2753, 5},
		{0x2754, 0x2755, 1}, {0x2757, 0x2795, 62}, {0x2796, 0x2797, 1}, {0x27b0, 0x27bf, 15}, {0x2b1b, 0x2b1c, 1},
		{0x2b50, 0x2b55, 5}, {0x2e80, 0x303e, 1}, {0x3041, 0x33ff, 1}, {0x3400, 0x4dbf, 1}, {0x4e00, 0x9fff, 1},
		{0xa000, 0xa4cf, 1}, {0xa960, 0xa97f, 1}, {0xac00, 0xd7a3, 1}, {0xf900, 0xfaff, 1}, {0xfe10, 0xfe19, 1},
		{0xfe30, 0xfe6f, 1}, {0xff01, 0xff60, 1}, {0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x16fe0, 0x18aff, 1}, {0x1aff0, 0x1b2ff, 1}, {0x1f004, 0x1f0cf, 203}, {0x1f18e, 0x1f191, 3}, {0x1f192, 0x1f19a, 1},
		{0x1f200, 0x1f320, 1}, {0x1f32d, 0x1f5ff, 1}, {0x1f600, 0x1f64f, 1}, {0x1f680, 0x1f6ff, 1}, {0x1f7e0, 0x1f7eb, 1},
		{0x1f900, 0x1f9ff, 1}, {0x1fa70, 0x1faff, 1}, {0x20000, 0x3fffd, 1},
	},
}

// shorten cuts s to width columns, the last of them the ellipsis. Never for
// figures: a cut figure is another figure.
func shorten(s string, width int, ellipsis string) string {
	if displayWidth(s) <= width {
		return s
	}
	room := width - displayWidth(ellipsis)
	if room < 0 {
		return strings.Repeat(".", max(0, width))
	}
	used := 0
	for i, r := range s {
		if used+runeWidth(r) > room {
			return s[:i] + ellipsis
		}
		used += runeWidth(r)
	}
	return s
}

// padRight and padLeft fill s with spaces to width columns.
func padRight(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-displayWidth(s)))
}

func padLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-displayWidth(s))) + s
}

// wrap breaks s at spaces into lines of at most width columns; a word longer
// than a line is broken inside.
func wrap(s string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(s) {
		switch {
		case line == "":
			line = word
		case displayWidth(line)+1+displayWidth(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
		for displayWidth(line) > width {
			var head string
			head, line = split(line, width)
			lines = append(lines, head)
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// split cuts s after as many letters as fit into width columns, at least one.
func split(s string, width int) (head, tail string) {
	used := 0
	for i, r := range s {
		if used += runeWidth(r); used > width && i > 0 {
			return s[:i], s[i:]
		}
	}
	return s, ""
}
