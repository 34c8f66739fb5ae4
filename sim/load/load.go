// Package load holds the arrival processes: when the requests of an endpoint
// come. The load is open loop: the schedule never waits for answers.
package load

import (
	"time"

	"blastradius/sim/dist"
	"blastradius/sim/spec"
)

// Arrivals is one stream of arrival instants.
type Arrivals interface {
	// Next gives the arrival that follows the one at prev (at prev too, where
	// several share an instant); a negative prev goes with the first of all. The
	// stream remembers where it is: prev is the last answer, never another. ok is
	// false when the stream has ended. r is the endpoint's own running stream.
	Next(prev time.Duration, r *dist.Rand) (at time.Duration, ok bool)
	// Rate is the expected number of arrivals per second around at.
	Rate(at time.Duration) float64
}

// Config is the configuration of an arrival process as a scenario file gives
// it: a pointer to a plain struct with yaml, unit and help tags. Arrivals
// cannot fail after Validate reported nothing; each call starts a new stream.
type Config interface {
	Validate() []spec.Problem
	Arrivals() Arrivals
	// Mean is the integral of the rate over [from, to): the expected number of
	// arrivals there, for an even stream the number to within one.
	Mean(from, to time.Duration) float64
	// Peak is the largest rate in [from, to), per second.
	Peak(from, to time.Duration) float64
	Help() string
	Example() string
}
