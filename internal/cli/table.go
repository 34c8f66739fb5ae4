package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// textWidth is the width of everything for people, in columns.
const textWidth = 80

// table is what list, metrics and kinds print: rows of words under columns.
// In text the last column is wrapped so that no line is wider than textWidth.
type table struct {
	columns []string
	rows    [][]string
	// groups, where given, has a heading for every row, which the row's first
	// cell begins with. In text it is said once, above the rows that share it.
	groups []string
}

// tableFormats are the formats that a table has.
var tableFormats = []string{"text", "json", "csv", "md"}

func (t *table) render(format string) ([]byte, error) {
	switch format {
	case "json":
		return t.json()
	case "csv":
		return t.csv()
	case "md":
		return t.markdown(), nil
	}
	return t.text(), nil
}

// matching keeps the rows of which a cell contains word, whatever its case.
func (t *table) matching(word string) *table {
	out := &table{columns: t.columns}
	for i, r := range t.rows {
		if slices.ContainsFunc(r, func(cell string) bool { return strings.Contains(strings.ToLower(cell), strings.ToLower(word)) }) {
			out.rows = append(out.rows, r)
			if t.groups != nil {
				out.groups = append(out.groups, t.groups[i])
			}
		}
	}
	return out
}

func (t *table) text() []byte {
	rows := make([][]string, len(t.rows))
	widths := make([]int, len(t.columns))
	for i, r := range t.rows {
		rows[i] = slices.Clone(r)
		if t.groups != nil {
			rows[i][0] = "  " + strings.TrimPrefix(r[0], t.groups[i]+".")
		}
		for j, cell := range rows[i] {
			widths[j] = max(widths[j], utf8.RuneCountInString(cell))
		}
	}
	indent := 0
	for _, w := range widths[:len(widths)-1] {
		indent += w + 2
	}
	indent = min(indent, textWidth/2)
	var b bytes.Buffer
	group := ""
	for i, r := range rows {
		if t.groups != nil && t.groups[i] != group {
			group = t.groups[i]
			b.WriteString(group + "\n")
		}
		line := ""
		for j, cell := range r[:len(r)-1] {
			line += fmt.Sprintf("%-*s  ", widths[j], cell)
		}
		if utf8.RuneCountInString(line) > indent { // the names need more room than half the width
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = strings.Repeat(" ", indent)
		}
		for _, part := range wrap(r[len(r)-1], textWidth-indent) {
			b.WriteString(strings.TrimRight(line+part, " ") + "\n")
			line = strings.Repeat(" ", indent)
		}
	}
	return b.Bytes()
}

// wrap breaks text at spaces into lines of at most width columns; a longer word
// stands alone. It gives at least one line.
func wrap(text string, width int) []string {
	var out []string
	line := ""
	for _, w := range strings.Fields(text) {
		switch {
		case line == "":
			line = w
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) <= width:
			line += " " + w
		default:
			out = append(out, line)
			line = w
		}
	}
	return append(out, line)
}

func (t *table) json() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("[")
	for i, r := range t.rows {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n {")
		for j, cell := range r {
			if j > 0 {
				b.WriteString(", ")
			}
			text, err := plainJSON(cell)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&b, "%q: %s", t.columns[j], text)
		}
		b.WriteString("}")
	}
	b.WriteString("\n]\n")
	return b.Bytes(), nil
}

// plainJSON encodes a value and leaves <, > and & readable.
func plainJSON(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

func (t *table) csv() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(t.columns); err != nil {
		return nil, err
	}
	err := w.WriteAll(t.rows)
	return b.Bytes(), err
}

func (t *table) markdown() []byte {
	var b bytes.Buffer
	cell := strings.NewReplacer("|", `\|`, "\n", " ")
	line := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + cell.Replace(c) + " ")
		}
		b.WriteString("|\n")
	}
	line(t.columns)
	line(slices.Repeat([]string{"---"}, len(t.columns)))
	for _, r := range t.rows {
		line(r)
	}
	return b.Bytes()
}
