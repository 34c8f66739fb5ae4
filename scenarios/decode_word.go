package scenarios

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

var nameRule = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

// name checks a name of an endpoint, dependency, arm, phase, pool or layer.
func (d *decoder) name(n *yaml.Node, what string) bool {
	if nameRule.MatchString(n.Value) {
		return true
	}
	hint := "lower-case letters, digits, _ and -, a letter first; title: takes anything"
	if fixed := strings.Trim(regexp.MustCompile(`[^a-z0-9_-]+`).ReplaceAllString(strings.ToLower(n.Value), "-"), "-_0123456789"); nameRule.MatchString(fixed) && fixed != n.Value {
		hint = fixed + "?"
	}
	d.report(n, fmt.Sprintf("%q cannot name %s", n.Value, article(what)), hint)
	return false
}

func (d *decoder) text(path string, n *yaml.Node, v reflect.Value, f field) {
	s, ok := d.scalar(n, "a text")
	if !ok {
		return
	}
	if len(f.enum) > 0 && !d.oneOf(n, f.key, f.enum) {
		return
	}
	if f.unit == "name" && !d.name(n, nounOf(path)) {
		return
	}
	v.SetString(s)
}

func nounOf(path string) string {
	if what := last(path); what == "pool" || what == "dependency" {
		return what
	}
	return "scenario"
}

func (d *decoder) oneOf(n *yaml.Node, what string, words []string) bool {
	if n.Kind == yaml.ScalarNode && slices.Contains(words, n.Value) {
		return true
	}
	hint := "one of " + strings.Join(words, ", ")
	if near, ok := Nearest(n.Value, words); ok && n.Kind == yaml.ScalarNode {
		hint = fmt.Sprintf("did you mean %q? one of %s", near, strings.Join(words, ", "))
	}
	d.report(n, fmt.Sprintf("%s is no value of %s", quoteForm(n), what), hint)
	return false
}
