package scenarios

import (
	"reflect"
	"slices"
	"strconv"
)

// Paths lists every field that can be set, in the file's order: names joined
// by dots, layers and faults by their names.
func (f *File) Paths() []string {
	w := &pathWalker{}
	w.structure("", reflect.ValueOf(&f.scenario).Elem())
	return w.out
}

type pathWalker struct{ out []string }

func (w *pathWalker) structure(path string, v reflect.Value) {
	for _, f := range fieldsOf(v.Type()) {
		sub := join(path, f.key)
		if path == "" && slices.Contains([]string{"version", "arms", "expect", "name", "title", "about"}, f.key) {
			continue
		}
		w.out = append(w.out, sub)
		w.field(sub, v.FieldByIndex(f.index), f)
	}
}

func (w *pathWalker) field(path string, v reflect.Value, f field) {
	switch x := v.Addr().Interface().(type) {
	case *Stack:
		for _, l := range *x {
			sub := join(path, l.Name)
			w.out = append(w.out, sub)
			w.structure(sub, reflect.ValueOf(l.Config).Elem())
		}
		return
	case *Faults:
		for i := range *x {
			one := &(*x)[i]
			sub := join(path, one.Name)
			w.out = append(w.out, sub)
			w.structure(sub, reflect.ValueOf(one.Config).Elem())
			w.structure(sub, reflect.ValueOf(&one.Timeline).Elem())
		}
		return
	case *Errors:
		for _, c := range errorClasses {
			w.out = append(w.out, join(path, c))
		}
		return
	case custom:
		return
	}
	switch {
	case v.Kind() == reflect.Interface:
		w.kind(path, v)
	case v.Kind() == reflect.Pointer && !v.IsNil():
		w.structure(path, v.Elem())
	case v.Kind() == reflect.Pointer:
		w.structure(path, reflect.New(v.Type().Elem()).Elem())
	case v.Kind() == reflect.Struct:
		w.structure(path, v)
	case v.Kind() == reflect.Map:
		for _, k := range f.keys {
			w.out = append(w.out, join(path, k))
		}
	case f.named:
		for i := range v.Len() {
			sub := join(path, v.Index(i).FieldByName("Name").String())
			w.out = append(w.out, sub)
			w.structure(sub, v.Index(i))
		}
	case f.list:
		for i := range v.Len() {
			sub := join(path, strconv.Itoa(i+1))
			w.out = append(w.out, sub)
			w.structure(sub, v.Index(i))
		}
	}
}

// kind lists the kinds that a field can be set to, and the fields of the one
// it has.
func (w *pathWalker) kind(path string, v reflect.Value) {
	fam := families[v.Type()]
	has := ""
	if !v.IsNil() {
		has = nameOf(v.Interface(), fam)
	}
	for _, n := range fam.names {
		if _, inline := fam.make(n).(interface{ InlineKeys() []string }); inline {
			if n == has {
				w.structure(path, v.Elem().Elem())
			}
			continue
		}
		w.out = append(w.out, join(path, n))
		if n == has {
			w.structure(join(path, n), v.Elem().Elem())
		}
	}
}
