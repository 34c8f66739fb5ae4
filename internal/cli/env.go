package cli

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/term"
)

// env is what a command sees of the process around it. Nothing of it decides
// a figure; the variables decide presentation only.
type env struct {
	stdin  io.Reader
	stdout *quietPipe
	stderr *quietPipe

	lookup         func(name string) string // "" when not set
	stdoutTerminal bool
	stderrTerminal bool
	stdinTerminal  bool

	notify  func(c chan<- os.Signal, signals ...os.Signal)
	release func(c chan<- os.Signal)
}

func newEnv(stdin io.Reader, stdout, stderr io.Writer) *env {
	return &env{
		stdin: stdin, stdout: &quietPipe{w: stdout}, stderr: &quietPipe{w: stderr},
		lookup:         os.Getenv,
		stdoutTerminal: isTerminal(stdout), stderrTerminal: isTerminal(stderr), stdinTerminal: isTerminal(stdin),
		notify: signal.Notify, release: signal.Stop,
	}
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && f != nil && term.IsTerminal(int(f.Fd()))
}

// quietPipe drops what is written after the reader has gone, and remembers
// any other failure for the exit code.
type quietPipe struct {
	w      io.Writer
	closed bool
	err    error
}

// Write reports success once the reader has gone.
func (q *quietPipe) Write(p []byte) (int, error) {
	if q.closed || q.err != nil {
		return len(p), nil
	}
	_, err := q.w.Write(p)
	switch {
	case err == nil:
	case errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe):
		q.closed = true
	default:
		q.err = err
	}
	return len(p), nil
}

// colour says whether text on stdout is coloured: --color first, then NO_COLOR
// (not empty), CLICOLOR_FORCE (neither empty nor 0), TERM=dumb, and whether
// stdout is a terminal.
func (e *env) colour(mode string) bool {
	switch mode {
	case "always":
		return true
	case "never":
		return false
	}
	if e.lookup("NO_COLOR") != "" {
		return false
	}
	if force := e.lookup("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	return e.lookup("TERM") != "dumb" && e.stdoutTerminal
}

// ascii says whether the locale that is set cannot show block characters. No
// locale at all is taken for a modern one; Windows has no such variables.
func (e *env) ascii() bool {
	if runtime.GOOS == "windows" {
		return false
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := e.lookup(name); v != "" {
			v = strings.ToLower(v)
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return false
}
