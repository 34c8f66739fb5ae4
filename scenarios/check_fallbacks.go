package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"blastradius/resilience"
)

// backup is a fallback to another dependency.
type backup struct {
	to   string
	path string // of the name
}

// backups are the fallbacks of a stack to other dependencies.
func (s Stack) backups() (out []backup) {
	for _, l := range s {
		if f, ok := l.Config.(*resilience.Fallback); ok && f.Serve == resilience.ServeDependency && f.Dependency != "" {
			out = append(out, backup{f.Dependency, l.path + ".dependency"})
		}
	}
	return out
}

// fallbacks reports backups that do not exist, and rings of them: a call could
// go round for ever.
func (c *checker) fallbacks() {
	stacks := map[string]Stack{}
	var known []string
	for _, d := range c.s.Dependencies {
		stacks[d.Name] = d.Stack
		known = append(known, d.Name)
	}
	told := map[string]bool{} // dependencies of a ring that was reported
	for _, d := range c.s.Dependencies {
		for _, b := range d.Stack.backups() {
			if !slices.Contains(known, b.to) {
				u := &UnknownName{What: "dependency", Name: b.to, Known: known}
				c.at(b.path, u.Error(), u.Hint())
				continue
			}
			ring := ringThrough(d.Name, b.to, stacks, map[string]bool{})
			if ring == nil || told[d.Name] {
				continue
			}
			for _, name := range ring {
				told[name] = true
			}
			c.at(b.path, fmt.Sprintf("the fallback of %s comes back to it: %s", d.Name, strings.Join(append([]string{d.Name}, ring...), " > ")), "let the last one answer by itself: serve: degraded")
		}
	}
}

// ringThrough is a way by fallbacks from at back to start, both included; nil
// when there is none.
func ringThrough(start, at string, stacks map[string]Stack, seen map[string]bool) []string {
	if at == start {
		return []string{start}
	}
	if seen[at] {
		return nil
	}
	seen[at] = true
	for _, b := range stacks[at].backups() {
		if way := ringThrough(start, b.to, stacks, seen); way != nil {
			return append([]string{at}, way...)
		}
	}
	return nil
}
