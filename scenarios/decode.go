package scenarios

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// decoder turns a YAML tree into tagged structs and notes every problem with
// its place. It never stops at the first.
type decoder struct {
	problems []Problem
	at       map[string]place // where the file gives what, by path
	budget   int              // nodes it will still look at: a bomb of aliases ends here
}

// place is a key and its value in the file. key is nil in lists.
type place struct{ key, value *yaml.Node }

// custom is implemented by types that read a YAML form of their own.
type custom interface {
	decode(d *decoder, path string, n *yaml.Node)
	encode(e *encoder, path string) *yaml.Node
}

// defaulter fills in defaults before decoding.
type defaulter interface{ SetDefaults() }

// presetter is implemented by structs with a key tagged preset, which names a
// set of values for all the others.
type presetter interface{ UsePreset(name string) }

// chooser is implemented by structs that want to know which keys were given.
type chooser interface{ Chose(keys map[string]bool) }

const maxNodes = 200_000

func (d *decoder) report(n *yaml.Node, text, hint string) *Problem {
	p := Problem{Text: text, Hint: hint, Width: 1}
	if n != nil {
		p.Line, p.Col = n.Line, n.Column
		if n.Kind == yaml.ScalarNode {
			p.Width = max(1, len([]rune(n.Value)))
			if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
				p.Width += 2
			}
			if strings.Contains(n.Value, "\n") {
				p.Width = 1
			}
		}
	}
	d.problems = append(d.problems, p)
	return &d.problems[len(d.problems)-1]
}

// resolve follows aliases and counts the nodes looked at.
func (d *decoder) resolve(n *yaml.Node) *yaml.Node {
	for range 8 {
		if n == nil || n.Kind != yaml.AliasNode {
			break
		}
		n = n.Alias
	}
	if d.budget--; d.budget == 0 {
		d.report(n, "the file's aliases expand to too much", "write the parts out")
	}
	if d.budget <= 0 {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	}
	return n
}

// structure decodes a mapping into the tagged struct v.
func (d *decoder) structure(path string, n *yaml.Node, v reflect.Value) {
	n = d.resolve(n)
	if n.Kind != yaml.MappingNode {
		if isNull(n) {
			d.required(path, n, v, nil)
			return
		}
		d.report(n, fmt.Sprintf("%s takes a map of keys, not %s", last(path), form(n)), "").Note = allowed(fieldsOf(v.Type()))
		return
	}
	d.fields(path, n, d.pairs(n), v, nil)
}

// fields decodes the given pairs into v; keys in besides are somebody else's.
func (d *decoder) fields(path string, n *yaml.Node, pairs []pair, v reflect.Value, besides []string) {
	fields := fieldsOf(v.Type())
	given := map[string]bool{}
	d.preset(path, pairs, v, fields)
	for _, p := range pairs {
		if slices.Contains(besides, p.key.Value) {
			continue
		}
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == p.key.Value })
		if i < 0 {
			d.unknownKey(path, p.key, fields)
			continue
		}
		f := fields[i]
		given[f.key] = true
		sub := join(path, f.key)
		d.at[sub] = place(p)
		d.value(sub, p.value, v.FieldByIndex(f.index), f)
	}
	d.required(path, n, v, given)
	if c, ok := v.Addr().Interface().(chooser); ok {
		c.Chose(given)
	}
}

// preset applies the key that sets all others to values of its own, before the
// others are read.
func (d *decoder) preset(path string, pairs []pair, v reflect.Value, fields []field) {
	p, ok := v.Addr().Interface().(presetter)
	if !ok {
		return
	}
	for _, pair := range pairs {
		i := slices.IndexFunc(fields, func(f field) bool { return f.preset && f.key == pair.key.Value })
		if i < 0 {
			continue
		}
		if value := d.resolve(pair.value); value.Kind == yaml.ScalarNode && slices.Contains(fields[i].enum, value.Value) {
			p.UsePreset(value.Value)
		}
	}
}

func (d *decoder) required(path string, n *yaml.Node, v reflect.Value, given map[string]bool) {
	for _, f := range fieldsOf(v.Type()) {
		if f.required && !given[f.key] {
			where := n
			if p, ok := d.at[path]; ok && p.key != nil {
				where = p.key
			}
			text := fmt.Sprintf("%s is missing", f.key)
			if path != "" {
				text += " in " + path
			}
			d.report(where, text, f.help)
		}
	}
}

func (d *decoder) unknownKey(path string, key *yaml.Node, fields []field) {
	text := fmt.Sprintf("unknown key %q", key.Value)
	if path != "" {
		text += " in " + path
	}
	hint := ""
	if near, ok := nearestKey(key.Value, fields); ok {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	d.report(key, text, hint).Note = allowed(fields)
}

// nearestKey knows other tools' words before it guesses.
func nearestKey(word string, fields []field) (string, bool) {
	for _, f := range fields {
		for _, other := range f.also {
			if fold(other) == fold(word) {
				return f.key, true
			}
		}
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.key
	}
	return Nearest(word, names)
}

func allowed(fields []field) string {
	names := make([]string, 0, len(fields))
	for _, f := range fields {
		names = append(names, f.key)
	}
	slices.Sort(names)
	return "keys allowed here: " + strings.Join(names, ", ")
}

func join(path, key string) string {
	switch {
	case path == "":
		return key
	case key == "":
		return path
	}
	return path + "." + key
}

// last is the last name of a path, "the file" for none.
func last(path string) string {
	if path == "" {
		return "the file"
	}
	return path[strings.LastIndexByte(path, '.')+1:]
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
