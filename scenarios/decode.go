package scenarios

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"blastradius/resilience"
	"blastradius/sim/dist"
	"blastradius/sim/load"
	"blastradius/sim/spec"
)

// decoder turns a YAML tree into tagged structs and notes every problem with
// its place. It never stops at the first.
type decoder struct {
	problems []Problem
	at       map[string]place // where the file gives what, by path
	budget   int              // nodes it will still look at: a bomb of aliases ends here
}

// place is a key and its value in the file. key is nil in lists.
type place struct{ key, value *yaml.Node }

// custom is implemented by types that read a YAML form of their own.
type custom interface {
	decode(d *decoder, path string, n *yaml.Node)
	encode(e *encoder, path string) *yaml.Node
}

// defaulter fills in defaults before decoding.
type defaulter interface{ SetDefaults() }

// family is a set of registered kinds of one interface.
type family struct {
	what   string // "latency"
	scalar string // the kind that a bare value stands for
	names  []string
	make   func(name string) any
}

// families are the interfaces whose values are registered kinds.
var families = map[reflect.Type]*family{
	reflect.TypeFor[dist.Kind]():          newFamily("latency", dist.Scalar, dist.Kinds),
	reflect.TypeFor[load.Config]():        newFamily("arrivals", "", load.Kinds),
	reflect.TypeFor[resilience.Backoff](): newFamily("backoff", "", resilience.Backoffs),
}

func newFamily[T any](what, scalar string, kinds map[string]func() T) *family {
	return &family{what: what, scalar: scalar, names: sortedKeys(kinds), make: func(n string) any { return kinds[n]() }}
}

const maxNodes = 200_000

func (d *decoder) report(n *yaml.Node, text, hint string) *Problem {
	p := Problem{Text: text, Hint: hint, Width: 1}
	if n != nil {
		p.Line, p.Col = n.Line, n.Column
		if n.Kind == yaml.ScalarNode {
			p.Width = max(1, len([]rune(n.Value)))
			if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
				p.Width += 2
			}
			if strings.Contains(n.Value, "\n") {
				p.Width = 1
			}
		}
	}
	d.problems = append(d.problems, p)
	return &d.problems[len(d.problems)-1]
}

// resolve follows aliases and counts the nodes looked at.
func (d *decoder) resolve(n *yaml.Node) *yaml.Node {
	for range 8 {
		if n == nil || n.Kind != yaml.AliasNode {
			break
		}
		n = n.Alias
	}
	if d.budget--; d.budget == 0 {
		d.report(n, "the file's aliases expand to too much", "write the parts out")
	}
	if d.budget <= 0 {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// words for a node's form, in the file's terms.
func form(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a map"
	}
	if isNull(n) {
		return "nothing"
	}
	return "a single value"
}

// pair is one key of a mapping, merges expanded.
type pair struct{ key, value *yaml.Node }

// pairs lists a mapping's keys, with those of merged maps (<<) that it does not
// give itself, and reports the ones given twice.
func (d *decoder) pairs(n *yaml.Node) []pair {
	var own, merged []pair
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := d.resolve(n.Content[i]), n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			d.report(k, "a key must be a single word", "")
			continue
		}
		if k.Tag == "!!merge" || k.Value == "<<" {
			merged = append(merged, d.merge(v)...)
			continue
		}
		if first := seen[k.Value]; first != nil {
			d.report(k, fmt.Sprintf("key %q is given twice", k.Value), fmt.Sprintf("first in line %d", first.Line))
			continue
		}
		seen[k.Value] = k
		own = append(own, pair{k, v})
	}
	for _, m := range merged {
		if seen[m.key.Value] == nil {
			seen[m.key.Value] = m.key
			own = append(own, m)
		}
	}
	return own
}

func (d *decoder) merge(v *yaml.Node) []pair {
	v = d.resolve(v)
	if v.Kind == yaml.SequenceNode {
		var out []pair
		for _, c := range v.Content {
			out = append(out, d.merge(c)...)
		}
		return out
	}
	if v.Kind != yaml.MappingNode {
		d.report(v, "<< takes a map, or a list of maps", "")
		return nil
	}
	if d.budget <= 0 {
		return nil
	}
	return d.pairs(v)
}

// structure decodes a mapping into the tagged struct v.
func (d *decoder) structure(path string, n *yaml.Node, v reflect.Value) {
	n = d.resolve(n)
	if n.Kind != yaml.MappingNode {
		if isNull(n) {
			d.required(path, n, v, nil)
			return
		}
		d.report(n, fmt.Sprintf("%s takes a map of keys, not %s", last(path), form(n)), "").Note = allowed(fieldsOf(v.Type()))
		return
	}
	d.fields(path, n, d.pairs(n), v, nil)
}

