package scenarios

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"blastradius/resilience"
)

var _ custom = (*Stack)(nil)

func (s *Stack) decode(d *decoder, path string, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		if !isNull(n) {
			d.report(n, fmt.Sprintf("stack takes a list of layers, outermost first, not %s", form(n)), "put a - before each layer")
		}
		return
	}
	kinds := sortedKeys(resilience.Layers)
	names := map[string]*yaml.Node{}
	for _, item := range n.Content {
		key, value, others, ok := kindItem(d, item, "layer", kinds, []string{"name"})
		if !ok {
			continue
		}
		l := LayerSpec{Kind: key.Value, Name: key.Value, Config: resilience.Layers[key.Value]()}
		where := key
		for _, p := range others {
			v := d.resolve(p.value)
			if p.key.Value != "name" {
				d.report(p.key, fmt.Sprintf("unknown key %q beside %s", p.key.Value, l.Kind), "settings of the layer stand under "+l.Kind+": with two more spaces")
			} else if d.name(v, "layer") {
				l.Name, where = v.Value, v
			}
		}
		if first := names[l.Name]; first != nil {
			hint := fmt.Sprintf("the first is in line %d; give each a name:", first.Line)
			d.report(where, fmt.Sprintf("two layers named %q in one stack", l.Name), hint)
			continue
		}
		names[l.Name] = where
		l.path = join(path, l.Name)
		d.at[l.path] = place{key, value}
		d.body(l.path, l.Kind, value, l.Config)
		*s = append(*s, l)
	}
}

// kindItem takes a list item {kind: settings, …} apart: the kind's key, its
// settings and the keys beside it. A bare word is a kind with its defaults.
func kindItem(d *decoder, n *yaml.Node, what string, kinds, beside []string) (key, value *yaml.Node, others []pair, ok bool) {
	n = d.resolve(n)
	note := "kinds of " + what + ": " + strings.Join(kinds, ", ")
	switch {
	case n.Kind == yaml.ScalarNode && slices.Contains(kinds, n.Value):
		return n, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: n.Line, Column: n.Column}, nil, true
	case n.Kind == yaml.MappingNode:
		for _, p := range d.pairs(n) {
			switch {
			case slices.Contains(kinds, p.key.Value) && key == nil:
				key, value = p.key, p.value
			case slices.Contains(kinds, p.key.Value):
				d.report(p.key, fmt.Sprintf("%s and %s in one item", key.Value, p.key.Value), "start a new item with - before "+p.key.Value)
				return nil, nil, nil, false
			default:
				others = append(others, p)
			}
		}
		if key != nil {
			return key, value, others, true
		}
		for _, p := range others {
			if slices.Contains(beside, p.key.Value) {
				continue
			}
			hint := ""
			if near, ok := Nearest(p.key.Value, kinds); ok {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			d.report(p.key, fmt.Sprintf("unknown %s %q", what, p.key.Value), hint).Note = note
			return nil, nil, nil, false
		}
	}
	hint := ""
	if n.Kind == yaml.ScalarNode {
		if near, ok := Nearest(n.Value, kinds); ok {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
	}
	d.report(n, fmt.Sprintf("%s is no %s", quoteForm(n), what), hint).Note = note
	return nil, nil, nil, false
}

func (s *Stack) encode(e *encoder, path string) *yaml.Node {
	if len(*s) == 0 {
		return nil
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, l := range *s {
		body := e.structure(join(path, l.Name), reflect.ValueOf(l.Config).Elem())
		item := mapping(false)
		put(item, l.Kind, body)
		if l.Name != l.Kind {
			put(item, "name", word(l.Name))
		}
		list.Content = append(list.Content, item)
	}
	return list
}
