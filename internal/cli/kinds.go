package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"blastradius/scenarios"
)

func newKindsCmd(e *env) *cobra.Command {
	format := "text"
	cmd := &cobra.Command{
		Use:   "kinds [FAMILY|KIND] [flags]",
		Short: "Every registered kind with its fields",
		Long: `Every kind of layer, fault, latency, arrivals, backoff, limit, algorithm, rule
that a scenario may name, with a line of YAML and its fields: unit, default,
range and what it says. "dialects" is the matrix of the breaker's dialects, each
library's values of all keys.`,
		Example: `  blastradius kinds
  blastradius kinds breaker
  blastradius kinds faults -f md
  blastradius kinds dialects -f md`,
		Args:        arguments(0, 1, "one family or kind", "blastradius kinds breaker"),
		Annotations: annotated("Write", "layers, faults, their fields"),
		RunE: func(_ *cobra.Command, args []string) error {
			return kinds(e, strings.Join(args, ""), format)
		},
		ValidArgsFunction: fixed(kindWords),
	}
	registerTableFormat(cmd, &format)
	return cmd
}

// kindWords are the families and the kinds.
func kindWords() (out []string) {
	for _, k := range kindRows() {
		for _, w := range []string{k.family, k.name} {
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return append(out, "dialects")
}

// dialects prints the matrix of the breaker's dialects.
func dialects(e *env, format string) error {
	switch format {
	case "text":
		e.stdout.Write(dialectPages()[1:])
		return nil
	case "md":
		e.stdout.Write(dialectMarkdown())
		return nil
	}
	t := &table{columns: []string{"dialect", "key", "value"}}
	for _, d := range scenarios.Dialects() {
		for _, v := range d.Values {
			t.rows = append(t.rows, []string{d.Name, v.Key, v.Value})
		}
	}
	text, err := t.render(format)
	if err != nil {
		return err
	}
	e.stdout.Write(text)
	return nil
}

// kinds prints the kinds of a family, or those of a name, or all.
func kinds(e *env, which, format string) error {
	if which == "dialects" {
		return dialects(e, format)
	}
	rows := kindRows()
	if which != "" {
		family := func(k kindRow) bool { return k.family == which || strings.TrimSuffix(k.family, "s") == which }
		rows = slices.DeleteFunc(rows, func(k kindRow) bool { return !family(k) && k.name != which })
	}
	if len(rows) == 0 {
		hint := "blastradius kinds shows all"
		if near, ok := scenarios.Nearest(which, kindWords()); ok {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return wrongUse(hint, "no kind is called %q", which)
	}
	if format == "text" {
		e.stdout.Write(kindPages(rows))
		if which == "breaker" {
			e.stdout.Write(dialectPages())
		}
		return nil
	}
	text, err := fieldTable(rows).render(format)
	if err != nil {
		return err
	}
	e.stdout.Write(text)
	return nil
}

// kindPages shows each kind as a short page under the name of its family.
func kindPages(rows []kindRow) []byte {
	var b bytes.Buffer
	family := ""
	for _, k := range rows {
		if k.family != family {
			if family != "" {
				b.WriteString("\n")
			}
			family = k.family
			b.WriteString(family + "\n")
		}
		b.Write(k.page())
	}
	return b.Bytes()
}

func (k kindRow) page() []byte {
	var b bytes.Buffer
	indented(&b, 2, fmt.Sprintf("%-12s", k.name), k.help)
	if k.example != "" {
		indented(&b, 15, "", "e.g. "+k.example)
	}
	for _, f := range k.fields {
		text := f.help
		if facts := f.facts(); facts != "" {
			text += " (" + facts + ")"
		}
		indented(&b, 4, fmt.Sprintf("%-14s", f.path), text)
	}
	return b.Bytes()
}

// indented writes label and text behind it, wrapped under itself.
func indented(b *bytes.Buffer, indent int, label, text string) {
	pad := strings.Repeat(" ", indent)
	hang := strings.Repeat(" ", indent+len(label)+1)
	if label == "" {
		hang = pad
	} else {
		label += " "
	}
	lead := pad + label
	for _, line := range wrap(text, textWidth-len(hang)) {
		b.WriteString(strings.TrimRight(lead+line, " ") + "\n")
		lead = hang
	}
}

// kindTable has a row for every kind.
func kindTable() *table {
	t := &table{columns: []string{"family", "kind", "says"}}
	for _, k := range kindRows() {
		t.rows = append(t.rows, []string{k.family, k.name, k.help})
	}
	return t
}

// fieldTable has a row for every field of every kind; a kind without fields
// has one row.
func fieldTable(rows []kindRow) *table {
	t := &table{columns: []string{"family", "kind", "field", "unit", "default", "range", "says"}}
	for _, k := range rows {
		if len(k.fields) == 0 {
			t.rows = append(t.rows, []string{k.family, k.name, "", "", "", "", k.help})
		}
		for _, f := range k.fields {
			t.rows = append(t.rows, []string{k.family, k.name, f.path, f.unit, strings.TrimPrefix(f.value, "default "), f.limit, f.help})
		}
	}
	return t
}
