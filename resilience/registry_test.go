package resilience

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
	"blastradius/sim/spec"
)

// registrar writes down the figures that a layer registers, by the names that
// the catalogue knows.
type registrar struct {
	des.NullMeter
	names []string
}

func (r *registrar) Count(name string, _ *int64)               { r.add(name) }
func (r *registrar) Share(name string, _, _ *int64, _ string)  { r.add(name) }
func (r *registrar) Level(name string, _ *des.Gauge)           { r.add(name+"_mean", name+"_max") }
func (r *registrar) Peak(name string, _ *des.Gauge)            { r.add(name + "_max") }
func (r *registrar) Trough(name string, _ *des.Gauge, _ int64) { r.add(name + "_min") }
func (r *registrar) Saturation(name string, _ *des.Gauge, _ int64) {
	r.add(name)
}
func (r *registrar) Times(name string, _ *des.TimesHist, stats ...string) {
	for _, stat := range stats {
		r.add(name + "_" + stat)
	}
}
func (r *registrar) add(names ...string) { r.names = append(r.names, names...) }

// valid is the registered default with what has none filled in.
func valid(kind string) Config {
	c := Layers[kind]()
	switch x := c.(type) {
	case *Bulkhead:
		x.Permits = 20
	case *Timeout:
		x.After = s
	case *RateLimit:
		x.Limit = &TokenBucket{Rate: 100, Burst: 1}
	case *Hedge:
		x.Delay = &FixedDelay{After: 50 * ms}
	}
	return c
}

func TestEveryLayerRegistersWhatItLists(t *testing.T) {
	for kind := range Layers {
		c := valid(kind)
		var m registrar
		c.Layer(Env{Sched: des.NewKernel(), Meter: &m, Source: "x"})(&held{})
		var listed []string
		for _, metric := range c.Metrics() {
			listed = append(listed, metric.Name)
			if metric.Help == "" || strings.HasSuffix(metric.Help, ".") || metric.Unit == "" {
				t.Errorf("%s.%s: help %q, unit %q", kind, metric.Name, metric.Help, metric.Unit)
			}
		}
		slices.Sort(listed)
		slices.Sort(m.names)
		if !slices.Equal(listed, m.names) {
			t.Errorf("%s lists %v and registers %v", kind, listed, m.names)
		}
	}
}

func TestEveryKindDescribesItself(t *testing.T) {
	for kind := range Layers {
		c := valid(kind)
		if p := c.Validate(); len(p) != 0 {
			t.Errorf("%s: its defaults have problems: %v", kind, p)
		}
		described(t, kind, c, c.Text(), c.Help(), c.Example())
	}
	for kind, make := range Backoffs {
		b := make()
		described(t, kind, b, b.Text(), b.Help(), b.Example())
	}
	for kind, make := range Algorithms {
		a := make()
		described(t, kind, a, a.Text(), a.Help(), a.Example())
		if p := a.Validate(); len(p) != 0 {
			t.Errorf("%s: its defaults have problems: %v", kind, p)
		}
	}
	for kind, make := range ThrottleRules {
		r := make()
		described(t, kind, r, r.Text(), r.Help(), r.Example())
		if p := r.Validate(); len(p) != 0 {
			t.Errorf("%s: its defaults have problems: %v", kind, p)
		}
	}
	for kind, make := range Limiters {
		l := make()
		described(t, kind, l, l.Text(), l.Help(), l.Example())
	}
	for kind, make := range Jitters {
		j := make()
		described(t, kind, j, j.Text(), j.Help(), j.Example())
	}
	for kind, make := range HedgeDelays {
		d := make()
		described(t, kind, d, d.Text(), d.Help(), d.Example())
	}
	for kind, make := range Budgets {
		b := make()
		described(t, kind, b, b.Text(), b.Help(), b.Example())
	}
}

