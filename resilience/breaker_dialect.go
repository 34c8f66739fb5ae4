package resilience

import (
	"time"

	"blastradius/sim/call"
)

// OwnDialect is this product's own breaker.
const OwnDialect = "own"

// Dialect is one library's breaker as values of the keys.
type Dialect struct {
	Of      string // the library and its version
	Known   string // "observed": recorded from the library; "read": from its source
	About   string // what sets it apart, one sentence
	Differs string // what the keys cannot say; empty when nothing is known
	// Keys are what the library lets its user set, beside the verdicts and what
	// belongs to the product; empty: everything.
	Keys string
	// Verdicts are the library's own judgement of outcomes, nil for this
	// product's.
	Verdicts *[call.NumClasses]Verdict
	set      func(*Breaker)
}

// everyError is the judgement of libraries that see an error or none.
func everyError(changes map[call.Class]Verdict) *[call.NumClasses]Verdict {
	out := [call.NumClasses]Verdict{
		call.OK: Success, call.ClientError: Failure, call.ServerError: Failure, call.Throttled: Failure,
		call.ConnectError: Failure, call.Timeout: Failure, call.Cancelled: Failure, call.Rejected: Failure, call.Degraded: Success,
	}
	for class, v := range changes {
		out[class] = v
	}
	return &out
}

