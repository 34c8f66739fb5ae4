package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// resultFile is the file by which a folder of ours is known.
const resultFile = "result.json"

// checkFolder reports why a report folder cannot be written to dir: it is a
// file, not writable, or holds something that is not ours. It is called before
// the work, so that nobody waits for a refusal.
func checkFolder(dir string, force bool) error {
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
	if err := checkFolder(dir, force); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return writeFailure(dir, err)
	}
	var ready []staged
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		s, err := stage(path, f.data)
		if err == nil {
			if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
				err = fmt.Errorf("a folder of that name is there")
				s.drop()
			}
		}
		if err != nil {
			for _, s := range ready {
				s.drop()
			}
			return writeFailure(path, err)
		}
		ready = append(ready, s)
	}
	for i, s := range ready {
		if err := s.commit(); err != nil {
			for _, left := range ready[i:] {
				left.drop()
			}
			return writeFailure(s.path, err)
		}
	}
	return nil
}
