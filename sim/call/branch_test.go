package call

import "testing"

type counter struct{ heard, kept, letGo int }

func (c *counter) AttemptDone(Outcome) { c.heard++ }
func (c *counter) Keep()               { c.kept++ }
func (c *counter) LetGo()              { c.letGo++ }

// Attempts are numbered over all branches of a call, so no two of them draw the
// same luck; a branch that was cut numbers its own, from where it left.
func TestAttemptsAreNumberedOnTheCallItself(t *testing.T) {
	root := Call{Stream: 7, Request: 3, Deadline: 100, Admission: 5, Host: 2}
	var a, b, inner Branch
	ca, cb := a.Begin(&root, 50, nil), b.Begin(&root, 60, nil)
	ci := inner.Begin(ca, 40, nil)
	if ca.Stream != 7 || ca.Request != 3 || ca.Deadline != 50 || ci.Deadline != 40 || ci.Admission != 5 || ci.Host != 2 {
		t.Errorf("branches %+v and %+v", ca, ci)
	}
	got := []uint16{root.NextAttempt(), ca.NextAttempt(), cb.NextAttempt(), ci.NextAttempt(), ci.NextDetour(), root.NextDetour()}
	for i, want := range []uint16{1, 2, 3, 4, 1, 2} {
		if got[i] != want {
			t.Errorf("number %d is %d, want %d", i, got[i], want)
		}
	}
	if root.Started() != 4 || ci.Started() != 4 {
		t.Errorf("%d and %d attempts started, want 4", root.Started(), ci.Started())
	}
	if root.Orphan() || ci.Orphan() {
		t.Error("nothing is cut yet")
	}
	a.Cut()
	a.Cut() // a second time changes nothing
	b.Cut()
	if root.Orphan() || !ci.Orphan() || !ca.Orphan() {
		t.Error("a cut branch, and what is inside of it, are orphans")
	}
	if n, m := ci.NextAttempt(), root.NextAttempt(); n != 5 || m != 5 {
		t.Errorf("after the cut %d inside and %d outside, want 5 and 5", n, m)
	}
	if ci.Stream != 7 || ca.Stream == 7 || ca.Stream != cb.Stream {
		t.Errorf("streams %d, %d, %d", ci.Stream, ca.Stream, cb.Stream)
	}
}

func TestACutBranchIsHeardNoMore(t *testing.T) {
	var sink, far, near counter
	root := Call{Sink: &sink}
	var outer, b Branch
	c := b.Begin(outer.Begin(&root, NoDeadline, &far), NoDeadline, nil)
	if root.Keeper() != nil || c.Keeper() != Keeper(&far) {
		t.Error("the keeper is the nearest one outside")
	}
	c.Sink.AttemptDone(Outcome{})
	b.Cut()
	c.Sink.AttemptDone(Outcome{})
	if sink.heard != 1 {
		t.Errorf("heard %d attempts, want the one before the cut", sink.heard)
	}
	if d := b.Begin(&Call{}, NoDeadline, &near); d.Sink != nil || d.Keeper() != Keeper(&near) || d.Attempts != 0 {
		t.Errorf("a branch begun anew: %+v", d)
	}
}