func described(t *testing.T, kind string, config any, text, help, example string) {
	t.Helper()
	if text == "" || help == "" || strings.HasSuffix(help, ".") || !strings.Contains(example, kind) {
		t.Errorf("%s: text %q, help %q, example %q", kind, text, help, example)
	}
	fields(t, kind, reflect.TypeOf(config).Elem())
}

// fields checks that each field has the tags from which the decoder, the schema
// and the reference are made.
func fields(t *testing.T, kind string, typ reflect.Type) {
	t.Helper()
	units := map[reflect.Type]string{
		reflect.TypeFor[time.Duration](): "duration", reflect.TypeFor[int](): "count",
	}
	keys := map[string]bool{}
	for i := range typ.NumField() {
		f := typ.Field(i)
		key := f.Tag.Get("yaml")
		if !f.IsExported() {
			continue
		}
		if key == "" || keys[key] || f.Tag.Get("help") == "" || strings.HasSuffix(f.Tag.Get("help"), ".") {
			t.Errorf("%s.%s: key %q, help %q", kind, f.Name, key, f.Tag.Get("help"))
		}
		keys[key] = true
		switch {
		case f.Type.Kind() == reflect.Pointer:
			fields(t, kind+"."+key, f.Type.Elem())
		case f.Type.Kind() == reflect.Struct:
			fields(t, kind+"."+key, f.Type)
		case units[f.Type] != "" && f.Tag.Get("unit") != units[f.Type]:
			t.Errorf("%s.%s: unit %q, want %q", kind, key, f.Tag.Get("unit"), units[f.Type])
		case f.Type.Kind() == reflect.Float64 && !slices.Contains([]string{"share", "rate", "factor"}, f.Tag.Get("unit")):
			t.Errorf("%s.%s: unit %q", kind, key, f.Tag.Get("unit"))
		case f.Type.Kind() == reflect.String && f.Tag.Get("enum") == "" && f.Tag.Get("unit") != "name":
			t.Errorf("%s.%s: words without a list of them", kind, key)
		}
	}
}

