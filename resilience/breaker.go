package resilience

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/spec"
)

// Breaker stops calling a dependency that fails, and tries it again after a
// cooldown.
type Breaker struct {
	Consecutive int               `yaml:"consecutive" unit:"count" min:"1" also:"failures,threshold,failure_threshold,consecutiveFailures" help:"opens at this many failures in a row; in place of ratio, window and min_calls"`
	Ratio       float64           `yaml:"ratio" unit:"share" min:"0%" open:"min" max:"100%" also:"failureRateThreshold,failure_rate,failure_rate_threshold,failureRatio" help:"opens when at least this share of the window failed"`
	Window      Window            `yaml:"window" unit:"window" min:"1" also:"slidingWindowSize,sliding_window_size,samplingDuration" help:"results that count: the last n calls, or those of the last while"`
	MinCalls    int               `yaml:"min_calls" unit:"count" min:"1" also:"minimum,minimumNumberOfCalls,minimum_number_of_calls,minimumThroughput,minimum_calls" help:"results before it may open"`
	Cooldown    time.Duration     `yaml:"cooldown" unit:"duration" min:"0s" open:"min" also:"waitDurationInOpenState,wait_duration_in_open_state,timeout,sleep_window,breakDuration,reset_timeout" help:"from opening to the first probe"`
	Probes      int               `yaml:"probes" unit:"count" min:"1" max:"1000" also:"permittedNumberOfCallsInHalfOpenState,half_open_probes,maxRequests" help:"calls let through while half-open; all must succeed to close it"`
	Lease       time.Duration     `yaml:"lease" unit:"duration" min:"0s" default:"cooldown" help:"a probe that has not reported by then gives its slot back"`
	Ramp        *Ramp             `yaml:"ramp" help:"share of the calls admitted after closing"`
	Record      string            `yaml:"record" enum:"operation,attempt" help:"counts what returns through it, or every attempt that a retry inside it makes"`
	Verdicts    map[string]string `yaml:"verdicts" keys:"ok,client_error,server_error,throttled,connect_error,timeout,cancelled,rejected,degraded" enum:"success,failure,alive,neutral" help:"what an outcome means to it"`
	FlapDwell   time.Duration     `yaml:"flap_dwell" unit:"duration" min:"0s" default:"cooldown" help:"a closed spell shorter than this between two opens is a flap"`
}

// Window is the size of a breaker's window: a number of calls, or a time.
type Window struct {
	Calls int
	Span  time.Duration
}

// String is how a file writes it.
func (w Window) String() string {
	if w.Span > 0 {
		return brief(w.Span)
	}
	return fmt.Sprint(w.Calls)
}

// Ways to record.
const (
	RecordOperation = "operation"
	RecordAttempt   = "attempt"
)

// Defaults of the ratio rule.
const (
	defaultRatio    = 0.5
	defaultWindow   = 20
	defaultMinCalls = 5
)

func newBreaker() Config {
	return &Breaker{
		Ratio: defaultRatio, Window: Window{Calls: defaultWindow}, MinCalls: defaultMinCalls,
		Cooldown: 30 * time.Second, Probes: 1, Record: RecordOperation,
	}
}

var _ Config = (*Breaker)(nil)

// Validate checks what takes two fields.
func (c *Breaker) Validate() []spec.Problem {
	var out []spec.Problem
	byRatio := c.Ratio != defaultRatio || c.Window != Window{Calls: defaultWindow} || c.MinCalls != defaultMinCalls
	switch {
	case c.Consecutive > 0 && byRatio:
		out = append(out, spec.Problem{Field: "consecutive", Text: "consecutive and ratio, window or min_calls are two rules", Hint: "keep consecutive, or drop it for ratio"})
	case c.Consecutive == 0 && c.Window.Span == 0 && c.MinCalls > c.Window.Calls:
		out = append(out, spec.Problem{Field: "min_calls", Text: fmt.Sprintf("min_calls %d is above window %d: it could never open", c.MinCalls, c.Window.Calls),
			Hint: fmt.Sprintf("min_calls: %d, or window: %d", c.Window.Calls, c.MinCalls)})
	}
	if c.Ramp != nil && c.Ramp.Over == 0 {
		out = append(out, spec.Problem{Field: "ramp.over", Text: "a ramp needs a length", Hint: "over: 30s"})
	}
	if verdicts := verdictsOf(c.Verdicts); !slices.Contains(verdicts[:], Failure) {
		out = append(out, spec.Problem{Field: "verdicts", Text: "no outcome is a failure: it can never open", Hint: "verdicts: {timeout: failure}", Warning: true})
	}
	return out
}

