package report

import (
	"fmt"
	"strings"

	"blastradius/sim/spec"
)

// Actual is the figure that an expectation was held against, or the words that
// there is none.
func (d *Document) Actual(e *Expectation) string {
	if e.Actual == nil {
		return "no figure"
	}
	// Between two arms the unit is what it says; of one it is its metric's.
	metric, _, _ := strings.Cut(strings.TrimSpace(e.Text), " ")
	return FormatFigure(metric, spec.Unit(e.Unit), *e.Actual)
}

// Seeds says in how many seeds an expectation held, "" for one seed.
func (d *Document) Seeds(e *Expectation) string {
	if e.Of < 2 {
		return ""
	}
	out := fmt.Sprintf("holds in %d of %d seeds (%s", e.Holds, e.Of, FormatShare(float64(e.Holds)/float64(e.Of)))
	if e.Low != nil && e.High != nil {
		low := wholePercents(*e.Low, 1-*e.Low)[0]
		high := wholePercents(*e.High, 1-*e.High)[0]
		out += ", interval " + low + ".." + high + "%"
	}
	out += ")"
	if e.Worst != nil {
		out += fmt.Sprintf("; worst: seed %d", *e.Worst)
	}
	return out
}

// Met counts the expectations that hold.
func (d *Document) Met() (met, of int) {
	for _, e := range d.Result.Expectations {
		if e.OK {
			met++
		}
	}
	return met, len(d.Result.Expectations)
}
