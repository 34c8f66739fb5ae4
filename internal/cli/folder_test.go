package cli

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const savedHead = `{"schema": 1, "tool": {"version": "v0"}, "scenario": {"digest": "0"}}`

func TestFolderRules(t *testing.T) {
	files := []named{{resultFile, []byte(savedHead)}, {"report.html", []byte("new")}}
	written := map[string]string{resultFile: savedHead, "report.html": "new"}
	with := func(more ...string) map[string]string {
		out := maps.Clone(written)
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	for _, c := range []struct {
		name   string
		before map[string]string // nil: no folder
		force  bool
		after  map[string]string
		fails  string
	}{
		{name: "it is made, its parents too", after: written},
		{name: "an empty one is taken", before: map[string]string{}, after: written},
		{name: "ours is written again", before: map[string]string{resultFile: savedHead, "report.html": "old"}, after: written},
		{name: "ours of a later schema too", before: map[string]string{resultFile: strings.Replace(savedHead, "1", "7", 1)}, after: written},
		{name: "other files in ours stay", before: map[string]string{resultFile: savedHead, "note": "mine"}, after: with("note", "mine")},
		{name: "a foreign one is refused", before: map[string]string{"note": "mine"}, after: map[string]string{"note": "mine"}, fails: "holds no result of ours"},
		{name: "a half result is foreign", before: map[string]string{resultFile: savedHead[:20]}, after: map[string]string{resultFile: savedHead[:20]}, fails: "--force"},
		{name: "unless forced; its files stay", before: map[string]string{"note": "mine", "report.html": "old"}, force: true, after: with("note", "mine")},
		{name: "a folder in the way stops it whole", before: map[string]string{"report.html/x": "mine"}, force: true, after: map[string]string{"report.html/x": "mine"}, fails: "a folder of that name is there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a", "b")
			if c.before != nil {
				fill(t, dir, c.before)
			}
			err := writeFolder(dir, c.force, files)
			if c.fails == "" && err != nil {
				t.Fatal(err)
			}
			if c.fails != "" {
				f := asFailure(err)
				if err == nil || !strings.Contains(f.text+f.hint, c.fails) || f.code != exitUse {
					t.Fatalf("want %q, got %v", c.fails, err)
				}
			}
			if got := contents(t, dir); !maps.Equal(got, c.after) {
				t.Errorf("got %v, want %v", got, c.after)
			}
		})
	}
}

// A file that others may read stays so: the temporary name must not bring a
// mode of its own.
func TestWrittenFilesHaveTheUsualMode(t *testing.T) {
	dir := t.TempDir()
	usual := filepath.Join(dir, "usual")
	f, err := os.Create(usual)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	ours := filepath.Join(dir, "ours")
	if err := writeFile(ours, []byte("x")); err != nil {
		t.Fatal(err)
	}
	want, _ := os.Stat(usual)
	got, err := os.Stat(ours)
	if err != nil || got.Mode() != want.Mode() {
		t.Errorf("mode %v, want %v (%v)", got.Mode(), want.Mode(), err)
	}
}

func fill(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[name]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// contents are all files under dir, hidden ones too.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		out[filepath.ToSlash(rel)] = readFile(t, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
