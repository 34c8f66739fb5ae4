package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
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
	Probes      int               `yaml:"probes" unit:"count" min:"1" also:"permittedNumberOfCallsInHalfOpenState,half_open_probes,maxRequests" help:"calls let through while half-open; all must succeed to close it"`
	Lease       time.Duration     `yaml:"lease" unit:"duration" min:"0s" default:"cooldown" help:"a probe that has not reported by then gives its slot back"`
	Ramp        *Ramp             `yaml:"ramp" help:"share of the calls admitted after closing"`
	Record      string            `yaml:"record" enum:"operation,attempt" help:"counts what returns through it, or every attempt that a retry inside it makes"`
	Verdicts    map[string]string `yaml:"verdicts" keys:"ok,client_error,server_error,throttled,connect_error,timeout,cancelled,rejected" enum:"success,failure,alive,neutral" help:"what an outcome means to it"`
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
		return w.Span.String()
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
	ratioRule := c.Ratio != defaultRatio || c.Window != Window{Calls: defaultWindow} || c.MinCalls != defaultMinCalls
	if c.Consecutive > 0 && ratioRule {
		out = append(out, spec.Problem{Field: "consecutive", Text: "consecutive and ratio, window or min_calls are two rules", Hint: "keep consecutive, or drop it for ratio"})
	}
	if c.Consecutive == 0 && c.Window.Span == 0 && c.MinCalls > c.Window.Calls {
		out = append(out, spec.Problem{Field: "min_calls", Text: fmt.Sprintf("min_calls %d is above window %d: it could never open", c.MinCalls, c.Window.Calls),
			Hint: fmt.Sprintf("min_calls: %d, or window: %d", c.Window.Calls, c.MinCalls)})
	}
	if c.Ramp != nil && c.Ramp.Over == 0 {
		out = append(out, spec.Problem{Field: "ramp.over", Text: "a ramp needs a length", Hint: "over: 30s"})
	}
	return out
}

