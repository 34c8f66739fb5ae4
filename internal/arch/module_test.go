package arch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A module file with replace or exclude cannot be installed with
// "go install MODULE@version", and a toolchain line or a patch release in the
// go line forces a download on users who have a good Go already.
func TestModuleFileCanBeInstalledAnywhere(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range moduleProblems(string(text)) {
		t.Error(problem)
	}
}

func moduleProblems(text string) (out []string) {
	version := ""
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		switch fields[0] {
		case "toolchain", "replace", "exclude":
			out = append(out, "go.mod has a line "+strings.TrimSpace(line))
		case "go":
			version = strings.Join(fields[1:], " ")
		case "module":
			if fields[1] != module {
				out = append(out, "go.mod names module "+fields[1])
			}
		}
	}
	if version != "1.26.0" {
		out = append(out, "go.mod asks for go "+version+", not 1.26.0")
	}
	return out
}

func TestModuleProblemsAreFound(t *testing.T) {
	good := "module blastradius\n\ngo 1.26.0\n\nrequire (\n\texample.com/x v1.0.0\n)\n"
	for text, want := range map[string]int{
		good: 0,
		good + "toolchain go1.26.8\nreplace a => b\nexclude c v1\n": 3,
		strings.ReplaceAll(good, "1.26.0", "1.26.8"):                1,
	} {
		if got := moduleProblems(text); len(got) != want {
			t.Errorf("want %d problems in %q, got %q", want, text, got)
		}
	}
}
