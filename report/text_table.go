package report

import (
	"strings"
)

// The columns of the table: subject, label, then one per arm, then the remark.
const (
	subjectWidth = 10
	leadWidth    = 26 // subject and label
	armsPerBlock = 3
	remarkGap    = 2
)

// armWidths are the usual widths of a block's columns, the gap on their left
// included.
var armWidths = [armsPerBlock]int{13, 13, 12}

// table writes the arms side by side, three at a time, fewer where figures are
// so wide that three do not fit: figures are never cut.
func (p *printer) table() {
	arms := len(p.d.Result.Arms)
	for from := 0; from < arms; {
		n := min(armsPerBlock, arms-from)
		if p.o.Wide {
			n = arms
		}
		b := p.block(from, n)
		for n > 1 && !p.o.Wide && b.width() > textWidth {
			n--
			b = p.block(from, n)
		}
		if from > 0 {
			p.gap = true
		}
		b.write()
		from += n
	}
}

// block is the table for some of the arms.
type block struct {
	p       *printer
	arms    []int
	rows    []Row
	widths  []int // per arm
	remarks []string
}

func (p *printer) block(from, n int) *block {
	b := &block{p: p, rows: p.d.Table}
	for i := from; i < from+n; i++ {
		b.arms = append(b.arms, i)
	}
	for k, arm := range b.arms {
		width := armWidths[min(k, armsPerBlock-1)]
		for i := range b.rows {
			need := 1 + displayWidth(b.cell(i, arm))
			if k == 0 {
				need += max(0, subjectWidth+displayWidth(b.label(i))-leadWidth)
			}
			width = max(width, need)
		}
		b.widths = append(b.widths, width)
	}
	for i := range b.rows {
		b.remarks = append(b.remarks, p.clean(b.rows[i].Remark(b.arms)))
	}
	b.widen()
	return b
}

// widen gives columns the room that is left for the names of their arms, a
// column of the screen to each in turn.
func (b *block) widen() {
	for room := textWidth - b.width(); ; {
		grew := false
		for k, arm := range b.arms {
			name := displayWidth(b.p.clean(b.p.d.Result.Arms[arm].Name))
			if b.widths[k] <= name && (room > 0 || b.p.o.Wide) {
				b.widths[k]++
				room--
				grew = true
			}
		}
		if !grew {
			return
		}
	}
}

// width is that of the widest line.
func (b *block) width() int {
	columns, remark := leadWidth, 0
	for _, w := range b.widths {
		columns += w
	}
	for _, r := range b.remarks {
		remark = max(remark, displayWidth(r))
	}
	if remark == 0 {
		return columns
	}
	return columns + remarkGap + remark
}

func (b *block) label(i int) string {
	label := b.p.clean(b.rows[i].Label)
	if b.p.o.Wide {
		return label
	}
	return b.p.shorten(label, leadWidth-subjectWidth+2)
}

// cell is the text of a figure with its sign.
func (b *block) cell(i, arm int) string {
	c := b.rows[i].Cells[arm]
	text := b.p.clean(c.Text)
	if c.Bad {
		return "! " + text
	}
	return text
}

func (b *block) write() {
	p := b.p
	heading := p.clean(p.d.Heading)
	if displayWidth(heading) >= leadWidth {
		p.line(p.paint(bold, heading))
		heading = ""
	}
	head := padRight(p.paint(bold, heading), leadWidth)
	names := p.armNames(b.arms, b.widths)
	for k := range b.arms {
		head += padLeft(p.paint(bold, names[k]), b.widths[k])
	}
	p.line(head)
	p.line(strings.Repeat(p.set.rule, max(textWidth, b.widthIfWide())))
	previous, nth := "", 0
	for i := range b.rows {
		subject := b.rows[i].Subject
		if nth++; subject != previous {
			previous, nth = subject, 0
		}
		shown := b.subject(subject, nth)
		if displayWidth(shown) >= subjectWidth {
			p.line(p.shorten(shown, textWidth))
			shown = ""
		}
		b.row(i, shown)
	}
}

func (b *block) widthIfWide() int {
	if b.p.o.Wide {
		return b.width()
	}
	return 0
}

// subject stands on the first of its rows; one of two words takes two rows.
func (b *block) subject(subject string, nth int) string {
	if words := strings.Fields(subject); len(words) > 1 && nth < len(words) {
		return b.p.clean(words[nth])
	}
	if nth > 0 {
		return ""
	}
	return b.p.clean(subject)
}

func (b *block) row(i int, subject string) {
	p := b.p
	out := padRight(subject, subjectWidth) + b.label(i)
	end := leadWidth
	for k, arm := range b.arms {
		cell := b.cell(i, arm)
		if b.rows[i].Cells[arm].Bad {
			cell = p.paint(red, cell)
		}
		end += b.widths[k]
		out += padLeft(cell, end-displayWidth(out))
	}
	remark := b.remarks[i]
	switch {
	case remark == "":
		p.line(out)
	case p.o.Wide || end+remarkGap+displayWidth(remark) <= textWidth:
		p.line(out + strings.Repeat(" ", remarkGap) + remark)
	default:
		p.line(out)
		p.line(padLeft(p.shorten(remark, textWidth), textWidth))
	}
}

// armNames are the arms' names cut to their columns. Names that would become
// equal are cut at their beginning instead, since a change stands at the end.
func (p *printer) armNames(arms, widths []int) []string {
	out := make([]string, len(arms))
	for k, arm := range arms {
		out[k] = p.armName(arm, widths[k]-1)
	}
	return out
}

func (p *printer) armName(arm, width int) string {
	name := p.clean(p.d.Result.Arms[arm].Name)
	cut := p.shorten(name, width)
	if cut == name {
		return name
	}
	for i := range p.d.Result.Arms {
		if i != arm && p.shorten(p.clean(p.d.Result.Arms[i].Name), width) == cut {
			return p.shortenStart(name, width)
		}
	}
	return cut
}

// shortenStart keeps the end of s.
func (p *printer) shortenStart(s string, width int) string {
	runes := []rune(s)
	room := width - displayWidth(p.set.ellipsis)
	for i := range runes {
		if rest := string(runes[i:]); displayWidth(rest) <= room {
			return p.set.ellipsis + strings.TrimLeftFunc(rest, func(r rune) bool { return runeWidth(r) == 0 })
		}
	}
	return p.shorten(s, width)
}
