// Package cli is the command line: one file a command, each of which fills an
// options struct from its flags, calls the library and shows what came back.
// No figure is computed here.
package cli

import (
	"context"
	"io"
	"os/signal"
	"syscall"
)

// Main runs the command line args, without the program's own name, and returns
// its exit code; the codes are in exit.go. A reader that closes its end of the
// pipe early is no error: what is left of stdout is dropped and files are still
// written.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	signal.Ignore(syscall.SIGPIPE)
	return newEnv(stdin, stdout, stderr).main(context.Background(), args)
}

// main executes args and turns whatever comes of it, a panic included, into
// lines on stderr and a code.
func (e *env) main(ctx context.Context, args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			code = e.report(panicFailure(p, args))
		}
	}()
	root := newRoot(e)
	root.SetArgs(args)
	code = e.report(root.ExecuteContext(ctx))
	if err := e.stdout.err; err != nil {
		code = worst(code, e.report(&failure{code: exitOurs, text: "cannot write to standard output: " + reason(err)}))
	}
	return code
}
