package sim

import (
	"blastradius/sim/call"
	"blastradius/sim/dist"
)

// Purposes keep the draws of one attempt apart: what one of them takes shifts
// no other.
const (
	drawReply = iota // error class and latency
	drawFault        // + the fault's place in its dependency's list
)

// keyAttempt points r at the draws of one attempt, for one purpose. Attempts
// beyond 2^16 of one call share draws with others.
func keyAttempt(r *dist.Rand, c *call.Call, attempt uint16, purpose int) {
	r.Key(c.Stream+uint64(purpose)*0x9e3779b97f4a7c15, c.Request<<16|uint64(attempt))
}

// streamOf keys the calls that endpoint makes of dependency, the nth of them
// in its list. Names, not places, so that an unrelated part added to a file
// changes nobody's luck.
func streamOf(seed uint64, endpoint, dependency string, nth int) uint64 {
	return dist.Fold(dist.Fold(seed, dist.Hash(endpoint)), dist.Fold(dist.Hash(dependency), uint64(nth)))
}

// arrivalStream keys the arrivals of an endpoint.
func arrivalStream(seed uint64, endpoint string) (hi, lo uint64) {
	return dist.Fold(seed, dist.Hash("arrivals")), dist.Hash(endpoint)
}
