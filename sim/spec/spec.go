// Package spec holds the few words with which a registered kind (a latency
// distribution, a fault, a layer, an arrival process) describes itself to the
// scenario file: what is wrong with its fields, and which figures it reports.
package spec

// Problem is one thing wrong with a configured kind. Range checks of a single
// field are made from its struct tags by the decoder; a Validate method
// reports only what needs more than one field.
type Problem struct {
	Field   string // yaml key of the field at fault, dotted for nested ones; "" is the kind itself
	Text    string // the fact: "min_calls 30 is larger than window 20"
	Hint    string // what to type instead: "lower min_calls to 20 or raise window"
	Warning bool   // true: the run goes on and the warning travels in the result
}

// Metric is one figure of the catalogue, named relative to the thing that
// reports it ("opens" of dependency.payments.breaker).
type Metric struct {
	Name string // lower snake case, without the subject
	Unit Unit   // what the number counts
	Help string // one sentence, no full stop
	Good Better // which way it should move, for signs and comparisons
}

// Unit is the unit of a figure as people read it; JSON carries seconds for
// Seconds and 0…1 for Share.
type Unit string

// The units of the catalogue.
const (
	Count   Unit = "count"
	Share   Unit = "share"
	Seconds Unit = "seconds"
	PerSec  Unit = "per second"
	PerHour Unit = "per hour"
	Ratio   Unit = "ratio"
	Level   Unit = "level"
)

// Better says which way a figure should move.
type Better int8

// Directions of a figure.
const (
	Neutral      Better = 0
	LowerBetter  Better = -1
	HigherBetter Better = 1
)
