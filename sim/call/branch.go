package call

import "time"

// Branch is a Call of its own for what is inside of a layer, embedded in that
// layer's frame: with another deadline, with somebody who keeps a place while
// work goes on, or able to go on when its caller has been told. Attempts and
// detours are still counted on the call it was made of.
type Branch struct {
	call   Call
	parent *Call // nil once the branch is cut
	sink   AttemptSink
	keeper Keeper
}

// Keeper keeps a place for a call while work that was begun for it goes on,
// though the caller was told. It is told of each such work twice: Keep before
// the caller is told, LetGo when the work has ended. Between the two it must
// not be reused.
type Keeper interface {
	Keep()
	LetGo()
}

var _ AttemptSink = (*Branch)(nil)

// Begin makes b a branch of c and returns the call to pass inside. keeper is
// who keeps a place from here on; nil leaves those further out.
func (b *Branch) Begin(c *Call, deadline time.Duration, keeper Keeper) *Call {
	if keeper == nil {
		keeper = c.Keeper()
	}
	b.parent, b.sink, b.keeper = c, c.Sink, keeper
	b.call = *c
	b.call.Deadline, b.call.branch = deadline, b
	if b.sink != nil {
		b.call.Sink = b
	}
	return &b.call
}

// Cut lets what is inside go on when the caller has been told: from now on it
// counts its attempts by itself, its draws are shared with nobody, and nobody
// outside hears of its attempts.
func (b *Branch) Cut() {
	if b.parent == nil {
		return
	}
	root := b.parent.Root()
	b.call.Attempts, b.call.Detours = root.Attempts, root.Detours
	b.call.Stream ^= (uint64(root.Attempts) + 1) * 0xd1342543de82ef95
	b.parent, b.sink = nil, nil
}

// AttemptDone passes what an attempt inside gave to who listens outside.
func (b *Branch) AttemptDone(o Outcome) {
	if b.sink != nil {
		b.sink.AttemptDone(o)
	}
}

// Keeper is the innermost of those who keep a place for c while work goes on;
// nil where nobody does.
func (c *Call) Keeper() Keeper {
	if c.branch == nil {
		return nil
	}
	return c.branch.keeper
}

// NextAttempt starts an attempt of c and numbers it, from 1.
func (c *Call) NextAttempt() uint16 {
	r := c.Root()
	r.Attempts++
	return r.Attempts
}

// Started is the number of attempts of c started so far, whichever branch of it
// made them.
func (c *Call) Started() uint16 { return c.Root().Attempts }

// NextDetour starts a call to another dependency in place of c and numbers it,
// from 1.
func (c *Call) NextDetour() uint16 {
	r := c.Root()
	r.Detours++
	return r.Detours
}

// Root is the call that c is a branch of, however far out: c itself where it is
// none, and the branch that was cut where its caller was told.
func (c *Call) Root() *Call {
	for c.branch != nil && c.branch.parent != nil {
		c = c.branch.parent
	}
	return c
}

// Orphan reports that c is, or is inside of, a branch that was cut: nobody hears
// of what it still does.
func (c *Call) Orphan() bool { return c.Root().branch != nil }
