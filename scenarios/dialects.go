package scenarios

import (
	"reflect"

	"blastradius/resilience"
	"blastradius/sim/call"
)

// DialectInfo is one dialect of the breaker with every key's value.
type DialectInfo struct {
	Name    string
	Of      string // library and version
	Known   string // own, observed or read
	About   string
	Differs string // what it does not follow, "" for nothing known
	Values  []KeyValue
}

// KeyValue is a key of the breaker and its value as a file writes it, "" for an
// absent one.
type KeyValue struct{ Key, Value string }

// Dialects lists the dialects of the breaker, this product's own first, the
// others by name. Each has the same keys in the same order, the verdicts of all
// outcomes last.
func Dialects() (out []DialectInfo) {
	names := append([]string{resilience.OwnDialect}, sortedKeys(resilience.Dialects)...)
	for i, name := range names {
		if i > 0 && name == resilience.OwnDialect {
			continue
		}
		d := resilience.Dialects[name]
		info := DialectInfo{Name: name, Of: d.Of, Known: d.Known, About: d.About, Differs: d.Differs}
		b := resilience.NewBreaker(name)
		for _, k := range fieldInfos("", reflect.ValueOf(b).Elem()) {
			if k.Path != "dialect" && k.Path != "verdicts" && k.Type != "map" {
				info.Values = append(info.Values, KeyValue{k.Path, k.Default})
			}
		}
		for class := range call.NumClasses {
			c := call.Class(class)
			info.Values = append(info.Values, KeyValue{"verdicts." + c.String(), b.Judges(c).String()})
		}
		out = append(out, info)
	}
	return out
}

// Value is the value of a key, "" for an absent one.
func (d *DialectInfo) Value(key string) string {
	for _, v := range d.Values {
		if v.Key == key {
			return v.Value
		}
	}
	return ""
}
