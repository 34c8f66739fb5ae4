package conformance

import (
	"fmt"
	"testing"
	"time"

	"blastradius/internal/conform"
	"blastradius/resilience"
	"blastradius/scenarios"
	"blastradius/sim/call"

	"pgregory.net/rapid"
)

// ourBreaker is a dialect of ours behind the calls of a trace.
type ourBreaker struct {
	config  *resilience.Breaker
	machine *resilience.Machine
	tokens  []resilience.Token
}

func (b *ourBreaker) Admit(at time.Duration, _ int) bool {
	t, ok := b.machine.Admit(at)
	if ok {
		b.tokens = append(b.tokens, t)
	}
	return ok
}

func (b *ourBreaker) Complete(at time.Duration, id int, class call.Class) {
	b.machine.Record(at, b.tokens[id], b.config.Judges(class))
}

func (b *ourBreaker) State(at time.Duration) conform.State {
	return conform.ParseState(b.machine.State(at).String())
}

// newOurs builds the breaker that the settings describe, as a scenario does.
func newOurs(t *testing.T, settings string) conform.Breaker {
	text := fmt.Sprintf(`endpoints: {e: {arrivals: {even: 1/s}, calls: [d]}}
dependencies: {d: {latency: 1ms, stack: [{breaker: %s}]}}
arms: {it: {}}
`, settings)
	f, err := scenarios.Load("trace", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c := f.Arms()[0].Config.Dependencies[0].Stack[0].Config.(*resilience.Breaker)
	return &ourBreaker{config: c, machine: c.NewMachine(1)}
}

// What rapid draws, the library and our dialect of it do alike.
func TestDialectsDoWhatLibrariesDo(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d.name, func(t *testing.T) {
			rapid.Check(t, compare(t, d, func(settings string) conform.Breaker { return newOurs(t, settings) }))
		})
	}
}
