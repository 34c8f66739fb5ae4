package scenarios

import (
	"fmt"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v4"

	"blastradius/sim/spec"
)

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
		d.fields(path, n, unfold(d.pairs(n), fields), v, nil)
	}
	if c, ok := target.(interface{ Complete() }); ok {
		c.Complete()
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
