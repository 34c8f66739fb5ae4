package resilience

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/spec"
)

// Breaker stops calling a dependency that fails, and tries it again after a
// cooldown. Its keys are one vocabulary for the breakers of many libraries; a
// dialect is a set of values of them.
type Breaker struct {
	Dialect string `yaml:"dialect" quiet:"true" enum:"@dialects" preset:"true" help:"the library whose defaults and semantics it starts from; any other key overrides"`

	Consecutive int           `yaml:"consecutive" unit:"count" min:"1" also:"threshold,failure_threshold,consecutiveFailures" help:"opens at this many failures in a row; in place of ratio and failures"`
	Failures    int           `yaml:"failures" quiet:"true" unit:"count" min:"1" also:"failure_count,error_count,errorThreshold,error_threshold" help:"opens at this many failures in the window; in place of ratio and consecutive"`
	Ratio       float64       `yaml:"ratio" unit:"share" min:"0%" open:"min" max:"100%" none:"true" also:"failureRateThreshold,failure_rate,failure_rate_threshold,failureRatio,error_percent" help:"opens when at least this share of the window failed"`
	Above       bool          `yaml:"above" quiet:"true" help:"opens only above the threshold, not at it"`
	Rounding    string        `yaml:"rounding" quiet:"true" enum:"exact,nearest,down" help:"how a share is rounded to whole percents before it is compared"`
	Slow        Slow          `yaml:"slow" quiet:"true" also:"slowCallRateThreshold,slow_call" help:"slow calls open it too"`
	Window      WindowKind    `yaml:"window" also:"slidingWindowSize,sliding_window_size,samplingDuration" help:"results that count: the last n calls, or those of the last while"`
	MinCalls    int           `yaml:"min_calls" unit:"count" min:"1" also:"minimum,minimumNumberOfCalls,minimum_number_of_calls,minimumThroughput,minimum_calls,requestVolumeThreshold" help:"results before it may open"`
	Clamp       bool          `yaml:"clamp" quiet:"true" help:"a min_calls above the window counts as the window"`
	Evaluate    string        `yaml:"evaluate" quiet:"true" enum:"completion,failure,admission,tick" help:"when it is decided whether it opens"`
	Tick        time.Duration `yaml:"tick" quiet:"true" unit:"duration" min:"0s" open:"min" help:"time between two decisions, the first so long after it closed; for evaluate: tick"`
	Resolution  time.Duration `yaml:"resolution" quiet:"true" unit:"duration" min:"0s" help:"its clock goes in steps of so much: instants are rounded down"`
	CountAt     string        `yaml:"count_at" quiet:"true" enum:"completion,admission" help:"when a call enters the window's total"`

	Cooldown time.Duration `yaml:"cooldown" unit:"duration" min:"0s" open:"min" also:"waitDurationInOpenState,wait_duration_in_open_state,timeout,sleep_window,breakDuration,reset_timeout,error_timeout,retryTimeoutMs" help:"from opening to the first probe"`
	Open     OpenTime      `yaml:"open" quiet:"true" help:"how the cooldown grows and is measured"`

	Probes       int           `yaml:"probes" unit:"count" min:"1" max:"1000" also:"permittedNumberOfCallsInHalfOpenState,half_open_probes,maxRequests,success_threshold,probeNum" help:"calls let through while half-open"`
	HalfOpen     HalfOpenRule  `yaml:"half_open" quiet:"true" help:"what half-open admits and when it ends"`
	Lease        time.Duration `yaml:"lease" unit:"duration" min:"0s" forever:"true" default:"cooldown" help:"a probe that has not reported by then gives its slot back"`
	NeutralProbe string        `yaml:"neutral_probe" quiet:"true" enum:"slot_back,success,failure,lost,reopen" help:"what a neutral outcome means for a probe"`
	Ramp         *Ramp         `yaml:"ramp" help:"share of the calls admitted after closing"`

	Stragglers Stragglers        `yaml:"stragglers" quiet:"true" help:"what the late result of a call from an earlier state does"`
	ClearOn    []string          `yaml:"clear_on" quiet:"true" enum:"closed,half_open,open" help:"entering these states empties the window"`
	Record     string            `yaml:"record" enum:"operation,attempt" help:"counts what returns through it, or every attempt that a retry inside it makes"`
	Verdicts   map[string]string `yaml:"verdicts" keys:"ok,client_error,server_error,throttled,connect_error,timeout,cancelled,rejected,degraded" enum:"success,failure,alive,neutral,suspect,attempt,lost" help:"what an outcome means to it"`
	Mode       string            `yaml:"mode" quiet:"true" enum:"enforce,observe,forced_open,disabled" help:"observe decides and counts but refuses nothing"`
	Recheck    bool              `yaml:"recheck" quiet:"true" help:"asks again once a bulkhead inside has granted its permit"`
	Scope      Scope             `yaml:"scope" quiet:"true" help:"one state for each copy of the process, or one for all of them"`
	FlapDwell  time.Duration     `yaml:"flap_dwell" unit:"duration" min:"0s" default:"cooldown" help:"a closed spell shorter than this between two opens is a flap"`

	chosen map[string]bool // keys that the file gives
}

