package cli

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"blastradius/report"
)

// endless would simulate for minutes; only a signal ends it in time.
const endless = `
name: endless
duration: 8760h
endpoints:
  web: {arrivals: {poisson: 1000/s}, deadline: 1s, calls: [db]}
dependencies:
  db: {latency: 10ms}
`

// signalled is an env whose process receives a signal as soon as it listens.
func signalled(t *testing.T, s os.Signal) (e *env, stdout, stderr *strings.Builder) {
	t.Helper()
	stdout, stderr = &strings.Builder{}, &strings.Builder{}
	e = newEnv(strings.NewReader(endless), stdout, stderr)
	e.notify = func(c chan<- os.Signal, _ ...os.Signal) { c <- s }
	released := 0
	e.release = func(chan<- os.Signal) { released++ }
	t.Cleanup(func() {
		if released == 0 {
			t.Error("a second signal would find our handler and not kill the process")
		}
	})
	return e, stdout, stderr
}

func TestSignalEndsTheRunAndKeepsWhatIsFinished(t *testing.T) {
	for _, c := range []struct {
		signal os.Signal
		code   int
		word   string
	}{{os.Interrupt, exitInterrupted, "interrupted"}, {syscall.SIGTERM, exitTerminated, "terminated"}} {
		saved := filepath.Join(t.TempDir(), "saved.json")
		e, stdout, stderr := signalled(t, c.signal)
		if got := e.main(context.Background(), []string{"run", "-", "-f", "json", "--report", "json=" + saved}); got != c.code {
			t.Errorf("%s: exit code %d, want %d", c.word, got, c.code)
		}
		if !strings.Contains(stderr.String(), c.word+"; the figures are partial") {
			t.Errorf("%s: stderr does not say so: %s", c.word, stderr)
		}
		for name, text := range map[string]string{"stdout": stdout.String(), "the file": readFile(t, saved)} {
			r, err := report.Read(name, strings.NewReader(text))
			if err != nil || r.Partial == "" || r.Scenario.Name != "endless" {
				t.Errorf("%s: %s holds no partial result: %v", c.word, name, err)
			}
		}
	}
}

// The same with a real signal to a real process: what it says first, it says
// when it listens.
func TestRealInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals to send on Windows")
	}
	cmd := exec.Command(filepath.Join(binaries(t), "blastradius"), "run", "--set", "duration=50h", "-f", "json")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	if !lines.Scan() || !strings.Contains(lines.Text(), "no scenario named") {
		t.Errorf("the first line is %q", lines.Text())
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	said := ""
	for lines.Scan() {
		said += lines.Text() + "\n"
	}
	cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != exitInterrupted {
		t.Errorf("exit code %d, want %d\n%s", got, exitInterrupted, said)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
