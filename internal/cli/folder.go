package cli

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// resultFile is the file by which a folder of ours is known.
const resultFile = "result.json"

// checkFolder reports why files of those names cannot be written to dir: it is
// a file, not writable, or holds something that is not ours. It is called
// before the work, so that nobody waits for a refusal.
func checkFolder(dir string, force bool, names []string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return writeFailure(dir, err)
	case !info.IsDir():
		return wrongUse("choose another name for -o", "%s is a file, not a folder", dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return writeFailure(dir, err)
	}
	if len(entries) > 0 && !force && !ours(dir) {
		return wrongUse("choose another, or --force to write into it (other files stay)", "%s is not empty and holds no result of ours", dir)
	}
	for _, e := range entries {
		if e.IsDir() && slices.Contains(names, e.Name()) {
			return writeFailure(filepath.Join(dir, e.Name()), errors.New("a folder of that name is there"))
		}
	}
	probe, err := stage(filepath.Join(dir, resultFile), nil)
	if err != nil {
		return writeFailure(dir, err)
	}
	probe.drop()
	return nil
}

// ours reports that dir holds a result that a run saved, of whatever schema.
func ours(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, resultFile))
	if err != nil {
		return false
	}
	var head struct {
		Schema   int
		Tool     *struct{ Version string }
		Scenario *struct{ Digest string }
		Arms     []json.RawMessage
	}
	return json.Unmarshal(data, &head) == nil && head.Schema > 0 && head.Tool != nil && head.Scenario != nil && head.Scenario.Digest != ""
}

// named is a file of a report folder.
type named struct {
	name string
	data []byte
}

// writeFolder writes files into dir, which it creates. Every file is complete
// before the first takes its place, so a full disk leaves the old report as it
// was.
func writeFolder(dir string, force bool, files []named) error {
	var names []string
	for _, f := range files {
		names = append(names, f.name)
	}
	if err := checkFolder(dir, force, names); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return writeFailure(dir, err)
	}
	var ready []staged
	drop := func() {
		for _, s := range ready {
			s.drop()
		}
	}
	for _, f := range files {
		s, err := stage(filepath.Join(dir, f.name), f.data)
		if err != nil {
			drop()
			return writeFailure(s.path, err)
		}
		ready = append(ready, s)
	}
	for len(ready) > 0 {
		if err := ready[0].commit(); err != nil {
			drop()
			return writeFailure(ready[0].path, err)
		}
		ready = ready[1:]
	}
	return nil
}
