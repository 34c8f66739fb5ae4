package scenarios

import (
	"fmt"
	"reflect"
	"strconv"
	"time"

	"go.yaml.in/yaml/v4"

	"blastradius/resilience"
	"blastradius/sim/dist"
)

// encoder writes a decoded scenario back, every default included and marked.
type encoder struct {
	given map[string]place // what the file gave
}

const defaultMark = "default"

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

// structure writes the keys of a tagged struct.
func (e *encoder) structure(path string, v reflect.Value) *yaml.Node {
	m := mapping(false)
	for _, f := range fieldsOf(v.Type()) {
		fv := v.FieldByIndex(f.index)
		sub := join(path, f.key)
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

// value writes one field, nil when there is nothing to write.
func (e *encoder) value(path string, v reflect.Value, f field) *yaml.Node {
	if v.CanAddr() {
		if c, ok := v.Addr().Interface().(custom); ok {
			return c.encode(e, path)
		}
	}
	switch {
	case v.Type() == typeWindow:
		return plain(windowText(v.Interface().(resilience.Window)))
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

func windowText(w resilience.Window) string {
	if w.Span > 0 {
		return formatDuration(w.Span)
	}
	return strconv.Itoa(w.Calls)
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

// kind writes a value of a registered family in its shortest full form.
func (e *encoder) kind(path string, k any, fam *family) *yaml.Node {
	name := nameOf(k, fam)
	v := reflect.ValueOf(k).Elem()
	if _, ok := k.(interface{ InlineKeys() []string }); ok {
		m := e.structure(path, v)
		m.Style = yaml.FlowStyle
		strip(m)
		return m
	}
	sub := join(path, name)
	body := e.body(sub, v)
	strip(body)
	if name == fam.scalar {
		return body
	}
	if body.Kind == yaml.MappingNode && len(body.Content) == 0 {
		return plain(name)
	}
	m := mapping(true)
	put(m, name, body)
	for _, f := range fieldsOf(v.Type()) {
		if f.beside && body.Kind != yaml.MappingNode {
			put(m, f.key, e.value(join(sub, f.key), v.FieldByIndex(f.index), f))
		}
	}
	return m
}

// body writes the settings of a kind: its list, its table, its single value,
// or a map.
func (e *encoder) body(path string, v reflect.Value) *yaml.Node {
	if t, ok := tableOf(v); ok {
		m := mapping(true)
		for _, p := range t.Interface().([]dist.Point) {
			put(m, formatShare(p.P), plain(formatDuration(p.Value)))
		}
		return m
	}
	fields := fieldsOf(v.Type())
	positional := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	mains := 0
	for _, f := range fields {
		switch {
		case f.list:
			return e.list(join(path, f.key), v.FieldByIndex(f.index), f)
		case f.pos >= 0:
			positional.Content = append(positional.Content, e.value(join(path, f.key), v.FieldByIndex(f.index), f))
		case !f.beside:
			mains++
		}
	}
	if len(positional.Content) > 0 {
		return positional
	}
	if mains == 1 && fields[0].short {
		return e.value(join(path, fields[0].key), v.FieldByIndex(fields[0].index), fields[0])
	}
	m := e.structure(path, v)
	m.Style = yaml.FlowStyle
	return m
}

func nameOf(k any, fam *family) string {
	for _, n := range fam.names {
		if reflect.TypeOf(fam.make(n)) == reflect.TypeOf(k) {
			return n
		}
	}
	panic(fmt.Sprintf("scenarios: %T is not registered", k))
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

func (x *Errors) encode(_ *encoder, _ string) *yaml.Node {
	if len(*x) == 0 {
		return nil
	}
	m := mapping(true)
	for _, one := range *x {
		value := plain(formatShare(one.Share))
		if one.RetryAfter > 0 {
			value = mapping(true)
			put(value, "share", plain(formatShare(one.Share)))
			put(value, "retry_after", plain(formatDuration(one.RetryAfter)))
		}
		put(m, one.Class.String(), value)
	}
	return m
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
