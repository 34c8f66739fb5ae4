package conform

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The stored files can be read, are in the form that Encode writes, and say
// whether they were observed or read.
func TestStoredTraces(t *testing.T) {
	paths, err := filepath.Glob("../../resilience/testdata/conformance/*.txt")
	if err != nil || len(paths) < 11 {
		t.Fatalf("%d files: %v", len(paths), err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Decode(text)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if !bytes.Equal(f.Encode(), text) {
			t.Errorf("%s is not in the form that Encode writes", path)
		}
		if want := strings.TrimSuffix(filepath.Base(path), ".txt"); f.Dialect != want || f.Library == "" || f.Version == "" {
			t.Errorf("%s holds the dialect %q of library %q %q", path, f.Dialect, f.Library, f.Version)
		}
		if len(text) > 300_000 {
			t.Errorf("%s has %d bytes", path, len(text))
		}
		names := map[string]bool{}
		for g, tr := range f.All() {
			if names[tr.Name] {
				t.Errorf("%s has two traces %s", path, tr.Name)
			}
			names[tr.Name] = true
			if !strings.HasPrefix(g.Settings, "{dialect: "+f.Dialect+", ") {
				t.Errorf("%s: settings %s", path, g.Settings)
			}
		}
		if traces, _ := f.Count(); f.Read == "" && traces < 1000 {
			t.Errorf("%s was observed in %d traces only", path, traces)
		}
	}
}
