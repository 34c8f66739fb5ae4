package cli

import (
	"slices"
	"strings"

	"blastradius/scenarios"
)

// kindRow is one registered kind with its fields.
type kindRow struct {
	family  string // layers, faults, latency, …
	name    string
	help    string
	example string // a line of YAML
	fields  []keyRow
}

// keyRow is one key of a scenario file, or of a kind.
type keyRow struct {
	path  string // breaker.cooldown, or cooldown alone as a field of its kind
	unit  string
	value string // default, or "required"
	limit string // range in words, "" for none
	help  string
	also  []string // other tools' words for it
}

// facts are the unit, the default and the range on one line.
func (k keyRow) facts() string {
	parts := []string{k.unit}
	if k.value != "" {
		parts = append(parts, k.value)
	}
	if k.limit != "" {
		parts = append(parts, k.limit)
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// kindRows are all registered kinds, family by family.
func kindRows() (out []kindRow) {
	for _, k := range scenarios.Kinds() {
		row := kindRow{family: k.Family, name: k.Name, help: k.Help, example: k.Example}
		for _, f := range k.Fields {
			row.fields = append(row.fields, keyRowOf(f))
		}
		out = append(out, row)
	}
	return out
}

// keyRows are all keys outside of the kinds.
func keyRows() (out []keyRow) {
	for _, k := range scenarios.Keys() {
		out = append(out, keyRowOf(k))
	}
	return out
}

func keyRowOf(k scenarios.KeyInfo) keyRow {
	row := keyRow{path: k.Path, unit: k.Type, limit: k.Range, help: k.Help, also: k.Also}
	switch {
	case k.Required:
		row.value = "required"
	case k.Default != "":
		row.value = "default " + k.Default
	}
	return row
}