// fields decodes the given pairs into v; keys in besides are somebody else's.
func (d *decoder) fields(path string, n *yaml.Node, pairs []pair, v reflect.Value, besides []string) {
	fields := fieldsOf(v.Type())
	given := map[string]bool{}
	for _, p := range pairs {
		if slices.Contains(besides, p.key.Value) {
			continue
		}
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == p.key.Value })
		if i < 0 {
			d.unknownKey(path, p.key, fields)
			continue
		}
		f := fields[i]
		given[f.key] = true
		sub := join(path, f.key)
		d.at[sub] = place(p)
		d.value(sub, p.value, v.FieldByIndex(f.index), f)
	}
	d.required(path, n, v, given)
}

func (d *decoder) required(path string, n *yaml.Node, v reflect.Value, given map[string]bool) {
	for _, f := range fieldsOf(v.Type()) {
		if f.required && !given[f.key] {
			where := n
			if p, ok := d.at[path]; ok && p.key != nil {
				where = p.key
			}
			text := fmt.Sprintf("%s is missing", f.key)
			if path != "" {
				text += " in " + path
			}
			d.report(where, text, f.help)
		}
	}
}

func (d *decoder) unknownKey(path string, key *yaml.Node, fields []field) {
	text := fmt.Sprintf("unknown key %q", key.Value)
	if path != "" {
		text += " in " + path
	}
	hint := ""
	if near, ok := nearestKey(key.Value, fields); ok {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	d.report(key, text, hint).Note = allowed(fields)
}

// nearestKey knows other tools' words before it guesses.
func nearestKey(word string, fields []field) (string, bool) {
	for _, f := range fields {
		for _, other := range f.also {
			if fold(other) == fold(word) {
				return f.key, true
			}
		}
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.key
	}
	return Nearest(word, names)
}

func allowed(fields []field) string {
	names := make([]string, 0, len(fields))
	for _, f := range fields {
		names = append(names, f.key)
	}
	slices.Sort(names)
	return "keys allowed here: " + strings.Join(names, ", ")
}

// body decodes the settings of a kind: a map, or one of its short forms.
func (d *decoder) body(path, kind string, n *yaml.Node, target any) {
	v := reflect.ValueOf(target).Elem()
	n = d.resolve(n)
	fields := fieldsOf(v.Type())
	switch {
	case isNull(n):
		d.required(path, n, v, nil)
	case n.Kind == yaml.ScalarNode:
		i := slices.IndexFunc(fields, func(f field) bool { return f.short })
		if i < 0 {
			d.report(n, fmt.Sprintf("%s takes a map of keys, not a single value", kind), example(target)).Note = allowed(fields)
			return
		}
		sub := join(path, fields[i].key)
		d.at[sub] = place{nil, n}
		d.value(sub, n, v.FieldByIndex(fields[i].index), fields[i])
	case n.Kind == yaml.SequenceNode:
		d.listBody(path, kind, n, v, fields, target)
	default:
		if t, ok := tableOf(v); ok {
			d.table(path, n, t)
			break
		}
		d.fields(path, n, d.pairs(n), v, nil)
	}
	if c, ok := target.(interface{ Validate() []spec.Problem }); ok {
		d.validate(path, n, c.Validate)
	}
}

func example(target any) string {
	if x, ok := target.(interface{ Example() string }); ok {
		return "e.g. " + x.Example()
	}
	return ""
}

// validate reports what a kind has to say about itself, unless there are
// problems within it already: a half-read kind would only repeat them.
func (d *decoder) validate(path string, n *yaml.Node, check func() []spec.Problem) {
	for _, p := range d.problems {
		if !p.Warning && p.Line >= n.Line && p.Line <= lastLine(n) {
			return
		}
	}
	for _, p := range check() {
		where := n
		if at, ok := d.at[join(path, p.Field)]; ok {
			where = at.value
		}
		d.report(where, p.Text, p.Hint).Warning = p.Warning
	}
}

func lastLine(n *yaml.Node) int {
	line := n.Line
	for _, c := range n.Content {
		line = max(line, lastLine(c))
	}
	return line
}

func (d *decoder) listBody(path, kind string, n *yaml.Node, v reflect.Value, fields []field, target any) {
	var positional []field
	for _, f := range fields {
		switch {
		case f.list, f.short && v.FieldByIndex(f.index).Kind() == reflect.Slice:
			sub := join(path, f.key)
			d.at[sub] = place{nil, n}
			d.value(sub, n, v.FieldByIndex(f.index), f)
			return
		case f.pos >= 0:
			positional = append(positional, f)
		}
	}
	if len(positional) == 0 {
		d.report(n, fmt.Sprintf("%s takes a map of keys, not a list", kind), example(target))
		return
	}
	if len(n.Content) != len(positional) {
		d.report(n, fmt.Sprintf("%s takes %d values, not %d", kind, len(positional), len(n.Content)), example(target))
		return
	}
	slices.SortFunc(positional, func(a, b field) int { return a.pos - b.pos })
	for i, f := range positional {
		sub := join(path, f.key)
		d.at[sub] = place{nil, n.Content[i]}
		d.value(sub, n.Content[i], v.FieldByIndex(f.index), f)
	}
}

// kind decodes a value of a registered family.
func (d *decoder) kind(path string, n *yaml.Node, fam *family) any {
	n = d.resolve(n)
	switch n.Kind {
	case yaml.ScalarNode:
		if slices.Contains(fam.names, n.Value) {
			k := fam.make(n.Value)
			d.body(join(path, n.Value), n.Value, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: n.Line, Column: n.Column}, k)
			return k
		}
		if fam.scalar != "" && !isNull(n) {
			k := fam.make(fam.scalar)
			d.body(join(path, fam.scalar), fam.scalar, n, k)
			return k
		}
	case yaml.MappingNode:
		pairs := d.pairs(n)
		if name, k, ok := d.inline(pairs, fam); ok {
			d.fields(path, n, pairs, reflect.ValueOf(k).Elem(), nil)
			d.validate(path, n, k.(interface{ Validate() []spec.Problem }).Validate)
			_ = name
			return k
		}
		if k, ok := d.named(path, n, pairs, fam); ok {
			return k
		}
		return nil
	}
	d.report(n, fmt.Sprintf("%s is not %s", quoteForm(n), article(fam.what)), "e.g. "+exampleOf(fam)).Note = "kinds of " + fam.what + ": " + strings.Join(fam.names, ", ")
	return nil
}

