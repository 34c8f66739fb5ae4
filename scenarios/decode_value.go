package scenarios

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

var typeDuration = reflect.TypeFor[time.Duration]()

// value decodes one field.
func (d *decoder) value(path string, n *yaml.Node, v reflect.Value, f field) {
	n = d.resolve(n)
	if v.CanAddr() {
		if c, ok := v.Addr().Interface().(custom); ok {
			c.decode(d, path, n)
			return
		}
	}
	switch {
	case v.Type() == typeDuration:
		if x, ok := d.duration(n, f); ok {
			v.SetInt(int64(x))
		}
	case v.Kind() == reflect.Interface:
		fam := families[v.Type()]
		if k := d.kind(path, n, fam); k != nil {
			v.Set(reflect.ValueOf(k))
		}
	case v.Kind() == reflect.Float64:
		if x, ok := d.float(n, f); ok {
			v.SetFloat(x)
		}
	case v.Kind() == reflect.Int:
		if x, ok := d.count(n, f); ok {
			v.SetInt(int64(x))
		}
	case v.Kind() == reflect.Uint64:
		d.seed(n, v)
	case v.Kind() == reflect.Bool:
		d.flag(n, v)
	case v.Kind() == reflect.String:
		d.text(path, n, v, f)
	case v.Kind() == reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		if x, ok := p.Interface().(defaulter); ok {
			x.SetDefaults()
		}
		d.body(path, last(path), n, p.Interface())
		v.Set(p)
	case v.Kind() == reflect.Struct:
		d.structure(path, n, v)
	case v.Kind() == reflect.Map:
		d.wordMap(path, n, v, f)
	case v.Kind() == reflect.Slice && f.named:
		d.namedList(path, n, v)
	case v.Kind() == reflect.Slice:
		d.list(path, n, v, f)
	default:
		panic("scenarios: no decoder for " + v.Type().String())
	}
}

func (d *decoder) scalar(n *yaml.Node, what string) (string, bool) {
	if n.Kind != yaml.ScalarNode || isNull(n) {
		d.report(n, fmt.Sprintf("%s is wanted here, not %s", what, form(n)), "")
		return "", false
	}
	return n.Value, true
}

func (d *decoder) reportValue(n *yaml.Node, err error) {
	hint := ""
	if u, ok := err.(*unitError); ok {
		hint = u.hint
	}
	d.report(n, err.Error(), hint)
}

func (d *decoder) duration(n *yaml.Node, f field) (time.Duration, bool) {
	s, ok := d.scalar(n, "a duration")
	if !ok {
		return 0, false
	}
	switch {
	case f.forever && s == "forever":
		return -1, true
	case f.none && s == "none":
		return 0, true
	}
	x, err := ParseDuration(s)
	if err != nil {
		d.reportValue(n, err)
		return 0, false
	}
	return x, d.inRange(n, f, float64(x), func(s string) float64 { b, _ := time.ParseDuration(s); return float64(b) })
}

// inRange holds a value against the field's bounds.
func (d *decoder) inRange(n *yaml.Node, f field, x float64, parse func(string) float64) bool {
	name := f.key
	if f.min != "" {
		if b := parse(f.min); x < b || f.openMin && x == b {
			switch {
			case f.openMin:
				d.report(n, fmt.Sprintf("%s must be above %s, not %s", name, f.min, n.Value), "")
			case x < 0 && b == 0:
				d.report(n, fmt.Sprintf("%s cannot be negative", name), "")
			default:
				d.report(n, fmt.Sprintf("%s must be at least %s, not %s", name, f.min, n.Value), "")
			}
			return false
		}
	}
	if f.max != "" {
		if b := parse(f.max); x > b || f.openMax && x == b {
			word := "can be at most"
			if f.openMax {
				word = "must be below"
			}
			d.report(n, fmt.Sprintf("%s %s %s, not %s", name, word, f.max, n.Value), "")
			return false
		}
	}
	return true
}

func (d *decoder) float(n *yaml.Node, f field) (x float64, ok bool) {
	s, ok := d.scalar(n, map[string]string{"rate": "a rate", "share": "a share", "factor": "a number"}[f.unit])
	if !ok {
		return 0, false
	}
	if f.none && s == "none" {
		return 0, true
	}
	var err error
	switch f.unit {
	case "rate":
		x, err = ParseRate(s)
		ok = err == nil && d.inRange(n, f, x, func(s string) float64 { b, _ := ParseRate(s); return b })
	case "share":
		x, err = ParseShare(s)
		ok = err == nil && d.inRange(n, f, x, func(s string) float64 {
			b, _ := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
			return b / 100
		})
	default:
		x, err = strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			err = bad("e.g. 0.5", "%q is not a number", s)
		}
		ok = err == nil && d.inRange(n, f, x, func(s string) float64 { b, _ := strconv.ParseFloat(s, 64); return b })
	}
	if err != nil {
		d.reportValue(n, err)
	}
	return x, ok
}

func (d *decoder) count(n *yaml.Node, f field) (int, bool) {
	s, ok := d.scalar(n, "a whole number")
	if !ok {
		return 0, false
	}
	if f.unbounded && s == "unbounded" {
		return -1, true
	}
	x, err := ParseCount(s)
	if err != nil {
		d.reportValue(n, err)
		return 0, false
	}
	if x > math.MaxInt32 && f.max == "" {
		d.report(n, fmt.Sprintf("%s can be at most %d", f.key, math.MaxInt32), "")
		return 0, false
	}
	return x, d.inRange(n, f, float64(x), func(s string) float64 { b, _ := strconv.ParseFloat(s, 64); return b })
}

func (d *decoder) seed(n *yaml.Node, v reflect.Value) {
	s, ok := d.scalar(n, "a whole number")
	if !ok {
		return
	}
	x, err := strconv.ParseUint(strings.ReplaceAll(s, "_", ""), 0, 64)
	if err != nil {
		d.report(n, fmt.Sprintf("%q is not a seed", s), "a whole number from 0 to 18446744073709551615")
		return
	}
	v.SetUint(x)
}

func (d *decoder) flag(n *yaml.Node, v reflect.Value) {
	switch n.Value {
	case "true", "yes", "on":
		v.SetBool(true)
	case "false", "no", "off":
		v.SetBool(false)
	default:
		d.report(n, fmt.Sprintf("%s is neither true nor false", quoteForm(n)), "true or false")
	}
}
