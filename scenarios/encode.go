package scenarios

import (
	"reflect"
	"strconv"
	"time"

	"go.yaml.in/yaml/v4"

	"blastradius/resilience"
)

// encoder writes a decoded scenario back, every default included and marked.
type encoder struct {
	given map[string]place // what the file gave
}

const defaultMark = "default"

// structure writes the keys of a tagged struct.
func (e *encoder) structure(path string, v reflect.Value) *yaml.Node {
	m := mapping(false)
	usual := usualValues(v)
	for _, f := range fieldsOf(v.Type()) {
		fv := v.FieldByIndex(f.index)
		sub := join(path, f.key)
		if f.quiet && usual.IsValid() && reflect.DeepEqual(fv.Interface(), usual.FieldByIndex(f.index).Interface()) {
			continue
		}
		n := e.value(sub, fv, f)
		if n == nil {
			continue
		}
		if _, ok := e.given[sub]; !ok && n.Kind == yaml.ScalarNode {
			n.LineComment = defaultMark
		}
		put(m, f.key, n)
	}
	return m
}

// usualValues is what v's quiet keys are compared with: a struct of its kind with
// the values that a file without those keys gets. None where v has a preset of
// its own: then all of its keys are worth showing.
func usualValues(v reflect.Value) reflect.Value {
	fresh := reflect.New(v.Type())
	p, ok := fresh.Interface().(presetter)
	if !ok {
		return reflect.Value{}
	}
	for _, f := range fieldsOf(v.Type()) {
		if f.preset && v.FieldByIndex(f.index).String() != resilience.OwnDialect {
			return reflect.Value{}
		}
	}
	p.UsePreset(resilience.OwnDialect)
	return fresh.Elem()
}

// value writes one field, nil when there is nothing to write.
func (e *encoder) value(path string, v reflect.Value, f field) *yaml.Node {
	if v.CanAddr() {
		if c, ok := v.Addr().Interface().(custom); ok {
			return c.encode(e, path)
		}
	}
	switch {
	case v.Type() == typeDuration:
		return e.duration(path, time.Duration(v.Int()), f)
	case v.Kind() == reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return e.kind(path, v.Interface(), families[v.Type()])
	case v.Kind() == reflect.Float64:
		return e.float(v.Float(), f)
	case v.Kind() == reflect.Int:
		switch {
		case f.unbounded && v.Int() < 0:
			return plain("unbounded")
		case v.Int() == 0 && f.min == "1":
			return nil // an absent rule, such as consecutive
		}
		return plain(strconv.FormatInt(v.Int(), 10))
	case v.Kind() == reflect.Uint64:
		return plain(strconv.FormatUint(v.Uint(), 10))
	case v.Kind() == reflect.Bool:
		return plain(strconv.FormatBool(v.Bool()))
	case v.Kind() == reflect.String:
		if v.String() == "" {
			return nil
		}
		return word(v.String())
	case v.Kind() == reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return e.structure(path, v.Elem())
	case v.Kind() == reflect.Struct:
		if m := e.structure(path, v); len(m.Content) > 0 {
			return m
		}
		return nil
	case v.Kind() == reflect.Map:
		return e.wordMap(v)
	case f.named:
		return e.namedList(path, v)
	default:
		return e.list(path, v, f)
	}
}

func (e *encoder) duration(path string, d time.Duration, f field) *yaml.Node {
	switch {
	case f.forever && d < 0:
		return plain("forever")
	case f.none && d == 0:
		return plain("none")
	case d == 0 && f.implied != "":
		return nil // stands for another field
	case d == 0 && f.openMin:
		return nil // absent
	}
	if _, given := e.given[path]; d == 0 && !given && f.key == "max_age" {
		return nil
	}
	return plain(formatDuration(d))
}

func (e *encoder) float(x float64, f field) *yaml.Node {
	if f.none && x == 0 {
		return plain("none")
	}
	switch f.unit {
	case "rate":
		return plain(formatRate(x))
	case "share":
		return plain(formatShare(x))
	}
	if x == 0 && f.openMin {
		return nil
	}
	return plain(strconv.FormatFloat(x, 'g', -1, 64))
}

func (e *encoder) wordMap(v reflect.Value) *yaml.Node {
	if v.Len() == 0 {
		return nil
	}
	m := mapping(true)
	words := v.Interface().(map[string]string)
	for _, k := range sortedKeys(words) {
		put(m, k, plain(words[k]))
	}
	return m
}

func (e *encoder) namedList(path string, v reflect.Value) *yaml.Node {
	if v.Len() == 0 {
		return nil
	}
	m := mapping(false)
	for i := range v.Len() {
		name := v.Index(i).FieldByName("Name").String()
		put(m, name, e.structure(join(path, name), v.Index(i)))
	}
	return m
}

func (e *encoder) list(path string, v reflect.Value, f field) *yaml.Node {
	if v.Len() == 0 {
		return nil
	}
	s := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for i := range v.Len() {
		item := v.Index(i)
		sub := join(path, strconv.Itoa(i+1))
		if item.Kind() == reflect.Struct {
			m := e.structure(sub, item)
			m.Style = yaml.FlowStyle
			strip(m)
			s.Content = append(s.Content, m)
		} else {
			s.Content = append(s.Content, e.value(sub, item, f))
		}
	}
	return s
}

// strip takes the marks out of a node that is written on one line.
func strip(n *yaml.Node) {
	n.LineComment = ""
	for _, c := range n.Content {
		strip(c)
	}
}
