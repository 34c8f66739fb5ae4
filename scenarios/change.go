package scenarios

import (
	"fmt"
	"strings"
)

// WithSet is f with the given PATH=VALUE applied, in order.
func (f *File) WithSet(assignments []string) (*File, error) {
	var changes []Assignment
	for _, s := range assignments {
		a, err := ParseAssignment(s)
		if err != nil {
			return nil, err
		}
		changes = append(changes, a)
	}
	return f.with(changes, false)
}

// ParseAssignment takes PATH=VALUE apart.
func ParseAssignment(s string) (Assignment, error) {
	path, value, ok := strings.Cut(s, "=")
	if !ok || strings.TrimSpace(path) == "" || strings.TrimSpace(value) == "" {
		return Assignment{}, &BadAssignment{s}
	}
	return Assignment{Path: strings.TrimSpace(path), Value: strings.TrimSpace(value)}, nil
}

// with is f with fields changed, each as PATH and value. part leaves the arms
// and expectations unchecked: an arm's own changes are tried within their check.
func (f *File) with(changes []Assignment, part bool) (*File, error) {
	if len(changes) == 0 {
		return f, nil
	}
	g := *f
	g.root = clone(f.root)
	g.part = part
	read := true // g holds what its tree says
	for _, a := range changes {
		path, err := Resolve(a.Path, g.Paths())
		if err != nil && !read { // it may lead into what an earlier change put there
			if again := g.decode(); again != nil {
				return nil, badValue(changes, again)
			}
			read = true
			path, err = Resolve(a.Path, g.Paths())
		}
		if err != nil {
			return nil, err
		}
		if err := set(g.root, path, a.Value); err != nil {
			return nil, err
		}
		read = false
	}
	// All at once: two changes may be right only together.
	if err := g.decode(); err != nil {
		return nil, badValue(changes, err)
	}
	return &g, nil
}

// badValue blames the changes for what the file says of them.
func badValue(changes []Assignment, err error) error {
	if len(changes) == 1 {
		return &BadValue{Assignment: changes[0], Err: err}
	}
	var texts []string
	for _, a := range changes {
		texts = append(texts, a.Path+"="+a.Value)
	}
	last := len(texts) - 1
	head, value, _ := strings.Cut(texts[last], "=")
	return &BadValue{Assignment: Assignment{Path: strings.Join(append(texts[:last], head), " "), Value: value}, Err: err}
}

// BadValue is an assignment whose value the field does not take.
type BadValue struct {
	Assignment
	Err error
}

// Error says which assignment and what its field says of it.
func (b *BadValue) Error() string {
	text := b.Err.Error()
	if p, ok := b.Err.(*Problems); ok {
		for _, x := range p.List {
			if !x.Warning {
				text = x.Text
				break
			}
		}
	}
	return fmt.Sprintf("%s=%s: %s", b.Assignment.Path, b.Value, text)
}

// Hint is the field's.
func (b *BadValue) Hint() string {
	if p, ok := b.Err.(*Problems); ok {
		for _, x := range p.List {
			if !x.Warning {
				return x.Hint
			}
		}
	}
	return ""
}

// BadAssignment is a text that is no PATH=VALUE.
type BadAssignment struct{ Text string }

// Error quotes it.
func (b *BadAssignment) Error() string { return fmt.Sprintf("%q is not PATH=VALUE", b.Text) }

// Hint shows one.
func (*BadAssignment) Hint() string { return "e.g. payments.breaker.cooldown=5s" }
