package conformance

import (
	"fmt"
	"time"

	"blastradius/internal/conform"
	"blastradius/sim/call"

	sentinel "github.com/alibaba/sentinel-golang/api"
	"github.com/alibaba/sentinel-golang/core/base"
	"github.com/alibaba/sentinel-golang/core/circuitbreaker"
	"github.com/alibaba/sentinel-golang/logging"
)

const sentinelModule = "github.com/alibaba/sentinel-golang"

// sentinelResource is the one resource guarded; Sentinel keeps breakers by
// resource in package variables, so one subject lives at a time.
const sentinelResource = "dependency"

// sentinelSubject enters and exits the resource through the public API, with a
// slot chain of nothing but the circuit breaker.
type sentinelSubject struct {
	chain  *base.SlotChain
	calls  map[int]*base.SentinelEntry
	state  conform.State
	fails  func(call.Class) bool
	broken error // what Sentinel logged instead of returning it
}

var _ subject = (*sentinelSubject)(nil)

func (s *sentinelSubject) Admit(id int) bool {
	e, blocked := sentinel.Entry(sentinelResource, sentinel.WithSlotChain(s.chain))
	if blocked != nil {
		return false
	}
	s.calls[id] = e
	return true
}

func (s *sentinelSubject) Complete(id int, class call.Class) {
	if s.fails(class) {
		s.calls[id].Exit(base.WithError(errorOf(class)))
		return
	}
	s.calls[id].Exit()
}

// State is what the listener heard last: the breakers themselves are private.
func (s *sentinelSubject) State() conform.State {
	if s.broken != nil {
		panic(s.broken)
	}
	return s.state
}

// OnTransformToClosed implements circuitbreaker.StateChangeListener.
func (s *sentinelSubject) OnTransformToClosed(circuitbreaker.State, circuitbreaker.Rule) {
	s.state = conform.Closed
}

// OnTransformToOpen implements circuitbreaker.StateChangeListener.
func (s *sentinelSubject) OnTransformToOpen(circuitbreaker.State, circuitbreaker.Rule, any) {
	s.state = conform.Open
}

// OnTransformToHalfOpen implements circuitbreaker.StateChangeListener.
func (s *sentinelSubject) OnTransformToHalfOpen(circuitbreaker.State, circuitbreaker.Rule) {
	s.state = conform.HalfOpen
}

// The logger keeps errors, which Sentinel only logs, and drops the rest.

// Debug implements logging.Logger.
func (*sentinelSubject) Debug(string, ...any) {}

// DebugEnabled implements logging.Logger.
func (*sentinelSubject) DebugEnabled() bool { return false }

// Info implements logging.Logger.
func (*sentinelSubject) Info(string, ...any) {}

// InfoEnabled implements logging.Logger.
func (*sentinelSubject) InfoEnabled() bool { return false }

// Warn implements logging.Logger.
func (s *sentinelSubject) Warn(msg string, keys ...any) { s.broken = fmt.Errorf("%s %v", msg, keys) }

// WarnEnabled implements logging.Logger.
func (*sentinelSubject) WarnEnabled() bool { return true }

// Error implements logging.Logger.
func (s *sentinelSubject) Error(err error, msg string, _ ...any) {
	s.broken = fmt.Errorf("%s: %w", msg, err)
}

// ErrorEnabled implements logging.Logger.
func (*sentinelSubject) ErrorEnabled() bool { return true }

// sentinelConfig are the settings that our keys stand for. Sentinel counts
// time in whole milliseconds.
type sentinelConfig struct {
	dialect  string
	ratio    float64 // ErrorRatio or SlowRequestRatio, in percent
	failures int     // ErrorCount
	slow     time.Duration
	minCalls int
	window   time.Duration
	buckets  int
	cooldown time.Duration
	probes   int
	forgives bool // the program reports only server_error and timeout
}

