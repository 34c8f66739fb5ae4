package conformance

import (
	"fmt"
	"time"

	"blastradius/internal/conform"
	"blastradius/sim/call"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"
)

const failsafeModule = "github.com/failsafe-go/failsafe-go"

// failsafeSubject uses the breaker standalone; its executor calls the same
// methods.
type failsafeSubject struct {
	cb circuitbreaker.CircuitBreaker[any]
}

var _ subject = failsafeSubject{}

func (s failsafeSubject) Admit(int) bool { return s.cb.TryAcquirePermit() }

func (s failsafeSubject) Complete(_ int, class call.Class) {
	if class == call.OK {
		s.cb.RecordResult(nil)
		return
	}
	s.cb.RecordError(errorOf(class))
}

// State of failsafe-go does not look at the clock.
func (s failsafeSubject) State() conform.State { return conform.ParseState(s.cb.State().String()) }

// failsafeConfig are the settings that our keys stand for.
type failsafeConfig struct {
	dialect   string
	failures  int           // of of, or within period
	of        int           // capacity
	ratio     float64       // in percent, within period
	minCalls  int           // executions within period, for a ratio
	period    time.Duration // for the time kind
	cooldown  time.Duration
	successes int // 0: not configured, the failure rule decides half-open
	probes    int // of which successes
	forgives  bool
}

func (c failsafeConfig) settings() string {
	out := fmt.Sprintf("{dialect: %s, ", c.dialect)
	switch {
	case c.ratio > 0:
		out += fmt.Sprintf("ratio: %g%%, min_calls: %d, window: {buckets: {span: %s, n: 10}}, ", c.ratio, c.minCalls, brief(c.period))
	case c.period > 0:
		out += fmt.Sprintf("failures: %d, window: {buckets: {span: %s, n: 10}}, ", c.failures, brief(c.period))
	default:
		out += fmt.Sprintf("failures: %d, window: %d, ", c.failures, c.of)
	}
	out += fmt.Sprintf("cooldown: %s, ", brief(c.cooldown))
	if c.successes > 0 {
		out += fmt.Sprintf("probes: %d, half_open: {need: %d}, ", c.probes, c.successes)
	}
	return out + verdictsOf(!c.forgives) + "}"
}

// verdictsOf tells the verdicts on the classes that are not always failures:
// errors like any other, or handled as successes. Many libraries know no third.
func verdictsOf(failure bool) string {
	v := "success"
	if failure {
		v = "failure"
	}
	return fmt.Sprintf("verdicts: {client_error: %s, cancelled: %s, rejected: %s}", v, v, v)
}

func (c failsafeConfig) build() subject {
	b := circuitbreaker.NewBuilder[any]().WithDelay(c.cooldown)
	switch {
	case c.ratio > 0:
		b.WithFailureRateThreshold(c.ratio/100, uint(c.minCalls), c.period)
	case c.period > 0:
		b.WithFailureThresholdPeriod(uint(c.failures), c.period)
	default:
		b.WithFailureThresholdRatio(uint(c.failures), uint(c.of))
	}
	if c.successes > 0 {
		b.WithSuccessThresholdRatio(uint(c.successes), uint(c.probes))
	}
	if c.forgives {
		b.HandleIf(func(_ any, err error) bool { return isClass(err, call.ServerError, call.Timeout) })
	}
	return failsafeSubject{b.Build()}
}

func (c failsafeConfig) config() config {
	grid := gcd(c.cooldown, c.period/10)
	return config{
		settings: c.settings(), unit: grid, grid: grid, cooldown: c.cooldown, edge: 1,
		failures: call.ServerError, build: c.build,
	}
}

