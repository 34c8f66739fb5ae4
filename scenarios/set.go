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
	fields := fieldsOf(t)
	if n.Kind == yaml.ScalarNode && path[0] == fam.scalar && !slices.Contains(fam.names, n.Value) {
		if slices.ContainsFunc(fields, func(f field) bool { return f.short && f.key == path[1] }) {
			*n = *value
			return
		}
		short := clone(n)
		*n = *mapping(true)
		put(n, path[0], short)
	}
	open(n, nil)
	body := child(n, path[0])
	if body.Kind == yaml.SequenceNode {
		for _, f := range fields {
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
	open(body, fields)
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