func (c sentinelConfig) settings() string {
	out := fmt.Sprintf("{dialect: %s, ", c.dialect)
	switch {
	case c.slow > 0:
		out += fmt.Sprintf("slow: {over: %s, ratio: %g%%}, ", brief(c.slow), c.ratio)
	case c.failures > 0:
		out += fmt.Sprintf("failures: %d, ", c.failures)
	default:
		out += fmt.Sprintf("ratio: %g%%, ", c.ratio)
	}
	// A minimum of none is one of one: only a result decides.
	out += fmt.Sprintf("min_calls: %d, window: {buckets: {span: %s, n: %d}}, cooldown: %s", max(c.minCalls, 1), brief(c.window), c.buckets, brief(c.cooldown))
	if c.probes > 0 { // everyone passes until so many succeed
		out += fmt.Sprintf(", probes: %d, half_open: {admit: everyone}", c.probes)
	}
	if c.slow == 0 {
		out += ", " + verdictsOf(!c.forgives)
	}
	return out + "}"
}

func millis(d time.Duration) uint32 { return uint32(d / time.Millisecond) }

func (c sentinelConfig) rule() *circuitbreaker.Rule {
	r := &circuitbreaker.Rule{
		Resource: sentinelResource, MinRequestAmount: uint64(c.minCalls),
		StatIntervalMs: millis(c.window), StatSlidingWindowBucketCount: uint32(c.buckets),
		RetryTimeoutMs: millis(c.cooldown), ProbeNum: uint64(c.probes),
	}
	switch {
	case c.slow > 0:
		r.Strategy, r.Threshold, r.MaxAllowedRtMs = circuitbreaker.SlowRequestRatio, c.ratio/100, uint64(millis(c.slow))
	case c.failures > 0:
		r.Strategy, r.Threshold = circuitbreaker.ErrorCount, float64(c.failures)
	default:
		r.Strategy, r.Threshold = circuitbreaker.ErrorRatio, c.ratio/100
	}
	return r
}

func (c sentinelConfig) build() subject {
	s := &sentinelSubject{chain: base.NewSlotChain(), calls: map[int]*base.SentinelEntry{}, state: conform.Closed}
	s.fails = func(class call.Class) bool {
		return class == call.ServerError || class == call.Timeout || class != call.OK && !c.forgives
	}
	s.chain.AddRuleCheckSlot(circuitbreaker.DefaultSlot)
	s.chain.AddStatSlot(circuitbreaker.DefaultMetricStatSlot)
	circuitbreaker.ClearStateChangeListeners()
	circuitbreaker.RegisterStateChangeListeners(s)
	for _, err := range []error{logging.ResetGlobalLogger(s), circuitbreaker.ClearRulesOfResource(sentinelResource)} {
		if err != nil {
			panic(err)
		}
	}
	if loaded, err := circuitbreaker.LoadRulesOfResource(sentinelResource, []*circuitbreaker.Rule{c.rule()}); !loaded || err != nil {
		panic(fmt.Sprintf("rule %v not loaded: %v", c.rule(), err))
	}
	return s
}

func (c sentinelConfig) config() config {
	grid := gcd(gcd(c.cooldown, c.window/time.Duration(c.buckets)), c.slow)
	return config{
		settings: c.settings(), unit: time.Millisecond, grid: grid, cooldown: c.cooldown, edge: time.Millisecond,
		failures: call.ServerError, build: c.build,
	}
}

// sentinelConfigs crosses trips with windows, each with the next cooldown and
// number of probes.
func sentinelConfigs(name string, trips []sentinelConfig) (out []config) {
	windows := []sentinelConfig{{window: time.Second, buckets: 1}, {window: 10 * time.Second, buckets: 1}, {window: 10 * time.Second, buckets: 10}, {window: 4 * time.Second, buckets: 2}}
	rest := []sentinelConfig{
		{cooldown: time.Second, probes: 0}, {cooldown: 3 * time.Second, probes: 1, forgives: true},
		{cooldown: 5 * time.Second, probes: 3}, {cooldown: 2 * time.Second, probes: 0, forgives: true}, {cooldown: 10 * time.Second, probes: 2},
	}
	for _, t := range trips {
		for _, w := range windows {
			r := rest[len(out)%len(rest)]
			t.dialect, t.window, t.buckets = name, w.window, w.buckets
			t.cooldown, t.probes, t.forgives = r.cooldown, r.probes, r.forgives
			out = append(out, t.config())
		}
	}
	return out
}

