package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"blastradius/scenarios"
)

// lists are what list can list.
var lists = map[string]func() (*table, error){
	"scenarios": scenarioTable,
	"kinds":     func() (*table, error) { return kindTable(), nil },
	"metrics":   func() (*table, error) { return metricTable(), nil },
}

var listNames = []string{"scenarios", "kinds", "metrics"}

func newListCmd(e *env) *cobra.Command {
	format := "text"
	cmd := &cobra.Command{
		Use:   "list [scenarios|kinds|metrics] [WORD] [flags]",
		Short: "The built-in scenarios, the kinds, the metrics",
		Long: `Lists the built-in scenarios, or the registered kinds of layers, faults,
latencies and arrivals, or the metrics. With WORD only what contains it; exit
code 5 when nothing does.`,
		Example: `  blastradius list
  blastradius list kinds backoff
  blastradius list metrics p99 -f csv`,
		Args:        arguments(0, 2, "what to list and a word", "blastradius list metrics p99"),
		Annotations: annotated("Write", "scenarios, kinds, metrics"),
		RunE: func(_ *cobra.Command, args []string) error {
			what, filter := "scenarios", ""
			if len(args) > 0 {
				what = args[0]
			}
			if len(args) > 1 {
				filter = args[1]
			}
			return listAll(e, what, filter, format)
		},
		ValidArgsFunction: fixed(func() []string { return listNames }),
	}
	registerTableFormat(cmd, &format)
	return cmd
}

func registerTableFormat(cmd *cobra.Command, format *string) {
	addFlag(cmd.Flags(), format, "format", "f", "FORMAT", "text", "json", "what stdout is: "+strings.Join(tableFormats, ", "), word(tableFormats...))
	complete(cmd, "format", fixed(func() []string { return tableFormats }))
}

func listAll(e *env, what, filter, format string) error {
	if _, err := word(listNames...)(what); err != nil {
		bad := err.(*badValue)
		return wrongUse(bad.hint, "list does not know %q", what)
	}
	t, err := lists[what]()
	if err != nil {
		return err
	}
	return printTable(e, t, what, filter, format)
}

// printTable prints the rows that contain filter; none is exit code 5.
func printTable(e *env, t *table, what, filter, format string) error {
	if filter != "" {
		t = t.matching(filter)
	}
	if len(t.rows) == 0 {
		return &failure{code: exitNothing, text: fmt.Sprintf("no %s with %q", what, filter), hint: "blastradius list " + what + " shows all"}
	}
	text, err := t.render(format)
	if err != nil {
		return err
	}
	e.stdout.Write(text)
	return nil
}

func scenarioTable() (*table, error) {
	t := &table{columns: []string{"name", "about"}}
	for _, name := range scenarios.Builtins() {
		f, err := scenarios.Builtin(name)
		if err != nil {
			return nil, err
		}
		t.rows = append(t.rows, []string{name, f.About()})
	}
	return t, nil
}
