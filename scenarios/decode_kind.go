package scenarios

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"blastradius/resilience"
	"blastradius/sim/dist"
	"blastradius/sim/load"
	"blastradius/sim/spec"
)

// family is a set of registered kinds of one interface.
type family struct {
	what   string // "latency"
	scalar string // the kind that a bare value stands for
	// scalars are all such kinds where there are several; scalarOf tells which.
	scalars  []string
	scalarOf func(value string) string
	names    []string
	make     func(name string) any
}

// families are the interfaces whose values are registered kinds.
var families = map[reflect.Type]*family{
	reflect.TypeFor[dist.Kind]():               newFamily("latency", dist.Scalar, dist.Kinds),
	reflect.TypeFor[load.Config]():             newFamily("arrivals", "", load.Kinds),
	reflect.TypeFor[resilience.Backoff]():      newFamily("backoff", "", resilience.Backoffs),
	reflect.TypeFor[resilience.WindowKind]():   windows(),
	reflect.TypeFor[resilience.Limiter]():      newFamily("limit", resilience.DefaultLimiter, resilience.Limiters),
	reflect.TypeFor[resilience.Algorithm]():    newFamily("algorithm", "", resilience.Algorithms),
	reflect.TypeFor[resilience.ThrottleRule](): newFamily("rule", "", resilience.ThrottleRules),
	reflect.TypeFor[resilience.Jitter]():       newFamily("jitter", "", resilience.Jitters),
	reflect.TypeFor[resilience.BudgetConfig](): newFamily("budget", "", resilience.Budgets),
	reflect.TypeFor[resilience.HedgeDelay]():   newFamily("delay", resilience.FixedHedgeDelay, resilience.HedgeDelays),
}

// windows are the kinds of window, where a bare value is a number of calls or a
// duration.
func windows() *family {
	f := newFamily("window", "calls", resilience.Windows)
	f.scalars = []string{"calls", "sliding"}
	f.scalarOf = resilience.WindowScalar
	return f
}

func newFamily[T any](what, scalar string, kinds map[string]func() T) *family {
	return &family{what: what, scalar: scalar, names: sortedKeys(kinds), make: func(n string) any { return kinds[n]() }}
}

// kind decodes a value of a registered family.
func (d *decoder) kind(path string, n *yaml.Node, fam *family) any {
	n = d.resolve(n)
	switch n.Kind {
	case yaml.ScalarNode:
		if slices.Contains(fam.names, n.Value) {
			k := fam.make(n.Value)
			d.body(join(path, n.Value), n.Value, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: n.Line, Column: n.Column}, k)
			return k
		}
		if fam.scalar != "" && !isNull(n) {
			name := fam.scalar
			if fam.scalarOf != nil {
				name = fam.scalarOf(n.Value)
			}
			k := fam.make(name)
			d.body(join(path, name), name, n, k)
			return k
		}
	case yaml.MappingNode:
		pairs := d.pairs(n)
		if name, k, ok := d.inline(pairs, fam); ok {
			d.fields(path, n, pairs, reflect.ValueOf(k).Elem(), nil)
			d.validate(path, n, k.(interface{ Validate() []spec.Problem }).Validate)
			_ = name
			return k
		}
		if k, ok := d.named(path, n, pairs, fam); ok {
			return k
		}
		return nil
	}
	hint := "e.g. " + exampleOf(fam)
	if near, ok := Nearest(n.Value, fam.names); ok && n.Kind == yaml.ScalarNode {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	d.report(n, fmt.Sprintf("%s is not %s", quoteForm(n), article(fam.what)), hint).Note = "kinds of " + fam.what + ": " + strings.Join(fam.names, ", ")
	return nil
}

// inline finds the kind whose keys these are, where its map has no kind name.
func (d *decoder) inline(pairs []pair, fam *family) (string, any, bool) {
	best, bestName, bestHits := any(nil), "", 0
	for _, name := range fam.names {
		k := fam.make(name)
		in, ok := k.(interface{ InlineKeys() []string })
		if !ok {
			continue
		}
		hits := 0
		for _, p := range pairs {
			if slices.Contains(in.InlineKeys(), p.key.Value) {
				hits++
			} else {
				hits--
			}
		}
		if hits > bestHits {
			best, bestName, bestHits = k, name, hits
		}
	}
	return bestName, best, best != nil
}

// named decodes {kind: settings}, with the keys that stand beside a kind.
func (d *decoder) named(path string, n *yaml.Node, pairs []pair, fam *family) (any, bool) {
	var main *pair
	for i, p := range pairs {
		if slices.Contains(fam.names, p.key.Value) {
			if main != nil {
				d.report(p.key, fmt.Sprintf("%s and %s are two kinds of %s", main.key.Value, p.key.Value, fam.what), "keep one")
				return nil, false
			}
			main = &pairs[i]
		}
	}
	if main == nil {
		if len(pairs) == 0 {
			d.report(n, fam.what+" is empty", "e.g. "+exampleOf(fam))
			return nil, false
		}
		key := pairs[0].key
		hint := "e.g. " + exampleOf(fam)
		if near, ok := Nearest(key.Value, fam.names); ok {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		d.report(key, fmt.Sprintf("unknown kind of %s %q", fam.what, key.Value), hint).Note = "kinds of " + fam.what + ": " + strings.Join(fam.names, ", ")
		return nil, false
	}
	name := main.key.Value
	k := fam.make(name)
	sub := join(path, name)
	d.at[sub] = place{main.key, main.value}
	v := reflect.ValueOf(k).Elem()
	var beside []pair
	for _, p := range pairs {
		if p.key == main.key {
			continue
		}
		if slices.ContainsFunc(fieldsOf(v.Type()), func(f field) bool { return f.beside && f.key == p.key.Value }) {
			beside = append(beside, p)
			continue
		}
		d.report(p.key, fmt.Sprintf("unknown key %q beside %s", p.key.Value, name), "")
	}
	for _, p := range beside {
		for _, f := range fieldsOf(v.Type()) {
			if f.key == p.key.Value {
				d.at[join(sub, f.key)] = place(p)
				d.value(join(sub, f.key), p.value, v.FieldByIndex(f.index), f)
			}
		}
	}
	d.body(sub, name, main.value, k)
	return k, true
}

func exampleOf(fam *family) string {
	name := fam.scalar
	if name == "" {
		name = fam.names[len(fam.names)-1]
		if slices.Contains(fam.names, "poisson") {
			name = "poisson"
		}
	}
	if x, ok := fam.make(name).(interface{ Example() string }); ok {
		return x.Example()
	}
	return name
}

func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
