package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
)

// Schema is the version of the saved form that is written and read.
const Schema = 1

// JSON is the saved form of a result: keys in the order of the types, maps
// sorted, times rounded to the nanosecond, absent lists empty; the same result
// gives the same bytes. A figure that is no number is an error that names it.
func JSON(r *Result) ([]byte, error) {
	if where := notANumber(reflect.ValueOf(r).Elem(), ""); where != "" {
		return nil, fmt.Errorf("report: %s is not a number and cannot be saved", where)
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(tidy(r)); err != nil {
		return nil, fmt.Errorf("report: saving the result: %w", err)
	}
	return layOut(out.Bytes()), nil
}

// Write saves r.
func Write(w io.Writer, r *Result) error {
	data, err := JSON(r)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// notANumber finds a NaN or an infinity and says where it stands, e.g.
// arms.contained.phases.fault.metrics.endpoint.search.slo_rate.
func notANumber(v reflect.Value, path string) string {
	switch v.Kind() {
	case reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return path
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return notANumber(v.Elem(), path)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if where := notANumber(v.Field(i), join(path, jsonName(v.Type().Field(i)))); where != "" {
				return where
			}
		}
	case reflect.Map:
		var first string // of the keys in their order, so that the message does not change
		for _, k := range v.MapKeys() {
			if where := notANumber(v.MapIndex(k), join(path, k.String())); where != "" && (first == "" || where < first) {
				first = where
			}
		}
		return first
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return ""
		}
		for i := range v.Len() {
			if where := notANumber(v.Index(i), join(path, elementName(v.Index(i), i))); where != "" {
				return where
			}
		}
	}
	return ""
}

// elementName is how a list's element is called in a path: by its name where
// it has one.
func elementName(v reflect.Value, i int) string {
	if v.Kind() == reflect.Struct {
		if name := v.FieldByName("Name"); name.IsValid() && name.String() != "" {
			return name.String()
		}
	}
	return fmt.Sprint(i)
}

func jsonName(f reflect.StructField) string {
	name, _, _ := bytes.Cut([]byte(f.Tag.Get("json")), []byte(","))
	return string(name)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// layOut breaks the compact form into lines: the outer objects and lists one
// element a line, what is deeper (a row of a series, a phase's figures) on the
// line of its key. Short enough to read, and a difference shows by line.
func layOut(compact []byte) []byte {
	const deepest = 4
	out := make([]byte, 0, len(compact)+len(compact)/16)
	depth, inText := 0, false
	newline := func() {
		out = append(out, '\n')
		for range depth {
			out = append(out, ' ')
		}
	}
	for i, c := range compact {
		switch {
		case inText:
			out = append(out, c)
			escaped := false
			for k := i - 1; compact[k] == '\\'; k-- {
				escaped = !escaped
			}
			inText = c != '"' || escaped
		case c == '"':
			out = append(out, c)
			inText = true
		case c == '{' || c == '[':
			out = append(out, c)
			if depth++; depth <= deepest && compact[i+1] != c+2 {
				newline()
			}
		case c == '}' || c == ']':
			if depth--; depth < deepest && compact[i-1] != c-2 {
				newline()
			}
			out = append(out, c)
		case c == ',':
			out = append(out, c)
			if depth <= deepest {
				newline()
			}
		case c == ':':
			out = append(out, c)
			if depth <= deepest {
				out = append(out, ' ')
			}
		default:
			out = append(out, c)
		}
	}
	return out
}
