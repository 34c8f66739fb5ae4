package scenarios

import (
	"reflect"
	"slices"

	"go.yaml.in/yaml/v4"
)

// unfold writes a map in full whose short key takes a registered kind: the kind
// may stand among the other keys, so that {gcra: {rate: 9/s}, when_full: wait}
// is {limit: {gcra: {rate: 9/s}}, when_full: wait}.
func unfold(pairs []pair, fields []field) []pair {
	i := slices.IndexFunc(fields, func(f field) bool { return f.short && f.typ.Kind() == reflect.Interface })
	if i < 0 || slices.ContainsFunc(pairs, func(p pair) bool { return p.key.Value == fields[i].key }) {
		return pairs
	}
	fam := families[fields[i].typ]
	kept, body := []pair{}, mapping(true)
	for _, p := range pairs {
		if !slices.Contains(fam.names, p.key.Value) {
			kept = append(kept, p)
			continue
		}
		if len(body.Content) == 0 {
			key := *p.key
			key.Value = fields[i].key
			body.Line, body.Column = p.key.Line, p.key.Column
			kept = append(kept, pair{key: &key, value: body})
		}
		body.Content = append(body.Content, p.key, p.value)
	}
	return kept
}

// unfoldNode does the same to the tree.
func unfoldNode(n *yaml.Node, fields []field) {
	var pairs []pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		pairs = append(pairs, pair{n.Content[i], n.Content[i+1]})
	}
	var content []*yaml.Node
	for _, p := range unfold(pairs, fields) {
		content = append(content, p.key, p.value)
	}
	n.Content = content
}
