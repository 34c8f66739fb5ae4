package scenarios

import (
	"fmt"
	"time"

	"blastradius/resilience"
)

// breakers warns of breakers that something else in their stack makes useless.
func (c *checker) breakers() {
	for _, dep := range c.s.Dependencies {
		for i, l := range dep.Stack {
			b, ok := l.Config.(*resilience.Breaker)
			if !ok {
				continue
			}
			limit, bulkhead := insideOf(dep.Stack[i+1:])
			if b.Recheck && !bulkhead {
				c.warn(l.path+".recheck", "recheck does nothing: no bulkhead inside makes calls wait", "put a bulkhead with max_wait inside, or drop it")
			}
			if limit > 0 && b.Slow.Over >= limit {
				c.warn(l.path+".slow.over", fmt.Sprintf("no call takes longer than %s: the timeout inside ends it at %s", formatDuration(b.Slow.Over), formatDuration(limit)), "lower slow.over, or count timeouts as failures")
			}
			if limit == 0 && !b.HasExit() {
				c.warn(l.path, fmt.Sprintf("half-open of %s has no exit: a probe that never reports holds its slot for ever", b.Dialect), "put a timeout inside, or lease: 30s")
			}
		}
	}
}

// insideOf is the shortest timeout among the layers and whether one is a bulkhead.
func insideOf(stack Stack) (limit time.Duration, bulkhead bool) {
	for _, l := range stack {
		switch x := l.Config.(type) {
		case *resilience.Timeout:
			if limit == 0 || x.After < limit {
				limit = x.After
			}
		case *resilience.Bulkhead:
			bulkhead = true
		}
	}
	return limit, bulkhead
}
