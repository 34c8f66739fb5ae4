package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/spec"
)

// Algorithm is the configuration of a way to find a limit on the calls in
// flight from how the calls go.
type Algorithm interface {
	Validate() []spec.Problem
	// New is the algorithm before its first sample.
	New() AdaptiveLimit
	// Bounds are the limit at the start and the largest it can become.
	Bounds() (start, most int)
	Text() string // its settings, as part of a line
	Help() string
	Example() string
}

// AdaptiveLimit is a limit that follows samples. It is a pure state machine: no
// clock, and no chance but what is keyed by the sample.
type AdaptiveLimit interface {
	// Sample takes how one call went and gives the limit from now on.
	Sample(s Sample) int
}

// Sample is how one call went, or a window of them.
type Sample struct {
	RTT      time.Duration // from its start to its answer, at least 1 ns
	InFlight int           // calls in flight when it started, itself included
	Dropped  bool          // lost to overload: timed out, or turned away
	Stream   uint64        // keys what the algorithm draws because of this sample,
	Request  uint64        // with Request
}

// Algorithms are the kinds of algorithm by the name that a scenario file uses.
// Their rules and defaults are those of Netflix's concurrency-limits 0.5.4.
var Algorithms = map[string]func() Algorithm{
	"aimd":      newAIMD,
	"vegas":     newVegas,
	"gradient2": newGradient2,
}

// outside reports a start that is not between its bounds.
func outside(start, least, most int) (out []spec.Problem) {
	switch {
	case least > most:
		out = append(out, spec.Problem{Field: "min", Text: fmt.Sprintf("min %d is above max %d", least, most), Hint: "raise max or lower min"})
	case start < least:
		out = append(out, spec.Problem{Field: "start", Text: fmt.Sprintf("start %d is below min %d", start, least), Hint: "raise start or lower min"})
	case start > most:
		out = append(out, spec.Problem{Field: "start", Text: fmt.Sprintf("start %d is above max %d", start, most), Hint: "lower start or raise max"})
	}
	return out
}
