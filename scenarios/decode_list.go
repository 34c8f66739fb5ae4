package scenarios

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"blastradius/sim/dist"
)

// wordMap decodes a map from word to word.
func (d *decoder) wordMap(path string, n *yaml.Node, v reflect.Value, f field) {
	if n.Kind != yaml.MappingNode {
		d.report(n, fmt.Sprintf("%s takes a map, not %s", f.key, form(n)), fmt.Sprintf("{%s: %s}", f.keys[0], f.enum[0]))
		return
	}
	out := map[string]string{}
	for _, p := range d.pairs(n) {
		value := d.resolve(p.value)
		if d.oneOf(p.key, f.key, f.keys) && d.oneOf(value, p.key.Value, f.enum) {
			out[p.key.Value] = value.Value
			d.at[join(path, p.key.Value)] = place(p)
		}
	}
	v.Set(reflect.ValueOf(out))
}

// namedList decodes a map from name to struct and keeps its order.
func (d *decoder) namedList(path string, n *yaml.Node, v reflect.Value) {
	what := strings.TrimSuffix(last(path), "s")
	if what == "dependencie" {
		what = "dependency"
	}
	if isNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		d.report(n, fmt.Sprintf("%s takes a map of names, not %s", last(path), form(n)), "")
		return
	}
	for _, p := range d.pairs(n) {
		if !d.name(p.key, what) {
			continue
		}
		item := reflect.New(v.Type().Elem())
		if x, ok := item.Interface().(defaulter); ok {
			x.SetDefaults()
		}
		item.Elem().FieldByName("Name").SetString(p.key.Value)
		sub := join(path, p.key.Value)
		d.at[sub] = place(p)
		d.body(sub, what, p.value, item.Interface())
		v.Set(reflect.Append(v, item.Elem()))
	}
}

// list decodes a list of words, durations or structs.
func (d *decoder) list(path string, n *yaml.Node, v reflect.Value, f field) {
	if n.Kind != yaml.SequenceNode {
		if n.Kind == yaml.ScalarNode && !isNull(n) && v.Type().Elem().Kind() != reflect.Struct {
			n = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}, Line: n.Line, Column: n.Column}
		} else {
			d.report(n, fmt.Sprintf("%s takes a list, not %s", f.key, form(n)), "")
			return
		}
	}
	out := reflect.MakeSlice(v.Type(), 0, len(n.Content))
	element := f
	for i, c := range n.Content {
		item := reflect.New(v.Type().Elem()).Elem()
		sub := join(path, strconv.Itoa(i+1))
		d.at[sub] = place{nil, c}
		if item.Kind() == reflect.Struct {
			d.structure(sub, c, item)
		} else {
			d.value(sub, c, item, element)
		}
		out = reflect.Append(out, item)
	}
	v.Set(out)
}

// table decodes a map of percentiles.
func (d *decoder) table(path string, n *yaml.Node, v reflect.Value) {
	var out []dist.Point
	for _, p := range d.pairs(n) {
		share, err := ParseShare(p.key.Value)
		if err != nil {
			d.reportValue(p.key, err)
			continue
		}
		if share < 0 || share > 1 {
			d.report(p.key, fmt.Sprintf("percentile %s is not between 0%% and 100%%", p.key.Value), "")
			continue
		}
		d.at[join(path, p.key.Value)] = place(p)
		if x, ok := d.duration(d.resolve(p.value), field{key: p.key.Value, min: "0s"}); ok {
			out = append(out, dist.Point{P: share, Value: x})
		}
	}
	v.Set(reflect.ValueOf(out))
}
