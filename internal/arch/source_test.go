package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "blastradius"
	root   = "../.."
)

// file is one parsed Go file of the module.
type file struct {
	path string // from the module's root, with slashes
	pkg  string // import path of its folder without the module's name, "" for the root
	test bool
	ast  *ast.File
}

// imports lists the import paths of the file.
func (f *file) imports() (out []string) {
	for _, spec := range f.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			out = append(out, p)
		}
	}
	return out
}

// uses lists the names that the file selects from an imported package, each
// with its line: Now of "time" for time.Now, whatever it is imported as.
func (f *file) uses(set *token.FileSet, importPath string) map[string][]int {
	name := ""
	for _, spec := range f.ast.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err != nil || p != importPath {
			continue
		}
		name = packageName(importPath)
		if spec.Name != nil {
			name = spec.Name.Name
		}
	}
	out := map[string][]int{}
	if name == "" {
		return out
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == name && x.Obj == nil {
				out[sel.Sel.Name] = append(out[sel.Sel.Name], set.Position(sel.Pos()).Line)
			}
		}
		return true
	})
	return out
}

// packageName is what a package of the standard library calls itself: rand for
// math/rand/v2.
func packageName(importPath string) string {
	base := path.Base(importPath)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" {
		return path.Base(path.Dir(importPath))
	}
	return base
}

// sources parses every Go file of the module; nested modules, testdata and
// folders that begin with a dot or underscore are not of it.
func sources(t *testing.T) (*token.FileSet, []*file) {
	t.Helper()
	set := token.NewFileSet()
	var out []*file
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			base := d.Name()
			if rel != "." && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return fs.SkipDir
			}
			if _, err := os.Stat(filepath.Join(p, "go.mod")); err == nil && rel != "." {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(set, p, nil, 0)
		if err != nil {
			return err
		}
		pkg := path.Dir(rel)
		if pkg == "." {
			pkg = ""
		}
		out = append(out, &file{path: rel, pkg: pkg, test: strings.HasSuffix(rel, "_test.go"), ast: parsed})
		return nil
	})
	if err != nil || len(out) == 0 {
		t.Fatalf("%d files read: %v", len(out), err)
	}
	return set, out
}
