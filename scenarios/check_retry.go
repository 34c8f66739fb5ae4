package scenarios

import (
	"fmt"
	"slices"
	"time"

	"blastradius/resilience"
)

// retries warns of retries and hedges that the limits around them leave no time
// for, and of budgets whose floor is above what is called.
func (c *checker) retries() {
	for _, dep := range c.s.Dependencies {
		stack := limits{patience: c.patience(dep.Name), stack: dep.Stack}
		owned := slices.ContainsFunc(dep.Stack, ownsBudget)
		rate := c.rate(dep.Name)
		for i, l := range dep.Stack {
			switch cfg := l.Config.(type) {
			case *resilience.Retry:
				c.attempts(l, cfg, stack, i)
			case *resilience.Hedge:
				c.hedge(l, cfg, stack, i)
			}
			c.budget(l, rate, owned)
		}
	}
}

// limits are what ends a call and its attempts, from the view of one layer.
type limits struct {
	patience time.Duration // of the callers; 0: for ever
	stack    Stack
}

// outside is the shortest limit around layer i, in words; 0 for none.
func (s limits) outside(i int) (shortest time.Duration, what string) {
	shortest, what = s.patience, "the deadline of its callers"
	for _, l := range s.stack[:i] {
		if t, ok := l.Config.(*resilience.Timeout); ok && t.After > 0 && (shortest == 0 || t.After < shortest) {
			shortest, what = t.After, "the "+l.Name+" around it"
		}
	}
	return shortest, what
}

// inside is the shortest limit within layer i, where nothing in between tries
// again; 0 for none.
func (s limits) inside(i int) (shortest time.Duration) {
	for _, l := range s.stack[i+1:] {
		switch cfg := l.Config.(type) {
		case *resilience.Timeout:
			if shortest == 0 || cfg.After < shortest {
				shortest = cfg.After
			}
		case *resilience.Retry, *resilience.Hedge:
			return shortest
		}
	}
	return shortest
}

// attempts warns when not every attempt can run that times out, or none after
// the first can start at all.
func (c *checker) attempts(l LayerSpec, r *resilience.Retry, s limits, i int) {
	limit, what := s.outside(i)
	if limit == 0 || r.Attempts < 2 {
		return
	}
	one := s.inside(i)
	least := r.Backoff.Pause(1)
	if _, jittered := r.Jitter.(*resilience.NoJitter); jittered && one+least >= limit {
		c.warn(l.path+".attempts", fmt.Sprintf("after an attempt that takes its %s no other can start within %s, %s", formatDuration(one+least), formatDuration(limit), what), "shorten the timeout inside or the backoff, or raise the limit")
		return
	}
	if one == 0 {
		return
	}
	total, fit := time.Duration(0), 0
	for n := 1; n <= r.Attempts; n++ {
		if n > 1 {
			total = capped(total + longestPause(r.Backoff, n-1))
		}
		if total < limit {
			fit = n
		}
		total = capped(total + one)
	}
	if fit < r.Attempts {
		c.warn(l.path+".attempts", fmt.Sprintf("%d attempts of %s and their pauses take up to %s, above %s, %s: the last to start is number %d", r.Attempts, formatDuration(one), formatDuration(total), formatDuration(limit), what, fit), fmt.Sprintf("attempts: %d, or a shorter timeout inside", fit))
	}
}

// longestPause is the pause before retry n at its longest.
func longestPause(b resilience.Backoff, n int) time.Duration {
	p := b.Pause(n)
	if _, most := b.Bounds(); most > 0 {
		return min(p, most)
	}
	return p
}

// capped keeps a sum of durations from running over.
func capped(d time.Duration) time.Duration {
	const most = time.Duration(1 << 61)
	if d < 0 || d > most {
		return most
	}
	return d
}

// hedge warns of a delay that something else always beats.
func (c *checker) hedge(l LayerSpec, h *resilience.Hedge, s limits, i int) {
	if h.Delay == nil {
		return
	}
	least := h.Delay.Least()
	if limit, what := s.outside(i); limit > 0 && least >= limit {
		c.warn(l.path+".delay", fmt.Sprintf("the delay %s is not below %s, %s: no hedge ever goes out", formatDuration(least), formatDuration(limit), what), "lower the delay")
		return
	}
	if one := s.inside(i); one > 0 && least >= one {
		c.warn(l.path+".delay", fmt.Sprintf("the delay %s is not below the timeout %s inside: a hedge only follows an attempt that has failed", formatDuration(least), formatDuration(one)), "lower the delay")
	}
}

// budgetOf is the budget that a layer names, nil where it cannot have one.
func budgetOf(l LayerSpec) resilience.BudgetConfig {
	switch cfg := l.Config.(type) {
	case *resilience.Retry:
		return cfg.Budget
	case *resilience.Hedge:
		return cfg.Budget
	}
	return nil
}

// ownsBudget reports a budget that others can share.
func ownsBudget(l LayerSpec) bool {
	switch budgetOf(l).(type) {
	case nil, *resilience.NoBudget, *resilience.SharedBudget:
		return false
	}
	return true
}

// budget warns of one that hardly bounds what is called, or is soon used up, and
// reports one that is shared with nobody. owned says that the stack has one.
func (c *checker) budget(l LayerSpec, rate float64, owned bool) {
	path := l.path + ".budget"
	switch b := budgetOf(l).(type) {
	case *resilience.SharedBudget:
		if !owned {
			c.at(path, "no other layer of this stack has a budget to share", "e.g. failsafe-go here, and shared in the other layer")
		}
	case *resilience.LinkerdBudget:
		if rate > 0 && float64(b.MinPerSecond) > rate {
			c.warn(path+".linkerd.min_per_second", fmt.Sprintf("min_per_second %d is above the %s that call: of a dead dependency it lets up to %.2g attempts for each call through", b.MinPerSecond, formatRate(rate), 1+b.Ratio+float64(b.MinPerSecond)/rate), "lower min_per_second")
		}
	case *resilience.GRPCBudget:
		if lasts := float64(b.MaxTokens) / 2 / rate; rate > 0 && lasts < 1 {
			c.warn(path+".grpc.max_tokens", fmt.Sprintf("max_tokens %d last for %s of failures at %s: then there are no retries", b.MaxTokens, formatDuration(time.Duration(lasts*float64(time.Second)).Round(time.Millisecond)), formatRate(rate)), "max_tokens is a number, not a share: raise it with the rate, up to 1000")
		}
	}
}

// rate is how many calls a second a dependency gets on average over the run; 0
// where that is not known.
func (c *checker) rate(dependency string) (perSec float64) {
	if c.s.Duration <= 0 {
		return 0
	}
	for _, e := range c.s.Endpoints {
		if e.Arrivals == nil {
			continue
		}
		for _, step := range e.Calls {
			for _, one := range step {
				if one.Dependency == dependency {
					perSec += e.Arrivals.Mean(0, c.s.Duration) / c.s.Duration.Seconds()
				}
			}
		}
	}
	return perSec
}
