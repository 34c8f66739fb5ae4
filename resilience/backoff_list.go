package resilience

import (
	"strings"
	"time"

	"blastradius/sim/spec"
)

// ListBackoff names every pause; the last one stands for all further ones.
type ListBackoff struct {
	Pauses []time.Duration `yaml:"pauses" unit:"duration" list:"true" min:"0s" help:"pause before each retry, the last for all further ones"`
}

// Validate wants one pause at least.
func (b *ListBackoff) Validate() []spec.Problem {
	if len(b.Pauses) == 0 {
		return []spec.Problem{{Text: "the list of pauses is empty", Hint: "list: [100ms, 500ms, 2s]"}}
	}
	return nil
}

// Pause is the nth of the list.
func (b *ListBackoff) Pause(n int) time.Duration {
	if len(b.Pauses) == 0 {
		return 0
	}
	return b.Pauses[min(n, len(b.Pauses))-1]
}

// Bounds are the first pause, and no largest.
func (b *ListBackoff) Bounds() (time.Duration, time.Duration) { return b.Pause(1), 0 }

// Text is e.g. "backoff 100ms 500ms 2s".
func (b *ListBackoff) Text() string {
	var out strings.Builder
	out.WriteString("backoff")
	for _, p := range b.Pauses {
		out.WriteString(" " + brief(p))
	}
	return out.String()
}

// Help says what the kind is.
func (*ListBackoff) Help() string { return "pauses one by one" }

// Example is a line of YAML.
func (*ListBackoff) Example() string { return "{list: [100ms, 500ms, 2s]}" }