// inline finds the kind whose keys these are, where its map has no kind name.
func (d *decoder) inline(pairs []pair, fam *family) (string, any, bool) {
	best, bestName, bestHits := any(nil), "", 0
	for _, name := range fam.names {
		k := fam.make(name)
		in, ok := k.(interface{ InlineKeys() []string })
		if !ok {
			continue
		}
		hits := 0
		for _, p := range pairs {
			if slices.Contains(in.InlineKeys(), p.key.Value) {
				hits++
			} else {
				hits--
			}
		}
		if hits > bestHits {
			best, bestName, bestHits = k, name, hits
		}
	}
	return bestName, best, best != nil
}

// named decodes {kind: settings}, with the keys that stand beside a kind.
func (d *decoder) named(path string, n *yaml.Node, pairs []pair, fam *family) (any, bool) {
	var main *pair
	for i, p := range pairs {
		if slices.Contains(fam.names, p.key.Value) {
			if main != nil {
				d.report(p.key, fmt.Sprintf("%s and %s are two kinds of %s", main.key.Value, p.key.Value, fam.what), "keep one")
				return nil, false
			}
			main = &pairs[i]
		}
	}
	if main == nil {
		if len(pairs) == 0 {
			d.report(n, fam.what+" is empty", "e.g. "+exampleOf(fam))
			return nil, false
		}
		key := pairs[0].key
		hint := "e.g. " + exampleOf(fam)
		if near, ok := Nearest(key.Value, fam.names); ok {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		d.report(key, fmt.Sprintf("unknown kind of %s %q", fam.what, key.Value), hint).Note = "kinds of " + fam.what + ": " + strings.Join(fam.names, ", ")
		return nil, false
	}
	name := main.key.Value
	k := fam.make(name)
	sub := join(path, name)
	d.at[sub] = place{main.key, main.value}
	v := reflect.ValueOf(k).Elem()
	var beside []pair
	for _, p := range pairs {
		if p.key == main.key {
			continue
		}
		if slices.ContainsFunc(fieldsOf(v.Type()), func(f field) bool { return f.beside && f.key == p.key.Value }) {
			beside = append(beside, p)
			continue
		}
		d.report(p.key, fmt.Sprintf("unknown key %q beside %s", p.key.Value, name), "")
	}
	for _, p := range beside {
		for _, f := range fieldsOf(v.Type()) {
			if f.key == p.key.Value {
				d.at[join(sub, f.key)] = place(p)
				d.value(join(sub, f.key), p.value, v.FieldByIndex(f.index), f)
			}
		}
	}
	d.body(sub, name, main.value, k)
	return k, true
}

func exampleOf(fam *family) string {
	name := fam.scalar
	if name == "" {
		name = fam.names[len(fam.names)-1]
		if slices.Contains(fam.names, "poisson") {
			name = "poisson"
		}
	}
	if x, ok := fam.make(name).(interface{ Example() string }); ok {
		return x.Example()
	}
	return name
}

func quoteForm(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && !isNull(n) {
		return fmt.Sprintf("%q", n.Value)
	}
	return form(n)
}

func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

func join(path, key string) string {
	switch {
	case path == "":
		return key
	case key == "":
		return path
	}
	return path + "." + key
}

// last is the last name of a path, "the file" for none.
func last(path string) string {
	if path == "" {
		return "the file"
	}
	return path[strings.LastIndexByte(path, '.')+1:]
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
