package cli

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// work takes each of total steps d of (virtual) time and tells p of it.
func work(p progress, total int, d time.Duration) {
	for i := range total {
		<-time.After(d)
		p.step(i+1, total)
	}
	synctest.Wait()
	p.stop()
}

func TestPlainProgress(t *testing.T) {
	for _, c := range []struct {
		name  string
		total int
		each  time.Duration
		want  string
	}{
		{"short work shows nothing", 10, 49 * time.Millisecond, ""},
		{"a line every tenth, none at the end", 4, time.Second, "run 1/4, 3s left\nrun 2/4, 2s left\nrun 3/4, 1s left\n"},
		{"tenths of much work", 1000, 10 * time.Millisecond, "run 100/1000, 9s left\nrun 200/1000, 8s left\nrun 300/1000, 7s left\nrun 400/1000, 6s left\nrun 500/1000, 5s left\nrun 600/1000, 4s left\nrun 700/1000, 3s left\nrun 800/1000, 2s left\nrun 900/1000, 1s left\n"},
		{"a line every 5 s", 1, 11 * time.Second, "no run finished yet, 5s so far\nno run finished yet, 10s so far\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b bytes.Buffer
				work(newLines(&b), c.total, c.each)
				if b.String() != c.want {
					t.Errorf("got\n%swant\n%s", &b, c.want)
				}
			})
		})
	}
}

func TestBarShowsAndLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		work(newBar(&b), 4, 100*time.Millisecond)
		if b.Len() != 0 {
			t.Errorf("0.4 s of work showed %q", &b)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		w := &lockedBuffer{}
		p := newBar(w)
		for i := range 4 {
			<-time.After(time.Second)
			p.step(i+1, 4)
		}
		p.stop()
		shown := w.String()
		if !strings.Contains(shown, "run 2/4") || !strings.Contains(shown, "left") {
			t.Errorf("no bar in %q", shown)
		}
		if last := shown[strings.LastIndex(shown, "\n")+1:]; strings.Contains(last, "run") {
			t.Errorf("left behind: %q", last)
		}
	})
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestWhichProgress(t *testing.T) {
	for _, c := range []struct {
		terminal bool
		vars     map[string]string
		quiet    bool
		want     string
	}{
		{terminal: true, want: "bar"},
		{terminal: true, vars: map[string]string{"TERM": "dumb"}, want: "lines"},
		{terminal: true, vars: map[string]string{"CI": "true"}, want: "lines"},
		{terminal: false, want: "lines"},
		{terminal: true, quiet: true, want: "silent"},
	} {
		e := newEnv(nil, &bytes.Buffer{}, &bytes.Buffer{})
		e.stderrTerminal = c.terminal
		e.lookup = func(name string) string { return c.vars[name] }
		p := e.newProgress(c.quiet)
		got := "silent"
		switch p.(type) {
		case *bar:
			got = "bar"
		case *lines:
			got = "lines"
		}
		p.stop()
		if got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}
