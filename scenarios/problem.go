package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Problem is one thing wrong with a scenario file, with its place.
type Problem struct {
	Line, Col int    // from 1; 0 is the file as a whole
	Width     int    // runes under the caret; at least 1
	Text      string // the fact
	Hint      string // what to type instead, shown behind the caret
	Note      string // a line after the source, e.g. the keys allowed
	Warning   bool   // the run goes on
}

// Problems are all that is wrong with one file, in the order of the lines.
type Problems struct {
	File string
	List []Problem
	src  []string
}

// Error shows every problem with three lines of source and a caret.
func (p *Problems) Error() string {
	var b strings.Builder
	errors := 0
	for i := range p.List {
		b.WriteString(p.one(&p.List[i]))
		if !p.List[i].Warning {
			errors++
		}
	}
	fmt.Fprintf(&b, "%s in 1 file; nothing was run", plural(errors, "error"))
	return b.String()
}

// Errors reports whether anything but warnings is there.
func (p *Problems) Errors() bool {
	return slices.ContainsFunc(p.List, func(x Problem) bool { return !x.Warning })
}

// Warnings shows each warning on its own.
func (p *Problems) Warnings() (out []string) {
	for i := range p.List {
		if p.List[i].Warning {
			out = append(out, strings.TrimSuffix(p.one(&p.List[i]), "\n"))
		}
	}
	return out
}

// Short is a warning without its source lines, for a saved result.
func (p *Problems) Short() (out []string) {
	for _, x := range p.List {
		if x.Warning {
			line := fmt.Sprintf("%s:%d:%d: %s", p.File, x.Line, x.Col, x.Text)
			if x.Hint != "" {
				line += " (" + x.Hint + ")"
			}
			out = append(out, line)
		}
	}
	return out
}

func (p *Problems) one(x *Problem) string {
	var b strings.Builder
	b.WriteString(p.File)
	if x.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", x.Line, x.Col)
	}
	b.WriteString(": ")
	if x.Warning {
		b.WriteString("warning: ")
	}
	b.WriteString(x.Text + "\n")
	if x.Line > 0 && x.Line <= len(p.src) {
		first := max(1, x.Line-1)
		digits := len(fmt.Sprint(x.Line))
		for l := first; l <= x.Line; l++ {
			fmt.Fprintf(&b, "  %*d | %s\n", digits, l, clip(p.src[l-1], x.Col))
		}
		line := []rune(clip(p.src[x.Line-1], x.Col))
		pad := columns(string(line[:min(len(line), x.Col-1)]))
		mark := max(1, x.Width)
		if over := x.Col - 1 + mark - len(line); over > 0 {
			mark = max(1, mark-over)
		}
		marked := line[min(len(line), x.Col-1):min(len(line), x.Col-1+mark)]
		fmt.Fprintf(&b, "  %s | %s%s", strings.Repeat(" ", digits), pad, strings.Repeat("^", max(1, cells(string(marked)))))
		if x.Hint != "" {
			b.WriteString(" " + x.Hint)
		}
		b.WriteString("\n")
	} else if x.Hint != "" {
		b.WriteString("  hint: " + x.Hint + "\n")
	}
	if x.Note != "" {
		b.WriteString("  " + x.Note + "\n")
	}
	return b.String()
}

// clip keeps a source line readable: no control characters, and not much more
// of it than the place in question.
func clip(line string, col int) string {
	line = strings.Map(func(r rune) rune {
		if r != '\t' && (r < ' ' || r == 0x7f || r == utf8.RuneError) {
			return '.'
		}
		return r
	}, line)
	if r := []rune(line); len(r) > col+100 {
		return string(r[:col+100]) + "…"
	}
	return line
}

// columns is white space as wide as s: tabs stay tabs.
func columns(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteString(strings.Repeat(" ", cells(string(r))))
		}
	}
	return b.String()
}

// cells is the number of terminal cells that s takes.
func cells(s string) (n int) {
	for _, r := range s {
		switch width.LookupRune(r).Kind() {
		case width.EastAsianWide, width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// UnknownName is a name on the command line that nothing has.
type UnknownName struct {
	What  string // arm, scenario, metric, path, …
	Name  string
	Known []string
}

// Error says what is not known.
func (u *UnknownName) Error() string { return fmt.Sprintf("unknown %s %q", u.What, u.Name) }

// Hint names the nearest one, or all.
func (u *UnknownName) Hint() string {
	if near, ok := Nearest(u.Name, u.Known); ok {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(u.Known) == 0 {
		return "there is none"
	}
	return "known: " + strings.Join(u.Known, ", ")
}
