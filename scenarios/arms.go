package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"blastradius/sim"
)

// Arm is one variant of a scenario, ready to run.
type Arm struct {
	Name   string
	About  string // how it differs from the file
	Config sim.Config
}

// The arms of a file that names none.
const (
	ArmUncontained = "uncontained"
	ArmTimeouts    = "timeouts"
	ArmContained   = "contained"
)

// vsArm is an arm added on the command line.
type vsArm struct {
	name, base, path, value string
}

// specs are the file's arms, or the default ones, with those added.
func (f *File) specs() []ArmSpec {
	specs := f.scenario.Arms
	if len(specs) == 0 {
		specs = []ArmSpec{
			{Name: ArmUncontained, Remove: LayerNames{All: true, Given: true}},
			{Name: ArmTimeouts, Keep: LayerNames{Names: []string{"timeout"}, Given: true}},
			{Name: ArmContained},
		}
	}
	return specs
}

// Arms builds every arm, those added last. Of the default arms one that equals
// another is left out.
func (f *File) Arms() []Arm {
	var out []Arm
	for _, s := range f.specs() {
		a, err := f.arm(s)
		if err != nil {
			panic("scenarios: arm " + s.Name + " passed its check and fails: " + err.Error())
		}
		out = append(out, a)
	}
	if len(f.scenario.Arms) == 0 {
		out = distinct(out)
	}
	for _, v := range f.vs {
		a, err := f.added(v)
		if err != nil {
			panic("scenarios: added arm passed its check and fails: " + err.Error())
		}
		out = append(out, a)
	}
	return out
}

// distinct leaves out what the default arms have twice: timeouts where it equals
// one of the others, uncontained where it equals contained.
func distinct(arms []Arm) []Arm {
	key := func(a Arm) string {
		var b strings.Builder
		for _, d := range a.Config.Dependencies {
			for _, l := range d.Stack {
				fmt.Fprintf(&b, "%s %s %s;", d.Name, l.Name, l.Config.Text())
			}
		}
		return b.String()
	}
	uncontained, timeouts, contained := key(arms[0]), key(arms[1]), key(arms[2])
	var out []Arm
	if uncontained != contained {
		out = append(out, arms[0])
	}
	if timeouts != uncontained && timeouts != contained {
		out = append(out, arms[1])
	}
	return append(out, arms[2])
}

// arm builds one arm.
func (f *File) arm(s ArmSpec) (Arm, error) {
	g, err := f.with(s.Set, true)
	if err != nil {
		return Arm{}, err
	}
	c := build(&g.scenario, s.Name)
	about := []string{}
	if s.Remove.Given {
		filter(c, func(l sim.Layer) bool { return !s.Remove.has(l) })
		about = append(about, "remove: "+s.Remove.text())
	}
	if s.Keep.Given {
		filter(c, func(l sim.Layer) bool { return s.Keep.has(l) })
		about = append(about, "keep: "+s.Keep.text())
	}
	for _, a := range s.Set {
		about = append(about, "set "+a.Path+": "+a.Value)
	}
	if len(about) == 0 {
		about = append(about, "the file as it stands")
	}
	return Arm{Name: s.Name, About: strings.Join(about, "; "), Config: *c}, nil
}

func filter(c *sim.Config, keep func(sim.Layer) bool) {
	for i := range c.Dependencies {
		d := &c.Dependencies[i]
		d.Stack = slices.DeleteFunc(slices.Clone(d.Stack), func(l sim.Layer) bool { return !keep(l) })
	}
}

func (l *LayerNames) has(x sim.Layer) bool {
	return l.All || slices.Contains(l.Names, x.Kind) || slices.Contains(l.Names, x.Name)
}

func (l *LayerNames) text() string {
	if l.All {
		return "all"
	}
	return strings.Join(l.Names, ", ")
}

// AddVs is f with one more arm: "[ARM:]PATH=VALUE" changes one field of ARM, or
// of contained, or of the last arm where there is no contained.
func (f *File) AddVs(text string) (*File, error) {
	base, rest := "", text
	if before, after, ok := strings.Cut(text, ":"); ok && nameRule.MatchString(before) && strings.Contains(after, "=") && !strings.Contains(before, "=") {
		base, rest = before, after
	}
	a, err := ParseAssignment(rest)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, arm := range f.Arms() {
		names = append(names, arm.Name)
	}
	switch {
	case base == "" && slices.Contains(names, ArmContained):
		base = ArmContained
	case base == "":
		base = names[len(names)-1]
	case !slices.Contains(names, base):
		return nil, &UnknownName{What: "arm", Name: base, Known: names}
	}
	path, err := Resolve(a.Path, f.Paths())
	if err != nil {
		return nil, err
	}
	v := vsArm{base: base, path: path, value: a.Value}
	v.name = uniqueName(last(path)+"="+a.Value, path+"="+a.Value, names)
	g := *f
	g.vs = append(slices.Clone(f.vs), v)
	if _, err := g.added(v); err != nil {
		return nil, err
	}
	return &g, nil
}

func uniqueName(short, long string, taken []string) string {
	if !slices.Contains(taken, short) {
		return short
	}
	name := long
	for i := 2; slices.Contains(taken, name); i++ {
		name = fmt.Sprintf("%s (%d)", long, i)
	}
	return name
}

// added builds an arm that the command line added.
func (f *File) added(v vsArm) (Arm, error) {
	var spec ArmSpec
	for _, s := range f.specs() {
		if s.Name == v.base {
			spec = s
		}
	}
	for _, earlier := range f.vs {
		if earlier.name == v.base {
			return Arm{}, &UnknownName{What: "arm", Name: v.base}
		}
	}
	spec.Set = append(slices.Clone(spec.Set), Assignment{v.path, v.value})
	a, err := f.arm(spec)
	if err != nil {
		return Arm{}, err
	}
	a.Name = v.name
	a.About = v.base + " with " + v.path + ": " + v.value
	a.Config.Name = v.name
	return a, nil
}
