package arch

import (
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// exactMath are the functions and constants of package math that give the
// same bits on every processor, because IEEE 754 fixes their result. Exp, Log,
// Pow, Sin and their kin have assembly or fused steps of their own per
// architecture; FMA rounds once where a machine without it rounds twice.
var exactMath = words(`Abs Ceil Copysign Float32bits Float32frombits Float64bits Float64frombits Floor Frexp
	Inf IsInf IsNaN Ldexp Max Min Mod Modf NaN Nextafter Round RoundToEven Signbit Sqrt Trunc
	MaxInt MaxInt8 MaxInt16 MaxInt32 MaxInt64 MinInt MinInt8 MinInt16 MinInt32 MinInt64
	MaxUint MaxUint8 MaxUint16 MaxUint32 MaxUint64 MaxFloat32 MaxFloat64
	SmallestNonzeroFloat32 SmallestNonzeroFloat64 E Pi Phi Sqrt2 SqrtE SqrtPi Ln2 Log2E Ln10 Log10E`)

// rule forbids names of a package in some files.
type rule struct {
	name      string
	from      string                 // import path
	applies   func(f *file) bool     // to which files
	forbidden func(used string) bool // which names
	why       string
}

var rules = []rule{
	{
		name: "clock", from: "time",
		applies:   func(f *file) bool { return !f.test && f.pkg != "internal/cli" && f.pkg != "internal/live" },
		forbidden: func(used string) bool { return slices.Contains(words("Now Since Until"), used) },
		why:       "reads the wall clock, which belongs to internal/cli and internal/live",
	},
	{
		name: "mathematics", from: "math",
		applies:   func(f *file) bool { return !f.test && simulated(f.pkg) },
		forbidden: func(used string) bool { return !slices.Contains(exactMath, used) },
		why:       "is not the same to the bit on every processor; sim/dist has log and exp of its own",
	},
	{
		name: "normal variates", from: "math/rand/v2",
		applies:   func(f *file) bool { return !f.test && simulated(f.pkg) },
		forbidden: func(used string) bool { return used == "NormFloat64" },
		why:       "calls math.Exp and math.Log, which differ between processors",
	},
	{
		name: "old generator", from: "math/rand",
		applies:   func(f *file) bool { return !f.test },
		forbidden: func(string) bool { return true },
		why:       "is seeded globally; draws are keyed, see sim/dist",
	},
	{
		name: "global generator", from: "math/rand/v2",
		applies: func(f *file) bool { return !f.test },
		forbidden: func(used string) bool {
			return !slices.Contains(words("Rand Source PCG ChaCha8 Zipf New NewPCG NewChaCha8 NewZipf"), used)
		},
		why: "draws from the process's own generator, which nobody can seed",
	},
	{
		name: "sleep", from: "time",
		applies:   func(f *file) bool { return f.test },
		forbidden: func(used string) bool { return used == "Sleep" },
		why:       "sleeps in a test; use virtual time or a synctest bubble",
	},
}

func simulated(pkg string) bool {
	return pkg == "sim" || strings.HasPrefix(pkg, "sim/") || pkg == "faults" || pkg == "resilience"
}

func TestForbiddenCalls(t *testing.T) {
	set, files := sources(t)
	for _, problem := range callProblems(set, files) {
		t.Error(problem)
	}
}

func callProblems(set *token.FileSet, files []*file) (out []string) {
	for _, r := range rules {
		for _, f := range files {
			if !r.applies(f) {
				continue
			}
			used := f.uses(set, r.from)
			for _, name := range slices.Sorted(maps.Keys(used)) {
				if r.forbidden(name) {
					out = append(out, fmt.Sprintf("%s:%d: %s.%s %s", f.path, used[name][0], r.from, name, r.why))
				}
			}
		}
	}
	return out
}

func TestForbiddenCallsAreFound(t *testing.T) {
	for _, c := range []struct{ path, source, want string }{
		{"report/x.go", "import \"time\"\nvar t = time.Now()", "time.Now reads the wall clock"},
		{"report/x.go", "import clock \"time\"\nvar t = clock.Since", "time.Since reads"},
		{"internal/cli/x.go", "import \"time\"\nvar t = time.Now()", ""},
		{"report/x.go", "import \"math\"\nvar t = math.Pow(2, 3)", ""},
		{"sim/dist/x.go", "import \"math\"\nvar t = math.Sqrt(2) + math.Inf(1)", ""},
		{"sim/dist/x.go", "import \"math\"\nvar t = math.FMA(2, 3, 4)", "math.FMA is not the same"},
		{"resilience/x.go", "import \"math\"\nvar t = math.Pow(2, 3)", "math.Pow is not the same"},
		{"faults/x_test.go", "import \"math\"\nvar t = math.Pow(2, 3)", ""},
		{"sim/x.go", "import \"math/rand/v2\"\nvar t = rand.IntN(3)", "rand/v2.IntN draws from the process"},
		{"sim/x.go", "import \"math/rand/v2\"\nvar t = rand.New(rand.NewPCG(1, 2))", ""},
		{"sim/x_test.go", "import \"time\"\nfunc f() { time.Sleep(1) }", "time.Sleep sleeps in a test"},
	} {
		set := token.NewFileSet()
		got := callProblems(set, []*file{parsedIn(t, set, c.path, c.source)})
		if c.want == "" && len(got) != 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%s %q: want %q, got %q", c.path, c.source, c.want, got)
		}
	}
}

func parsed(t *testing.T, name, source string) *file {
	t.Helper()
	return parsedIn(t, token.NewFileSet(), name, source)
}

func parsedIn(t *testing.T, set *token.FileSet, name, source string) *file {
	t.Helper()
	tree, err := parser.ParseFile(set, name, "package x\n"+source, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &file{path: name, pkg: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), ast: tree}
}

func words(s string) []string { return strings.Fields(s) }
