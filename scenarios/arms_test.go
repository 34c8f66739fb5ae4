package scenarios

import (
	"slices"
	"strings"
	"testing"

	"blastradius/sim"
)

// TestEveryArmHasTheSeedOfTheCommandLine: arms that set fields, and arms added
// with --vs, once ran on the seed of the file while the others ran on --seed,
// and their differences were luck.
func TestEveryArmHasTheSeedOfTheCommandLine(t *testing.T) {
	src := "seed: 42\n" + badBase + "arms:\n  contained:\n  slow: {set: {db.timeout: 2s}}\n"
	for name, src := range map[string]string{"a seed in the file": src, "none in the file": strings.TrimPrefix(src, "seed: 42\n")} {
		f, err := Load("x.yaml", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		before := f.Arms()[1].Config.Seed
		g, err := f.WithSeed(7).AddVs("db.timeout=3s")
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range g.Arms() {
			if a.Config.Seed != 7 {
				t.Errorf("%s: arm %s has seed %d, want 7", name, a.Name, a.Config.Seed)
			}
		}
		h, err := f.WithSeed(7).WithSet([]string{"duration=6m"})
		if err != nil {
			t.Fatal(err)
		}
		if h.Seed() != 7 {
			t.Errorf("%s: --set brings back seed %d", name, h.Seed())
		}
		if text, _ := f.WithSeed(7).Effective(); strings.Contains(text, "seed: 7 # default") {
			t.Errorf("%s: a seed that was given is marked as a default", name)
		}
		if got := f.Arms()[1].Config.Seed; got != before {
			t.Errorf("%s: the file it was made from has seed %d now, not %d", name, got, before)
		}
	}
}

// TestTheOrderOfErrorsSaysNothing: swapping two keys of a map once gave other
// results with the same seed.
func TestTheOrderOfErrorsSaysNothing(t *testing.T) {
	build := func(errors string) []sim.ErrorShare {
		f, err := Load("x.yaml", []byte(swap("    stack:", "    errors: {"+errors+"}\n    stack:")))
		if err != nil {
			t.Fatal(err)
		}
		return f.Config().Dependencies[0].Errors
	}
	a := build("server_error: 1%, client_error: 2%")
	b := build("client_error: 2%, server_error: 1%")
	if len(a) != 2 || !slices.Equal(a, b) {
		t.Errorf("%v and %v", a, b)
	}
}
