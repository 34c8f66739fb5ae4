package sim

import (
	"time"

	"blastradius/sim/call"
	"blastradius/sim/dist"
)

// detours is the way from a fallback into another dependency's stack: its calls
// count there like an endpoint's, and draw luck of their own.
type detours struct {
	sys    *system
	name   string
	hash   uint64
	to     *dependency // found at the first call: it may be built later
	frames call.Frames[detour]
}

// detour is one such call: its caller's end.
type detour struct {
	way     *detours
	call    call.Call
	done    call.Done
	inner   call.Canceler
	started time.Duration
	ended   bool
}

var (
	_ call.Handler  = (*detours)(nil)
	_ call.Done     = (*detour)(nil)
	_ call.Canceler = (*detour)(nil)
)

// detoursTo is the way into the stack of the dependency called name.
func (s *system) detoursTo(name string) call.Handler {
	return &detours{sys: s, name: name, hash: dist.Hash(name)}
}

// Start makes the call. The draws are keyed by the call that failed, the names
// and how many detours it has made, so that they are the same in every arm.
func (w *detours) Start(c *call.Call, d call.Done) call.Canceler {
	if w.to == nil {
		w.to = w.sys.byName[w.name]
	}
	now := w.sys.kernel.Now()
	f := w.frames.Get()
	f.way, f.done, f.inner, f.started, f.ended = w, d, nil, now, false
	f.call = call.Call{Stream: dist.Fold(dist.Fold(c.Stream, w.hash), uint64(c.NextDetour())), Request: c.Request, Deadline: c.Deadline}
	if t := w.sys.tracer; t != nil && t.follows(c) {
		t.streams[f.call.Stream] = true
	}
	w.to.calls++
	w.to.parked.Enter(now)
	inner := w.to.stack.Start(&f.call, f)
	if f.ended {
		w.frames.Put(f)
		return nil
	}
	f.inner = inner
	return f
}

// Done is the return of the call. Within Start the frame is still in use there.
func (f *detour) Done(o call.Outcome) {
	w, d := f.way, f.done
	f.ended = true
	w.to.returned(o.Class, f.started)
	if o.Class == call.Degraded && o.Age > 0 {
		w.to.ages.Record(o.Age)
	}
	if f.inner != nil {
		w.frames.Put(f)
	}
	d.Done(o)
}

// Cancel ends the call because its caller left.
func (f *detour) Cancel() {
	w := f.way
	w.to.returned(call.Cancelled, f.started)
	f.inner.Cancel()
	w.frames.Put(f)
}
