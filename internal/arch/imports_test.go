package arch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// anything is the row of a package that may import every other of ours that
// is not reserved.
const anything = "*"

// mayImport is the import table: what each package may import of ours. Tests
// are free of it, except that nothing but the command imports internal/cli.
var mayImport = map[string]string{
	"sizing":             "",
	"sim/spec":           "",
	"sim/call":           "",
	"sim/des":            "",
	"sim/dist":           "sim/spec",
	"sim/load":           "sim/dist sim/spec",
	"faults":             "sim/call sim/dist sim/spec",
	"resilience":         "sim/call sim/des sim/dist sim/spec",
	"sim":                "sim/call sim/des sim/dist sim/load sim/spec faults resilience",
	"scenarios":          "sim sim/call sim/des sim/dist sim/load sim/spec faults resilience sizing",
	"report":             "sim sim/spec sizing",
	"internal/live":      "sim sim/des sim/call resilience",
	"internal/importers": "scenarios resilience",
	"internal/conform":   "sim/call",
	"internal/findings":  "sim sizing scenarios report",
	"internal/study":     "sim sim/call sim/des sim/dist sim/load sim/spec faults resilience sizing scenarios report internal/findings",
	"internal/cli":       anything,
	"internal/arch":      "",
	"internal/mutate":    "",
	"cmd/blastradius":    "internal/cli",
}

// reserved packages are imported by the packages named only, tests included.
var reserved = map[string]string{"internal/cli": "cmd/blastradius"}

func TestPackagesImportOnlyWhatTheirRowAllows(t *testing.T) {
	_, files := sources(t)
	for _, problem := range importProblems(files) {
		t.Error(problem)
	}
}

// importProblems holds files against the table.
func importProblems(files []*file) (out []string) {
	missing := map[string]bool{}
	for _, f := range files {
		row, known := mayImport[f.pkg]
		if !known && !missing[f.pkg] {
			missing[f.pkg] = true
			out = append(out, fmt.Sprintf("package %q has no row in the import table of internal/arch/imports_test.go: add one that says what it may import", f.pkg))
		}
		for _, p := range f.imports() {
			ours, ok := strings.CutPrefix(p, module+"/")
			if !ok {
				continue
			}
			if only, ok := reserved[ours]; ok && only != f.pkg && ours != f.pkg {
				out = append(out, fmt.Sprintf("%s imports %s, which only %s may", f.path, ours, only))
				continue
			}
			if f.test || !known || row == anything || slices.Contains(strings.Fields(row), ours) {
				continue
			}
			out = append(out, fmt.Sprintf("%s imports %s; the row of %s allows: %s", f.path, ours, f.pkg, orNone(row)))
		}
	}
	return out
}

func orNone(row string) string {
	if row == "" {
		return "none of ours"
	}
	return row
}

// One is the yardstick of the other, so neither may lean on it, however far
// the chain of imports is.
func TestSizingAndSimulationNeverMeet(t *testing.T) {
	_, files := sources(t)
	direct := map[string][]string{}
	for _, f := range files {
		if f.test {
			continue
		}
		for _, p := range f.imports() {
			if ours, ok := strings.CutPrefix(p, module+"/"); ok {
				direct[f.pkg] = append(direct[f.pkg], ours)
			}
		}
	}
	reach := func(from string) map[string]bool {
		seen := map[string]bool{}
		var visit func(string)
		visit = func(p string) {
			for _, next := range direct[p] {
				if !seen[next] {
					seen[next] = true
					visit(next)
				}
			}
		}
		visit(from)
		return seen
	}
	for p := range reach("sizing") {
		t.Errorf("sizing reaches %s; it imports none of ours", p)
	}
	for _, from := range slices.Sorted(maps.Keys(direct)) {
		simulation := from == "sim" || strings.HasPrefix(from, "sim/") || from == "faults" || from == "resilience"
		if simulation && reach(from)["sizing"] {
			t.Errorf("%s reaches sizing, its yardstick", from)
		}
	}
}

// The table itself names only packages that could exist, and no circle.
func TestImportTableHasNoCircle(t *testing.T) {
	state := map[string]int{} // 1 under way, 2 done
	var visit func(p string, chain []string)
	visit = func(p string, chain []string) {
		switch state[p] {
		case 1:
			t.Fatalf("circle in the import table: %s", strings.Join(append(chain, p), " → "))
		case 2:
			return
		}
		state[p] = 1
		row, ok := mayImport[p]
		if !ok {
			t.Errorf("the table allows %s, which has no row", p)
		}
		if row != anything {
			for _, next := range strings.Fields(row) {
				visit(next, append(chain, p))
			}
		}
		state[p] = 2
	}
	for _, p := range slices.Sorted(maps.Keys(mayImport)) {
		visit(p, nil)
	}
}

func TestImportProblemsAreFound(t *testing.T) {
	bad := []*file{
		parsed(t, "sim/des/x.go", `import _ "blastradius/sim/call"`),
		parsed(t, "report/x.go", `import _ "blastradius/internal/cli"`),
		parsed(t, "scenarios/x_test.go", `import _ "blastradius/internal/cli"`),
		parsed(t, "novel/x.go", ``),
	}
	got := importProblems(bad)
	for i, want := range []string{"sim/des/x.go imports sim/call", "report/x.go imports internal/cli, which only cmd/blastradius may", "scenarios/x_test.go imports internal/cli", `package "novel" has no row`} {
		if i >= len(got) || !strings.Contains(got[i], want) {
			t.Errorf("problem %d: want %q in %q", i, want, got)
		}
	}
	good := []*file{
		parsed(t, "sim/dist/x.go", `import ("fmt"; _ "blastradius/sim/spec")`),
		parsed(t, "sizing/x_test.go", `import _ "blastradius/sim"`),
		parsed(t, "cmd/blastradius/main.go", `import _ "blastradius/internal/cli"`),
	}
	if got := importProblems(good); len(got) != 0 {
		t.Errorf("no problem expected, got %q", got)
	}
}
