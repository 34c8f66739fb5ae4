package report

import (
	"strings"
)

// TextOptions say how the text report is drawn. The zero value is 80 columns
// of Unicode without colour.
type TextOptions struct {
	ASCII bool // no sign beyond ASCII
	Wide  bool // every arm in one block of the table, names uncut; other lines keep to 80 columns
	Color bool // signs and words in colour too; never colour alone
	Quiet bool // headline and unmet expectations only
}

// textWidth is the width of the report in columns, whatever the terminal's:
// the same result is the same bytes.
const textWidth = 80

// Text is the report for a terminal: headline, table, sparklines, findings,
// expectations, and the line that reproduces it.
func Text(r *Result, o TextOptions) string {
	p := newPrinter(NewDocument(r), o)
	p.headline()
	if o.Quiet {
		p.section(func() { p.expectations(false) })
		return p.out.String()
	}
	p.section(p.table)
	p.section(p.sparklines)
	p.section(p.findings)
	p.section(func() { p.expectations(true); p.warnings(); p.again() })
	return p.out.String()
}

// printer writes lines. Every text that comes from a result passes through
// clean before its width is taken.
type printer struct {
	d    *Document
	o    TextOptions
	set  *charset
	out  strings.Builder
	gap  bool // an empty line is due before the next line
	some bool // something was written
}

func newPrinter(d *Document, o TextOptions) *printer {
	p := &printer{d: d, o: o, set: &unicodeCharset}
	if o.ASCII {
		p.set = &asciiCharset
	}
	return p
}

// section sets what write prints apart by an empty line, if it prints anything.
func (p *printer) section(write func()) {
	p.gap = p.some
	write()
	p.gap = false
}

func (p *printer) line(s string) {
	if p.gap {
		p.out.WriteByte('\n')
		p.gap = false
	}
	p.out.WriteString(strings.TrimRight(s, " "))
	p.out.WriteByte('\n')
	p.some = true
}

// paragraph writes wrapped text, from the second line on behind an indent.
func (p *printer) paragraph(first, text string, indent int) {
	for i, line := range wrap(text, textWidth-indent) {
		if i == 0 {
			p.line(padRight(first, indent) + line)
		} else {
			p.line(strings.Repeat(" ", indent) + line)
		}
	}
}

func (p *printer) clean(s string) string { return p.set.clean(s) }

func (p *printer) shorten(s string, width int) string {
	return shorten(s, width, p.set.ellipsis)
}

// The colours: SGR parameters.
const (
	bold  = "1"
	red   = "1;31"
	green = "32"
)

func (p *printer) paint(sgr, s string) string {
	if !p.o.Color || s == "" {
		return s
	}
	return "\x1b[" + sgr + "m" + s + "\x1b[0m"
}

func (p *printer) headline() {
	d := p.d
	if d.Title != "" {
		p.line(p.paint(bold, p.shorten(p.clean(d.Title), textWidth)))
	}
	name := p.clean(d.Name)
	if displayWidth(name)+2+displayWidth(d.Subtitle) <= textWidth {
		p.line(p.paint(bold, name) + "  " + d.Subtitle)
	} else {
		p.line(p.paint(bold, p.shorten(name, textWidth)))
		p.paragraph("", d.Subtitle, 0)
	}
	if d.Result.Partial != "" {
		p.paragraph(p.paint(red, "PARTIAL"), p.clean(d.Result.Partial)+"; the figures cover what was simulated", 9)
	}
	p.paragraph("", p.clean(strings.Join(d.Headline, " ")), 0)
}
