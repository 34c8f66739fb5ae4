package cli

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

func TestWorstCode(t *testing.T) {
	for _, c := range []struct {
		codes []int
		want  int
	}{
		{nil, 0},
		{[]int{0, 0}, 0},
		{[]int{0, 5}, 5},
		{[]int{5, 1}, 1},
		{[]int{1, 4, 5}, 4},
		{[]int{1, 4, 2}, 2},
		{[]int{2, 3}, 3},
		{[]int{3, 130}, 130},
		{[]int{1, 143}, 143},
	} {
		if got := worst(c.codes...); got != c.want {
			t.Errorf("%v: got %d, want %d", c.codes, got, c.want)
		}
	}
}

func TestWriteFailureKnowsWhoseFaultItIs(t *testing.T) {
	for err, want := range map[error]int{
		syscall.ENOSPC:   exitOurs,
		syscall.EIO:      exitOurs,
		fs.ErrPermission: exitUse,
		syscall.EROFS:    exitUse,
		syscall.ENOTDIR:  exitUse,
	} {
		f := asFailure(writeFailure("out", fmt.Errorf("wrapped: %w", err)))
		if f.code != want || !strings.Contains(f.text, "cannot write out") {
			t.Errorf("%v: %+v", err, f)
		}
	}
}

// A defect of ours ends in one line that says where and with what to report it.
func TestPanicIsReported(t *testing.T) {
	var out, errs bytes.Buffer
	e := newEnv(nil, &out, &errs)
	cmd := &cobra.Command{Use: "x", RunE: func(*cobra.Command, []string) error { panic("des: negative\ndelay") }}
	code := func() (code int) {
		defer func() {
			if p := recover(); p != nil {
				code = e.report(panicFailure(p, []string{"run", "my file.yaml"}))
			}
		}()
		cmd.SetArgs(nil)
		return e.report(cmd.ExecuteContext(context.Background()))
	}()
	if code != exitOurs {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"this is a defect of blastradius", Version, "internal/cli.TestPanicIsReported.func1:", "des: negative delay: blastradius run 'my file.yaml'"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("want %q in %s", want, &errs)
		}
	}
	if strings.Count(errs.String(), "\n") != 2 {
		t.Errorf("not two lines: %s", &errs)
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{"": "''", "a.yaml": "a.yaml", "my file": "'my file'", "it's": `'it'\''s'`, "x>=1": "'x>=1'"} {
		if got := shellWord(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}