// failsafeConfigs crosses the ways to trip with the ways to close.
func failsafeConfigs(name string, trips []failsafeConfig) (out []config) {
	closes := []failsafeConfig{
		{}, {successes: 1, probes: 1}, {successes: 2, probes: 2, forgives: true}, {successes: 2, probes: 3}, {successes: 3, probes: 5, forgives: true},
	}
	cooldowns := []time.Duration{time.Second, 3 * time.Second, 10 * time.Second}
	for _, t := range trips {
		for _, c := range closes {
			c.dialect, c.failures, c.of, c.ratio, c.minCalls, c.period = name, t.failures, t.of, t.ratio, t.minCalls, t.period
			c.cooldown = cooldowns[len(out)%len(cooldowns)]
			out = append(out, c.config())
		}
	}
	return out
}

// drawFailsafe draws a configuration; trip gives it the rule.
func drawFailsafe(name string, trip func(chooser, *failsafeConfig)) func(chooser) config {
	return func(c chooser) config {
		f := failsafeConfig{dialect: name, cooldown: time.Duration(1+c.IntN(12)) * time.Second, forgives: among(c, false, true)}
		if c.IntN(2) == 0 {
			f.successes = 1 + c.IntN(4)
			f.probes = f.successes + c.IntN(4)
		}
		trip(c, &f)
		return f.config()
	}
}

func failsafeCount() dialect {
	const name = "failsafe-go-count"
	of := func(failures, of, successes, probes int) config {
		return failsafeConfig{dialect: name, failures: failures, of: of, successes: successes, probes: probes, cooldown: time.Second}.config()
	}
	return dialect{
		name: name, module: failsafeModule, classes: gobreakerClasses,
		configs: failsafeConfigs(name, []failsafeConfig{{failures: 1, of: 1}, {failures: 3, of: 3}, {failures: 2, of: 5}, {failures: 5, of: 10}}),
		draw: drawFailsafe(name, func(c chooser, f *failsafeConfig) {
			f.failures = 1 + c.IntN(5)
			f.of = f.failures + c.IntN(6)
		}),
		hand: []handTrace{
			{"delay-is-inclusive", "at exactly the delay it is half-open, 1 ns before it is open", of(1, 1, 0, 0), "a s0O 1-1r +1aH"},
			{"partly-filled", "2 failures of 5 open it though only 2 calls were made", of(2, 5, 0, 0), "a s0 a s1O"},
			{"success-between", "the failures need not be in a row", of(2, 5, 0, 0), "a s0 a o1 a o2 a o3 a s4O"},
			{"falls-out", "a failure 5 results ago is forgotten", of(2, 5, 0, 0), "a s0 a o1 a o2 a o3 a o4 a s5 a s6O"},
			{"permits-in-flight", "each result in half-open gives its permit back, so more than the capacity in total", of(1, 1, 2, 3), "a s0O 1aH a a r s1 a r o2 a r o3C"},
			{"failures-impossible", "it re-opens as soon as the successes cannot be reached", of(1, 1, 2, 3), "a s0O 1aH a s1 s2O"},
			{"straggler-in-half-open", "a late success is counted and gives a permit more", of(1, 1, 2, 3), "a a s0O 1aH a a r o1 a r"},
			{"straggler-closes", "late successes alone close it", of(1, 1, 2, 2), "a a a s0O 1aH o1 o2C"},
			{"straggler-reopens", "a late failure opens it again", of(1, 1, 1, 1), "a a s0O 1aH s1O"},
			{"straggler-while-open", "while open a late result decides nothing and does not prolong it", of(1, 1, 1, 1), "a a a s0O 1-1s1 o2 +1aH"},
			{"straggler-after-close", "after it has closed a late failure counts", of(1, 1, 1, 1), "a a s0O 1aH o2C s1O"},
			{"half-open-by-failure-rule", "without a success threshold 2 of 5 failures re-open", of(2, 5, 0, 0), "a s0 a s1O 1aH a a a a r s2 o3 s4O"},
			{"half-open-by-failure-rule-closes", "and 4 successes close, since 2 failures of 5 are then impossible", of(2, 5, 0, 0), "a s0 a s1O 1aH a a a a o2 o3 s4 o5 o6C"},
			{"hung-probe", "a probe that never ends keeps its permit for ever", of(1, 1, 1, 1), "a s0O 1aH 1000r 1000000r"},
			{"cancel-is-failure", "any error is a failure unless told otherwise", of(1, 1, 1, 1), "a x0O"},
		},
	}
}