// drawSentinel draws a configuration; trip gives it the rule.
func drawSentinel(name string, trip func(chooser, *sentinelConfig)) func(chooser) config {
	return func(c chooser) config {
		s := sentinelConfig{
			dialect: name, minCalls: c.IntN(8), cooldown: time.Duration(1+c.IntN(12)) * time.Second,
			probes: c.IntN(4), forgives: among(c, false, true), buckets: among(c, 1, 2, 5, 10),
		}
		s.window = time.Duration(s.buckets) * among(c, 100*time.Millisecond, time.Second, 4*time.Second)
		trip(c, &s)
		return s.config()
	}
}

func sentinelErrorRatio() dialect {
	const name = "sentinel-error-ratio"
	half := func(buckets, probes int) config {
		return sentinelConfig{
			dialect: name, ratio: 50, minCalls: 4, window: 10 * time.Second, buckets: buckets, cooldown: 3 * time.Second, probes: probes,
		}.config()
	}
	return dialect{
		name: name, module: sentinelModule, classes: gobreakerClasses,
		configs: sentinelConfigs(name, []sentinelConfig{{ratio: 50, minCalls: 4}, {ratio: 100, minCalls: 1}, {ratio: 30, minCalls: 6}, {ratio: 60, minCalls: 0}}),
		draw:    drawSentinel(name, func(c chooser, s *sentinelConfig) { s.ratio = float64(1 + c.IntN(100)) }),
		hand: []handTrace{
			{"ratio-is-inclusive", "2 of 4 is 50% and opens it", half(1, 0), "a o0 a o1 a s2 a s3O"},
			{"success-trips", "a success that completes the minimum opens it", half(1, 0), "a s0 a s1 a o2 a o3O"},
			{"tumbling-at-edge", "one bucket makes a tumbling window, aligned to the clock: what came at 9.999 s is gone at 10 s", half(1, 0), "9999a s0 a s1 a s2 1a s3"},
			{"tumbling-before-edge", "and what came at its start is there until then", half(1, 0), "a s0 a s1 a s2 9999a s3O"},
			{"sliding-at-edge", "of ten buckets the oldest leaves at exactly the interval after its start", half(10, 0), "a s0 a s1 a s2 10000a s3"},
			{"sliding-aligned", "with buckets aligned to the clock, 9.001 s after is too late", half(10, 0), "999a s0 a s1 a s2 9001a s3"},
			{"retry-is-inclusive", "at exactly the retry timeout it is half-open, 1 ms before it is open", half(1, 0), "a a a a o0 o1 s2 s3O 2999r 1aH"},
			{"whole-milliseconds", "time counts in whole milliseconds of the clock: opened 1 ns after one, it is half-open 1 ns before the timeout", half(1, 0), "+1a a a a o0 o1 s2 s3O 3000-1aH"},
			{"whole-milliseconds-before", "and 2 ns before it is still open", half(1, 0), "+1a a a a o0 o1 s2 s3O 3000-2r"},
			{"one-probe", "with no number of probes one call goes out, and its success closes", half(1, 0), "a a a a o0 o1 s2 s3O 3000aH r r o4C"},
			{"everyone-passes", "with a number of probes everyone passes until so many have succeeded", half(1, 2), "a a a a o0 o1 s2 s3O 3000aH a a a a o4 o5C"},
			{"first-failure-reopens", "the first failure opens it again, from that instant", half(1, 2), "a a a a o0 o1 s2 s3O 3000aH a o4 1000s5O 2999r 1aH"},
			{"straggler-closes", "a late success closes it in place of the probe", half(1, 0), "a a a a a o0 o1 s2 s3O 3000aH o4C"},
			{"straggler-reopens", "a late failure opens it again in place of the probe", half(1, 0), "a a a a a o0 o1 s2 s3O 3000aH s4O"},
			{"straggler-while-open", "while open a late result moves nothing and does not prolong it", half(1, 0), "a a a a a o0 o1 s2 s3O 2000s4 1000aH"},
			{"straggler-after-close", "after it has closed a late failure counts", half(1, 0), "a a a a a a o0 o1 s2 s3O 3000aH o6C s4 s5 a o7 a o8O"},
			{"cleared-at-close", "closing empties the window", half(1, 0), "a a a a o0 o1 s2 s3O 3000aH o4C a s5 a s6 a s7"},
			{"hung-probe", "with no number of probes, one that never ends keeps the slot for ever", half(1, 0), "a a a a o0 o1 s2 s3O 3000aH 1000000r"},
		},
	}
}

