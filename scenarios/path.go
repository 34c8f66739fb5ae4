package scenarios

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"blastradius/faults"
	"blastradius/resilience"
)

// Paths lists every field that can be set, in the file's order: names joined
// by dots, layers and faults by their names.
func (f *File) Paths() []string {
	w := &pathWalker{}
	w.structure("", reflect.ValueOf(&f.scenario).Elem())
	return w.out
}

type pathWalker struct{ out []string }

func (w *pathWalker) structure(path string, v reflect.Value) {
	for _, f := range fieldsOf(v.Type()) {
		sub := join(path, f.key)
		if path == "" && slices.Contains([]string{"version", "arms", "expect", "name", "title", "about"}, f.key) {
			continue
		}
		w.out = append(w.out, sub)
		w.field(sub, v.FieldByIndex(f.index), f)
	}
}

func (w *pathWalker) field(path string, v reflect.Value, f field) {
	switch x := v.Addr().Interface().(type) {
	case *Stack:
		for _, l := range *x {
			sub := join(path, l.Name)
			w.out = append(w.out, sub)
			w.structure(sub, reflect.ValueOf(l.Config).Elem())
		}
		return
	case *Faults:
		for i := range *x {
			one := &(*x)[i]
			sub := join(path, one.Name)
			w.out = append(w.out, sub)
			w.structure(sub, reflect.ValueOf(one.Config).Elem())
			w.structure(sub, reflect.ValueOf(&one.Timeline).Elem())
		}
		return
	case *Errors:
		for _, c := range errorClasses {
			w.out = append(w.out, join(path, c))
		}
		return
	case custom:
		return
	}
	switch {
	case v.Kind() == reflect.Interface:
		w.kind(path, v)
	case v.Kind() == reflect.Pointer && !v.IsNil():
		w.structure(path, v.Elem())
	case v.Kind() == reflect.Pointer:
		w.structure(path, reflect.New(v.Type().Elem()).Elem())
	case v.Kind() == reflect.Struct && v.Type() != typeWindow:
		w.structure(path, v)
	case v.Kind() == reflect.Map:
		for _, k := range f.keys {
			w.out = append(w.out, join(path, k))
		}
	case f.named:
		for i := range v.Len() {
			sub := join(path, v.Index(i).FieldByName("Name").String())
			w.out = append(w.out, sub)
			w.structure(sub, v.Index(i))
		}
	case f.list:
		for i := range v.Len() {
			sub := join(path, strconv.Itoa(i+1))
			w.out = append(w.out, sub)
			w.structure(sub, v.Index(i))
		}
	}
}

// kind lists the kinds that a field can be set to, and the fields of the one
// it has.
func (w *pathWalker) kind(path string, v reflect.Value) {
	fam := families[v.Type()]
	has := ""
	if !v.IsNil() {
		has = nameOf(v.Interface(), fam)
	}
	for _, n := range fam.names {
		if _, inline := fam.make(n).(interface{ InlineKeys() []string }); inline {
			if n == has {
				w.structure(path, v.Elem().Elem())
			}
			continue
		}
		w.out = append(w.out, join(path, n))
		if n == has {
			w.structure(join(path, n), v.Elem().Elem())
		}
	}
}

// skippable are the names of a path that may be left out.
var skippable = []string{"dependencies", "endpoints", "process", "stack", "faults", "arrivals", "pools", "latency", "backoff"}

// Resolve finds the one path that p means: any unique end of a path, with or
// without the names that only hold others (stack, faults, …), singular or
// plural. The error names the nearest one, or the candidates.
func Resolve(p string, known []string) (string, error) {
	if slices.Contains(known, p) {
		return p, nil
	}
	want := strings.Split(p, ".")
	var hits []string
	best := -1
	for _, k := range known {
		skipped, ok := matches(want, strings.Split(k, "."))
		switch {
		case !ok:
		case best < 0 || skipped < best:
			hits, best = []string{k}, skipped
		case skipped == best:
			hits = append(hits, k)
		}
	}
	switch {
	case len(hits) == 1:
		return hits[0], nil
	case len(hits) > 1:
		return "", &AmbiguousPath{Path: p, Candidates: hits}
	}
	return "", &UnknownName{What: "path", Name: p, Known: nearPaths(p, known)}
}

// AmbiguousPath is a path that several fields answer to.
type AmbiguousPath struct {
	Path       string
	Candidates []string
}

