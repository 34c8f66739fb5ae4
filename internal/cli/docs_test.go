package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The commands in README.md and docs/*.md run and print what they claim. In a
// block marked "sh" every line is a command that must end with 0, or with N
// where it says "# exits N". In a block marked "console" the lines after "$ "
// are commands and the others are what they print, in order; "..." or "…" on a
// line of its own stands for any lines, and at the end of a line for the rest
// of it. All blocks of one document run in one folder, one after the other, so
// a later one finds the files of an earlier one. A block marked otherwise is
// not run, and a line that compiles, installs or downloads is left out.

// block is one marked code block.
type block struct {
	line  int // of its first line
	mark  string
	lines []string
}

// step is one command and what it is to print.
type step struct {
	line    int
	command string
	code    int
	prints  []string // nil: nothing claimed
}

// blocks finds the fenced code blocks of a Markdown text.
func blocks(text string) (out []block) {
	var open *block
	fence := ""
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case open == nil && strings.HasPrefix(trimmed, "```"):
			fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
			open = &block{line: i + 2, mark: strings.TrimSpace(trimmed[len(fence):])}
		case open != nil && trimmed == fence:
			out = append(out, *open)
			open = nil
		case open != nil:
			open.lines = append(open.lines, line)
		}
	}
	return out
}

// steps reads the commands of a block.
func (b *block) steps() (out []step) {
	for i, line := range b.lines {
		command, isCommand := line, strings.TrimSpace(line) != "" && !strings.HasPrefix(strings.TrimSpace(line), "#")
		if b.mark == "console" {
			command, isCommand = strings.CutPrefix(line, "$ ")
		}
		switch {
		case isCommand:
			s := step{line: b.line + i, command: command}
			if m := exitMark.FindStringSubmatch(command); m != nil {
				fmt.Sscan(m[1], &s.code)
			}
			out = append(out, s)
		case b.mark == "console" && len(out) > 0:
			out[len(out)-1].prints = append(out[len(out)-1].prints, line)
		}
	}
	return out
}

var (
	exitMark = regexp.MustCompile(`#.*\bexits (\d+)`)
	leftOut  = regexp.MustCompile(`\bgo (install|build|test|vet|get|generate|tool)\b|\b(git|curl|wget|docker|npm|brew|apt|apt-get|open|xdg-open|cd|\.ci/run)\b`)
	compiled = regexp.MustCompile(`\bgo run \./cmd/blastradius\b`)
)

// shellLine is the command as it is run here: the program is on the path
// already, so what compiles it is replaced or left out ("" when nothing stays).
func shellLine(command string) string {
	command = compiled.ReplaceAllString(command, "blastradius")
	var parts []string
	for _, part := range strings.Split(command, "&&") {
		// The program's own words may look like another program's: run … -o git.
		if first := strings.Fields(part); len(first) > 0 && (first[0] == "blastradius" || !leftOut.MatchString(part)) {
			parts = append(parts, part)
		}
	}
	line := strings.TrimSpace(strings.Join(parts, "&&"))
	if !strings.Contains(line, "blastradius") {
		return ""
	}
	return line
}

// claimed holds what was printed against what the document shows.
func claimed(got string, want []string) error {
	for len(want) > 0 && strings.TrimSpace(want[len(want)-1]) == "" {
		want = want[:len(want)-1]
	}
	lines := strings.Split(strings.TrimRight(got, "\n"), "\n")
	at, free := 0, false // free: any lines may come before the next claim
	for _, w := range want {
		if t := strings.TrimSpace(w); t == "…" || t == "..." {
			free = true
			continue
		}
		start := at
		for at < len(lines) && !sameLine(lines[at], w) && free {
			at++
		}
		if at >= len(lines) || !sameLine(lines[at], w) {
			seen := "the end"
			if start < len(lines) {
				seen = fmt.Sprintf("%q", lines[start])
			}
			return fmt.Errorf("claimed %q, printed %s", w, seen)
		}
		at, free = at+1, false
	}
	if at < len(lines) && !free && len(want) > 0 {
		return fmt.Errorf("printed %q, which is not shown", lines[at])
	}
	return nil
}

func sameLine(got, want string) bool {
	got, want = strings.TrimRight(got, " "), strings.TrimRight(want, " ")
	for _, dots := range []string{"…", "..."} {
		if start, ok := strings.CutSuffix(want, dots); ok {
			return strings.HasPrefix(got, strings.TrimRight(start, " "))
		}
	}
	return got == want
}

// binaries is a folder with this test's program under the name blastradius.
func binaries(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "blastradius")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	return dir
}

// runDocument runs the commands of a document and counts them.
func runDocument(t *testing.T, text string) (ran int) {
	t.Helper()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh here to run the commands with")
	}
	path := binaries(t) + string(os.PathListSeparator) + os.Getenv("PATH")
	dir := t.TempDir()
	for _, b := range blocks(text) {
		if b.mark != "sh" && b.mark != "console" {
			continue
		}
		for _, s := range b.steps() {
			line := shellLine(s.command)
			if line == "" {
				continue
			}
			var stdout, stderr bytes.Buffer
			cmd := exec.Command(shell, "-c", line)
			cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
			cmd.Env = []string{"PATH=" + path, "HOME=" + dir, "LANG=C.UTF-8"}
			err := cmd.Run()
			ran++
			if cmd.ProcessState == nil {
				t.Fatalf("line %d: %s: %v", s.line, line, err)
			}
			if got := cmd.ProcessState.ExitCode(); got != s.code {
				t.Errorf("line %d: %s\nexit code %d, want %d\n%s", s.line, line, got, s.code, &stderr)
				continue
			}
			// What people see in a terminal is both streams; claims are about stdout,
			// and about stderr where a command fails.
			printed := stdout.String()
			if s.code != 0 {
				printed += stderr.String()
			}
			if s.prints != nil {
				if err := claimed(printed, s.prints); err != nil {
					t.Errorf("line %d: %s\n%v", s.line, line, err)
				}
			}
		}
	}
	return ran
}

func TestDocumentsKeepTheirWord(t *testing.T) {
	var paths []string
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../docs/decisions/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			if ran := runDocument(t, readFile(t, path)); ran == 0 && filepath.Base(path) == "README.md" {
				t.Error("no block is marked sh or console, so nothing of it is tested")
			}
		})
	}
}

func TestDocumentBlocksAreRead(t *testing.T) {
	text := "# x\n```sh\n# a comment\ngo run ./cmd/blastradius run -q  # here\n\nblastradius run x  # exits 2\n```\n" +
		"```console\n$ blastradius list\na\nb …\n...\n$ blastradius show x\n```\n```yaml\nrun: no\n```\n"
	var got []string
	for _, b := range blocks(text) {
		if b.mark == "sh" || b.mark == "console" {
			for _, s := range b.steps() {
				got = append(got, fmt.Sprintf("%d %s %d %q", s.line, shellLine(s.command), s.code, s.prints))
			}
		}
	}
	want := []string{
		"4 blastradius run -q  # here 0 []",
		"6 blastradius run x  # exits 2 2 []",
		`9 blastradius list 0 ["a" "b …" "..."]`,
		`13 blastradius show x 0 []`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for in, want := range map[string]string{
		"go install ./cmd/blastradius && blastradius init mine.yaml": "blastradius init mine.yaml",
		"go test ./...": "",
		"git clone https://example.org/blastradius && cd blastradius": "",
		"blastradius run -f json | head -1":                           "blastradius run -f json | head -1",
	} {
		if got := shellLine(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestFalseClaimsAreFound(t *testing.T) {
	for _, c := range []struct {
		printed string
		claims  []string
		ok      bool
	}{
		{"a\nb\n", []string{"a", "b", ""}, true},
		{"a\nb\n", []string{"a"}, false},
		{"a\nb\n", []string{"a", "…"}, true},
		{"a\nb\nc\n", []string{"…", "c"}, true},
		{"a\nb\nc\n", []string{"…", "b"}, false},
		{"a\nb\n", []string{"a", "c"}, false},
		{"a\n", []string{"a", "b"}, false},
		{"seed 42 and more\n", []string{"seed 42 ..."}, true},
		{"seed 43 and more\n", []string{"seed 42 ..."}, false},
	} {
		if err := claimed(c.printed, c.claims); (err == nil) != c.ok {
			t.Errorf("%q claimed of %q: %v", c.claims, c.printed, err)
		}
	}
}