func failsafeTime() dialect {
	const name = "failsafe-go-time"
	rate := func(ratio float64, minCalls int) config {
		return failsafeConfig{dialect: name, ratio: ratio, minCalls: minCalls, period: 10 * time.Second, cooldown: time.Second}.config()
	}
	count := failsafeConfig{dialect: name, failures: 3, period: 10 * time.Second, cooldown: time.Second}.config()
	return dialect{
		name: name, module: failsafeModule, classes: gobreakerClasses,
		configs: failsafeConfigs(name, []failsafeConfig{
			{failures: 3, period: 10 * time.Second}, {failures: 1, period: 20 * time.Second},
			{ratio: 50, minCalls: 4, period: 10 * time.Second}, {ratio: 67, minCalls: 3, period: 10 * time.Second},
			{ratio: 100, minCalls: 2, period: 30 * time.Second}, {ratio: 30, minCalls: 6, period: 10 * time.Second},
		}),
		draw: drawFailsafe(name, func(c chooser, f *failsafeConfig) {
			f.period = among(c, 5*time.Second, 10*time.Second, 40*time.Second)
			if c.IntN(3) == 0 {
				f.failures = 1 + c.IntN(5)
				return
			}
			f.ratio, f.minCalls = float64(1+c.IntN(100)), 1+c.IntN(8)
		}),
		hand: []handTrace{
			{"count-in-period", "3 failures within 10 slices open it", count, "a s0 a s1 10-1a s2O"},
			{"count-out-of-period", "slices are aligned to the clock: at 10 slices the first has left", count, "a s0 a s1 10a s2"},
			{"aligned-slices", "9 s and 2 ns apart are too far when slices lie between", count, "1-1a s0 a s1 9+1a s2"},
			{"rate-at-minimum", "the minimum of executions is inclusive, the rate too", rate(50, 4), "a o0 a o1 a s2 a s3O"},
			{"success-trips", "a success that completes the minimum opens it", rate(50, 4), "a s0 a s1 a o2 a o3O"},
			{"rate-is-rounded", "rates are rounded to 2 digits before they are compared: 2 of 3 is 67%", rate(67, 3), "a o0 a s1 a s2O"},
			{"rate-is-rounded-half-up", "1 of 8 is 13%", rate(13, 8), "a o0 a o1 a o2 a o3 a o4 a o5 a o6 a s7O"},
			{"rate-is-binary", "and in binary fractions: 57.5% of 23 of 40 is a hair less and so 57%", rate(58, 40), results(17, 23) + " a"},
			{"half-open-permits", "half-open admits as many as the minimum of executions", rate(50, 4), "a o0 a o1 a s2 a s3O 1aH a a a r"},
			{"half-open-ignores-period", "half-open counts the last results, however old", rate(50, 4), "a o0 a o1 a s2 a s3O 1aH o4 100a o5 a o6 100a o7C"},
			{"half-open-waits-for-minimum", "and decides at the minimum of them: a rate at the threshold re-opens", rate(50, 4), "a o0 a o1 a s2 a s3O 1aH a a a s4 s5 o6 o7O"},
			{"half-open-closes-above", "it closes when the success rate is above 1 - rate", rate(50, 4), "a o0 a o1 a s2 a s3O 1aH a a a s4 o5 o6 o7C"},
			{"straggler-in-half-open", "a late result is counted in half-open and gives a permit more", rate(50, 4), "a a o0 a o2 a s3 a s4O 1aH a a a r s1 a r"},
		},
	}
}

// results are so many successes and then failures, one after the other.
func results(successes, failures int) (steps string) {
	for i := range successes + failures {
		letter := "o"
		if i >= successes {
			letter = "s"
		}
		steps += fmt.Sprintf(" a %s%d", letter, i)
	}
	return steps[1:]
}