func TestValidate(t *testing.T) {
	tests := []struct {
		config Config
		want   string
	}{
		{breakerOf(func(b *Breaker) { b.MinCalls = 30 }), "min_calls: min_calls 30 is above window 20: it could never open (min_calls: 20, or window: 30)"},
		{breakerOf(func(b *Breaker) { b.Window, b.MinCalls = &LastCalls{N: 5}, 5 }), ""},
		{breakerOf(func(b *Breaker) { b.Window, b.MinCalls = &LastSpan{Span: s}, 100 }), ""},
		{breakerOf(func(b *Breaker) { b.Consecutive = 5 }), ""},
		{chosen(breakerOf(func(b *Breaker) { b.Consecutive, b.Ratio = 5, 0.4 }), "consecutive", "ratio"), "consecutive: consecutive and ratio, window or min_calls are two rules (keep consecutive, or drop it for ratio)"},
		{breakerOf(func(b *Breaker) { b.Ramp = &Ramp{From: 0.1} }), "ramp.over: a ramp needs a length (over: 30s)"},
		{breakerOf(func(b *Breaker) {
			b.Verdicts = map[string]string{"server_error": "alive", "connect_error": "neutral", "timeout": "success"}
		}), "warning: verdicts: no outcome is a failure: it can never open (verdicts: {timeout: failure})"},
		{&Bulkhead{Permits: 2, Queue: 10}, "warning: queue: queue 10 is never used: with max_wait 0s nobody waits (max_wait: 250ms, or drop queue)"},
		{&Bulkhead{Permits: 2, MaxWait: s}, "warning: max_wait: max_wait is never used: with queue 0 nobody waits (queue: unbounded, or drop max_wait)"},
		{&Bulkhead{Permits: 2, MaxWait: s, Queue: 10}, ""},
		{newBulkhead(), ": a bulkhead needs permits or threads (permits: 20, or threads: {core: 9, max: 10})"},
		{&Bulkhead{Permits: 2, Queue: -1, Order: OrderLIFO}, "warning: order: order lifo says nothing: nobody waits (max_wait: 250ms, or drop order)"},
		{&Bulkhead{Permits: 2, Queue: -1, Threads: &Threads{Core: 2}}, "permits: permits and threads are two bounds (keep one of them)"},
		{&Bulkhead{Queue: -1, Threads: &Threads{Core: 3, Max: 2}}, "threads.max: max 2 is below core 3 (raise max or lower core)"},
		{&Bulkhead{Queue: -1, Threads: &Threads{Core: 2, Max: 4, Queue: -1}}, "warning: threads.max: max 4 is never reached: a thread beyond core starts only when the queue is full (queue: 100, or core: 4)"},
		{&Bulkhead{Queue: 7, MaxWait: s, Threads: &Threads{Core: 2, Queue: 5}}, "warning: max_wait: max_wait is not for threads (drop max_wait, or threads); queue: the queue of a thread pool stands under threads (threads: {core: 2, queue: 7})"},
		{&Bulkhead{Queue: -1, Order: OrderLIFO, Threads: &Threads{Core: 2}}, "warning: order: order lifo says nothing: nobody waits (threads: {queue: 100}, or drop order)"},
		{&Timeout{After: s, Useful: s}, ""},
		{&Timeout{After: s, Useful: 2 * s}, "minimum_useful: minimum_useful 2s is above the limit 1s: what is useful is never waited for (lower minimum_useful or raise after)"},
		{retryOf(3, &ExponentialBackoff{Base: s, Factor: 2, Max: ms}), "backoff.max: max 1ms is below base 1s (raise max or lower base)"},
		{retryOf(3, &NoBackoff{}, func(c *Retry) { c.Jitter = &FullJitter{} }), "warning: jitter: full jitter does nothing without a backoff (backoff: {exponential: {base: 100ms, max: 2s}})"},
		{retryOf(3, &ConstantBackoff{Wait: s}, func(c *Retry) { c.Jitter = &DecorrelatedV2Jitter{} }), "warning: jitter: decorrelated-v2 jitter doubles from the base, whatever the backoff is (backoff: {exponential: {base: 1s}})"},
		{retryOf(3, &ConstantBackoff{Wait: s}, elapsed(s-1)), "warning: max_elapsed: max_elapsed 999.999999ms is below the first pause 1s: there is no retry at all (raise max_elapsed or shorten the backoff)"},
		{retryOf(1, &ConstantBackoff{Wait: s}, elapsed(s-1)), ""},
		{retryOf(3, &NoBackoff{}, ignoring, func(c *Retry) { c.MaxRetryAfter = s }), "warning: max_retry_after: max_retry_after does nothing with retry_after: ignore (drop one of them)"},
		{retryOf(3, &ListBackoff{}), "backoff: the list of pauses is empty (list: [100ms, 500ms, 2s])"},
		{retryOf(3, &LinearBackoff{Base: s, Max: ms}), "backoff.max: max 1ms is below base 1s (raise max or lower base)"},
		{fallbackOf(func(c *Fallback) { c.Hit, c.Size = 0.5, 5 }), "warning: hit: hit is only for serve: cached (drop it, or serve: cached); warning: size: size is only for serve: queue (drop it, or serve: queue)"},
		{fallbackOf(func(c *Fallback) { c.Serve = ServeDependency }), "serve: serve: dependency names none (dependency: NAME)"},
		{fallbackOf(func(c *Fallback) { c.Serve, c.Dependency = ServeConstant, "b" }), "warning: dependency: dependency is only for serve: dependency (drop it, or serve: dependency)"},
		{fallbackOf(func(c *Fallback) { c.Keys = &Keys{Count: 3} }), "warning: keys: keys is only for serve: cached (drop it, or serve: cached)"},
		{fallbackOf(func(c *Fallback) { c.Serve, c.MaxAge, c.Drain = ServeQueue, s, 3 }), "warning: max_age: max_age is only for serve: cached (drop it, or serve: cached)"},
	}
	tests = append(tests, []struct {
		config Config
		want   string
	}{
		{newRateLimit(), "limit: limit is missing (limit: 100/s)"},
		{rateLimitOf(&TokenBucket{Rate: 1.0 / 3600, Burst: 1000000}), "limit.burst: burst 1000000 takes more than 36 years to fill at 1/h (lower burst or raise rate)"},
		{rateLimitOf(&GCRA{Rate: 100, Burst: 1000000}), ""},
		{rateLimitOf(&SlidingLog{Calls: 3, Per: s}, func(c *RateLimit) { c.MaxWait = s }), "warning: max_wait: max_wait is only for when_full: wait (when_full: wait, or drop max_wait)"},
		{rateLimitOf(&LeakyBucket{Rate: 5, Size: 3}, waiting10), "warning: limit: size is never used: with when_full: wait the bucket has no bound (max_wait bounds the wait; or drop when_full)"},
		{rateLimitOf(&LeakyBucket{Rate: 5}, waiting10), ""},
		{concurrencyOf(&AIMD{Start: 10, Min: 20, Max: 200}), "algorithm.start: start 10 is below min 20 (raise start or lower min)"},
		{concurrencyOf(&Vegas{Start: 10, Max: 5}), "algorithm.start: start 10 is above max 5 (lower start or raise max)"},
		{concurrencyOf(&Gradient2{Start: 10, Min: 20, Max: 15}), "algorithm.min: min 20 is above max 15 (raise max or lower min)"},
	}...)
	for _, tt := range tests {
		if got := problems(tt.config.Validate()); got != tt.want {
			t.Errorf("%+v:\n got %s\nwant %s", tt.config, got, tt.want)
		}
	}
}

