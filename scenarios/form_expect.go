package scenarios

import (
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"
)

var _ custom = (*Expects)(nil)

func (e *Expects) decode(d *decoder, path string, n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		for _, p := range d.pairs(n) {
			v := d.resolve(p.value)
			sub := join(path, p.key.Value)
			d.at[sub] = place{p.key, v}
			if v.Kind != yaml.SequenceNode {
				v = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{v}, Line: v.Line, Column: v.Column}
			}
			for i, c := range v.Content {
				e.one(d, fmt.Sprintf("%s.%d", sub, i+1), p.key.Value, d.resolve(c))
			}
		}
	case yaml.SequenceNode:
		for i, c := range n.Content {
			e.one(d, fmt.Sprintf("%s.%d", path, i+1), "", d.resolve(c))
		}
	default:
		if !isNull(n) {
			d.report(n, fmt.Sprintf("expect takes a map from arm to a list, or a list, not %s", form(n)), `contained: ["endpoint.search.slo_rate@fault >= 99.9%"]`)
		}
	}
}

// one reads an expectation: a text, {that, why, holds}, or the map that YAML
// makes of an unquoted "contained: metric op value".
func (e *Expects) one(d *decoder, path, arm string, n *yaml.Node) {
	x := ExpectSpec{Arm: arm, Line: n.Line, path: path}
	d.at[path] = place{nil, n}
	switch {
	case n.Kind == yaml.ScalarNode && !isNull(n):
		x.That = n.Value
	case n.Kind == yaml.MappingNode && len(n.Content) == 2 && n.Content[0].Value != "that" && n.Content[1].Kind == yaml.ScalarNode:
		x.Arm, x.That = n.Content[0].Value, n.Content[1].Value
		d.at[path] = place{n.Content[0], n.Content[1]}
	case n.Kind == yaml.MappingNode:
		var c struct {
			That  string  `yaml:"that" unit:"text" required:"true" help:"metric op value"`
			Why   string  `yaml:"why" unit:"text" help:"what it is good for"`
			Holds float64 `yaml:"holds" unit:"share" min:"0%" open:"min" max:"100%" help:"share of the seeds in which it must hold"`
		}
		d.structure(path, n, reflect.ValueOf(&c).Elem())
		x.That, x.Why, x.Holds = c.That, c.Why, c.Holds
		if p, ok := d.at[path+".that"]; ok {
			d.at[path] = place{nil, p.value}
		}
	default:
		d.report(n, fmt.Sprintf("an expectation is a text, not %s", form(n)), "endpoint.search.slo_rate@fault >= 99.9%")
		return
	}
	if x.Arm == "" {
		// "contained: metric op value" in a quoted text; a ':' stands nowhere else.
		if before, after, ok := strings.Cut(x.That, ":"); ok && nameRule.MatchString(strings.TrimSpace(before)) {
			x.Arm, x.That = strings.TrimSpace(before), strings.TrimSpace(after)
		}
	}
	if x.That != "" {
		*e = append(*e, x)
	}
}

func (x *Expects) encode(_ *encoder, _ string) *yaml.Node {
	if len(*x) == 0 {
		return nil
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, one := range *x {
		that := one.That
		if one.Arm != "" {
			that = one.Arm + ": " + that
		}
		n := &yaml.Node{}
		n.SetString(that)
		if one.Why == "" && one.Holds == 0 {
			list.Content = append(list.Content, n)
			continue
		}
		m := mapping(false)
		put(m, "that", n)
		if one.Why != "" {
			put(m, "why", word(one.Why))
		}
		if one.Holds > 0 {
			put(m, "holds", plain(formatShare(one.Holds)))
		}
		list.Content = append(list.Content, m)
	}
	return list
}
