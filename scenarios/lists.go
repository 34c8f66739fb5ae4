package scenarios

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"blastradius/faults"
	"blastradius/resilience"
	"blastradius/sim/call"
)

// The lists of a file that have a form of their own.

var (
	_ custom = (*Calls)(nil)
	_ custom = (*Stack)(nil)
	_ custom = (*Faults)(nil)
	_ custom = (*Errors)(nil)
	_ custom = (*LayerNames)(nil)
	_ custom = (*Assignments)(nil)
	_ custom = (*Expects)(nil)
)

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

func (f *Faults) decode(d *decoder, path string, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		if !isNull(n) {
			d.report(n, fmt.Sprintf("faults takes a list, not %s", form(n)), "put a - before each fault")
		}
		return
	}
	kinds := sortedKeys(faults.Kinds)
	timeline := fieldsOf(reflect.TypeFor[faults.Timeline]())
	beside := make([]string, len(timeline))
	for i, t := range timeline {
		beside[i] = t.key
	}
	count := map[string]int{}
	for _, item := range n.Content {
		key, value, others, ok := kindItem(d, item, "fault", kinds, beside)
		if !ok {
			continue
		}
		one := FaultSpec{Kind: key.Value, Name: key.Value, Config: faults.Kinds[key.Value](), Timeline: faults.NewTimeline()}
		if count[one.Kind]++; count[one.Kind] > 1 {
			one.Name = fmt.Sprintf("%s-%d", one.Kind, count[one.Kind])
		}
		one.path = join(path, one.Name)
		d.at[one.path] = place{key, value}
		d.body(one.path, one.Kind, value, one.Config)
		d.fields(one.path, d.resolve(item), others, reflect.ValueOf(&one.Timeline).Elem(), nil)
		d.validate(one.path, d.resolve(item), one.Timeline.Validate)
		*f = append(*f, one)
	}
}

// errorClasses are the classes in which an attempt can end by itself.
var errorClasses = []string{"client_error", "server_error", "throttled", "connect_error"}

func (e *Errors) decode(d *decoder, path string, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		d.report(n, fmt.Sprintf("errors takes a map from class to share, not %s", form(n)), "{server_error: 0.1%}")
		return
	}
	sum := 0.0
	for _, p := range d.pairs(n) {
		if !d.oneOf(p.key, "errors", errorClasses) {
			continue
		}
		sub := join(path, p.key.Value)
		d.at[sub] = place(p)
		var c struct {
			Share      float64       `yaml:"share" unit:"share" min:"0%" max:"100%" short:"true" required:"true" help:"share of the attempts"`
			RetryAfter time.Duration `yaml:"retry_after" unit:"duration" min:"0s" help:"pause that a throttled answer asks for"`
		}
		d.body(sub, p.key.Value, p.value, &c)
		class, _ := call.ParseClass(p.key.Value)
		*e = append(*e, ErrorShare{Class: class, Share: c.Share, RetryAfter: c.RetryAfter})
		sum += c.Share
	}
	if sum > 1+1e-9 {
		d.report(n, fmt.Sprintf("the error shares add up to %s", formatShare(sum)), "at most 100% together")
	}
}

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
