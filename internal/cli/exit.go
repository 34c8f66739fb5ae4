package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"blastradius/scenarios"
)

// The exit codes. "go run" turns every one but 0 into 1.
const (
	exitFine        = 0
	exitUnmet       = 1   // an expectation was not met
	exitUse         = 2   // wrong use, or a scenario that did not load
	exitOurs        = 3   // our own failure: a panic, a full disk
	exitLimit       = 4   // time limit or event budget exceeded
	exitNothing     = 5   // nothing matched
	exitInterrupted = 130 // 128 + SIGINT
	exitTerminated  = 143 // 128 + SIGTERM
)

// severity is the order in which one of several codes is chosen. A stop from
// outside comes first: whoever sent it must see that it arrived.
var severity = []int{exitInterrupted, exitTerminated, exitOurs, exitUse, exitLimit, exitUnmet, exitNothing, exitFine}

// worst picks the code to end with.
func worst(codes ...int) int {
	for _, c := range severity {
		if slices.Contains(codes, c) {
			return c
		}
	}
	return exitFine
}

// failure is an error as people see it: one line, and a hint what to type.
type failure struct {
	code int
	text string // the fact, without the program's name; "" prints nothing
	hint string
	raw  bool // text is already laid out, with places of its own
}

// Error is the fact.
func (f *failure) Error() string { return f.text }

// wrongUse is a failure of whoever typed.
func wrongUse(hint, format string, args ...any) error {
	return &failure{code: exitUse, text: fmt.Sprintf(format, args...), hint: hint}
}

// withCode ends with a code and no further line.
func withCode(code int) error {
	if code == exitFine {
		return nil
	}
	return &failure{code: code}
}

// hinter is an error that knows what to type instead.
type hinter interface{ Hint() string }

// report prints err and returns its code.
func (e *env) report(err error) int {
	if err == nil {
		return exitFine
	}
	f := asFailure(err)
	switch {
	case f.text == "":
	case f.raw:
		fmt.Fprintln(e.stderr, f.text)
	default:
		fmt.Fprintln(e.stderr, "blastradius: "+f.text)
	}
	if f.hint != "" {
		fmt.Fprintln(e.stderr, "hint: "+f.hint)
	}
	return f.code
}

// asFailure finds out how an error of a library is to be shown.
func asFailure(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	var problems *scenarios.Problems
	if errors.As(err, &problems) {
		return &failure{code: exitUse, text: problems.Error(), raw: true}
	}
	f = &failure{code: exitUse, text: strings.TrimSpace(err.Error())}
	var file *scenarios.FileError
	var h hinter
	switch {
	case errors.As(err, &file):
		f.hint = file.Hint
	case errors.As(err, &h):
		f.hint = h.Hint()
	}
	return f
}

// writeFailure is a file that could not be written: where the machine is at
// fault (disk full, broken device) it is ours, where the place is (not there,
// not allowed) it is whoever named it.
func writeFailure(path string, err error) error {
	code := exitUse
	for _, ours := range []error{syscall.ENOSPC, syscall.EIO, syscall.EDQUOT} {
		if errors.Is(err, ours) {
			code = exitOurs
		}
	}
	hint := ""
	switch {
	case errors.Is(err, fs.ErrPermission):
		hint = "choose a place you may write to"
	case errors.Is(err, fs.ErrNotExist):
		hint = "create the folder first"
	}
	return &failure{code: code, text: "cannot write " + path + ": " + reason(err), hint: hint}
}

// reason is what the system said, without the path that it repeats.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err.Error()
	}
	return err.Error()
}

// panicFailure is a defect of ours, with the one line to report it by: version,
// platform, the function that broke, and what was typed.
func panicFailure(p any, args []string) error {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = shellWord(a)
	}
	return &failure{
		code: exitOurs,
		text: "this is a defect of blastradius, not of your scenario",
		hint: fmt.Sprintf("please report this line: %s %s/%s %s: %s: blastradius %s",
			Version, runtime.GOOS, runtime.GOARCH, panicPlace(), oneLine(fmt.Sprint(p)), strings.Join(quoted, " ")),
	}
}

// panicPlace is the function of ours nearest to the panic. It is called while
// the panic is being handled.
func panicPlace() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	panicked := false
	for {
		frame, more := frames.Next()
		if frame.Function == "runtime.gopanic" {
			panicked = true
		} else if name, ours := strings.CutPrefix(frame.Function, "blastradius/"); ours && panicked {
			return fmt.Sprintf("%s:%d", name, frame.Line)
		}
		if !more {
			return "unknown place"
		}
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// shellWord quotes a word for a POSIX shell where it must be.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
