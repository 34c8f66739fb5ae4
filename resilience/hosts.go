package resilience

import (
	"blastradius/sim/call"
	"blastradius/sim/dist"
)

// hostPurpose keeps the choice of a host apart from the other draws of an
// attempt. Any constant does; it must not be a small multiple of the golden
// ratio, by which those are apart.
const hostPurpose = 0x5851f42d4c957f2d

// DrawHost chooses the host of an attempt, counted from 0, each alike: the
// attempt-th of its call, counted from 1. It leaves r in the same stream, for
// who wants to choose again. A dependency and the layers in front of it draw the
// same host, so a layer changes the luck only of those whose host it refuses.
// Attempts beyond 2^16 of one call share draws with others.
func DrawHost(r *dist.Rand, c *call.Call, attempt uint16, hosts int) int {
	r.Key(c.Stream^hostPurpose, c.Request<<16|uint64(attempt))
	return r.IntN(hosts)
}
