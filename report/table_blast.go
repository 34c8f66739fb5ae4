package report

import "strings"

const blast = "blast_radius."

func (d *Document) blastRows(phase string) []Row {
	share := func(v []*float64) Cell { return Cell{Text: FormatShare(*v[0])} }
	collateral := d.row(phase, "blast radius", "collateral", []string{blast + "collateral"}, func(v []*float64) Cell {
		return Cell{Text: FormatShare(*v[0]), Bad: *v[0] >= SpreadLimit}
	})
	collateral.BadWord = "spread"
	rows := []Row{collateral, d.row(phase, "blast radius", "direct", []string{blast + "direct"}, share)}
	if phase != phaseFault && phase != phaseAll {
		return rows // the times are the fault's, not a phase's
	}
	times := Row{Subject: "blast radius", Label: "contain / recover", Metrics: []string{blast + "time_to_contain", blast + "time_to_recover"}}
	for i := range d.Result.Arms {
		a := &d.Result.Arms[i]
		c := Cell{}
		var words, whys []string
		for _, m := range times.Metrics {
			v, why, ok := a.Figure(phase, m)
			if ok {
				c.Values = append(c.Values, &v)
				words = append(words, FormatSpan(v))
				continue
			}
			c.Values = append(c.Values, nil)
			words = append(words, absentWord(why))
			whys = append(whys, why)
		}
		c.Text, c.Why = strings.Join(words, "/"), strings.Join(whys, "; ")
		times.Cells = append(times.Cells, c)
	}
	return append(rows, times)
}