// Dialects are the known breakers by name. What is not set here is as in the
// own dialect.
var Dialects = map[string]Dialect{
	OwnDialect: {Of: "blastradius", Known: "own", About: "exact windows, generations, one leased probe, refusals and cancellations neutral"},

	"resilience4j-count": {
		Of: "resilience4j 2.4.0, COUNT_BASED", Known: "read", Verdicts: everyError(nil),
		Keys:  "ratio slow window min_calls cooldown open probes half_open mode",
		About: "min_calls clamped to the window, slow calls, late results judged as probes",
		set:   func(c *Breaker) { resilience4j(c); c.Window, c.Clamp = &LastCalls{N: 100}, true },
	},
	"resilience4j-time": {
		Of: "resilience4j 2.4.0, TIME_BASED", Known: "read", Verdicts: everyError(nil),
		Keys:  "ratio slow window min_calls cooldown open probes half_open mode",
		About: "one-second buckets that begin with the second, so the last 9 to 10 of 10 s count; min_calls not clamped",
		set: func(c *Breaker) {
			resilience4j(c)
			c.Window = &Buckets{Span: 100 * time.Second, N: 100, Align: alignEpoch}
		},
	},
	"polly-v8": {
		Of: "Polly 8.7.0", Known: "read", Verdicts: everyError(map[call.Class]Verdict{call.Cancelled: Success}),
		Keys:  "ratio window min_calls cooldown open mode",
		About: "decides at failures only; what is not handled is a success, a cancelled call too",
		set: func(c *Breaker) {
			c.Window, c.Ratio, c.MinCalls = &Buckets{Span: 30 * time.Second, N: 10, Align: alignFirstEvent}, 0.1, 100
			c.Evaluate, c.Cooldown, c.Lease = atFailure, 5*time.Second, -1
			c.NeutralProbe = neutralSuccess
			c.Stragglers = Stragglers{Closed: stragglerCount, Open: stragglerRecord, HalfOpen: stragglerCount}
		},
	},
	"gobreaker-consecutive": {
		Of: "sony/gobreaker v2.4.0, default settings", Known: "observed", Verdicts: everyError(nil),
		Keys:  "consecutive failures ratio above window min_calls cooldown probes",
		About: "the sixth failure in a row opens; generations drop every late result",
		set:   func(c *Breaker) { gobreaker(c); c.Consecutive, c.Window = 6, &SinceClear{} },
	},
	"gobreaker-fixed": {
		Of: "sony/gobreaker v2.4.0 with Interval", Known: "observed", Verdicts: everyError(nil),
		Keys:  "consecutive failures ratio above window min_calls cooldown probes",
		About: "all counts cleared at each interval, and calls across the edge dropped",
		set: func(c *Breaker) {
			gobreaker(c)
			c.Window, c.Ratio, c.MinCalls = &Fixed{Interval: 10 * time.Second}, 0.6, 3
		},
	},
	"gobreaker-rolling": {
		Of: "sony/gobreaker v2.4.0 with Interval and BucketPeriod", Known: "observed", Verdicts: everyError(nil),
		Keys:  "consecutive failures ratio above window min_calls cooldown probes",
		About: "buckets from the last transition on; a result counts in the bucket of its admission",
		set: func(c *Breaker) {
			gobreaker(c)
			c.Window, c.Ratio, c.MinCalls = &Buckets{Span: 10 * time.Second, N: 10, Align: alignGeneration}, 0.6, 3
		},
	},
	"failsafe-go-count": {
		Of: "failsafe-go 0.9.8, WithFailureThresholdRatio", Known: "observed", Verdicts: everyError(nil),
		Keys:  "failures window cooldown open probes half_open",
		About: "so many failures of the last few, a partly filled window too; probes bounded in flight",
		set: func(c *Breaker) {
			failsafe(c)
			c.Failures, c.Window, c.MinCalls = 1, &LastCalls{N: 1}, 1
		},
	},
	"failsafe-go-time": {
		Of: "failsafe-go 0.9.8, WithFailureRateThreshold", Known: "observed", Verdicts: everyError(nil),
		Keys:  "failures ratio window min_calls cooldown open probes half_open",
		About: "ten slices of the period; the rate rounded to whole percents; as many probes as executions needed",
		set: func(c *Breaker) {
			failsafe(c)
			c.Ratio, c.Rounding, c.MinCalls = 0.5, roundNearest, 10
			c.Window = &Buckets{Span: 10 * time.Second, N: 10, Align: alignEpoch}
		},
	},
	"hystrix": {
		Of: "Hystrix 1.5.13", Known: "read",
		Verdicts: everyError(map[call.Class]Verdict{call.ClientError: Suspect, call.Cancelled: Suspect}),
		Keys:     "ratio window min_calls tick cooldown mode",
		About:    "decides every 500 ms; half-open, every call that ends and is no success opens it, a refused one too, so under traffic it hardly closes",
		set: func(c *Breaker) {
			c.Window, c.Ratio, c.Rounding, c.MinCalls = &Buckets{Span: 10 * time.Second, N: 20, Align: alignGeneration}, 0.5, roundDown, 20
			c.Evaluate, c.Tick, c.Resolution = atTick, 500*time.Millisecond, time.Millisecond
			c.HalfOpen.Refusal = refusalReopens
			c.Cooldown, c.Open.Past, c.Lease = 5*time.Second, true, -1
			c.Stragglers = Stragglers{Closed: stragglerCount, Open: stragglerRecord, HalfOpen: stragglerCount}
		},
	},
	"hystrix-go": {
		Of: "hystrix-go fa1af6a", Known: "observed", Verdicts: everyError(map[call.Class]Verdict{call.Cancelled: Attempt}),
		Keys:  "ratio min_calls cooldown",
		About: "decides at admission; no half-open state, one test a sleep window, and any success seen while open closes",
		set: func(c *Breaker) {
			c.Window, c.Ratio, c.Rounding, c.MinCalls = &Lagging{Span: 10 * time.Second, N: 10}, 0.5, roundNearest, 20
			c.Evaluate, c.Cooldown = atAdmission, 5*time.Second
			c.Open.Past, c.Open.From, c.HalfOpen.Admit = true, fromLastProbe, admitInterval
			c.Stragglers = Stragglers{Closed: stragglerCount, Open: stragglerClose, HalfOpen: stragglerCount}
		},
	},
	"cep21-circuit": {
		Of: "cep21/circuit v4.2.0, its hystrix opener and closer", Known: "read",
		Verdicts: everyError(map[call.Class]Verdict{call.ClientError: Neutral, call.Cancelled: Neutral}),
		Keys:     "ratio window min_calls cooldown probes half_open mode",
		About:    "no half-open state: some tests a sleep window, and so many in a row close it",
		set: func(c *Breaker) {
			c.Window, c.Ratio, c.Rounding, c.MinCalls = &Buckets{Span: 10 * time.Second, N: 10, Align: alignEpoch}, 0.5, roundDown, 20
			c.Evaluate, c.Cooldown = atFailure, 5*time.Second
			c.Open.Past, c.Open.From, c.HalfOpen.Admit = true, fromLastProbe, admitInterval
			c.Stragglers.Closed = stragglerCount
		},
	},
	"sentinel-error-ratio": {
		Of: "sentinel-golang 1.0.4, ErrorRatio", Known: "observed", Verdicts: everyError(nil),
		Keys:  "ratio window min_calls cooldown probes half_open",
		About: "one tumbling window; a probe blocked by another rule opens it without a new wait",
		set:   func(c *Breaker) { sentinel(c); c.Ratio, c.MinCalls = 0.5, 5 },
	},
	"sentinel-error-count": {
		Of: "sentinel-golang 1.0.4, ErrorCount", Known: "observed", Verdicts: everyError(nil),
		Keys:  "failures window min_calls cooldown probes half_open",
		About: "a number of errors in one tumbling window",
		set:   func(c *Breaker) { sentinel(c); c.Failures, c.MinCalls = 10, 5 },
	},
	"sentinel-slow-ratio": {
		Of: "sentinel-golang 1.0.4, SlowRequestRatio", Known: "observed",
		Verdicts: &[call.NumClasses]Verdict{},
		Keys:     "slow window min_calls cooldown probes half_open",
		About:    "looks at durations alone: errors that come fast are well",
		set: func(c *Breaker) {
			sentinel(c)
			c.Ratio, c.MinCalls, c.Slow = 0, 5, Slow{Over: time.Second, Ratio: 0.5}
		},
	},
	"semian": {
		Of: "semian 0.28.2", Known: "read", Verdicts: everyError(map[call.Class]Verdict{call.ClientError: Success, call.Cancelled: Neutral}),
		Keys:  "failures window cooldown open probes half_open",
		About: "errors of the last while, successes leave no trace; the wait counts from the last error, everyone passes half-open",
		set: func(c *Breaker) {
			c.Failures, c.Window, c.MinCalls = 3, &ErrorTimes{Span: 10 * time.Second}, 1
			c.Evaluate, c.Cooldown, c.Open.From, c.Open.Past = atFailure, 10*time.Second, fromLastError, true
			c.HalfOpen.Admit = admitEveryone
			c.Stragglers = Stragglers{Closed: stragglerCount, Open: stragglerExtend, HalfOpen: stragglerCount}
		},
	},
	"goresilience": {
		Of: "slok/goresilience v0.2.0", Known: "observed", Verdicts: everyError(nil),
		Keys:    "ratio window min_calls cooldown probes",
		About:   "everyone passes half-open, and the first results without an error close it",
		Differs: "v0.2.0 takes min_calls percent for the ratio and does not look at its own, corrected in its repository since; here ratio counts, and is 20% as min_calls is 20",
		set: func(c *Breaker) {
			c.Window, c.Ratio, c.MinCalls = &Buckets{Span: 10 * time.Second, N: 10, Align: alignEpoch}, 0.2, 20
			c.Cooldown, c.Open.Past = 5*time.Second, true
			c.HalfOpen.Admit, c.HalfOpen.Decide = admitEveryone, decideClean
			c.Stragglers = Stragglers{Closed: stragglerCount, Open: stragglerRecord, HalfOpen: stragglerCount}
			c.ClearOn = []string{"closed", "half_open", "open"}
		},
	},
	"misim": {
		Of: "MiSim 4.1.5", Known: "read", Verdicts: everyError(nil),
		Keys:  "ratio window cooldown",
		About: "its threshold is infinite by default, so it never opens until ratio is set",
		set: func(c *Breaker) {
			c.Window, c.MinCalls = &LastSpan{Span: 20 * time.Second, Inclusive: true}, 5
			c.Failures = 1_000_000_000 // never
			c.Evaluate, c.Cooldown, c.Open.Wake = atFailure, 500*time.Millisecond, wakeTimer
			c.HalfOpen.Admit, c.HalfOpen.Keep = admitEveryone, true
			c.Stragglers = Stragglers{Closed: stragglerCount, Open: stragglerRecord, HalfOpen: stragglerCount}
		},
	},
	"seed-consecutive": {
		Of: "an article's breaker of failures in a row", Known: "read", Verdicts: everyError(seedVerdicts),
		Keys:  "consecutive cooldown",
		About: "everyone passes half-open; late failures open it again and restart the cooldown",
		set: func(c *Breaker) {
			seed(c)
			c.Consecutive, c.Window = 5, &SinceClear{}
		},
	},
	"seed-window": {
		Of: "an article's breaker of a rate over the last calls", Known: "read", Verdicts: everyError(seedVerdicts),
		Keys:  "ratio window min_calls cooldown",
		About: "everyone passes half-open; late failures open it again and restart the cooldown",
		set:   seed,
	},
}

