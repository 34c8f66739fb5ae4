package call

// Frames is a pool of the frames of one layer: one frame for each call in
// flight, so that a run in its steady state allocates nothing. The frame freed
// last is used first, since it is still in the cache.
type Frames[F any] struct {
	free []*F
	made [][]F
}

// Get hands out a frame with whatever its last call left in it: the caller sets
// every field that it relies on.
func (p *Frames[F]) Get() *F {
	if len(p.free) == 0 {
		p.grow()
	}
	last := len(p.free) - 1
	f := p.free[last]
	p.free = p.free[:last]
	return f
}

// Put takes back a frame that nothing refers to any more.
func (p *Frames[F]) Put(f *F) { p.free = append(p.free, f) }

// Each calls do with every frame ever made, in use or free, in the order in
// which they were made.
func (p *Frames[F]) Each(do func(*F)) {
	for _, chunk := range p.made {
		for i := range chunk {
			do(&chunk[i])
		}
	}
}

// grow makes as many frames as there are, between 64 and 1024, so that they lie
// together and large numbers of them waste nothing of the allocator's classes.
// Kept out of line so that Get, without it, goes in line.
//
//go:noinline
func (p *Frames[F]) grow() {
	n := 64
	if last := len(p.made) - 1; last >= 0 {
		n = min(2*len(p.made[last]), 1024)
	}
	chunk := make([]F, n)
	p.made = append(p.made, chunk)
	for i := range chunk {
		p.free = append(p.free, &chunk[i])
	}
}