// Error lists some of the candidates.
func (a *AmbiguousPath) Error() string {
	shown := a.Candidates
	more := ""
	if len(shown) > 6 {
		more = fmt.Sprintf(" and %d more", len(shown)-6)
		shown = shown[:6]
	}
	return fmt.Sprintf("path %q is ambiguous: %s%s", a.Path, strings.Join(shown, ", "), more)
}

// Hint says how to choose.
func (a *AmbiguousPath) Hint() string {
	return "write more of it, e.g. " + a.Candidates[0]
}

// matches holds want against the end of path and counts the names skipped
// inside it.
func matches(want, path []string) (skipped int, ok bool) {
	i, j := len(want)-1, len(path)-1
	for i >= 0 {
		switch {
		case j < 0:
			return 0, false
		case same(want[i], path[j]):
			i, j = i-1, j-1
		case i < len(want)-1 && slices.Contains(skippable, path[j]):
			skipped++
			j--
		default:
			return 0, false
		}
	}
	return skipped, true
}

func same(a, b string) bool {
	return a == b || singular(a) == singular(b)
}

func singular(s string) string {
	if t, ok := strings.CutSuffix(s, "ies"); ok {
		return t + "y"
	}
	return strings.TrimSuffix(s, "s")
}

// nearPaths offers, for a path that nothing answers to, the fields with the
// nearest last name under the same owner, shortened.
func nearPaths(p string, known []string) []string {
	words := strings.Split(p, ".")
	var out []string
	for _, k := range known {
		path := strings.Split(k, ".")
		path = slices.DeleteFunc(path, func(s string) bool {
			return slices.Contains(skippable, s) && !slices.Contains(words, s)
		})
		if len(path) >= len(words) {
			path = path[len(path)-len(words):]
		}
		out = append(out, strings.Join(path, "."))
	}
	return out
}

// set puts value at a resolved path of the tree.
func set(root *yaml.Node, path, value string) error {
	var doc yaml.Node
	if err := yaml.Load([]byte(value), &doc); err != nil || len(doc.Content) == 0 {
		return fmt.Errorf("%s=%s: the value is not one line of YAML", path, value)
	}
	v := doc.Content[0]
	unplace(v)
	setStructure(root, reflect.TypeFor[Scenario](), strings.Split(path, "."), v)
	return nil
}

// unplace forgets where a node stood: it is not in the file.
func unplace(n *yaml.Node) {
	n.Line, n.Column = 0, 0
	for _, c := range n.Content {
		unplace(c)
	}
}

func setStructure(n *yaml.Node, t reflect.Type, path []string, value *yaml.Node) {
	for _, f := range fieldsOf(t) {
		if f.key != path[0] {
			continue
		}
		if len(path) == 1 {
			replace(n, f.key, value)
			return
		}
		setField(child(n, f.key), f, path[1:], value)
		return
	}
	// A kind's name, or a name of a list that the type holds as a map.
	if len(path) == 1 {
		replace(n, path[0], value)
	}
}

func setField(n *yaml.Node, f field, path []string, value *yaml.Node) {
	switch {
	case f.typ == reflect.TypeFor[Stack]():
		setItem(n, path, value, sortedKeys(resilience.Layers), func(kind string) any { return resilience.Layers[kind]() }, nil)
	case f.typ == reflect.TypeFor[Faults]():
		setItem(n, path, value, sortedKeys(faults.Kinds), func(kind string) any { return faults.Kinds[kind]() }, fieldsOf(reflect.TypeFor[faults.Timeline]()))
	case f.typ.Kind() == reflect.Interface:
		setKind(n, families[f.typ], path, value)
	case f.named:
		open(n, nil)
		if len(path) == 1 {
			replace(n, path[0], value)
			return
		}
		item := child(n, path[0])
		open(item, fieldsOf(f.typ.Elem()))
		setStructure(item, f.typ.Elem(), path[1:], value)
	case f.typ.Kind() == reflect.Pointer:
		open(n, fieldsOf(f.typ.Elem()))
		setStructure(n, f.typ.Elem(), path, value)
	case f.typ.Kind() == reflect.Struct:
		open(n, nil)
		setStructure(n, f.typ, path, value)
	case n.Kind == yaml.SequenceNode:
		setIndex(n, f, path, value)
	default:
		open(n, nil)
		replace(n, path[0], value)
	}
}

func setIndex(n *yaml.Node, f field, path []string, value *yaml.Node) {
	i, err := strconv.Atoi(path[0])
	if err != nil || i < 1 || i > len(n.Content) {
		return
	}
	if len(path) == 1 {
		n.Content[i-1] = value
		return
	}
	setStructure(n.Content[i-1], f.typ.Elem(), path[1:], value)
}

