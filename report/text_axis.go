package report

import (
	"fmt"
	"math"
	"strings"
)

// maxAxisRows bounds the lines that overlapping faults take.
const maxAxisRows = 3

// axis marks the faults under the sparklines, with the times at their edges.
// Faults that overlap take further lines; one whose words found no place is
// told below.
func (p *printer) axis(lead, cells int) {
	duration := p.d.Result.Scenario.Duration
	marks, rows := p.marks(cells, duration)
	for _, m := range marks {
		if m.row < len(rows) {
			m.label(rows[m.row], duration)
		}
	}
	end := FormatSetting(duration)
	start := "0" + strings.TrimLeft(end, "0123456789.")
	if len(start) > 3 { // 1h30m
		start = "0" + end[len(end)-1:]
	}
	if free(rows[0], 0, displayWidth(start)+1) {
		put(rows[0], 0, p.clean(start))
	}
	if at := cells - displayWidth(end); free(rows[0], at-1, cells) {
		put(rows[0], at, p.clean(end))
	}
	for _, row := range rows {
		p.line(strings.Repeat(" ", lead) + strings.Join(row, ""))
	}
	p.tell(marks, lead)
}

// axisMark is a fault on the axis: cells [from, to) of a row.
type axisMark struct {
	window   Window
	from, to int
	row      int // maxAxisRows: it found no place
	told     bool
}

// marks places the faults, each on the first row where it has room.
func (p *printer) marks(cells int, duration float64) (out []axisMark, rows [][]string) {
	at := func(t float64) float64 { return t / duration * float64(cells) }
	rows = [][]string{blankRow(cells)}
	for _, w := range p.d.Windows {
		from := int(math.Floor(min(at(w.From), float64(cells)) + 1e-9))
		to := int(math.Ceil(min(at(w.To), float64(cells)) - 1e-9))
		if from >= cells {
			continue // it begins after the end
		}
		m := axisMark{window: w, from: from, to: max(to, from+1)}
		for m.row = 0; m.row < maxAxisRows; m.row++ {
			if m.row == len(rows) {
				rows = append(rows, blankRow(cells))
			}
			if free(rows[m.row], m.from, m.to) {
				p.draw(rows[m.row], &m)
				break
			}
		}
		out = append(out, m)
	}
	return out, rows
}

// draw puts a bracket with the fault's words inside, as far as they fit.
func (p *printer) draw(row []string, m *axisMark) {
	if m.to-m.from == 1 {
		row[m.from] = p.set.single
		return
	}
	for i := m.from; i < m.to; i++ {
		row[i] = p.set.dash
	}
	row[m.from], row[m.to-1] = p.set.left, p.set.right
	inside := m.to - m.from - 2
	text := p.clean(m.window.Text)
	_, what, _ := strings.Cut(text, " ")
	for _, words := range []string{text, what} {
		if n := displayWidth(words); n > 0 && n <= inside {
			put(row, m.from+1+(inside-n)/2, words)
			m.told = words == text
			return
		}
	}
}

// label writes the times of a fault's edges beside it where there is room.
func (m *axisMark) label(row []string, duration float64) {
	if from := FormatSetting(m.window.From); m.window.From > 0 && free(row, m.from-len(from)-1, m.from) {
		put(row, m.from-len(from), from)
	}
	if to := FormatSetting(m.window.To); m.window.To < duration && free(row, m.to, m.to+len(to)+1) {
		put(row, m.to, to)
	}
}

// tell lists the first faults whose words found no place.
func (p *printer) tell(marks []axisMark, lead int) {
	const most = 3
	var words []string
	untold := 0
	for _, m := range marks {
		if m.told {
			continue
		}
		if untold++; untold <= most {
			words = append(words, p.clean(fmt.Sprintf("%s..%s %s", FormatSetting(m.window.From), FormatSetting(m.window.To), m.window.Text)))
		}
	}
	if untold > most {
		words = append(words, fmt.Sprintf("and %d more", untold-most))
	}
	for _, line := range wrap(strings.Join(words, "; "), textWidth-lead) {
		p.line(strings.Repeat(" ", lead) + line)
	}
}

// blankRow is a line of the axis, one string per column.
func blankRow(cells int) []string { return strings.Split(strings.Repeat(" ", cells), "") }

// put writes text into a row; a wide letter leaves the column behind it empty.
func put(row []string, at int, text string) {
	for _, r := range text {
		width := runeWidth(r)
		if at < 0 || at+width > len(row) {
			return
		}
		if width == 0 {
			if at > 0 {
				row[at-1] += string(r)
			}
			continue
		}
		row[at] = string(r)
		if width == 2 {
			row[at+1] = ""
		}
		at += width
	}
}

// free reports whether columns [from, to) are on the row and blank.
func free(row []string, from, to int) bool {
	if from < 0 || to > len(row) {
		return false
	}
	for _, c := range row[from:to] {
		if c != " " {
			return false
		}
	}
	return true
}
