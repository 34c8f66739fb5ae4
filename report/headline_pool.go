package report

import (
	"fmt"
	"strings"
)

// ranOut says which bounded things were full in the phase, and where.
func (d *Document) ranOut(spread bool) string {
	pools := d.Result.Scenario.Pools
	if len(pools) == 0 {
		if spread {
			return "The process has no pool or worker limit that could run out."
		}
		return ""
	}
	var names []string
	full := map[int]bool{}
	peak, known := 0.0, false
	for _, p := range pools {
		empty := false
		for i := range d.Result.Arms {
			v, _, ok := d.Result.Arms[i].Figure(d.Phase.Name, p.Name+".in_use_max")
			if !ok {
				continue
			}
			known = true
			peak = max(peak, v)
			if v >= float64(p.Size) {
				empty, full[i] = true, true
			}
		}
		if empty {
			names = append(names, d.poolWords(p.Name))
		}
	}
	where := ""
	if len(d.Result.Arms) > 1 && len(full) == len(d.Result.Arms) {
		where = ", in every arm"
	}
	switch {
	case !known:
		return ""
	case len(names) == 1 && names[0] != "the workers":
		return "What ran out was " + names[0] + where + "."
	case len(names) > 0:
		return "What ran out were " + list(names, "and") + where + "."
	case len(pools) == 1:
		return fmt.Sprintf("Nothing ran out: %s peaked at %s of %s.", d.poolWords(pools[0].Name), FormatCount(peak), FormatCount(float64(pools[0].Size)))
	}
	return "Nothing ran out: no pool or worker limit was reached."
}

// poolWords name a bounded thing in a sentence.
func (d *Document) poolWords(name string) string {
	switch name {
	case "process.pool":
		users := 0
		for _, dep := range d.Result.Scenario.Dependencies {
			if dep.Pool == name {
				users++
			}
		}
		if users == 1 {
			return "the pool"
		}
		return "the shared pool"
	case "process.workers":
		return "the workers"
	}
	return "pool " + strings.TrimPrefix(name, "pool.")
}
