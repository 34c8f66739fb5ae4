package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"blastradius/sim"
)

func newMetricsCmd(e *env) *cobra.Command {
	format := "text"
	cmd := &cobra.Command{
		Use:   "metrics [WORD] [flags]",
		Short: "The catalogue of figures",
		Long: `Every figure a run can give, its unit and what it says. The same names stand in
JSON, CSV, expectations and pictures; X is the name of an endpoint or a
dependency, and @fault picks a phase: endpoint.search.latency_p99@fault. With
WORD only the figures that mention it; exit code 5 when none does.`,
		Example: `  blastradius metrics
  blastradius metrics breaker
  blastradius metrics -f csv`,
		Args:        arguments(0, 1, "one word", "blastradius metrics breaker"),
		Annotations: annotated("Write", "the catalogue of figures"),
		RunE: func(_ *cobra.Command, args []string) error {
			return printTable(e, metricTable(), "metrics", strings.Join(args, ""), format)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	registerTableFormat(cmd, &format)
	return cmd
}

func metricTable() *table {
	t := &table{columns: []string{"metric", "unit", "says"}}
	for _, m := range sim.Catalogue() {
		t.rows = append(t.rows, []string{m.FullName(), string(m.Unit), m.Help})
		t.groups = append(t.groups, m.Subject)
	}
	return t
}
