package scenarios

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

var _ custom = (*LayerNames)(nil)
var _ custom = (*Assignments)(nil)

func (l *LayerNames) decode(d *decoder, path string, n *yaml.Node) {
	l.Given = true
	switch {
	case n.Kind == yaml.ScalarNode && n.Value == "all":
		l.All = true
	case n.Kind == yaml.ScalarNode && !isNull(n):
		l.Names = []string{n.Value}
		d.at[path+".1"] = place{nil, n}
	case n.Kind == yaml.SequenceNode:
		for i, c := range n.Content {
			c = d.resolve(c)
			if s, ok := d.scalar(c, "the kind or name of a layer"); ok {
				l.Names = append(l.Names, s)
				d.at[fmt.Sprintf("%s.%d", path, i+1)] = place{nil, c}
			}
		}
	default:
		d.report(n, fmt.Sprintf("%s takes all or a list of layers, not %s", last(path), form(n)), "all, or [breaker, bulkhead]")
	}
}

func (l *LayerNames) encode(_ *encoder, _ string) *yaml.Node {
	switch {
	case !l.Given:
		return nil
	case l.All:
		return plain("all")
	}
	s := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, n := range l.Names {
		s.Content = append(s.Content, word(n))
	}
	return s
}

func (a *Assignments) decode(d *decoder, path string, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		d.report(n, fmt.Sprintf("set takes a map from path to value, not %s", form(n)), "{payments.breaker.cooldown: 5s}")
		return
	}
	for i, p := range d.pairs(n) {
		v := d.resolve(p.value)
		*a = append(*a, Assignment{Path: p.key.Value, Value: flow(v)})
		d.at[fmt.Sprintf("%s.%d", path, i+1)] = place(p)
	}
}

func (a *Assignments) encode(_ *encoder, _ string) *yaml.Node {
	if len(*a) == 0 {
		return nil
	}
	m := mapping(true)
	for _, one := range *a {
		put(m, one.Path, word(one.Value))
	}
	return m
}

// flow is a node on one line.
func flow(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	c := *n
	c.Style = yaml.FlowStyle
	out, err := yaml.Dump(&c)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