// chosen says that a file gave these keys.
func chosen(b *Breaker, keys ...string) *Breaker {
	given := map[string]bool{}
	for _, k := range keys {
		given[k] = true
	}
	b.Chose(given)
	return b
}

func problems(list []spec.Problem) string {
	var out []string
	for _, p := range list {
		text := fmt.Sprintf("%s: %s (%s)", p.Field, p.Text, p.Hint)
		if p.Warning {
			text = "warning: " + text
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func TestTextIsTheSettingsOnOneLine(t *testing.T) {
	tests := []struct {
		config Config
		want   string
	}{
		{newBreaker(), "50% of 20, min_calls 5, cooldown 30s"},
		{breakerOf(threeInARow), "3 in a row, cooldown 30s"},
		{breakerOf(func(b *Breaker) {
			b.Window, b.Cooldown, b.Probes, b.Lease = &LastSpan{Span: time.Minute}, 90*s, 3, 10*s
			b.Ramp, b.Record = &Ramp{From: 0.1, Over: 30 * s}, RecordAttempt
			b.Verdicts = map[string]string{"timeout": "neutral", "client_error": "failure"}
		}), "50% of 1m, min_calls 5, cooldown 1m30s, 3 probes, lease 10s, ramp from 10% over 30s, counts attempts, client_error is failure, timeout is neutral"},
		{&Bulkhead{Permits: 20, MaxWait: 250 * ms, Queue: -1}, "20 permits, wait 250ms"},
		{&Bulkhead{Permits: 1, MaxWait: -1, Queue: 7}, "1 permit, wait forever, queue 7"},
		{&Bulkhead{Permits: 3, Queue: -1}, "3 permits"},
		{&Bulkhead{Permits: 3, Queue: -1, MaxWait: -1, Order: OrderLIFO, Release: OnWorkDone}, "3 permits, wait forever, last in first out, held until the work is done"},
		{&Bulkhead{Queue: -1, Threads: &Threads{Core: 9, Max: 10, Queue: 100, KeepAlive: 20 * ms}}, "9 threads, queue 100, then up to 10 for 20ms"},
		{&Bulkhead{Queue: -1, Order: OrderLIFO, Threads: &Threads{Core: 1, Queue: -1}}, "1 thread, queue unbounded, last in first out"},
		{&Timeout{After: s, Mode: ModeAbandon, Propagate: true, Useful: 50 * ms}, "1s, abandons, propagates, useful from 50ms"},
		{&Timeout{After: 2 * time.Hour}, "2h"},
		{newRetry(), "3 attempts, no backoff"},
		{retryOf(1, &NoBackoff{}), "1 attempt"},
		{retryOf(4, &ExponentialBackoff{Base: 100 * ms, Factor: 2, Max: 2 * s}, func(c *Retry) { c.Jitter = &FullJitter{} }, on("timeout")), "4 attempts, backoff 100ms x2 up to 2s, full jitter, on timeout"},
		{retryOf(2, &ConstantBackoff{Wait: s}), "2 attempts, backoff 1s"},
		{retryOf(2, &LinearBackoff{Base: s, Max: 5 * s}, ignoring, elapsed(time.Minute), budgeted("envoy"), func(c *Retry) { c.Jitter = &SpreadJitter{Share: 0.2, Capped: true} }), "2 attempts, backoff 1s + 1s up to 5s, jitter ±20%, capped, retry_after ignored, within 1m, envoy budget 20%, min 3"},
		{retryOf(2, &ListBackoff{Pauses: []time.Duration{ms, s}}, budgeted("linkerd"), func(c *Retry) { c.MaxRetryAfter = s }), "2 attempts, backoff 1ms 1s, retry_after up to 1s, linkerd budget 20% + 10/s over 10s"},
		{newFallback(), "degraded"},
		{fallbackOf(func(c *Fallback) { c.Serve, c.Hit, c.MaxAge, c.Latency = ServeCached, 0.9, 10*time.Minute, 36*ms }), "cached, hit 90%, max_age 10m, takes 36ms"},
		{fallbackOf(func(c *Fallback) { c.Serve, c.Keys = ServeCached, &Keys{Count: 1000, Zipf: 1.1} }), "cached, hit 100%, 1000 keys, zipf 1.1"},
		{fallbackOf(func(c *Fallback) { c.Serve, c.Dependency = ServeDependency, "backup" }), "dependency backup"},
		{fallbackOf(func(c *Fallback) { c.Serve = ServeConstant }), "constant"},
		{fallbackOf(func(c *Fallback) { c.Serve = ServeQueue }), "queue of 1000, drained at 10/s"},
		{rateLimitOf(&TokenBucket{Rate: 100, Burst: 20}, waiting10), "100/s, burst 20, wait up to 10ms"},
		{rateLimitOf(&TokenBucket{Rate: 10.0 / 60, Burst: 1}), "10/min, burst 1"},
		{rateLimitOf(&GCRA{Rate: 7.0 / 3600, Burst: 2}, func(c *RateLimit) { c.WhenFull = WhenFullWait }), "gcra 7/h, burst 2, wait forever"},
		{rateLimitOf(&LeakyBucket{Rate: 5.5, Size: 3}), "leaky bucket 5.5/s, size 3"},
		{rateLimitOf(&FixedWindow{Calls: 9, Per: time.Minute}), "9 in each 1m"},
		{rateLimitOf(&SlidingLog{Calls: 9, Per: 250 * ms}), "9 in any 250ms"},
		{newThrottle(), "sre, k 2, window 2m"},
		{throttleOf(sreOf(func(c *SRE) { c.K, c.Window, c.CountAt, c.Protection = 1.5, 10*s, CountAtCompletion, 5 }), func(c *Throttle) {
			c.Verdicts = map[string]string{"cancelled": "failure"}
		}), "sre, k 1.5, window 10s, counts completions, protection 5, cancelled is failure"},
		{throttleOf(newAdmissionControl()), "admission control, threshold 95%, window 30s, max 80%"},
		{throttleOf(admissionOf(func(c *AdmissionControl) { c.Aggression, c.MinRate = 1.5, 5 })), "admission control, threshold 95%, window 30s, max 80%, aggression 1.5, from 5/s"},
		{newConcurrencyLimit(), "vegas 20 up to 1000, probe 30"},
		{concurrencyOf(newAIMD(), func(c *ConcurrencyLimit) {
			c.Window, c.Verdicts = s, map[string]string{"server_error": "drop", "ok": "ignore"}
		}), "aimd 20 in 20..200, x0.9, timeout 5s, window 1s, ok is ignore, server_error is drop"},
		{concurrencyOf(&Gradient2{Start: 9, Min: 1, Max: 50, Smoothing: 1, Queue: 2, Tolerance: 2, LongWindow: 5}), "gradient2 9 in 1..50, queue 2, tolerance 2, smoothing 100%, long_window 5"},
		{concurrencyOf(&Vegas{Start: 9, Max: 50, Smoothing: 0.25, Probe: 3}), "vegas 9 up to 50, probe 3, smoothing 25%"},
	}
	for _, tt := range tests {
		if got := tt.config.Text(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// What the simulator asks a breaker for its figures.
func TestBreakerAnswersForItsFigures(t *testing.T) {
	tests := []struct {
		config *Breaker
		want   string
	}{
		{newBreaker().(*Breaker), "0.5 of 20, dwell 30s, by operation"},
		{breakerOf(threeInARow), "1 of 3, dwell 30s, by operation"},
		{breakerOf(func(b *Breaker) {
			b.Window, b.MinCalls, b.FlapDwell, b.Record = &LastSpan{Span: s}, 7, 5*s, RecordAttempt
		}), "0.5 of 7, dwell 5s, by attempt"},
	}
	for _, tt := range tests {
		how := "operation"
		if tt.config.RecordsAttempts() {
			how = "attempt"
		}
		if got := fmt.Sprintf("%g of %d, dwell %v, by %s", tt.config.TripRatio(), tt.config.WindowCalls(), tt.config.Dwell(), how); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
	b := breakerOf(func(b *Breaker) { b.Verdicts = map[string]string{"client_error": "failure"} })
	if !b.CountsAsFailure(call.ClientError) || !b.CountsAsFailure(call.Timeout) || b.CountsAsFailure(call.Rejected) {
		t.Error("CountsAsFailure does not follow the verdicts")
	}
}

func TestKindsAreRegisteredUnderTheNamesOfTheFile(t *testing.T) {
	for _, kind := range strings.Fields("breaker bulkhead timeout retry fallback rate_limit concurrency_limit throttle hedge") {
		if Layers[kind] == nil {
			t.Errorf("no layer %s", kind)
		}
	}
	for _, kind := range strings.Fields("none constant exponential linear list envoy") {
		if Backoffs[kind] == nil {
			t.Errorf("no backoff %s", kind)
		}
	}
	for _, kind := range strings.Fields("sre admission_control") {
		if ThrottleRules[kind] == nil {
			t.Errorf("no rule %s", kind)
		}
	}
	for _, kind := range strings.Fields("aimd vegas gradient2") {
		if Algorithms[kind] == nil {
			t.Errorf("no algorithm %s", kind)
		}
	}
	for _, kind := range strings.Fields("token_bucket gcra leaky_bucket fixed_window sliding_log") {
		if Limiters[kind] == nil {
			t.Errorf("no limit %s", kind)
		}
	}
	for _, kind := range strings.Fields("none full equal decorrelated decorrelated-v2 spread") {
		if Jitters[kind] == nil {
			t.Errorf("no jitter %s", kind)
		}
	}
	for _, kind := range strings.Fields("none shared envoy grpc aws failsafe-go linkerd") {
		if Budgets[kind] == nil {
			t.Errorf("no budget %s", kind)
		}
	}
}
