package scenarios

import (
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v4"

	"blastradius/faults"
)

var _ custom = (*Faults)(nil)

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

func (f *Faults) encode(e *encoder, path string) *yaml.Node {
	if len(*f) == 0 {
		return nil
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, one := range *f {
		sub := join(path, one.Name)
		item := mapping(false)
		body := e.structure(sub, reflect.ValueOf(one.Config).Elem())
		if len(body.Content) == 0 {
			body.Style = yaml.FlowStyle
		}
		put(item, one.Kind, body)
		rest := e.structure(sub, reflect.ValueOf(&one.Timeline).Elem())
		item.Content = append(item.Content, rest.Content...)
		list.Content = append(list.Content, item)
	}
	return list
}
