package report

import (
	"strings"
	"sync"

	"blastradius/sim"
	"blastradius/sim/spec"
)

// The phases that every report knows.
const (
	phaseAll   = sim.PhaseAll
	phaseFault = sim.PhaseFault
)

// Figure finds a metric of an arm in a phase, "" or all for the whole run after
// the warm-up. Without a figure why says why there is none.
func (a *Arm) Figure(phase, metric string) (v float64, why string, ok bool) {
	metrics, absent := a.Metrics, a.Absent
	if phase != "" && phase != phaseAll {
		f, known := a.Phases[phase]
		if !known {
			return 0, "the run has no phase " + phase, false
		}
		metrics, absent = f.Metrics, f.Absent
	}
	if v, ok = metrics[metric]; ok {
		return v, "", true
	}
	if why = absent[metric]; why == "" {
		why = "not recorded"
	}
	return 0, why, false
}

// pointer is Figure as a value that may be missing.
func (a *Arm) pointer(phase, metric string) *float64 {
	if v, _, ok := a.Figure(phase, metric); ok {
		return &v
	}
	return nil
}

// layers are the arm's layers of a kind in the stack of a dependency.
func (a *Arm) layers(dependency, kind string) (out []Layer) {
	for _, l := range a.Layers {
		if l.Dependency == dependency && l.Kind == kind {
			out = append(out, l)
		}
	}
	return out
}

// series finds a line of the series, nil when there is none.
func (a *Arm) series(name string) []*float64 {
	for i, n := range a.Series.Names {
		if n == name && i < len(a.Series.Values) {
			return a.Series.Values[i]
		}
	}
	return nil
}

// units finds the unit of every metric of a result. A layer with a name of its
// own is looked up by its kind. It may be used from several goroutines.
type units struct {
	kinds map[[2]string]string // (dependency, layer name) → kind
	mu    sync.Mutex
	known map[string]spec.Unit
}

func newUnits(r *Result) *units {
	u := &units{kinds: map[[2]string]string{}, known: map[string]spec.Unit{}}
	for _, a := range r.Arms {
		for _, l := range a.Layers {
			u.kinds[[2]string{l.Dependency, l.Name}] = l.Kind
		}
	}
	return u
}

// of is the unit of a metric; one that is not in the catalogue is a count.
func (u *units) of(metric string) spec.Unit {
	u.mu.Lock()
	defer u.mu.Unlock()
	unit, ok := u.known[metric]
	if !ok {
		unit = spec.Count
		if e, found := sim.Describe(metric, func(dependency, layer string) string { return u.kinds[[2]string{dependency, layer}] }); found {
			unit = e.Unit
		}
		u.known[metric] = unit
	}
	return unit
}

// absentWord stands for a figure that there is not.
func absentWord(why string) string {
	switch {
	case strings.HasPrefix(why, "never"):
		return "never"
	}
	return noFigure
}

// list joins words for a sentence: a, b and c.
func list(words []string, last string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " " + last + " " + words[n-1]
	}
}

// plural is "1 arm", "3 arms", "0 arms".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return FormatCount(float64(n)) + " " + many
}