// Slow is the rule of slow calls, successes and failures alike.
type Slow struct {
	Over     time.Duration `yaml:"over" unit:"duration" min:"0s" open:"min" also:"slowCallDurationThreshold,maxAllowedRtMs" help:"a call that takes longer is slow"`
	Ratio    float64       `yaml:"ratio" unit:"share" min:"0%" open:"min" max:"100%" help:"opens when at least this share of the window was slow"`
	InFlight bool          `yaml:"in_flight" help:"a call counts as slow as soon as it has run so long, not when it returns"`
}

// HalfOpenRule says what half-open admits and when it ends.
type HalfOpenRule struct {
	Admit   string        `yaml:"admit" enum:"total,in_flight,everyone,interval" help:"probes in all, probes at once, every call, or one call a cooldown while it stays open"`
	Decide  string        `yaml:"decide" enum:"successes,results,clean,majority,mirror" help:"closes at so many successes and opens at a failure; after so many results decides by the trip rule, or closes if none was bad; closes at so many successes of the last few; or mirrors the trip rule"`
	Need    int           `yaml:"need" unit:"count" min:"0" default:"probes" help:"successes, or results, that decide; results that decide by a share are at most min_calls"`
	Of      int           `yaml:"of" unit:"count" min:"0" default:"need" help:"results looked at; for decide: majority"`
	MaxStay time.Duration `yaml:"max_stay" unit:"duration" min:"0s" forever:"true" also:"maxWaitDurationInHalfOpenState" help:"time after which it ends without a decision"`
	Then    string        `yaml:"then" enum:"open,closed" help:"where it goes after max_stay"`
	Refusal string        `yaml:"refusal" enum:"nothing,reopens" help:"what a call that half-open refuses does: reopens starts the cooldown over"`
	Keep    bool          `yaml:"keep" help:"the result that closes it is the first of the new window"`
	Timeout time.Duration `yaml:"timeout" unit:"duration" min:"0s" open:"min" also:"half_open_resource_timeout" help:"limit on a probe, below that of other calls"`
}

