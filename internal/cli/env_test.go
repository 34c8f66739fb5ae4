package cli

import (
	"bytes"
	"errors"
	"io"
	"syscall"
	"testing"
)

func TestColour(t *testing.T) {
	for _, c := range []struct {
		mode     string
		terminal bool
		vars     map[string]string
		want     bool
	}{
		{"auto", true, nil, true},
		{"auto", false, nil, false},
		{"auto", true, map[string]string{"TERM": "dumb"}, false},
		{"auto", true, map[string]string{"NO_COLOR": "1"}, false},
		{"auto", false, map[string]string{"CLICOLOR_FORCE": "1"}, true},
		{"auto", false, map[string]string{"CLICOLOR_FORCE": "0"}, false},
		{"auto", true, map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, false},
		{"auto", true, map[string]string{"CLICOLOR_FORCE": "1", "TERM": "dumb"}, true},
		{"always", false, map[string]string{"NO_COLOR": "1", "TERM": "dumb"}, true},
		{"never", true, map[string]string{"CLICOLOR_FORCE": "1"}, false},
	} {
		e := &env{stdoutTerminal: c.terminal, lookup: func(name string) string { return c.vars[name] }}
		if got := e.colour(c.mode); got != c.want {
			t.Errorf("--color %s, terminal %v, %v: got %v", c.mode, c.terminal, c.vars, got)
		}
	}
}

func TestASCIIByLocale(t *testing.T) {
	for _, c := range []struct {
		vars map[string]string
		want bool
	}{
		{nil, false},
		{map[string]string{"LANG": "en_GB.UTF-8"}, false},
		{map[string]string{"LANG": "de_DE.utf8"}, false},
		{map[string]string{"LANG": "C"}, true},
		{map[string]string{"LANG": "de_DE.ISO-8859-1"}, true},
		{map[string]string{"LANG": "en_GB.UTF-8", "LC_ALL": "POSIX"}, true},
		{map[string]string{"LANG": "C", "LC_CTYPE": "C.UTF-8"}, false},
	} {
		e := &env{lookup: func(name string) string { return c.vars[name] }}
		if got := e.ascii(); got != c.want {
			t.Errorf("%v: got %v", c.vars, got)
		}
	}
}

type failing struct {
	err   error
	calls int
}

func (f *failing) Write([]byte) (int, error) {
	f.calls++
	return 0, f.err
}

func TestQuietPipe(t *testing.T) {
	for _, gone := range []error{syscall.EPIPE, io.ErrClosedPipe} {
		w := &failing{err: gone}
		q := &quietPipe{w: w}
		for range 3 {
			if n, err := q.Write([]byte("abc")); n != 3 || err != nil {
				t.Errorf("%v: wrote %d, %v", gone, n, err)
			}
		}
		if q.err != nil || w.calls != 1 {
			t.Errorf("%v: remembered %v after %d writes", gone, q.err, w.calls)
		}
	}
	full := &quietPipe{w: &failing{err: syscall.ENOSPC}}
	full.Write([]byte("abc"))
	if !errors.Is(full.err, syscall.ENOSPC) {
		t.Errorf("a full disk is not remembered: %v", full.err)
	}
	var b bytes.Buffer
	good := &quietPipe{w: &b}
	good.Write([]byte("abc"))
	if b.String() != "abc" || good.err != nil {
		t.Errorf("wrote %q, %v", &b, good.err)
	}
}
