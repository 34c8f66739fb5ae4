package arch

import (
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A product that meets a sum may be computed in one rounded step on arm64 and
// in two on amd64, so the two give different bits; an explicit conversion of
// the product forbids it (Go specification, "Floating-point operators"). Every
// such product in the simulated system is written float64(a*b).
func TestNoProductMeetsASumUnconverted(t *testing.T) {
	set, files := sources(t)
	c := &checker{set: set, other: importer.ForCompiler(set, "gc", exports(t)), files: map[string][]*ast.File{}, done: map[string]*types.Package{}, info: map[string]*types.Info{}}
	for _, f := range files {
		if !f.test && buildable(f) {
			c.files[f.pkg] = append(c.files[f.pkg], f.ast)
		}
	}
	checked := 0
	for pkg := range c.files {
		if !simulated(pkg) {
			continue
		}
		checked++
		if _, err := c.Import(module + "/" + pkg); err != nil {
			t.Fatalf("%s does not type-check: %v", pkg, err)
		}
		for _, f := range c.files[pkg] {
			for _, p := range fusible(f, c.info[pkg]) {
				t.Errorf("%s: write float64(a*b) for a product that meets a sum", strings.TrimPrefix(set.Position(p).String(), root+"/"))
			}
		}
	}
	if checked < 5 {
		t.Fatalf("only %d packages of the simulated system were found", checked)
	}
}

// buildable leaves out files for other programs or systems.
func buildable(f *file) bool {
	for _, group := range f.ast.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:build") {
				return false
			}
		}
	}
	return true
}

// exports asks the toolchain once for the compiled types of everything that the
// simulated system imports, and returns a reader of them.
func exports(t *testing.T) func(path string) (io.ReadCloser, error) {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}", "./sim/...", "./faults/...", "./resilience/...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %s", exit.Stderr)
		}
		t.Fatal(err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		files[path] = file
	}
	return func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			return nil, fmt.Errorf("no compiled types of %s", path)
		}
		return os.Open(files[path])
	}
}

// checker type-checks the packages of the module from their sources, and takes
// the types of all others from the toolchain.
type checker struct {
	set   *token.FileSet
	other types.Importer
	files map[string][]*ast.File
	done  map[string]*types.Package
	info  map[string]*types.Info
}

// Import finds a package for the type checker.
func (c *checker) Import(path string) (*types.Package, error) {
	ours, ok := strings.CutPrefix(path, module+"/")
	if !ok {
		return c.other.Import(path)
	}
	if p := c.done[ours]; p != nil {
		return p, nil
	}
	if len(c.files[ours]) == 0 {
		return nil, fmt.Errorf("no package %s", path)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: c}
	p, err := conf.Check(path, c.set, c.files[ours], info)
	if err != nil {
		return nil, err
	}
	c.done[ours], c.info[ours] = p, info
	return p, nil
}

// fusible finds the sums that a processor may compute together with a product.
func fusible(f *ast.File, info *types.Info) (out []token.Pos) {
	product := func(e ast.Expr) bool {
		e = ast.Unparen(e)
		if u, ok := e.(*ast.UnaryExpr); ok { // a sign fuses too
			e = ast.Unparen(u.X)
		}
		b, ok := e.(*ast.BinaryExpr)
		return ok && b.Op == token.MUL && floating(info, b)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if (n.Op == token.ADD || n.Op == token.SUB) && floating(info, n) && (product(n.X) || product(n.Y)) {
				out = append(out, n.Pos())
			}
		case *ast.AssignStmt:
			if (n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN) && product(n.Rhs[0]) {
				out = append(out, n.Pos())
			}
		}
		return true
	})
	return out
}

// floating reports a float expression that is computed at run time.
func floating(info *types.Info, e ast.Expr) bool {
	tv, ok := info.Types[e]
	if !ok || tv.Value != nil {
		return false
	}
	b, ok := tv.Type.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsFloat != 0
}

func TestFusibleSumsAreFound(t *testing.T) {
	const source = `
var a, b, c = 1.0, 2.0, 3.0
var n, m = 2, 3
var (
	bad1  = a*b + c
	bad2  = c - (a * b)
	good1 = float64(a*b) + c
	good2 = a * (b + c)
	good3 = n*m + n
	good4 = 2.0*3.0 + c
)
func f() { c += a * b; c -= float64(a * b); c = c + -(a * b) }
`
	set := token.NewFileSet()
	f := parsedIn(t, set, "sim/x.go", source)
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	if _, err := new(types.Config).Check("x", set, []*ast.File{f.ast}, info); err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, p := range fusible(f.ast, info) {
		lines = append(lines, set.Position(p).Line)
	}
	if fmt.Sprint(lines) != "[6 7 13 13]" {
		t.Errorf("found in lines %v", lines)
	}
}
