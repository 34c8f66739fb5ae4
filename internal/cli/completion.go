package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"blastradius/scenarios"
)

// completer is what the shell asks for candidates.
type completer = cobra.CompletionFunc

// complete gives a flag its candidates. A flag that is not there is a defect
// that every test of the command finds.
func complete(cmd *cobra.Command, flag string, f completer) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic("cli: " + err.Error())
	}
}

// fixed offers a list of words.
func fixed(list func() []string) completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list(), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeScenario offers the built-in names; the shell adds the files.
func completeScenario(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, n := range scenarios.Builtins() {
		if strings.HasPrefix(n, typed) {
			names = append(names, n)
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}

// completeFlags gives the flags of run and render their candidates.
func completeFlags(cmd *cobra.Command) {
	complete(cmd, "format", fixed(func() []string { return formats }))
	complete(cmd, "color", fixed(func() []string { return []string{"auto", "always", "never"} }))
	complete(cmd, "output", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	})
	complete(cmd, "report", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		if strings.Contains(typed, "=") {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return withSuffix(reportKinds(), "="), cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	})
	for flag, f := range map[string]completer{
		"set": completeAssignment, "vs": completeAssignment, "arm": completeArm, "expect": completeMetric,
	} {
		if cmd.Flags().Lookup(flag) != nil {
			complete(cmd, flag, f)
		}
	}
}

func withSuffix(words []string, suffix string) []string {
	out := slices.Clone(words)
	for i := range out {
		out[i] += suffix
	}
	return out
}

// typedScenario is the scenario on the command line so far, nil when it does
// not load: completion stays silent then.
func typedScenario(args []string) *scenarios.File {
	word := defaultScenario
	if len(args) > 0 {
		word = args[0]
	}
	var f *scenarios.File
	var err error
	switch {
	case word == "-":
		return nil
	case looksLikeFile(word):
		f, err = scenarios.LoadPath(word, nil)
	default:
		f, err = scenarios.Builtin(word)
	}
	if err != nil {
		return nil
	}
	return f
}

func completeAssignment(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	f := typedScenario(args)
	if f == nil || strings.Contains(typed, "=") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return withSuffix(f.Paths(), "="), cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

func completeArm(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	if f := typedScenario(args); f != nil {
		for _, a := range f.Arms() {
			names = append(names, a.Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func completeMetric(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	if f := typedScenario(args); f != nil {
		for _, m := range f.Metrics() {
			names = append(names, m.Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
