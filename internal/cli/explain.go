package cli

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"blastradius/scenarios"
	"blastradius/sim"
	"blastradius/sim/spec"
)

func newExplainCmd(e *env) *cobra.Command {
	format := "text"
	cmd := &cobra.Command{
		Use:   "explain FILE|KEY|METRIC [flags]",
		Short: "A file with every default, or what a key or metric means",
		Long: `Of a scenario file or a built-in scenario: the effective scenario, each default
marked. Of a key or a metric: its unit, default, range and what it says; any
unique end of the name will do, and the names of endpoints and dependencies may
stand in it.`,
		Example: `  blastradius explain mine.yaml
  blastradius explain payments-slow -f json
  blastradius explain breaker.cooldown
  blastradius explain endpoint.search.slo_rate`,
		Args:        arguments(1, 1, "a file, a key or a metric", "blastradius explain breaker.cooldown"),
		Annotations: annotated("Write", "a file, key or metric"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return explain(e, cmd, args[0], format)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return append(scenarios.Builtins(), explainable()...), cobra.ShellCompDirectiveDefault
		},
	}
	formats := []string{"text", "json"}
	addFlag(cmd.Flags(), &format, "format", "f", "FORMAT", "text", "json", "what stdout is: text, json", word(formats...))
	complete(cmd, "format", fixed(func() []string { return formats }))
	return cmd
}

// explain shows a scenario when word names one, and else every entry of the
// dictionary that word fits.
func explain(e *env, cmd *cobra.Command, what, format string) error {
	if looksLikeFile(what) || slices.Contains(scenarios.Builtins(), what) {
		return explainScenario(e, cmd, what, format)
	}
	entries := lookUp(what)
	if len(entries) == 0 {
		return unknownEntry(e, cmd, what)
	}
	if format == "json" {
		t := &table{columns: []string{"is", "name", "unit", "default", "range", "says"}}
		for _, x := range entries {
			t.rows = append(t.rows, []string{x.is, x.name, x.unit, strings.TrimPrefix(x.value, "default "), x.limit, x.says})
		}
		text, err := t.json()
		if err != nil {
			return err
		}
		e.stdout.Write(text)
		return nil
	}
	var b bytes.Buffer
	for i, x := range entries {
		if i > 0 {
			b.WriteString("\n")
		}
		b.Write(x.page())
	}
	e.stdout.Write(b.Bytes())
	return nil
}

func explainScenario(e *env, cmd *cobra.Command, word, format string) error {
	f, err := e.loadScenario(cmd, word)
	if err != nil {
		return err
	}
	for _, w := range f.Warnings() {
		fmt.Fprintln(e.stderr, w)
	}
	text, compact := f.Effective()
	if format == "json" {
		text = string(compact) + "\n"
	}
	e.stdout.Write([]byte(text))
	return nil
}

// entry is one thing of the dictionary.
type entry struct {
	is    string // key, kind, metric
	name  string
	unit  string
	value string // default
	limit string
	says  string
	also  []string // other tools' words for a key
	body  []byte   // of a kind: its page
}

func (x entry) page() []byte {
	if x.body != nil {
		return x.body
	}
	var b bytes.Buffer
	facts := keyRow{unit: x.unit, value: x.value, limit: x.limit}.facts()
	indented(&b, 0, x.is, x.name)
	elsewhere := ""
	if len(x.also) > 0 {
		elsewhere = "called elsewhere: " + strings.Join(x.also, ", ")
	}
	for _, line := range []string{facts, x.says, elsewhere} {
		if line != "" {
			indented(&b, len(x.is)+1, "", line)
		}
	}
	return b.Bytes()
}

// lookUp finds every entry that a word fits: first those of that very name,
// else those that end in it, else the key that is the end of a whole path, else
// the key that another tool calls so.
func lookUp(word string) []entry {
	all := dictionary()
	for _, fits := range []func(x *entry) bool{
		func(x *entry) bool { return x.name == word },
		func(x *entry) bool { return fitsPattern(word, x.name) },
		func(x *entry) bool { return strings.HasSuffix(x.name, "."+word) },
		func(x *entry) bool { return strings.Contains(x.name, ".") && strings.HasSuffix(word, "."+x.name) },
		func(x *entry) bool { return slices.Contains(x.also, word) },
	} {
		var out []entry
		for i := range all {
			if fits(&all[i]) {
				out = append(out, all[i])
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// fitsPattern reports whether word is name with names of the user's in the
// place of X and NAME, whole or from some dot on: payments.breaker.opens is
// dependency.X.breaker.opens.
func fitsPattern(word, name string) bool {
	w, n := strings.Split(word, "."), strings.Split(name, ".")
	if len(w) > len(n) {
		return false
	}
	n = n[len(n)-len(w):]
	named := false
	for i := range w {
		switch n[i] {
		case w[i]:
			named = true
		case "X", "NAME":
		default:
			return false
		}
	}
	return named
}

// dictionary is every key, kind and metric.
func dictionary() (out []entry) {
	for _, k := range keyRows() {
		out = append(out, entry{is: "key", name: k.path, unit: k.unit, value: k.value, limit: k.limit, says: k.help, also: k.also})
	}
	for _, k := range kindRows() {
		out = append(out, entry{is: "kind", name: k.name, says: k.help, body: kindPages([]kindRow{k})})
		for _, f := range k.fields {
			out = append(out, entry{is: "key", name: k.name + "." + f.path, unit: f.unit, value: f.value, limit: f.limit, says: f.help, also: f.also})
		}
	}
	for _, m := range sim.Catalogue() {
		out = append(out, entry{is: "metric", name: m.FullName(), unit: string(m.Unit), limit: direction[m.Good], says: m.Help})
	}
	return out
}

// direction says which way a figure should move.
var direction = map[spec.Better]string{spec.LowerBetter: "lower is better", spec.HigherBetter: "higher is better"}

func explainable() (out []string) {
	for _, x := range dictionary() {
		out = append(out, x.name)
	}
	return out
}

// unknownEntry finds the nearest name: a file of that name, a scenario, a whole
// name, or the last word of one.
func unknownEntry(e *env, cmd *cobra.Command, what string) error {
	if _, err := os.Stat(what); err == nil {
		_, err = e.loadBuiltin(cmd, what)
		return err
	}
	candidates := append(scenarios.Builtins(), explainable()...)
	for _, name := range explainable() {
		parts := strings.Split(name, ".")
		for i := 1; i < len(parts); i++ {
			candidates = append(candidates, strings.Join(parts[i:], "."))
		}
	}
	hint := "blastradius metrics, kinds and list show what there is"
	if near, ok := scenarios.Nearest(what, candidates); ok {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return wrongUse(hint, "nothing is called %q", what)
}