var seedVerdicts = map[call.Class]Verdict{call.ClientError: Neutral, call.Cancelled: Neutral}

func resilience4j(c *Breaker) {
	c.MinCalls, c.Slow = 100, Slow{Over: 60 * time.Second, Ratio: 1}
	c.Cooldown, c.Open.Past, c.Lease, c.Probes = 60*time.Second, true, -1, 10
	c.HalfOpen.Decide = decideResults
	c.Stragglers = Stragglers{Closed: stragglerCount, Open: stragglerRecord, HalfOpen: stragglerCount}
	c.ClearOn = []string{"closed", "half_open"}
}

func gobreaker(c *Breaker) {
	c.Evaluate, c.CountAt, c.Cooldown, c.Lease = atFailure, atAdmission, 60*time.Second, -1
	c.Open.Past, c.Open.Wake = true, wakeTouch
	c.ClearOn = []string{"closed", "half_open", "open"}
}

func failsafe(c *Breaker) {
	c.Cooldown = 60 * time.Second
	c.HalfOpen.Admit, c.HalfOpen.Decide = admitInFlight, decideMirror
	c.Stragglers = Stragglers{Closed: stragglerCount, Open: stragglerRecord, HalfOpen: stragglerPermit}
	c.ClearOn = []string{"closed", "half_open"}
}

func sentinel(c *Breaker) {
	c.Window, c.Cooldown, c.Lease = &Buckets{Span: time.Second, N: 1, Align: alignEpoch}, 5*time.Second, -1
	c.NeutralProbe, c.Resolution = neutralReopen, time.Millisecond
	c.Stragglers = Stragglers{Closed: stragglerCount, Open: stragglerRecord, HalfOpen: stragglerCount}
}

func seed(c *Breaker) {
	c.HalfOpen.Admit = admitEveryone
	c.Stragglers = Stragglers{Closed: stragglerCount, Open: stragglerReopen, HalfOpen: stragglerCount}
}