// NewMachine returns the breaker's state machine, closed.
func (c *Breaker) NewMachine() *Machine {
	m := &Machine{cooldown: c.Cooldown, thin: thinner{ramp: c.Ramp}}
	switch {
	case c.Consecutive > 0:
		m.window = &consecutive{n: c.Consecutive}
	case c.Window.Span > 0:
		m.window = &lastSpan{span: c.Window.Span, min: c.MinCalls, ratio: c.Ratio}
	default:
		m.window = newLastCalls(c.Window.Calls, c.MinCalls, c.Ratio)
	}
	m.gate = gate{lease: c.Lease, slots: make([]probe, c.Probes)}
	if c.Lease == 0 {
		m.gate.lease = c.Cooldown
	}
	return m
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

// Text is e.g. "50% of 20, min_calls 5, cooldown 30s".
func (c *Breaker) Text() string {
	out := fmt.Sprintf("%.6g%% of %v, min_calls %d", c.Ratio*100, c.Window, c.MinCalls)
	if c.Consecutive > 0 {
		out = fmt.Sprintf("%d in a row", c.Consecutive)
	}
	out += ", cooldown " + c.Cooldown.String()
	if c.Probes > 1 {
		out += fmt.Sprintf(", %d probes", c.Probes)
	}
	if c.RecordsAttempts() {
		out += ", counts attempts"
	}
	if c.Ramp != nil {
		out += fmt.Sprintf(", ramp %.6g%% over %v", c.Ramp.From*100, c.Ramp.Over)
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

// Layer builds the policy.
func (c *Breaker) Layer(env Env) call.Layer {
	return func(next call.Handler) call.Handler {
		l := &breakerLayer{machine: c.NewMachine(), verdicts: verdictsOf(c.Verdicts), attempts: c.RecordsAttempts(), sched: env.Sched, probe: env.Probe, source: env.Source, next: next}
		m := env.Meter
		m.Count("opens", &l.machine.Opens)
		m.Count("closes", &l.machine.Closes)
		m.Count("probes", &l.machine.Probes)
		m.Count("rejected", &l.machine.Rejected)
		m.Count("stale", &l.machine.Stale)
		m.Series("state", &l.state)
		return l
	}
}

type breakerLayer struct {
	machine  *Machine
	verdicts [call.NumClasses]Verdict
	attempts bool
	sched    des.Scheduler
	probe    des.Probe
	source   string
	next     call.Handler
	free     *breakerFrame
	seen     State // last state told
	state    des.Gauge
}

type breakerFrame struct {
	passage
	layer   *breakerLayer
	token   Token
	call    *call.Call
	outside call.AttemptSink // of the breaker around this one
	probing bool
	counted bool // attempts were recorded, so the operation is not
	next    *breakerFrame
}

var _ call.AttemptSink = (*breakerFrame)(nil)

// Start lets the call in if the breaker does.
func (l *breakerLayer) Start(c *call.Call, d call.Done) call.Canceler {
	now := l.sched.Now()
	token, ok := l.machine.Admit(now)
	if l.machine.state != l.seen {
		l.changed(now, c.Request)
	}
	if !ok {
		d.Done(call.Outcome{Class: call.Rejected, Reason: call.BreakerOpen})
		return nil
	}
	f := l.get()
	f.done, f.token = d, token
	if l.attempts {
		f.call, f.outside, f.counted, f.probing = c, c.Sink, false, l.machine.state == HalfOpen
		c.Sink = f
	}
	if f.start(l.next, c, f) {
		f.record(Neutral)
		f.restore()
	}
	if f.state == over {
		l.put(f)
		return nil
	}
	return f
}

// AttemptDone records one attempt of a retry inside. A probe is one probe
// whatever attempts it makes, so its attempts are not recorded one by one.
func (f *breakerFrame) AttemptDone(o call.Outcome) {
	if !f.probing {
		f.counted = true
		f.record(f.layer.verdicts[o.Class])
	}
	if f.outside != nil {
		f.outside.AttemptDone(o)
	}
}

// Done records the operation and passes the answer on.
func (f *breakerFrame) Done(o call.Outcome) {
	l, d := f.layer, f.done
	v := l.verdicts[o.Class]
	if f.counted {
		v = Neutral
	}
	f.record(v)
	f.restore()
	tell := f.state != abandoned
	if f.onStack() {
		f.state = over
	} else {
		l.put(f)
	}
	if tell {
		d.Done(o)
	}
}

// Cancel ends the call because its caller left: no verdict, the slot goes back.
func (f *breakerFrame) Cancel() {
	if f.onStack() {
		f.state = abandoned
		return
	}
	f.inner.Cancel()
	f.record(Neutral)
	f.restore()
	f.layer.put(f)
}

func (f *breakerFrame) record(v Verdict) {
	l := f.layer
	now := l.sched.Now()
	l.machine.Record(now, f.token, v)
	if l.machine.state != l.seen {
		l.changed(now, 0)
	}
}

func (f *breakerFrame) restore() {
	if f.call != nil {
		f.call.Sink = f.outside
	}
}

// changed tells everybody about a new state.
func (l *breakerLayer) changed(now time.Duration, request uint64) {
	from, to := l.seen, l.machine.state
	l.seen = to
	l.state.Set(now, int64(to))
	if l.probe != nil {
		l.probe(des.Observation{At: now, Source: l.source, What: "state", From: int(from), To: int(to), Request: request})
	}
}

func (l *breakerLayer) get() *breakerFrame {
	f := l.free
	if f == nil {
		frames := make([]breakerFrame, chunk)
		for i := range frames {
			frames[i].layer = l
			l.put(&frames[i])
		}
		f = l.free
	}
	l.free = f.next
	return f
}

func (l *breakerLayer) put(f *breakerFrame) {
	f.passage, f.call, f.outside, f.counted, f.probing = passage{}, nil, nil, false, false
	f.next = l.free
	l.free = f
}
