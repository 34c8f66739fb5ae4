package resilience

import "blastradius/sim/call"

// workHold keeps the permit of a call whose caller was told while work begun for
// it goes on, because a timeout inside abandoned it. The frame goes back to its
// pool only with the permit.
type workHold struct {
	frame   *bulkheadFrame
	branch  call.Branch
	outside call.Keeper
	running int  // work that goes on
	owed    bool // the permit is to be given back when it ends
	idle    bool // and the frame
}

var _ call.Keeper = (*workHold)(nil)

// begin makes the call that goes inside.
func (w *workHold) begin(c *call.Call) *call.Call {
	w.outside = c.Keeper()
	return w.branch.Begin(c, c.Deadline, w)
}

// free reports whether the permit can go back now.
func (w *workHold) free() bool {
	w.owed = w.running > 0
	return !w.owed
}

// over reports whether the frame can go back now.
func (w *workHold) over() bool {
	w.idle = w.owed || w.running > 0
	return !w.idle
}

// Keep notes work that goes on.
func (w *workHold) Keep() {
	w.running++
	if w.outside != nil {
		w.outside.Keep()
	}
}

// LetGo notes the end of such work. After the last one the permit goes back, if
// the call has returned.
func (w *workHold) LetGo() {
	f, outside := w.frame, w.outside
	if w.running--; w.running == 0 {
		if w.owed {
			w.owed = false
			f.layer.pool.Release(&f.permit)
		}
		if w.idle {
			w.idle = false
			f.layer.frames.Put(f)
		}
	}
	if outside != nil {
		outside.LetGo()
	}
}
