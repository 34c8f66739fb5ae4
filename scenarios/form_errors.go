package scenarios

import (
	"fmt"
	"time"

	"go.yaml.in/yaml/v4"

	"blastradius/sim/call"
)

var _ custom = (*Errors)(nil)

// errorClasses are the classes in which an attempt can end by itself.
var errorClasses = []string{"client_error", "server_error", "throttled", "connect_error"}

func (e *Errors) decode(d *decoder, path string, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		d.report(n, fmt.Sprintf("errors takes a map from class to share, not %s", form(n)), "{server_error: 0.1%}")
		return
	}
	sum := 0.0
	for _, p := range d.pairs(n) {
		if !d.oneOf(p.key, "errors", errorClasses) {
			continue
		}
		sub := join(path, p.key.Value)
		d.at[sub] = place(p)
		var c struct {
			Share      float64       `yaml:"share" unit:"share" min:"0%" max:"100%" short:"true" required:"true" help:"share of the attempts"`
			RetryAfter time.Duration `yaml:"retry_after" unit:"duration" min:"0s" help:"pause that a throttled answer asks for"`
		}
		d.body(sub, p.key.Value, p.value, &c)
		class, _ := call.ParseClass(p.key.Value)
		*e = append(*e, ErrorShare{Class: class, Share: c.Share, RetryAfter: c.RetryAfter})
		sum += c.Share
	}
	if sum > 1+1e-9 {
		d.report(n, fmt.Sprintf("the error shares add up to %s", formatShare(sum)), "at most 100% together")
	}
}

func (x *Errors) encode(_ *encoder, _ string) *yaml.Node {
	if len(*x) == 0 {
		return nil
	}
	m := mapping(true)
	for _, one := range *x {
		value := plain(formatShare(one.Share))
		if one.RetryAfter > 0 {
			value = mapping(true)
			put(value, "share", plain(formatShare(one.Share)))
			put(value, "retry_after", plain(formatDuration(one.RetryAfter)))
		}
		put(m, one.Class.String(), value)
	}
	return m
}
