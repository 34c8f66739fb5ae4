package report

import (
	"bytes"
	"encoding/csv"
	"maps"
	"slices"
	"strconv"
)

// CSV is every figure, one a row: arm, phase, metric, value, unit. Times are
// seconds, shares 0…1; a figure that there is not has an empty value. Arms and
// phases stand in the result's order, metrics by name.
func CSV(r *Result) ([]byte, error) {
	units := newUnits(r)
	return table([]string{"arm", "phase", "metric", "value", "unit"}, func(write func(...string)) {
		for i := range r.Arms {
			a := &r.Arms[i]
			for _, phase := range phasesOf(r, a) {
				f := Figures{a.Metrics, a.Absent}
				if phase != phaseAll {
					f = a.Phases[phase]
				}
				for _, name := range metricsOf(f) {
					value := ""
					if v, ok := f.Metrics[name]; ok {
						value = plainNumber(v)
					}
					write(a.Name, phase, name, value, string(units.of(name)))
				}
			}
		}
	})
}

// SeriesCSV is every line of the series, one bin a row: arm, t, metric, value.
// t is the bin's start in seconds; a bin without a value has an empty one.
func SeriesCSV(r *Result) ([]byte, error) {
	return table([]string{"arm", "t", "metric", "value"}, func(write func(...string)) {
		for _, a := range r.Arms {
			step := a.Series.step()
			for k, name := range a.Series.Names {
				for i, v := range a.Series.Values[k] {
					value := ""
					if v != nil {
						value = plainNumber(*v)
					}
					write(a.Name, plainNumber(nanosecond(float64(i)*step)), name, value)
				}
			}
		}
	})
}

// table writes RFC 4180 with a line feed at the end of each line.
func table(head []string, rows func(write func(...string))) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	write := func(cells ...string) { _ = w.Write(cells) } // Error below has it
	write(head...)
	rows(write)
	w.Flush()
	return out.Bytes(), w.Error()
}

// phasesOf are the phases that an arm has figures of, in the scenario's order.
func phasesOf(r *Result, a *Arm) []string {
	out := []string{phaseAll}
	for _, p := range r.Scenario.Phases {
		if _, ok := a.Phases[p.Name]; ok && !slices.Contains(out, p.Name) {
			out = append(out, p.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Phases)) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func metricsOf(f Figures) []string {
	names := slices.Collect(maps.Keys(f.Metrics))
	for name := range f.Absent {
		if _, ok := f.Metrics[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// plainNumber has no exponent, which not every reader of CSV knows.
func plainNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
