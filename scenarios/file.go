package scenarios

import (
	"bytes"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"blastradius/sim"
)

// File is a scenario that was read, filled in and checked.
type File struct {
	source   string // as it stands in messages
	src      []byte
	root     *yaml.Node
	scenario Scenario
	at       map[string]place
	warnings *Problems
	vs       []vsArm
	part     bool // its arms and expectations are not checked
}

// Load reads a scenario from src; source names it in messages. The error is a
// *Problems with everything that is wrong, or a *FileError.
func Load(source string, src []byte) (*File, error) {
	if len(src) > MaxSize {
		return nil, tooLarge(source)
	}
	f := &File{source: source, src: src}
	root, problem := parse(src)
	if problem != nil {
		return nil, f.problems([]Problem{*problem})
	}
	f.root = root
	if err := f.decode(); err != nil {
		return nil, err
	}
	return f, nil
}

// decode fills f from its tree. On a problem it returns all of them.
func (f *File) decode() error {
	d := &decoder{at: map[string]place{}, budget: maxNodes}
	f.scenario = Scenario{}
	f.scenario.SetDefaults()
	d.structure("", f.root, reflect.ValueOf(&f.scenario).Elem())
	f.at = d.at
	if f.scenario.Name == "" {
		f.scenario.Name = nameFrom(f.source)
	}
	f.check(d)
	p := f.problems(d.problems)
	if p.Errors() {
		return p
	}
	f.warnings = p
	return nil
}

func (f *File) problems(list []Problem) *Problems {
	text := strings.ReplaceAll(string(bytes.TrimPrefix(f.src, []byte("\ufeff"))), "\r\n", "\n")
	slices.SortStableFunc(list, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Col - b.Col
	})
	list = slices.CompactFunc(list, func(a, b Problem) bool { return a == b }) // an alias read often is one mistake
	return &Problems{File: f.source, List: list, src: strings.Split(text, "\n")}
}

// nameFrom makes a name of a file's.
func nameFrom(source string) string {
	base := strings.TrimSuffix(filepath.Base(source), filepath.Ext(source))
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, base)
	name = strings.TrimLeft(name, "-_0123456789")
	if name == "" {
		return "scenario"
	}
	return name
}

// Source is what was read, as it stands in messages.
func (f *File) Source() string { return f.source }

// Name is the scenario's short name.
func (f *File) Name() string { return f.scenario.Name }

// Title is the scenario's free title.
func (f *File) Title() string { return f.scenario.Title }

// About is the scenario's sentence.
func (f *File) About() string { return f.scenario.About }

// Seed is the scenario's seed.
func (f *File) Seed() uint64 { return f.scenario.Seed }

// Scenario is what was read, every default filled in. It must not be changed.
func (f *File) Scenario() *Scenario { return &f.scenario }

// Warnings are the doubts about the file, each with its source lines.
func (f *File) Warnings() []string { return f.warnings.Warnings() }

// ShortWarnings are the doubts on a line each.
func (f *File) ShortWarnings() []string { return f.warnings.Short() }

// WithSeed is f with another seed, in every arm: in the tree too, from which
// the arms that set fields are decoded again.
func (f *File) WithSeed(seed uint64) *File {
	g := *f
	g.scenario.Seed = seed
	g.root = clone(f.root)
	value := plain(strconv.FormatUint(seed, 10))
	replace(g.root, "seed", value)
	g.at = maps.Clone(f.at)
	g.at["seed"] = place{nil, value}
	return &g
}

// Config is the system as the file stands.
func (f *File) Config() *sim.Config { return build(&f.scenario, "") }
