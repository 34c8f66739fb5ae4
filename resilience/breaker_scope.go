package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/spec"
)

// Where the state of a breaker lives.
const (
	scopePerInstance = "per_instance"
	scopeShared      = "shared"

	storeAdmits  = "admit"
	storeRefuses = "refuse"
)

// Scope says who shares a breaker's state. Calls are spread over the copies of
// the process; each copy has a breaker of its own, or all ask one store, which
// takes a round trip before each admission and can fail itself.
type Scope struct {
	Kind      string        `yaml:"kind" enum:"per_instance,shared" short:"true" help:"a state for each copy of the process, or one in a store that all ask"`
	Copies    int           `yaml:"copies" unit:"count" min:"1" max:"10000" help:"copies of the process over which calls are spread"`
	RoundTrip time.Duration `yaml:"round_trip" unit:"duration" min:"0s" help:"time to ask the store, before each call; for shared"`
	Fails     float64       `yaml:"fails" unit:"share" min:"0%" max:"100%" help:"share of the questions that the store does not answer; for shared"`
	OnFailure string        `yaml:"on_failure" enum:"admit,refuse" help:"what happens to a call then"`
}

func (s *Scope) problems() []spec.Problem {
	if s.Kind == scopeShared {
		return nil
	}
	var out []spec.Problem
	if s.RoundTrip > 0 {
		out = append(out, spec.Problem{Field: "scope.round_trip", Text: "round_trip is only for scope shared: a copy's own state takes none", Hint: "kind: shared, or drop it", Warning: true})
	}
	if s.Fails > 0 {
		out = append(out, spec.Problem{Field: "scope.fails", Text: "fails is only for scope shared: a copy's own state does not fail", Hint: "kind: shared, or drop it", Warning: true})
	}
	return out
}

// machines is the number of state machines.
func (s *Scope) machines() int {
	if s.Kind == scopeShared {
		return 1
	}
	return s.Copies
}

func (s *Scope) text() string {
	switch {
	case s.Kind == scopeShared:
		return fmt.Sprintf(", shared, round trip %s", brief(s.RoundTrip))
	case s.Copies > 1:
		return fmt.Sprintf(", %d copies", s.Copies)
	}
	return ""
}
