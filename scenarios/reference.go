package scenarios

import (
	"reflect"
	"strings"

	"blastradius/faults"
	"blastradius/resilience"
	"blastradius/sim/dist"
	"blastradius/sim/load"
)

// KeyInfo is one key of a scenario file, or of a kind, as the reference shows
// it.
type KeyInfo struct {
	Path     string // endpoints.NAME.deadline; of a kind's field its name alone
	Type     string // duration, rate, share, count, a kind of latency, …
	Default  string // as a file writes it, "" for none
	Range    string // in words, "" for none
	Help     string
	Also     []string // other tools' words for it
	Required bool
}

// KindInfo is one registered kind with its fields.
type KindInfo struct {
	Family  string // layers, faults, latency, arrivals, backoff, limit, algorithm, rule, jitter, budget, delay
	Name    string
	Help    string
	Example string // a line of YAML
	Fields  []KeyInfo
}

// Kinds lists every registered kind, family by family in the order in which a
// request meets them, by name within.
func Kinds() (out []KindInfo) {
	out = append(out, kindsOf("arrivals", load.Kinds)...)
	out = append(out, kindsOf("layers", resilience.Layers)...)
	out = append(out, kindsOf("window", resilience.Windows)...)
	out = append(out, kindsOf("backoff", resilience.Backoffs)...)
	out = append(out, kindsOf("limit", resilience.Limiters)...)
	out = append(out, kindsOf("algorithm", resilience.Algorithms)...)
	out = append(out, kindsOf("rule", resilience.ThrottleRules)...)
	out = append(out, kindsOf("jitter", resilience.Jitters)...)
	out = append(out, kindsOf("budget", resilience.Budgets)...)
	out = append(out, kindsOf("delay", resilience.HedgeDelays)...)
	out = append(out, kindsOf("latency", dist.Kinds)...)
	return append(out, kindsOf("faults", faults.Kinds)...)
}

// describes is what every kind says of itself.
type describes interface {
	Help() string
	Example() string
}

func kindsOf[T any](family string, kinds map[string]func() T) (out []KindInfo) {
	for _, name := range sortedKeys(kinds) {
		k := any(kinds[name]())
		info := KindInfo{Family: family, Name: name, Fields: fieldInfos("", reflect.ValueOf(k).Elem())}
		if d, ok := k.(describes); ok {
			info.Help, info.Example = d.Help(), d.Example()
		}
		if family == "faults" {
			timeline := faults.NewTimeline()
			info.Fields = append(info.Fields, fieldInfos("", reflect.ValueOf(&timeline).Elem())...)
		}
		out = append(out, info)
	}
	return out
}

// fieldInfos describes the keys of a tagged struct that holds its defaults;
// blocks within it follow under their own path.
func fieldInfos(path string, v reflect.Value) (out []KeyInfo) {
	e := &encoder{}
	for _, f := range fieldsOf(v.Type()) {
		fv := v.FieldByIndex(f.index)
		info := KeyInfo{Path: join(path, f.key), Type: typeName(f), Range: f.rangeText(), Help: f.help, Also: f.also, Required: f.required}
		if !f.required && f.typ.Kind() != reflect.Struct {
			if n := e.value(info.Path, fv, f); n != nil {
				info.Default = flow(n)
			}
		}
		if f.implied != "" && fv.IsZero() {
			info.Default = "the " + f.implied
		}
		out = append(out, info)
		out = append(out, inside(info.Path, fv, f)...)
	}
	return out
}

// inside describes what stands under a key.
func inside(path string, v reflect.Value, f field) []KeyInfo {
	if v.CanAddr() {
		if _, ok := v.Addr().Interface().(custom); ok {
			return nil
		}
	}
	t := f.typ
	switch {
	case f.named:
		t, path = t.Elem(), join(path, "NAME")
	case f.list:
		t = t.Elem()
	case t.Kind() == reflect.Pointer:
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	if t == f.typ && v.CanAddr() {
		return fieldInfos(path, v)
	}
	fresh := reflect.New(t)
	if d, ok := fresh.Interface().(defaulter); ok {
		d.SetDefaults()
	}
	return fieldInfos(path, fresh.Elem())
}

// typeName says what a key takes.
func typeName(f field) string {
	switch {
	case f.typ.Kind() == reflect.Bool:
		return "true or false"
	case f.unit != "":
		return f.unit
	case len(f.enum) > 0 && f.typ.Kind() == reflect.Slice:
		return "list of words"
	case len(f.keys) > 0:
		return "map of words"
	case len(f.enum) > 0:
		return "word"
	case f.typ.Kind() == reflect.Interface:
		return article(families[f.typ].what)
	case f.named:
		return "map of names"
	case f.typ.Kind() == reflect.Slice:
		return "list"
	case f.typ == reflect.TypeFor[Errors](), f.typ == reflect.TypeFor[Assignments]():
		return "map"
	}
	return "map"
}

// Keys lists every key of a file outside of the kinds, in the order of the
// file: names of endpoints and the like as NAME.
func Keys() []KeyInfo {
	s := &Scenario{}
	s.SetDefaults()
	keys := fieldInfos("", reflect.ValueOf(s).Elem())
	for i := range keys {
		keys[i].Path = strings.TrimPrefix(keys[i].Path, ".")
	}
	return keys
}
