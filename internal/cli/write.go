package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// staged is a file that is complete under a temporary name beside its place.
type staged struct{ temporary, path string }

// stage writes data beside path. Nothing is to be seen of it under its own name
// until commit.
func stage(path string, data []byte) (s staged, err error) {
	dir, base := filepath.Split(path)
	for i := 0; ; i++ {
		s = staged{temporary: filepath.Join(dir, fmt.Sprintf(".%s.%d-%d.tmp", base, os.Getpid(), i)), path: path}
		var f *os.File
		// Not CreateTemp: its mode 0600 would make a report that nobody else can read.
		f, err = os.OpenFile(s.temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) && i < 100 {
			continue
		}
		if err != nil {
			return staged{path: path}, err
		}
		_, err = f.Write(data)
		err = errors.Join(err, f.Close())
		if err != nil {
			os.Remove(s.temporary)
			return staged{path: path}, err
		}
		return s, nil
	}
}

// commit puts the file in its place, over one that is there.
func (s staged) commit() error { return os.Rename(s.temporary, s.path) }

// drop forgets it.
func (s staged) drop() { os.Remove(s.temporary) }

// writeFile replaces the file at path whole or not at all. Through a symbolic
// link the file behind it is replaced; a device or pipe is written to.
func writeFile(path string, data []byte) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Close())
	}
	s, err := stage(path, data)
	if err != nil {
		return err
	}
	if err := s.commit(); err != nil {
		s.drop()
		return err
	}
	return nil
}
