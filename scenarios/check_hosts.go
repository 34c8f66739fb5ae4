package scenarios

import (
	"fmt"
	"slices"

	"blastradius/resilience"
)

// hosts checks what a fault and an outlier layer say of hosts against how many
// there are, and an outlier layer's place against that of a timeout.
func (c *checker) hosts() {
	for _, dep := range c.s.Dependencies {
		n := max(1, dep.Hosts)
		for _, f := range dep.Faults {
			if f.Hosts <= n {
				continue
			}
			hint := fmt.Sprintf("hosts: %d on the dependency, or lower this one", f.Hosts)
			if n == 1 {
				hint = fmt.Sprintf("give the dependency its number of hosts, e.g. hosts: %d", max(10, f.Hosts))
			}
			c.at(f.path+".hosts", fmt.Sprintf("the fault hits %d hosts of %s, which has %d", f.Hosts, dep.Name, n), hint)
		}
		for i, l := range dep.Stack {
			if o, ok := l.Config.(*resilience.Outlier); ok {
				c.outlier(l.path, o, n)
				c.hearsTimeouts(l.path, dep.Stack, i)
			}
		}
	}
}

// outlier warns of a detector that these hosts give nothing to do.
func (c *checker) outlier(path string, o *resilience.Outlier, hosts int) {
	switch {
	case hosts == 1:
		c.warn(path, "outlier on a dependency with one host: there is no other to send to", "hosts: 10 on the dependency, or drop the layer")
		return
	case o.MayEject(hosts) == 0 && o.MaxEjectionPercent > 0:
		hint := fmt.Sprintf("max_ejection_percent: %d%%, or always_eject_one_host: true", (100+hosts-1)/hosts)
		c.warn(path+".max_ejection_percent", fmt.Sprintf("%s of %d hosts is less than one host: nothing is ever ejected", formatShare(o.MaxEjectionPercent), hosts), hint)
	}
	few := func(rule string, minimum int, enforcing float64) {
		at := path + "." + rule + ".minimum_hosts"
		if _, given := c.d.at[at]; given && enforcing > 0 && minimum > hosts {
			c.warn(at, fmt.Sprintf("%s.minimum_hosts %d is above the %d hosts: the rule judges nobody", rule, minimum, hosts), fmt.Sprintf("minimum_hosts: %d", hosts))
		}
	}
	few("success_rate", o.SuccessRate.MinimumHosts, o.SuccessRate.Enforcing)
	few("failure_percentage", o.FailurePercentage.MinimumHosts, o.FailurePercentage.Enforcing)
}

// hearsTimeouts warns of an outlier layer inside of a timeout and not outside of
// another: a timeout ends what is inside without an answer.
func (c *checker) hearsTimeouts(path string, stack Stack, i int) {
	limits := func(l LayerSpec) bool { _, ok := l.Config.(*resilience.Timeout); return ok }
	if slices.ContainsFunc(stack[:i], limits) && !slices.ContainsFunc(stack[i+1:], limits) {
		c.warn(path, "outlier inside of the timeout never hears of a timeout: a host that hangs is not found", "put outlier before timeout in the stack")
	}
}