func sentinelErrorCount() dialect {
	const name = "sentinel-error-count"
	three := func(minCalls, probes int) config {
		return sentinelConfig{
			dialect: name, failures: 3, minCalls: minCalls, window: 10 * time.Second, buckets: 1, cooldown: 3 * time.Second, probes: probes,
		}.config()
	}
	return dialect{
		name: name, module: sentinelModule, classes: gobreakerClasses,
		configs: sentinelConfigs(name, []sentinelConfig{{failures: 3, minCalls: 0}, {failures: 1, minCalls: 4}, {failures: 5, minCalls: 5}, {failures: 2, minCalls: 3}}),
		draw:    drawSentinel(name, func(c chooser, s *sentinelConfig) { s.failures = 1 + c.IntN(6) }),
		hand: []handTrace{
			{"count-is-inclusive", "the third failure within the window opens it", three(0, 0), "a s0 a o1 a s2 a o3 a s4O"},
			{"minimum-counts-all", "not before the minimum of requests, and a success can complete it", three(5, 0), "a s0 a s1 a s2 a o3 a o4O"},
			{"forgotten-at-edge", "a failure of the last window is forgotten", three(0, 0), "9999a s0 a s1 1a s2 a s3 a s4O"},
			{"probes-in-total", "two successes, of whomever, close it", three(0, 2), "a s0 a a s1 s2O 3000aH a o3 o4C"},
		},
	}
}

func sentinelSlowRatio() dialect {
	const name = "sentinel-slow-ratio"
	half := sentinelConfig{
		dialect: name, ratio: 50, slow: time.Second, minCalls: 2, window: 10 * time.Second, buckets: 1, cooldown: 3 * time.Second,
	}.config()
	slow := func(ratio float64, after time.Duration, minCalls int) sentinelConfig {
		return sentinelConfig{ratio: ratio, slow: after, minCalls: minCalls}
	}
	return dialect{
		name: name, module: sentinelModule, classes: gobreakerClasses,
		configs: sentinelConfigs(name, []sentinelConfig{slow(50, time.Second, 4), slow(100, 500*time.Millisecond, 1), slow(30, 2*time.Second, 6), slow(60, time.Second, 0)}),
		draw: drawSentinel(name, func(c chooser, s *sentinelConfig) {
			s.ratio, s.slow = float64(1+c.IntN(100)), among(c, 500*time.Millisecond, time.Second, 3*time.Second)
		}),
		hand: []handTrace{
			{"slow-is-strict", "a call of exactly the limit is not slow, one of 1 ms more is", half, "a a 1000o0 o1 a a 1001o2 o3O"},
			{"slow-is-floored", "lengths are differences of whole milliseconds of the clock: 1 s and 2 ns can be slow", half, "1-1a a 1000+1o0 o1O"},
			{"slow-is-floored-down", "and 1.001 s less 1 ns, begun at a whole one, is not", half, "a a 1001-1o0 o1"},
			{"errors-do-not-count", "an error is as good as a success, if it is quick", half, "a a s0 s1 a a s2 s3"},
			{"slow-errors-count", "and slow like a success", half, "a a 1001s0 s1O"},
			{"slow-probe-reopens", "a slow probe opens it again, a quick error closes it", half, "a a 1001o0 o1O 3000aH 1001o2O 3000aH s3C"},
			{"straggler-slow", "a late result is slow and opens it again", half, "a a a 1001o0 o1O 3000aH o2O"},
		},
	}
}
