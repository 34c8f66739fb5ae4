package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every mutant of the list still has its place in the code, and there are
// enough of them.
func TestTheListFitsTheCode(t *testing.T) {
	mutants, err := parse(list)
	if err != nil {
		t.Fatal(err)
	}
	if len(mutants) < 40 {
		t.Errorf("%d mutants, want at least 40", len(mutants))
	}
	seen := map[string]bool{}
	for _, m := range mutants {
		text, err := os.ReadFile(filepath.Join("../..", m.file))
		if err != nil {
			t.Errorf("line %d: %v", m.line, err)
			continue
		}
		changed, err := m.apply(string(text))
		if err != nil {
			t.Errorf("line %d, %s: %v", m.line, m.what, err)
		}
		if changed == string(text) || seen[m.file+m.what] {
			t.Errorf("line %d, %s: no change, or there is one of that name before", m.line, m.what)
		}
		seen[m.file+m.what] = true
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"- x":              "no mutant has begun",
		"== a.go":          "a mutant begins == FILE: WHAT",
		"== a.go: x\ny":    "neither ==, - nor +",
		"== a.go: x\n+ y":  "changes nothing",
		"# only a comment": "",
	} {
		_, err := parse(text)
		if got := ""; err != nil {
			got = err.Error()
			if want == "" || !strings.Contains(got, want) {
				t.Errorf("%q: %s, want %s", text, got, want)
			}
		} else if want != "" {
			t.Errorf("%q: no error, want %s", text, want)
		}
	}
}
