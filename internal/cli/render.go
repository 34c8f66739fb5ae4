package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"blastradius/report"
)

func newRenderCmd(e *env) *cobra.Command {
	o := outputOptions{}
	cmd := &cobra.Command{
		Use:   "render RESULT [flags]",
		Short: "A saved result again, without simulating",
		Long: `Prints or writes all that run does, byte for byte, from a result that run saved.
RESULT is a result.json, the folder of a run -o, or - for standard input. The
exit code is that of the run: 1 when an expectation was not met.`,
		Example: `  blastradius render out
  blastradius render out/result.json -f md
  blastradius render out --report parked.png=parked.png --every 30s
  blastradius run -f json | blastradius render - -o out`,
		Args:        arguments(1, 1, "a result", "blastradius render out/result.json"),
		Annotations: annotated("Look", "a saved result again"),
		RunE: func(_ *cobra.Command, args []string) error {
			return render(e, args[0], &o)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"json"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	cmd.Flags().SortFlags = false
	o.register(cmd.Flags())
	completeFlags(cmd)
	return cmd
}

func render(e *env, path string, o *outputOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	result, err := e.readResult(path)
	if err != nil {
		return err
	}
	return withCode(o.emit(e, result))
}

// readResult reads a result.json, the one in a folder, or standard input.
func (e *env) readResult(path string) (*report.Result, error) {
	if path == "-" {
		return parseResult("standard input", e.stdin)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, resultFile)
	}
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, wrongUse("blastradius run -o out saves one; then: blastradius render out", "%s: no such file", path)
	case err != nil:
		return nil, wrongUse("", "%s: %s", path, reason(err))
	}
	defer f.Close()
	return parseResult(path, f)
}

func parseResult(name string, r io.Reader) (*report.Result, error) {
	result, err := report.Read(name, r)
	if err != nil {
		return nil, wrongUse(fmt.Sprintf("a result is what run -o DIR saves as DIR/%s, or what run -f json prints", resultFile), "%s", err)
	}
	return result, nil
}
