package scenarios

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// LoadPath reads a file, or standard input for "-".
func LoadPath(path string, stdin io.Reader) (*File, error) {
	if path == "-" {
		src, err := io.ReadAll(io.LimitReader(stdin, MaxSize+1))
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		return Load("stdin", src)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &FileError{Path: path, Text: "no such file", Hint: nearFile(path)}
	case err != nil:
		return nil, &FileError{Path: path, Text: reason(err)}
	case info.IsDir():
		return nil, &FileError{Path: path, Text: "is a directory, and run takes one scenario", Hint: "name a file in it"}
	case info.Size() > MaxSize:
		return nil, tooLarge(path)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, &FileError{Path: path, Text: reason(err)}
	}
	return Load(path, src)
}

// MaxSize is the largest file that is read.
const MaxSize = 4 << 20

// FileError is a file that could not be read at all.
type FileError struct{ Path, Text, Hint string }

// Error says which file and why.
func (e *FileError) Error() string { return e.Path + ": " + e.Text }

func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

func tooLarge(path string) error {
	return &FileError{Path: path, Text: fmt.Sprintf("is larger than %d MB", MaxSize>>20), Hint: "a scenario is a short text; is this the right file?"}
}

// nearFile finds a file of nearly that name.
func nearFile(path string) string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext == ".yaml" || ext == ".yml" {
			names = append(names, e.Name())
		}
	}
	if near, ok := Nearest(filepath.Base(path), names); ok {
		return fmt.Sprintf("did you mean %s?", filepath.Join(filepath.Dir(path), near))
	}
	return ""
}
