package scenarios

import (
	"fmt"

	"go.yaml.in/yaml/v4"
)

// pair is one key of a mapping, merges expanded.
type pair struct{ key, value *yaml.Node }

// pairs lists a mapping's keys, with those of merged maps (<<) that it does not
// give itself, and reports the ones given twice.
func (d *decoder) pairs(n *yaml.Node) []pair {
	var own, merged []pair
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := d.resolve(n.Content[i]), n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			d.report(k, "a key must be a single word", "")
			continue
		}
		if k.Tag == "!!merge" || k.Value == "<<" {
			merged = append(merged, d.merge(v)...)
			continue
		}
		if first := seen[k.Value]; first != nil {
			d.report(k, fmt.Sprintf("key %q is given twice", k.Value), fmt.Sprintf("first in line %d", first.Line))
			continue
		}
		seen[k.Value] = k
		own = append(own, pair{k, v})
	}
	for _, m := range merged {
		if seen[m.key.Value] == nil {
			seen[m.key.Value] = m.key
			own = append(own, m)
		}
	}
	return own
}

func (d *decoder) merge(v *yaml.Node) []pair {
	v = d.resolve(v)
	if v.Kind == yaml.SequenceNode {
		var out []pair
		for _, c := range v.Content {
			out = append(out, d.merge(c)...)
		}
		return out
	}
	if v.Kind != yaml.MappingNode {
		d.report(v, "<< takes a map, or a list of maps", "")
		return nil
	}
	if d.budget <= 0 {
		return nil
	}
	return d.pairs(v)
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// words for a node's form, in the file's terms.
func form(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a map"
	}
	if isNull(n) {
		return "nothing"
	}
	return "a single value"
}

func quoteForm(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && !isNull(n) {
		return fmt.Sprintf("%q", n.Value)
	}
	return form(n)
}
