package scenarios

import (
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v4"

	"blastradius/sim"
)

var _ custom = (*Calls)(nil)

func (c *Calls) decode(d *decoder, path string, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		d.report(n, fmt.Sprintf("calls takes a list, not %s", form(n)), "[profiles, payments]; [profiles, [a, b]] calls a and b in parallel")
		return
	}
	for i, item := range n.Content {
		sub := fmt.Sprintf("%s.%d", path, i+1)
		item = d.resolve(item)
		if item.Kind != yaml.SequenceNode {
			if one, ok := decodeCall(d, sub, item); ok {
				*c = append(*c, Step{one})
			}
			continue
		}
		if len(item.Content) == 0 {
			d.report(item, "a parallel step is empty", "name the dependencies that are called at once")
			continue
		}
		if len(item.Content) > sim.MaxParallel {
			d.report(item, fmt.Sprintf("a parallel step has %d calls; at most %d run at once", len(item.Content), sim.MaxParallel), "make some of them in a later step")
			continue
		}
		var step Step
		for j, inner := range item.Content {
			if one, ok := decodeCall(d, fmt.Sprintf("%s.%d", sub, j+1), d.resolve(inner)); ok {
				step = append(step, one)
			}
		}
		*c = append(*c, step)
	}
}

func decodeCall(d *decoder, path string, n *yaml.Node) (Call, bool) {
	d.at[path] = place{nil, n}
	switch {
	case n.Kind == yaml.ScalarNode && !isNull(n):
		return Call{Dependency: n.Value, path: path}, true
	case n.Kind == yaml.MappingNode:
		var c struct {
			Call     string `yaml:"call" unit:"text" required:"true" help:"the dependency"`
			Optional bool   `yaml:"optional" unit:"flag" help:"its failure degrades the request instead of failing it"`
		}
		d.structure(path, n, reflect.ValueOf(&c).Elem())
		if p, ok := d.at[path+".call"]; ok {
			d.at[path] = place{nil, p.value}
		}
		return Call{Dependency: c.Call, Optional: c.Optional, path: path}, c.Call != ""
	case n.Kind == yaml.SequenceNode:
		d.report(n, "a parallel step cannot hold another list", "a step's calls all run at once; put later ones in a step of their own")
	default:
		d.report(n, fmt.Sprintf("a call is the name of a dependency, not %s", form(n)), "payments, or {call: payments, optional: true}")
	}
	return Call{}, false
}

func (c *Calls) encode(_ *encoder, _ string) *yaml.Node {
	if len(*c) == 0 {
		return nil
	}
	s := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, step := range *c {
		if len(step) == 1 {
			s.Content = append(s.Content, step[0].node())
			continue
		}
		inner := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, one := range step {
			inner.Content = append(inner.Content, one.node())
		}
		s.Content = append(s.Content, inner)
	}
	return s
}

func (c Call) node() *yaml.Node {
	if !c.Optional {
		return word(c.Dependency)
	}
	m := mapping(true)
	put(m, "call", word(c.Dependency))
	put(m, "optional", plain("true"))
	return m
}
