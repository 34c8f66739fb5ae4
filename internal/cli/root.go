package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"blastradius/scenarios"
)

// The annotations of a command: the line of the overview that it stands in,
// and the few words that it gets there. A command without a group is in no
// overview.
const (
	annotationGroup = "group"
	annotationBrief = "brief"
)

// groups are the lines of the overview, in order.
var groups = []string{"Look", "Decide", "Guard", "Write"}

func annotated(group, brief string) map[string]string {
	return map[string]string{annotationGroup: group, annotationBrief: brief}
}

// Commands stand in the overview in the order in which they are added.
func init() { cobra.EnableCommandSorting = false }

// newRoot builds the command tree. A command is added here when it works.
func newRoot(e *env) *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:   "blastradius",
		Short: "What one slow dependency does to everything else, and what contains it",
		Long: "What one slow dependency does to everything else, and what contains it.\n" +
			"A scenario file describes a service, its dependencies and what goes wrong;\n" +
			"it is simulated in virtual time with and without containment.",
		Example: "  blastradius run\n  blastradius run mine.yaml -o out",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case version:
				fmt.Fprintln(e.stdout, versionLine())
				return nil
			case len(args) > 0:
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
		SilenceUsage: true, SilenceErrors: true, DisableFlagsInUseLine: true,
	}
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	root.Flags().BoolVar(&version, "version", false, "print the version and what it was built from")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		newRunCmd(e), newRenderCmd(e),
		newInitCmd(e), newExplainCmd(e), newListCmd(e), newShowCmd(e), newMetricsCmd(e), newKindsCmd(e),
	)
	root.SetHelpCommand(newHelpCmd())
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { e.stdout.Write([]byte(helpText(cmd))) })
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		// "blastradius chekc --seed 1" fails at the flag, but the word is what is wrong.
		if cmd == root && cmd.Flags().NArg() > 0 {
			return unknownCommand(cmd, cmd.Flags().Arg(0))
		}
		return flagFailure(cmd, err)
	})
	for _, c := range root.Commands() {
		c.DisableFlagsInUseLine = true
	}
	return root
}

func newHelpCmd() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "The help of a command", Hidden: true,
		Long:    "The help of a command; the same as COMMAND --help.",
		Example: "  blastradius help run",
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			if len(args) == 0 {
				return root.Help()
			}
			found, _, err := root.Find(args)
			if err != nil || found == root {
				return unknownCommand(root, args[0])
			}
			return found.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return commandNames(cmd.Root()), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// unknownCommand says what was probably meant: a command, a scenario to run, or
// the version.
func unknownCommand(root *cobra.Command, word string) error {
	hint := "blastradius --help lists the commands"
	near, ok := scenarios.Nearest(word, commandNames(root))
	switch {
	case word == "version":
		hint = "blastradius --version"
	case looksLikeFile(word) || slices.Contains(scenarios.Builtins(), word):
		hint = "to run it: blastradius run " + shellWord(word)
	case ok:
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return wrongUse(hint, "unknown command %q", word)
}

func commandNames(root *cobra.Command) (out []string) {
	for _, c := range root.Commands() {
		if !c.Hidden {
			out = append(out, c.Name())
		}
	}
	return out
}

// helpText is the overview for the root and a page for every other command.
func helpText(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return overview(cmd)
	}
	var b strings.Builder
	b.WriteString(strings.TrimSpace(cmd.Long) + "\n\nUsage:\n  " + cmd.UseLine() + "\n")
	if cmd.Example != "" {
		b.WriteString("\nExamples:\n" + strings.TrimRight(cmd.Example, "\n") + "\n")
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\nCommands:\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(&b, "  %-12s %s\n", c.Name(), c.Short)
			}
		}
	}
	if flags := cmd.Flags(); flags.HasAvailableFlags() {
		b.WriteString("\nFlags:\n" + flags.FlagUsagesWrapped(textWidth))
	}
	return b.String()
}

// overview is the first thing a newcomer sees: what it is for, the one line to
// try, and every command that works, two to a line.
func overview(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(root.Short + ".\n")
	b.WriteString("  blastradius run                      a built-in example, in under a second\n")
	b.WriteString("  blastradius run mine.yaml -o out     out/report.html is the page to send\n\n")
	for _, group := range groups {
		var cells []string
		for _, c := range root.Commands() {
			if c.Annotations[annotationGroup] == group {
				cells = append(cells, fmt.Sprintf("%-8s%s", c.Name(), c.Annotations[annotationBrief]))
			}
		}
		label := group
		for pair := range slices.Chunk(cells, 2) {
			line := fmt.Sprintf("%-8s%-36s%s", label, pair[0], strings.Join(pair[1:], ""))
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			label = ""
		}
	}
	b.WriteString("\nblastradius COMMAND --help has examples; --version says which this is\n")
	return b.String()
}

// arguments checks the number of words after a command, and says what belongs
// there.
func arguments(least, most int, what, example string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return wrongUse(example, "%s needs %s", cmd.Name(), what)
		case len(args) > most && most == 0:
			return wrongUse(example, "%s takes no argument, got %q", cmd.Name(), args[0])
		case len(args) > most:
			return wrongUse(example, "%s takes %s, got %q too", cmd.Name(), what, args[most])
		}
		return nil
	}
}
