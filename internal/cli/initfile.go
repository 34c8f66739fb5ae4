package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"blastradius/scenarios"
)

func newInitCmd(e *env) *cobra.Command {
	from := ""
	cmd := &cobra.Command{
		Use:   "init FILE [flags]",
		Short: "A commented scenario file to start from",
		Long: `Writes a short commented scenario that runs as it is, or with --from a copy of a
built-in one. A file that is there is never overwritten; - is standard output.`,
		Example: `  blastradius init mine.yaml
  blastradius init mine.yaml --from payments-slow
  blastradius init - | blastradius run -`,
		Args:        arguments(1, 1, "a file to write", "blastradius init mine.yaml"),
		Annotations: annotated("Write", "a commented file to start"),
		RunE:        func(_ *cobra.Command, args []string) error { return initFile(e, args[0], from) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	addFlag(cmd.Flags(), &from, "from", "", "NAME", "", "payments-slow", "copy this built-in scenario", builtinName)
	complete(cmd, "from", fixed(scenarios.Builtins))
	return cmd
}

func builtinName(s string) (string, error) {
	if slices.Contains(scenarios.Builtins(), s) {
		return s, nil
	}
	f := asFailure(unknownScenario(s))
	return "", &badValue{f.text, f.hint}
}

// initFile writes the starter, or the built-in scenario from, to path.
func initFile(e *env, path, from string) error {
	text := []byte(scenarios.Starter())
	if from != "" {
		source, err := scenarios.BuiltinSource(from)
		if err != nil {
			return err
		}
		text = source
	}
	if path == "-" {
		e.stdout.Write(text)
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return wrongUse("blastradius init "+shellWord(filepath.Join(path, "mine.yaml")), "%s is a folder", path)
	}
	if err := createFile(path, text); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return wrongUse("choose another name, or remove it first", "%s is there already; init never overwrites", path)
		}
		return writeFailure(path, err)
	}
	run := path
	if !looksLikeFile(run) {
		run = "./" + run
	}
	fmt.Fprintf(e.stderr, "wrote %s; next: blastradius run %s\n", path, shellWord(run))
	return nil
}

// createFile writes a new file whole or not at all. The last step is a link and
// not a rename, because a rename would replace a file that appeared meanwhile.
func createFile(path string, data []byte) error {
	if _, err := os.Lstat(path); err == nil {
		return fs.ErrExist
	}
	s, err := stage(path, data)
	if err != nil {
		return err
	}
	defer s.drop()
	err = os.Link(s.temporary, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// Some file systems have no links; there the new file is made in place.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err != nil {
		f.Close()
		os.Remove(path)
		return err
	}
	return f.Close()
}
