package report

import (
	"math"
	"strings"
)

const (
	sparkCells    = 50 // at most
	sparkNameCol  = 9
	sparkArmWidth = 12 // an arm's name and a space, at least
)

// sparklines writes a row per figure and arm, and under them when what was
// faulty.
func (p *printer) sparklines() {
	all := p.d.Sparks(sparkCells)
	arm, words := sparkArmWidth, 0
	for _, s := range all {
		for i := range s.Lines {
			name := displayWidth(p.clean(p.d.Result.Arms[s.Lines[i].Arm].Name))
			arm = max(arm, min(name+1, 18))
			words = max(words, len(s.MaxWords(&s.Lines[i])))
		}
	}
	if len(all) == 0 {
		return
	}
	lead := sparkNameCol + arm
	cells := min(sparkCells, textWidth-lead-1-words)
	if cells < sparkCells {
		all = p.d.Sparks(cells)
	}
	for _, s := range all {
		for i := range s.Lines {
			l := &s.Lines[i]
			name := ""
			if i == 0 {
				name = p.shorten(p.clean(s.Name), sparkNameCol-1)
			}
			out := padRight(name, sparkNameCol) + padRight(p.armName(l.Arm, arm-1), arm) + p.spark(&s, l)
			full := s.MaxWords(l)
			out += strings.Repeat(" ", max(1, textWidth-displayWidth(out)-len(full)))
			if full == "full" {
				full = p.paint(red, full)
			}
			p.line(out + full)
		}
	}
	p.axis(lead, cells)
}

// spark draws one line; a cell without a value stays blank.
func (p *printer) spark(s *Spark, l *SparkLine) string {
	var b strings.Builder
	n := len(p.set.levels)
	for _, v := range l.Cells {
		if v == nil {
			b.WriteString(p.set.blank)
			continue
		}
		level := int(math.Max(0, math.Min(float64(n-1), *v/s.Scale*float64(n))))
		b.WriteString(p.set.levels[level])
	}
	return b.String()
}