// NewMachine returns the breaker's state machine, closed.
func (c *Breaker) NewMachine() *Machine {
	m := &Machine{gate: newGate(c.Probes, c.lease()), timer: openTimer{cooldown: c.Cooldown}, thin: thinner{ramp: c.Ramp}}
	switch {
	case c.Consecutive > 0:
		m.window = &consecutive{n: c.Consecutive}
	case c.Window.Span > 0:
		m.window = &lastSpan{span: c.Window.Span, min: c.MinCalls, ratio: c.Ratio}
	default:
		m.window = newLastCalls(c.Window.Calls, c.MinCalls, c.Ratio)
	}
	return m
}

// lease is how long a probe may be out.
func (c *Breaker) lease() time.Duration {
	if c.Lease > 0 {
		return c.Lease
	}
	return c.Cooldown
}

// Dwell is the closed spell below which re-opening is a flap.
func (c *Breaker) Dwell() time.Duration {
	if c.FlapDwell > 0 {
		return c.FlapDwell
	}
	return c.Cooldown
}

// TripRatio is the share of failures that opens it; 1 for failures in a row.
func (c *Breaker) TripRatio() float64 {
	if c.Consecutive > 0 {
		return 1
	}
	return c.Ratio
}

// WindowCalls is the number of results it looks at; min_calls where the window
// is a time.
func (c *Breaker) WindowCalls() int {
	switch {
	case c.Consecutive > 0:
		return c.Consecutive
	case c.Window.Span > 0:
		return c.MinCalls
	}
	return c.Window.Calls
}

// CountsAsFailure reports whether an outcome of this class is a failure to it.
func (c *Breaker) CountsAsFailure(class call.Class) bool {
	return verdictsOf(c.Verdicts)[class] == Failure
}

// RecordsAttempts reports whether it counts attempts instead of operations.
func (c *Breaker) RecordsAttempts() bool { return c.Record == RecordAttempt }

// Text is e.g. "50% of 20, min_calls 5, cooldown 30s"; what is at its default
// and rarely changed is left out.
func (c *Breaker) Text() string {
	out := fmt.Sprintf("%s of %v, min_calls %d", percent(c.Ratio), c.Window, c.MinCalls)
	if c.Consecutive > 0 {
		out = fmt.Sprintf("%d in a row", c.Consecutive)
	}
	out += ", cooldown " + brief(c.Cooldown)
	if c.Probes > 1 {
		out += fmt.Sprintf(", %d probes", c.Probes)
	}
	if l := c.lease(); l != c.Cooldown {
		out += ", lease " + brief(l)
	}
	if c.Ramp != nil {
		out += fmt.Sprintf(", ramp from %s over %s", percent(c.Ramp.From), brief(c.Ramp.Over))
	}
	if c.RecordsAttempts() {
		out += ", counts attempts"
	}
	for _, class := range slices.Sorted(maps.Keys(c.Verdicts)) {
		out += ", " + class + " is " + c.Verdicts[class]
	}
	return out
}

// Help says what the kind is.
func (*Breaker) Help() string {
	return "stops calling a dependency that fails and probes it after a cooldown"
}

// Example is a line of YAML.
func (*Breaker) Example() string {
	return "{breaker: {ratio: 50%, window: 20, min_calls: 5, cooldown: 30s}}"
}

// Metrics are the figures of the layer. What takes the history of transitions
// or the faults, the simulator adds.
func (*Breaker) Metrics() []spec.Metric {
	return []spec.Metric{
		{Name: "opens", Unit: spec.Count, Good: spec.LowerBetter, Help: "times it opened, from closed or after a failed probe"},
		{Name: "closes", Unit: spec.Count, Help: "times it closed"},
		{Name: "probes", Unit: spec.Count, Help: "calls admitted while half-open; one with retries inside is one probe"},
		{Name: "rejected", Unit: spec.Count, Good: spec.LowerBetter, Help: "calls it refused: open, half-open with its slots taken, or ramping up"},
		{Name: "stale", Unit: spec.Count, Help: "results of an earlier state, which decided nothing"},
	}
}
