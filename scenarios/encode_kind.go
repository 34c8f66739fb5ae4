package scenarios

import (
	"fmt"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v4"

	"blastradius/sim/dist"
)

// kind writes a value of a registered family in its shortest full form.
func (e *encoder) kind(path string, k any, fam *family) *yaml.Node {
	name := nameOf(k, fam)
	v := reflect.ValueOf(k).Elem()
	if _, ok := k.(interface{ InlineKeys() []string }); ok {
		m := e.structure(path, v)
		m.Style = yaml.FlowStyle
		strip(m)
		return m
	}
	sub := join(path, name)
	body := e.body(sub, v)
	strip(body)
	if body.Kind == yaml.ScalarNode && (name == fam.scalar || slices.Contains(fam.scalars, name)) {
		return body
	}
	if body.Kind == yaml.MappingNode && len(body.Content) == 0 {
		return plain(name)
	}
	m := mapping(true)
	put(m, name, body)
	for _, f := range fieldsOf(v.Type()) {
		if !f.beside || body.Kind == yaml.MappingNode {
			continue
		}
		if n := e.value(join(sub, f.key), v.FieldByIndex(f.index), f); n != nil {
			put(m, f.key, n)
		}
	}
	return m
}

// body writes the settings of a kind: its list, its table, its single value,
// or a map.
func (e *encoder) body(path string, v reflect.Value) *yaml.Node {
	if t, ok := tableOf(v); ok {
		m := mapping(true)
		for _, p := range t.Interface().([]dist.Point) {
			put(m, formatShare(p.P), plain(formatDuration(p.Value)))
		}
		return m
	}
	fields := fieldsOf(v.Type())
	positional := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	mains := 0
	for _, f := range fields {
		switch {
		case f.list:
			return e.list(join(path, f.key), v.FieldByIndex(f.index), f)
		case f.pos >= 0:
			positional.Content = append(positional.Content, e.value(join(path, f.key), v.FieldByIndex(f.index), f))
		case !f.beside:
			mains++
		}
	}
	if len(positional.Content) > 0 {
		return positional
	}
	if mains == 1 && fields[0].short {
		return e.value(join(path, fields[0].key), v.FieldByIndex(fields[0].index), fields[0])
	}
	m := e.structure(path, v)
	m.Style = yaml.FlowStyle
	return m
}

func nameOf(k any, fam *family) string {
	for _, n := range fam.names {
		if reflect.TypeOf(fam.make(n)) == reflect.TypeOf(k) {
			return n
		}
	}
	panic(fmt.Sprintf("scenarios: %T is not registered", k))
}
