package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"blastradius/resilience"
)

// permits warns when the bulkheads on one pool allow more than it has.
func (c *checker) permits() {
	type draw struct {
		path    string
		permits int
	}
	byPool := map[string][]draw{}
	for _, dep := range c.s.Dependencies {
		for _, l := range dep.Stack {
			if b, ok := l.Config.(*resilience.Bulkhead); ok {
				byPool[dep.Pool] = append(byPool[dep.Pool], draw{placesPath(l.path, b), b.Places()})
			}
		}
	}
	for _, name := range sortedKeys(byPool) {
		size, label := 0, "process.pool"
		if name == "" && c.s.Process.Pool != nil {
			size = c.s.Process.Pool.Size
		}
		for _, p := range c.s.Process.Pools {
			if p.Name == name {
				size, label = p.Size, "pool "+name
			}
		}
		sum, largest := 0, byPool[name][0]
		var others []string
		for _, x := range byPool[name] {
			sum += x.permits
			if x.permits > largest.permits {
				largest = x
			}
		}
		if size == 0 || sum <= size {
			continue
		}
		for _, x := range byPool[name] {
			if p, ok := c.d.at[x.path]; ok && x != largest {
				others = append(others, fmt.Sprintf("%d:%d", p.value.Line, p.value.Column))
			}
		}
		hint := "lower permits or raise " + label + " size"
		if len(others) > 0 {
			hint = "also " + strings.Join(others, ", ") + "; " + hint
		}
		c.warn(largest.path, fmt.Sprintf("%s allow %d, %s: %d", plural(len(byPool[name]), "bulkhead"), sum, label, size), hint)
	}
}

// placesPath is where the bound of a bulkhead stands.
func placesPath(layer string, b *resilience.Bulkhead) string {
	if b.Threads == nil {
		return layer + ".permits"
	}
	if b.Threads.Max == 0 {
		return layer + ".threads.core"
	}
	return layer + ".threads.max"
}

// limits warns of a timeout that the caller's deadline always beats, and of a
// bulkhead that bounds callers and not work.
func (c *checker) limits() {
	for _, dep := range c.s.Dependencies {
		c.unbounded(dep)
		patience := c.patience(dep.Name)
		if patience == 0 {
			continue
		}
		for _, l := range dep.Stack {
			if t, ok := l.Config.(*resilience.Timeout); ok && t.After >= patience && !t.Propagate {
				c.warn(l.path+".after", fmt.Sprintf("timeout %s is not below the deadline %s of its callers: it never fires first", formatDuration(t.After), formatDuration(patience)), "lower the timeout")
			}
		}
	}
}

// unbounded warns of a bulkhead whose permits come back while the work they were
// granted for goes on, because a timeout inside abandons it.
func (c *checker) unbounded(dep Dependency) {
	for i, l := range dep.Stack {
		b, ok := l.Config.(*resilience.Bulkhead)
		if !ok || b.HoldsWork() {
			continue
		}
		for _, inner := range dep.Stack[i+1:] {
			if t, ok := inner.Config.(*resilience.Timeout); ok && t.Abandons() {
				c.warn(l.path, fmt.Sprintf("%s bounds callers and not work: %s abandons the work and the permit comes back before it ends", l.Name, inner.Name), "release: on_work_done")
				break
			}
		}
	}
}

// patience is the longest deadline of the endpoints that call a dependency, by
// themselves or by a fallback; 0 when one of them has none.
func (c *checker) patience(dependency string) (most time.Duration) {
	for _, e := range c.s.Endpoints {
		uses := slices.ContainsFunc(e.Calls, func(s Step) bool {
			return slices.ContainsFunc(s, func(one Call) bool { return c.leads(one.Dependency, dependency, map[string]bool{}) })
		})
		switch {
		case !uses:
		case e.Deadline == 0:
			return 0
		default:
			most = max(most, e.Deadline)
		}
	}
	return most
}

// leads reports whether a call of from can come to to.
func (c *checker) leads(from, to string, seen map[string]bool) bool {
	if from == to {
		return true
	}
	i := slices.IndexFunc(c.s.Dependencies, func(d Dependency) bool { return d.Name == from })
	if i < 0 || seen[from] {
		return false
	}
	seen[from] = true
	return slices.ContainsFunc(c.s.Dependencies[i].Stack.backups(), func(b backup) bool { return c.leads(b.to, to, seen) })
}