// Stragglers are calls from an earlier state; these say what their results do.
type Stragglers struct {
	Closed   string `yaml:"closed" enum:"drop,count" help:"while closed"`
	Open     string `yaml:"open" enum:"drop,record,extend,close,reopen" help:"while open: record puts it into the window, extend starts the cooldown over at a failure, close closes at a success, reopen does what a new result would"`
	HalfOpen string `yaml:"half_open" enum:"drop,count,permit" help:"while half-open: count takes it for a probe's result, permit also lets one more call through"`
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

// Modes.
const (
	modeEnforce    = "enforce"
	modeObserve    = "observe"
	modeForcedOpen = "forced_open"
	modeDisabled   = "disabled"
)

// NewBreaker returns the breaker of a dialect; see Dialects.
func NewBreaker(dialect string) *Breaker {
	c := &Breaker{}
	c.UsePreset(dialect)
	return c
}

func newBreaker() Config { return NewBreaker(OwnDialect) }

var _ Config = (*Breaker)(nil)

// UsePreset sets every key to the dialect's value.
func (c *Breaker) UsePreset(dialect string) {
	*c = Breaker{
		Dialect: dialect,
		Ratio:   defaultRatio, Window: &LastCalls{N: defaultWindow}, MinCalls: defaultMinCalls,
		Rounding: roundExact, Slow: Slow{Ratio: 1}, Evaluate: atCompletion, CountAt: atCompletion,
		Cooldown: 30 * time.Second, Open: OpenTime{Growth: 1, From: fromOpened, Wake: wakeCall},
		Probes:       1,
		HalfOpen:     HalfOpenRule{Admit: admitTotal, Decide: decideSuccesses, MaxStay: -1, Then: stayOpen, Refusal: refusalNothing},
		NeutralProbe: neutralSlotBack,
		Stragglers:   Stragglers{Closed: stragglerDrop, Open: stragglerDrop, HalfOpen: stragglerDrop},
		ClearOn:      []string{"closed"},
		Record:       RecordOperation, Mode: modeEnforce, Scope: Scope{Kind: scopePerInstance, Copies: 1, OnFailure: storeAdmits},
	}
	if d, ok := Dialects[dialect]; ok && d.set != nil {
		d.set(c)
		if c.Consecutive > 0 || c.Failures > 0 {
			c.Ratio = 0
		}
	}
}

// Chose hears which keys a file gives: one trip rule given replaces the
// dialect's.
func (c *Breaker) Chose(keys map[string]bool) {
	c.chosen = keys
	switch {
	case keys["consecutive"]:
		c.Failures = 0
	case keys["failures"]:
		c.Consecutive = 0
		if !keys["min_calls"] {
			c.MinCalls = 1 // so many failures are a minimum of their own
		}
	case keys["ratio"]:
		c.Consecutive, c.Failures = 0, 0
	case Dialects[c.Dialect].set == nil && (keys["window"] || keys["min_calls"]):
		c.Consecutive, c.Failures = 0, 0
	}
}

// Validate checks what takes two fields.
func (c *Breaker) Validate() []spec.Problem {
	var out []spec.Problem
	problem := func(field, text, hint string, warning bool) {
		out = append(out, spec.Problem{Field: field, Text: text, Hint: hint, Warning: warning})
	}
	size, counted := c.windowCalls()
	usual := NewBreaker(c.Dialect)
	byRatio := c.Ratio != usual.Ratio && c.Ratio > 0
	byWindow := c.Dialect == OwnDialect && (c.Window.Text() != usual.Window.Text() || c.MinCalls != usual.MinCalls)
	switch {
	case c.chosen["consecutive"] && c.chosen["failures"]:
		problem("consecutive", "consecutive and failures are two rules", "keep one", false)
	case c.chosen["consecutive"] && (byRatio || byWindow):
		problem("consecutive", "consecutive and ratio, window or min_calls are two rules", "keep consecutive, or drop it for ratio", false)
	case c.chosen["failures"] && byRatio:
		problem("failures", "failures and ratio are two rules", "keep one", false)
	case c.Consecutive == 0 && counted && c.MinCalls > size && !c.Clamp:
		problem("min_calls", fmt.Sprintf("min_calls %d is above window %d: it could never open", c.MinCalls, size),
			fmt.Sprintf("min_calls: %d, or window: %d", size, c.MinCalls), false)
	case counted && c.Failures > size:
		problem("failures", fmt.Sprintf("failures %d is above window %d: it could never open", c.Failures, size), fmt.Sprintf("window: %d", c.Failures), false)
	case c.Consecutive == 0 && c.Failures == 0 && c.Ratio == 0 && c.Slow.Over == 0:
		problem("ratio", "no rule opens it", "ratio: 50%, consecutive: 5, failures: 10 or slow: {over: 2s}", false)
	}
	if c.Evaluate == atTick && c.Tick == 0 {
		problem("evaluate", "evaluate: tick needs the time between two decisions", "tick: 500ms", false)
	}
	if c.Evaluate != atTick && c.chosen["tick"] {
		problem("tick", "tick is only for evaluate: tick", "evaluate: tick, or drop it", true)
	}
	if c.Slow.Over == 0 && (c.Slow.InFlight || c.chosen["slow"]) {
		problem("slow", "slow needs the duration from which a call is slow", "slow: {over: 2s, ratio: 50%}", false)
	}
	if c.Open.Max > 0 && c.Open.Max < c.Cooldown {
		problem("open.max", "open.max "+brief(c.Open.Max)+" is below cooldown "+brief(c.Cooldown), "raise it or lower cooldown", false)
	}
	out = append(out, c.foreignKeys()...)
	out = append(out, c.validateHalfOpen()...)
	if c.Ramp != nil {
		out = append(out, c.Ramp.problems()...)
	}
	if verdicts := verdictsOf(c.Dialect, c.Verdicts); !slices.Contains(verdicts[:], Failure) && c.Slow.Over == 0 {
		problem("verdicts", "no outcome is a failure: it can never open", "verdicts: {timeout: failure}", true)
	}
	out = append(out, c.Scope.problems()...)
	return out
}

// foreignKeys warns of keys that the library of the dialect does not have.
func (c *Breaker) foreignKeys() (out []spec.Problem) {
	d := Dialects[c.Dialect]
	if d.Keys == "" {
		return nil
	}
	has := append(strings.Fields(d.Keys), "dialect", "verdicts", "record", "recheck", "scope", "flap_dwell")
	for _, key := range slices.Sorted(maps.Keys(c.chosen)) {
		if !slices.Contains(has, key) {
			out = append(out, spec.Problem{Field: key, Text: fmt.Sprintf("%s has no %s: with it this is another breaker", c.Dialect, key), Hint: "keys of it: " + strings.ReplaceAll(d.Keys, " ", ", "), Warning: true})
		}
	}
	return out
}

func (c *Breaker) validateHalfOpen() []spec.Problem {
	var out []spec.Problem
	h := c.halfOpen()
	switch {
	case h.Decide == decideMajority && h.Of < h.Need:
		out = append(out, spec.Problem{Field: "half_open.of", Text: fmt.Sprintf("%d successes of the last %d cannot be: it could never close", h.Need, h.Of), Hint: fmt.Sprintf("of: %d", h.Need)})
	case h.Admit == admitTotal && h.Need > h.probes:
		out = append(out, spec.Problem{Field: "half_open.need", Text: fmt.Sprintf("%d probes cannot give the %d results that half-open needs: it would never end", h.probes, h.Need), Hint: fmt.Sprintf("probes: %d", h.Need)})
	}
	return out
}

// HasExit reports whether half-open ends though a probe never reports.
func (c *Breaker) HasExit() bool {
	h := c.HalfOpen
	bounded := h.Admit == admitTotal || h.Admit == admitInFlight
	leased := h.Admit == admitTotal && c.Lease >= 0
	return !bounded || leased || h.MaxStay > 0 || h.Timeout > 0
}

// halfOpenPlan is a half-open rule with every number known.
type halfOpenPlan struct {
	HalfOpenRule
	probes int
}

// halfOpen fills in what the other keys imply. To mirror a rule of k failures of
// n is to close when k failures of n have become impossible; to mirror a share is
// to decide by it after min_calls results. A need of its own goes before both.
func (c *Breaker) halfOpen() halfOpenPlan {
	h := halfOpenPlan{c.HalfOpen, c.Probes}
	if h.Decide == decideMirror {
		size, counted := c.windowCalls()
		if !counted {
			size = max(c.Failures, 1)
		}
		switch {
		case h.Need > 0:
			h.Decide = decideMajority
		case c.Failures > 0:
			h.Decide, h.Need, h.Of, h.probes = decideMajority, max(1, size-c.Failures+1), size, size
		default:
			h.Need, h.probes = c.MinCalls, c.MinCalls
		}
	}
	if h.Need == 0 {
		h.Need = h.probes
		if h.Decide == decideResults && c.Consecutive == 0 && c.Failures == 0 {
			h.Need = min(h.Need, c.MinCalls) // a share is judged from min_calls results on
		}
	}
	if h.Of == 0 {
		h.Of = max(h.Need, h.probes)
	}
	return h
}

// lease is how long a probe may be out, -1 for ever.
func (c *Breaker) lease() time.Duration {
	if c.Lease != 0 {
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
	size, counted := c.windowCalls()
	switch {
	case c.Consecutive > 0:
		return 1
	case c.Failures > 0 && counted:
		return float64(c.Failures) / float64(size)
	case c.Failures > 0:
		return 1
	}
	return c.Ratio
}

// WindowCalls is the number of results it looks at; min_calls where the window
// is a time.
func (c *Breaker) WindowCalls() int {
	if c.Consecutive > 0 {
		return c.Consecutive
	}
	if size, counted := c.windowCalls(); counted {
		return size
	}
	return max(c.MinCalls, c.Failures)
}

// windowCalls is the size of a window that is a number of calls.
func (c *Breaker) windowCalls() (int, bool) {
	w, ok := c.Window.(*LastCalls)
	if !ok {
		return 0, false
	}
	return w.N, true
}

// Judges is what an outcome of this class means to it.
func (c *Breaker) Judges(class call.Class) Verdict { return verdictsOf(c.Dialect, c.Verdicts)[class] }

// CountsAsFailure reports whether an outcome of this class is a failure to it.
func (c *Breaker) CountsAsFailure(class call.Class) bool { return c.Judges(class) == Failure }

// RecordsAttempts reports whether it counts attempts instead of operations.
func (c *Breaker) RecordsAttempts() bool { return c.Record == RecordAttempt }

// Text is e.g. "50% of 20, min_calls 5, cooldown 30s"; what is at the dialect's
// default and rarely changed is left out.
func (c *Breaker) Text() string {
	out := c.ruleText()
	if c.Dialect != OwnDialect {
		out = c.Dialect + ": " + out
	}
	out += ", cooldown " + brief(c.Cooldown)
	if c.Open.Growth > 1 {
		out += fmt.Sprintf(" x%g", c.Open.Growth)
	}
	if c.Probes > 1 {
		out += fmt.Sprintf(", %d probes", c.Probes)
	}
	if c.HalfOpen.Admit == admitEveryone {
		out += ", everyone probes"
	}
	if l := c.lease(); l != c.Cooldown && l > 0 {
		out += ", lease " + brief(l)
	}
	if c.Ramp != nil {
		out += ", " + c.Ramp.text()
	}
	if c.RecordsAttempts() {
		out += ", counts attempts"
	}
	for _, class := range slices.Sorted(maps.Keys(c.Verdicts)) {
		out += ", " + class + " is " + c.Verdicts[class]
	}
	if c.Mode != modeEnforce {
		out += ", " + c.Mode
	}
	if c.Recheck {
		out += ", rechecks"
	}
	return out + c.Scope.text()
}

func (c *Breaker) ruleText() string {
	above := ""
	if c.Above {
		above = "more than "
	}
	switch {
	case c.Consecutive > 0:
		return fmt.Sprintf("%s%d in a row", above, c.Consecutive)
	case c.Failures > 0:
		return fmt.Sprintf("%s%d failures of %s, min_calls %d", above, c.Failures, c.Window.Text(), c.MinCalls)
	case c.Slow.Over > 0 && c.Ratio == 0:
		return fmt.Sprintf("%s%s of %s slower than %s, min_calls %d", above, percent(c.Slow.Ratio), c.Window.Text(), brief(c.Slow.Over), c.MinCalls)
	}
	out := fmt.Sprintf("%s%s of %s, min_calls %d", above, percent(c.Ratio), c.Window.Text(), c.MinCalls)
	if c.Slow.Over > 0 {
		out += fmt.Sprintf(", or %s slower than %s", percent(c.Slow.Ratio), brief(c.Slow.Over))
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
		{Name: "would_reject", Unit: spec.Count, Help: "calls that mode: observe let through and enforce would have refused"},
		{Name: "store_failures", Unit: spec.Count, Good: spec.LowerBetter, Help: "admissions that the store of a shared breaker did not answer"},
	}
}
