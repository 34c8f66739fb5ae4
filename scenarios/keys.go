package scenarios

import (
	"reflect"
	"strconv"
	"strings"
	"sync"

	"blastradius/resilience"
)

// field is one key of a tagged struct.
type field struct {
	key       string
	index     []int
	unit      string
	help      string
	min, max  string
	openMin   bool
	openMax   bool
	enum      []string
	keys      []string // of a map
	also      []string // other tools' words
	implied   string   // what an omitted value stands for, in words
	required  bool
	short     bool
	list      bool
	named     bool
	beside    bool
	forever   bool
	unbounded bool
	none      bool
	preset    bool
	quiet     bool // written by explain only where it is not at its usual value
	pos       int
	typ       reflect.Type
}

var fieldCache sync.Map // reflect.Type → []field

// fieldsOf lists the keys of a tagged struct type, embedded ones included, in
// the order of declaration.
func fieldsOf(t reflect.Type) []field {
	if cached, ok := fieldCache.Load(t); ok {
		return cached.([]field)
	}
	var out []field
	for i := range t.NumField() {
		sf := t.Field(i)
		if sf.Tag.Get("embed") == "true" {
			for _, f := range fieldsOf(sf.Type) {
				f.index = append([]int{i}, f.index...)
				out = append(out, f)
			}
			continue
		}
		key := sf.Tag.Get("yaml")
		list := sf.Tag.Get("list") == "true"
		if key == "" || key == "-" && !list || !sf.IsExported() {
			continue
		}
		if key == "-" {
			key = strings.ToLower(sf.Name)
		}
		f := field{
			key: key, index: []int{i}, typ: sf.Type, unit: sf.Tag.Get("unit"), help: sf.Tag.Get("help"),
			min: sf.Tag.Get("min"), max: sf.Tag.Get("max"), implied: sf.Tag.Get("default"),
			required: sf.Tag.Get("required") == "true", short: sf.Tag.Get("short") == "true", list: list,
			named: sf.Tag.Get("named") == "true", beside: sf.Tag.Get("beside") == "true", forever: sf.Tag.Get("forever") == "true",
			unbounded: sf.Tag.Get("unbounded") == "true", none: sf.Tag.Get("none") == "true", preset: sf.Tag.Get("preset") == "true",
			quiet: sf.Tag.Get("quiet") == "true", pos: -1,
		}
		f.openMin = strings.Contains(sf.Tag.Get("open"), "min")
		f.openMax = strings.Contains(sf.Tag.Get("open"), "max")
		f.enum, f.keys, f.also = enumWords(sf.Tag.Get("enum")), words(sf.Tag.Get("keys")), words(sf.Tag.Get("also"))
		if p, err := strconv.Atoi(sf.Tag.Get("pos")); err == nil {
			f.pos = p
		}
		out = append(out, f)
	}
	fieldCache.Store(t, out)
	return out
}

// enumWords are the words of an enum tag; "@dialects" stands for the registered
// dialects.
func enumWords(tag string) []string {
	if tag == "@dialects" {
		return sortedKeys(resilience.Dialects)
	}
	return words(tag)
}

func words(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// tableOf finds a field that a map of percentiles fills.
func tableOf(v reflect.Value) (reflect.Value, bool) {
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("table") != "" {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

// Range says in words what values a key takes.
func (f field) rangeText() string {
	var parts []string
	if f.min != "" && !(f.min == "0" || f.min == "0s" || f.min == "0%" || f.min == "0/s") || f.openMin {
		word := "at least "
		if f.openMin {
			word = "above "
		}
		parts = append(parts, word+f.min)
	}
	if f.max != "" {
		word := "at most "
		if f.openMax {
			word = "below "
		}
		parts = append(parts, word+f.max)
	}
	if len(f.enum) > 0 {
		parts = append(parts, strings.Join(f.enum, " | "))
	}
	if f.forever {
		parts = append(parts, "or forever")
	}
	if f.unbounded {
		parts = append(parts, "or unbounded")
	}
	if f.none {
		parts = append(parts, "or none")
	}
	return strings.Join(parts, ", ")
}
