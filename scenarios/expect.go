package scenarios

import (
	"math"

	"blastradius/sim/spec"
)

// Expectation is "metric[@phase] op value" in one arm, or over two arms:
// "arm1 / arm2 metric[@phase] op value", "arm1 - arm2 …". A range a..b, both
// ends included, stands for the value of ==, or with "in" for op and value.
type Expectation struct {
	Arm    string // "" is the arm that the file gives it
	Second string // of a comparison
	Join   string // "/" or "-"; "" without a second arm
	Metric string // full name
	Phase  string // all when not given
	Op     string // < <= > >= == != in
	Low    float64
	High   float64 // of a range; else Low

	unit  spec.Unit
	value string // as written
	phase bool   // a phase was written
}

// Unit is the unit of the figure that the expectation is about: a ratio where
// two arms are divided, else the metric's.
func (e *Expectation) Unit() spec.Unit { return e.unit }

// String is the text in its plain form, which parses back to the same.
func (e *Expectation) String() string {
	out := ""
	switch {
	case e.Join != "":
		out = e.Arm + " " + e.Join + " " + e.Second + " "
	case e.Arm != "":
		out = e.Arm + ": "
	}
	out += e.Metric
	if e.phase {
		out += "@" + e.Phase
	}
	return out + " " + e.Op + " " + e.value
}

// Verdict is how an expectation turned out.
type Verdict struct {
	OK        bool
	Actual    float64
	HasActual bool
	Why       string  // why there is no figure
	Miss      float64 // how far the figure is from what was wanted; 0 when it is met
}

// Judge holds the expectation against the figures that get gives, or the reason
// why one is absent; a figure that is not there fails it and says why, and so
// does one that is no number, whatever the comparison.
func (e *Expectation) Judge(get func(arm, phase, metric string) (value float64, absent string, ok bool)) Verdict {
	v, why, ok := get(e.Arm, e.Phase, e.Metric)
	if !ok {
		return Verdict{Why: e.blame(e.Arm, why)}
	}
	scale := math.Abs(v) // of a difference, the first figure's: the bound is as large as the second where it matters
	if e.Join != "" {
		other, why, ok := get(e.Second, e.Phase, e.Metric)
		switch {
		case !ok:
			return Verdict{Why: e.blame(e.Second, why)}
		case e.Join == "-":
			v -= other
		case other == 0:
			return Verdict{Why: e.Second + " has 0, and nothing can be divided by that"}
		default:
			v /= other
			scale = math.Abs(v)
		}
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Verdict{Why: "the figure is not a finite number"}
	}
	return e.compare(v, scale)
}

// blame names the arm where there are two.
func (e *Expectation) blame(arm, why string) string {
	if why == "" {
		why = "there is no such figure"
	}
	if e.Join != "" {
		return arm + ": " + why
	}
	return why
}

// sameDigits is the relative error that what computed a figure may have left in
// it: 0.8 - 0.7 is at most 0.1, although its float is above.
const sameDigits = 1e-12

// compare holds v against the bounds. scale is the size of what v was computed
// from: a figure nearer to a bound than rounding takes it is at the bound.
func (e *Expectation) compare(v, scale float64) Verdict {
	at := func(bound float64) bool {
		return v == bound || math.Abs(v-bound) <= sameDigits*max(scale, math.Abs(bound))
	}
	above, below := v > e.High && !at(e.High), v < e.Low && !at(e.Low)
	out := Verdict{Actual: v, HasActual: true}
	switch e.Op {
	case "<":
		out.OK = below
	case "<=":
		out.OK = !above
	case ">":
		out.OK = above
	case ">=":
		out.OK = !below
	case "==", "in":
		out.OK = !above && !below
	case "!=":
		out.OK = above || below
	}
	if !out.OK {
		// At the bound itself the distance is 0, and a miss all the same.
		out.Miss = max(math.Abs(v-e.Low), math.SmallestNonzeroFloat64)
		if v > e.High {
			out.Miss = max(v-e.High, math.SmallestNonzeroFloat64)
		}
	}
	return out
}
