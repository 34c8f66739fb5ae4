package report

import "slices"

// dependencyRows show a faulted dependency, and of a healthy one the breakers
// that opened anyway: a full pool does that.
func (d *Document) dependencyRows(phase string, dep *Dependency) (rows []Row) {
	name := "dependency." + dep.Name + "."
	if dep.Faulted {
		rows = append(rows, d.row(phase, dep.Name, "calls reaching it", []string{name + "wire"}, func(v []*float64) Cell {
			return Cell{Text: FormatCount(*v[0])}
		}))
	}
	for _, breaker := range d.breakers(dep.Name) {
		rows = append(rows, d.breakerRows(phase, dep, breaker)...)
	}
	return rows
}

// breakers are the names of a dependency's breakers in any arm.
func (d *Document) breakers(dependency string) (names []string) {
	for _, a := range d.Result.Arms {
		for _, l := range a.layers(dependency, "breaker") {
			if !slices.Contains(names, l.Name) {
				names = append(names, l.Name)
			}
		}
	}
	return names
}

func (d *Document) breakerRows(phase string, dep *Dependency, breaker string) []Row {
	name := "dependency." + dep.Name + "." + breaker + "."
	label := "opens / time open"
	if breaker != "breaker" {
		label = breaker + " opens/open"
	}
	opened := false
	opens := d.row(phase, dep.Name, label, []string{name + "opens", name + "time_open"}, func(v []*float64) Cell {
		opened = opened || *v[0] > 0
		text := FormatCount(*v[0]) + " / " + noFigure
		if v[1] != nil {
			text = FormatCount(*v[0]) + " / " + FormatSpan(*v[1])
		}
		return Cell{Text: text}
	})
	for i := range d.Result.Arms {
		if c := &opens.Cells[i]; c.Values[0] == nil && !slices.ContainsFunc(d.Result.Arms[i].Layers, func(l Layer) bool {
			return l.Dependency == dep.Name && l.Name == breaker
		}) {
			c.Text, c.Why = "no breaker", "no breaker layer"
		}
	}
	if !dep.Faulted {
		if !opened {
			return nil
		}
		return []Row{opens}
	}
	seen := d.row(phase, dep.Name, "fault seen after", []string{name + "detection_delay"}, func(v []*float64) Cell {
		return Cell{Text: FormatSpan(*v[0])}
	})
	words := map[string]bool{}
	for i, c := range seen.Cells {
		if c.Values[0] != nil {
			words[c.Text] = true
			opens.Cells[i].Note = "seen in " + c.Text
		} else if opens.Cells[i].Values[0] != nil {
			seen.Cells[i].Text = "never"
		}
	}
	if len(words) <= 1 {
		return []Row{opens}
	}
	for i := range opens.Cells {
		opens.Cells[i].Note = ""
	}
	return []Row{opens, seen}
}
