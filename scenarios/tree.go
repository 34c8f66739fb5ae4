package scenarios

import (
	"go.yaml.in/yaml/v4"
)

func word(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	if n.Style == 0 {
		n.Tag = ""
	}
	return n
}

func plain(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }

func mapping(flow bool) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	if flow {
		n.Style = yaml.FlowStyle
	}
	return n
}

func put(m *yaml.Node, key string, value *yaml.Node) {
	m.Content = append(m.Content, plain(key), value)
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
		unfoldNode(n, fields)
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

// unplace forgets where a node stood: it is not in the file.
func unplace(n *yaml.Node) {
	n.Line, n.Column = 0, 0
	for _, c := range n.Content {
		unplace(c)
	}
}