// setKind sets within a value of a registered family.
func setKind(n *yaml.Node, fam *family, path []string, value *yaml.Node) {
	if !slices.Contains(fam.names, path[0]) {
		open(n, nil) // an inline key, such as p99
		replace(n, path[0], value)
		return
	}
	if len(path) == 1 {
		*n = *mapping(true)
		replace(n, path[0], value)
		return
	}
	t := reflect.TypeOf(fam.make(path[0])).Elem()
	if n.Kind == yaml.ScalarNode && path[0] == fam.scalar {
		*n = *value
		return
	}
	open(n, nil)
	body := child(n, path[0])
	if body.Kind == yaml.SequenceNode {
		for _, f := range fieldsOf(t) {
			switch {
			case f.list && len(path) > 2 && f.key == path[1]:
				setIndex(body, f, path[2:], value)
				return
			case f.pos >= 0 && f.key == path[1] && f.pos < len(body.Content):
				body.Content[f.pos] = value
				return
			}
		}
	}
	open(body, fieldsOf(t))
	setStructure(body, t, path[1:], value)
}

// setItem sets within a list of layers or faults.
func setItem(n *yaml.Node, path []string, value *yaml.Node, kinds []string, make func(kind string) any, beside []field) {
	count := map[string]int{}
	for _, item := range n.Content {
		if item.Kind == yaml.AliasNode {
			*item = *clone(item.Alias)
		}
		if item.Kind == yaml.ScalarNode {
			*item = yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{plain(item.Value), {Kind: yaml.ScalarNode, Tag: "!!null"}}}
		}
		kind, name := "", ""
		for i := 0; i+1 < len(item.Content); i += 2 {
			switch key := item.Content[i].Value; {
			case key == "name" && beside == nil:
				name = item.Content[i+1].Value
			case slices.Contains(kinds, key):
				kind = key
			}
		}
		if count[kind]++; name == "" {
			name = kind
			if beside != nil && count[kind] > 1 {
				name = fmt.Sprintf("%s-%d", kind, count[kind])
			}
		}
		if name != path[0] {
			continue
		}
		switch {
		case len(path) == 1:
			replace(item, kind, value)
		case slices.ContainsFunc(beside, func(f field) bool { return f.key == path[1] }):
			replace(item, path[1], value)
		default:
			t := reflect.TypeOf(make(kind)).Elem()
			body := child(item, kind)
			open(body, fieldsOf(t))
			setStructure(body, t, path[1:], value)
		}
		return
	}
}

// child is the value of a key, made empty when it is not there; an alias
// becomes a copy, so that setting one use does not set the others.
func child(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			if v := n.Content[i+1]; v.Kind == yaml.AliasNode {
				n.Content[i+1] = clone(v.Alias)
			}
			return n.Content[i+1]
		}
	}
	v := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	n.Content = append(n.Content, plain(key), v)
	return v
}

func replace(n *yaml.Node, key string, value *yaml.Node) {
	*child(n, key) = *clone(value)
}

// open turns a short form, or nothing, into a map that can take keys.
func open(n *yaml.Node, fields []field) {
	if n.Kind == yaml.MappingNode {
		return
	}
	m := mapping(true)
	m.Line, m.Column = n.Line, n.Column
	if n.Kind == yaml.ScalarNode && !isNull(n) {
		for _, f := range fields {
			if f.short {
				put(m, f.key, clone(n))
			}
		}
	}
	*n = *m
}

func clone(n *yaml.Node) *yaml.Node {
	c := *n
	c.Anchor = ""
	if n.Kind == yaml.AliasNode {
		return clone(n.Alias)
	}
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, x := range n.Content {
		c.Content[i] = clone(x)
	}
	return &c
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

// ParseAssignment takes PATH=VALUE apart.
func ParseAssignment(s string) (Assignment, error) {
	path, value, ok := strings.Cut(s, "=")
	if !ok || strings.TrimSpace(path) == "" || strings.TrimSpace(value) == "" {
		return Assignment{}, &BadAssignment{s}
	}
	return Assignment{Path: strings.TrimSpace(path), Value: strings.TrimSpace(value)}, nil
}

// BadAssignment is a text that is no PATH=VALUE.
type BadAssignment struct{ Text string }

// Error quotes it.
func (b *BadAssignment) Error() string { return fmt.Sprintf("%q is not PATH=VALUE", b.Text) }

// Hint shows one.
func (*BadAssignment) Hint() string { return "e.g. payments.breaker.cooldown=5s" }

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
