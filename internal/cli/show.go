package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"blastradius/scenarios"
)

func newShowCmd(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME [flags]",
		Short: "The text of a built-in scenario",
		Long: `Prints a built-in scenario as it was written, comments included. With every
default filled in: blastradius explain NAME.`,
		Example: `  blastradius show payments-slow
  blastradius show payments-slow > mine.yaml`,
		Args:        arguments(1, 1, "the name of a built-in scenario", "blastradius show payments-slow"),
		Annotations: annotated("Write", "a built-in scenario"),
		RunE:        func(_ *cobra.Command, args []string) error { return show(e, args[0]) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return scenarios.Builtins(), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

func show(e *env, name string) error {
	if !slices.Contains(scenarios.Builtins(), name) {
		if looksLikeFile(name) {
			return wrongUse("with every default: blastradius explain "+shellWord(name), "show takes the name of a built-in scenario, and %s is a file", name)
		}
		return unknownScenario(name)
	}
	source, err := scenarios.BuiltinSource(name)
	if err != nil {
		return err
	}
	e.stdout.Write(source)
	return nil
}
