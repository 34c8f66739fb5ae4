package scenarios

import (
	"fmt"
	"slices"

	"blastradius/resilience"
)

// arms checks that what an arm removes, keeps or sets is there.
func (c *checker) arms() {
	has := func(name string) bool {
		return slices.ContainsFunc(c.s.Dependencies, func(d Dependency) bool {
			return slices.ContainsFunc(d.Stack, func(l LayerSpec) bool { return l.Kind == name || l.Name == name })
		})
	}
	known := sortedKeys(resilience.Layers)
	for _, d := range c.s.Dependencies {
		for _, l := range d.Stack {
			if !slices.Contains(known, l.Name) {
				known = append(known, l.Name)
			}
		}
	}
	for _, a := range c.s.Arms {
		path := "arms." + a.Name
		for list, names := range map[string][]string{".remove": a.Remove.Names, ".keep": a.Keep.Names} {
			for i, n := range names {
				at := fmt.Sprintf("%s%s.%d", path, list, i+1)
				switch {
				case !slices.Contains(known, n):
					c.at(at, fmt.Sprintf("no layer is called %q", n), (&UnknownName{Name: n, Known: known}).Hint())
				case !has(n):
					c.at(at, fmt.Sprintf("no stack has a %s", n), "drop it from the arm")
				}
			}
		}
		if a.Remove.Given && a.Keep.Given {
			c.at(path+".keep", "an arm takes remove or keep, not both", "")
		}
		c.changes(path+".set", a.Set)
	}
}

// changes checks what an arm sets, all at once, as it is run: two changes may be
// right only together, or wrong only together. What is wrong alone is told where
// it stands.
func (c *checker) changes(path string, set Assignments) {
	_, err := c.f.with(set, true)
	if err == nil {
		return
	}
	tell := func(at string, err error) {
		hint := ""
		if h, ok := err.(interface{ Hint() string }); ok {
			hint = h.Hint()
		}
		c.at(at, err.Error(), hint)
	}
	alone := false
	for i, x := range set {
		if _, err := c.f.with([]Assignment{x}, true); err != nil {
			tell(fmt.Sprintf("%s.%d", path, i+1), err)
			alone = true
		}
	}
	if !alone {
		tell(path, err)
	}
}

func (c *checker) expectations() {
	for _, x := range c.s.Expect {
		if _, err := c.f.expectation(x); err != nil {
			p := c.at(x.path, err.Error(), err.Hint())
			if place := c.d.at[x.path]; place.value != nil && place.value.Style == 0 && place.value.Value == x.That && err.Pos > 0 {
				p.Col += len([]rune(x.That[:err.Pos]))
				p.Width = max(1, err.Len)
			}
		}
	}
}
