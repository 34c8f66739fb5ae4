package resilience

// frames is a pool of the frames of one layer: one frame for each call in
// flight, so that a run in its steady state allocates nothing. The frame freed
// last is used first, since it is still in the cache.
type frames[F any] struct{ free []*F }

// chunk is how many frames are made at once, so that they lie together.
const chunk = 64

// get hands out a frame with whatever its last call left in it: the caller
// sets every field that it relies on.
func (p *frames[F]) get() *F {
	if len(p.free) == 0 {
		p.grow()
	}
	last := len(p.free) - 1
	f := p.free[last]
	p.free = p.free[:last]
	return f
}

// put takes back a frame that nothing refers to any more.
func (p *frames[F]) put(f *F) { p.free = append(p.free, f) }

func (p *frames[F]) grow() {
	made := make([]F, chunk)
	for i := range made {
		p.free = append(p.free, &made[i])
	}
}
