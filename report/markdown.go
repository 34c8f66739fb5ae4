package report

import (
	"fmt"
	"strings"
	"unicode"
)

// Markdown is the report as a comment of a pull request: headline, verdict,
// arm table, findings, expectations, the line that reproduces it. What comes
// from the scenario is shown, never interpreted: no mention, link or markup of
// it takes effect.
func Markdown(r *Result) string {
	d := NewDocument(r)
	var m markdown
	m.line("## %s", words(d.Name))
	if d.Title != "" {
		m.line("%s", words(d.Title))
	}
	m.line("%s", words(d.Subtitle))
	if r.Partial != "" {
		m.line("**Partial:** %s; the figures cover what was simulated.", words(r.Partial))
	}
	m.line("%s", words(strings.Join(d.Headline, " ")))
	if met, of := d.Met(); of > 0 {
		verdict := fmt.Sprintf("%d of %s met", met, plural(of, "expectation", "expectations"))
		if met < of {
			verdict = fmt.Sprintf("UNMET: %d of %s", of-met, plural(of, "expectation", "expectations"))
		}
		m.line("**%s**", verdict)
	}
	m.arms(d)
	m.findings(d)
	m.expectations(d)
	if len(r.Warnings) > 0 {
		m.line("### Doubts")
		var rows []string
		for _, w := range r.Warnings {
			rows = append(rows, "- "+words(w))
		}
		m.line("%s", strings.Join(rows, "\n"))
	}
	m.line("```sh\n%s\n```", oneLine(d.Command))
	m.line("%s", words(d.Origin))
	return m.String()
}

type markdown struct{ strings.Builder }

// line writes a block, apart from the one before by an empty line.
func (m *markdown) line(format string, args ...any) {
	if m.Len() > 0 {
		m.WriteByte('\n')
	}
	fmt.Fprintf(m, format+"\n", args...)
}

func (m *markdown) arms(d *Document) {
	arms := make([]int, len(d.Result.Arms))
	head := []string{words(capital(strings.ToLower(d.Heading))), ""}
	rule := []string{"---", "---"}
	for i, a := range d.Result.Arms {
		arms[i] = i
		head = append(head, words(a.Name))
		rule = append(rule, "---:")
	}
	rows := []string{cells(append(head, "")), cells(append(rule, "---"))}
	subject := ""
	for _, r := range d.Table {
		shown := ""
		if r.Subject != subject {
			subject = r.Subject
			shown = "**" + words(subject) + "**"
		}
		row := []string{shown, words(r.Label)}
		for _, c := range r.Cells {
			text := words(c.Text)
			if c.Bad {
				text = "**! " + text + "**"
			}
			row = append(row, text)
		}
		rows = append(rows, cells(append(row, words(r.Remark(arms)))))
	}
	m.line("%s", strings.Join(rows, "\n"))
}

func (m *markdown) findings(d *Document) {
	if len(d.Findings) == 0 {
		return
	}
	m.line("### Findings")
	var rows []string
	for i := range d.Findings {
		f := &d.Findings[i]
		row := fmt.Sprintf("%d. %s", i+1, words(f.Text()))
		if flag := f.VsFlag(); flag != "" {
			row += " Try " + code(flag)
		}
		rows = append(rows, row)
	}
	m.line("%s", strings.Join(rows, "\n"))
}

func (m *markdown) expectations(d *Document) {
	if len(d.Result.Expectations) == 0 {
		return
	}
	m.line("### Expectations")
	rows := []string{cells([]string{"", "arm", "expectation", "actual"}), cells([]string{"---", "---", "---", "---:"})}
	for i := range d.Result.Expectations {
		e := &d.Result.Expectations[i]
		state, actual := "met", words(d.Actual(e))
		if !e.OK {
			state = "**UNMET**"
			if e.Why != "" {
				actual += ": " + words(e.Why)
			}
		}
		if seeds := d.Seeds(e); seeds != "" {
			actual += ", " + words(seeds)
		}
		rows = append(rows, cells([]string{state, words(e.Arm), code(e.Text), actual}))
	}
	m.line("%s", strings.Join(rows, "\n"))
}

// cells is a row of a table.
func cells(in []string) string {
	for i, c := range in {
		in[i] = " " + c + " "
		if c == "" {
			in[i] = " "
		}
	}
	return "|" + strings.Join(in, "|") + "|"
}

// markup are the signs that Markdown of GitHub and GitLab may read as markup:
// emphasis, links, tables, HTML, references and emoji.
const markup = "\\`*_[]>|~#&$"

// words makes foreign text plain text on one line: signs are escaped where they
// could begin markup.
func words(s string) string {
	s = oneLine(s)
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '@':
			b.WriteString("&#64;") // an escaped @ still calls people
			continue
		case r == '<':
			b.WriteString("&lt;")
			continue
		case r == '_' && i > 0 && i+1 < len(s) && wordByte(s[i-1]) && wordByte(s[i+1]):
			// inside a word it is no emphasis
		case strings.ContainsRune(markup, r), i == 0 && strings.ContainsRune("+-=", r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func wordByte(c byte) bool {
	return c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// code is a code span; a bar in it would end a table's cell even there.
func code(s string) string {
	s = oneLine(s)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + strings.ReplaceAll(s, "|", "\\|") + fence
}

// oneLine makes every kind of break a space.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(printable(s), unicode.IsSpace), " ")
}
