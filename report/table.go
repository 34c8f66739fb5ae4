package report

import (
	"strings"
)

// Row is one line of the table that has the arms as columns.
type Row struct {
	Subject string   // "search", "process", "blast radius"
	Label   string   // "within 300ms"
	Metrics []string // of the catalogue, that the cells are made of
	Cells   []Cell   // one per arm, in the result's order
	BadWord string   // what a bad cell means: "SLO missed"
	Note    string   // a word about the row: "goroutines"
}

// Cell is one arm's figure.
type Cell struct {
	Text string
	Bad  bool   // the SLO missed, a bounded thing full, harm spread
	Why  string // why there is no figure, "" where there is one
	Note string // a word about this arm's figure: "seen in 1.6s"
	// Values are the figures of the row's Metrics; nil where there is none.
	Values []*float64
}

// SLOTarget is the share of requests within the SLO below which a report calls
// the SLO missed. A file gives a latency, not a share; 99% is the weakest
// promise in common use, and the same 1% that time_to_recover allows.
const SLOTarget = 0.99

// SpreadLimit is the collateral from which a report says that harm spread.
const SpreadLimit = 0.01

// Remark is the word beside a row, for the arms shown: what its signs mean,
// else its note, else the note that all of its cells share.
func (r *Row) Remark(arms []int) string {
	note := ""
	for _, i := range arms {
		c := r.Cells[i]
		if c.Bad {
			return "! " + r.BadWord
		}
		if c.Note != "" {
			note = c.Note
		}
	}
	if r.Note != "" {
		return r.Note
	}
	return note
}

// Rows are the table of a phase, every arm a column.
func (d *Document) Rows(phase string) (rows []Row) {
	s := &d.Result.Scenario
	for i := range s.Endpoints {
		rows = append(rows, d.endpointRows(phase, &s.Endpoints[i])...)
	}
	rows = append(rows, d.processRows(phase)...)
	for i := range s.Dependencies {
		rows = append(rows, d.dependencyRows(phase, &s.Dependencies[i])...)
	}
	if len(s.Faults) > 0 {
		rows = append(rows, d.blastRows(phase)...)
	}
	return rows
}

// row makes one cell per arm from the metrics. Where the first metric is
// missing the cell is the word for its absence.
func (d *Document) row(phase, subject, label string, metrics []string, cell func(v []*float64) Cell) Row {
	r := Row{Subject: subject, Label: label, Metrics: metrics}
	for i := range d.Result.Arms {
		a := &d.Result.Arms[i]
		values := make([]*float64, len(metrics))
		for k, m := range metrics {
			values[k] = a.pointer(phase, m)
		}
		var c Cell
		if len(values) > 0 && values[0] == nil {
			_, why, _ := a.Figure(phase, metrics[0])
			c = Cell{Text: absentWord(why), Why: why}
		} else {
			c = cell(values)
		}
		c.Values = values
		r.Cells = append(r.Cells, c)
	}
	return r
}

// pair writes two figures, the word for absence in place of one that is missing.
func pair(v []*float64, between string, format func(float64) string) string {
	words := make([]string, len(v))
	for i, p := range v {
		words[i] = noFigure
		if p != nil {
			words[i] = format(*p)
		}
	}
	return strings.Join(words, between)
}

func (d *Document) endpointRows(phase string, e *Endpoint) []Row {
	name := "endpoint." + e.Name + "."
	if served := d.fallbackWord(e); served != "" {
		r := d.row(phase, e.Name, "live/"+served+"/lost", []string{name + "live_rate", name + "slo_rate", name + "lost_rate"}, func(v []*float64) Cell {
			if v[1] == nil || v[2] == nil {
				return Cell{Text: noFigure, Why: "not recorded"}
			}
			p := wholePercents(*v[0], *v[1]-*v[0], *v[2])
			return Cell{Text: strings.Join(p, "/") + "%"}
		})
		r.Note = "late = lost"
		return []Row{r}
	}
	within := d.row(phase, e.Name, goodWords(e), []string{name + "slo_rate"}, func(v []*float64) Cell {
		return Cell{Text: FormatShare(*v[0]), Bad: *v[0] < SLOTarget}
	})
	within.BadWord = "SLO missed"
	if e.SLO == 0 {
		within.BadWord = "lost"
	}
	latency := d.row(phase, e.Name, "p50 / p99", []string{name + "latency_p50", name + "latency_p99"}, func(v []*float64) Cell {
		return Cell{Text: pair(v, "/", FormatDuration)}
	})
	return []Row{within, latency}
}

// goodWords say what counts as good for an endpoint.
func goodWords(e *Endpoint) string {
	switch {
	case e.SLO > 0:
		return "within " + FormatSetting(e.SLO)
	case e.Deadline > 0:
		return "within " + FormatSetting(e.Deadline)
	}
	return "answered"
}

// fallbackWord says what an endpoint's degraded answers are, "" when no arm
// gives any: cached where every fallback serves from a cache, else degraded.
func (d *Document) fallbackWord(e *Endpoint) string {
	word := ""
	for _, a := range d.Result.Arms {
		for _, dependency := range e.Calls {
			for _, l := range a.layers(dependency, "fallback") {
				w := "degraded"
				if strings.HasPrefix(l.Text, "cached") {
					w = "cached"
				}
				if word != "" && word != w {
					w = "degraded"
				}
				word = w
			}
		}
		for _, phase := range []string{phaseAll, phaseFault} {
			if v, _, ok := a.Figure(phase, "endpoint."+e.Name+".degraded_rate"); ok && v > 0 && word == "" {
				word = "degraded" // an optional call was left out
			}
		}
	}
	return word
}

func (d *Document) processRows(phase string) []Row {
	parked := d.row(phase, "process", "parked mean/max", []string{"process.parked_mean", "process.parked_max"}, levels)
	parked.Note = "goroutines"
	rows := []Row{parked}
	for _, p := range d.Result.Scenario.Pools {
		subject, label := "process", strings.TrimPrefix(p.Name, "process.")+", mean/max"
		if named, ok := strings.CutPrefix(p.Name, "pool."); ok {
			subject, label = named, "in use mean/max"
		}
		r := d.row(phase, subject, label, []string{p.Name + ".in_use_mean", p.Name + ".in_use_max"}, func(v []*float64) Cell {
			c := levels(v)
			c.Bad = v[1] != nil && *v[1] >= float64(p.Size)
			return c
		})
		r.BadWord = "full at " + FormatCount(float64(p.Size))
		rows = append(rows, r)
	}
	return rows
}

// levels writes a mean and a maximum.
func levels(v []*float64) Cell { return Cell{Text: pair(v, " / ", FormatLevel)} }
