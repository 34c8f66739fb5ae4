package resilience

import (
	"slices"
	"strings"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
	"blastradius/sim/dist"
	"blastradius/sim/spec"
)

// Throttle refuses a share of the calls on the caller's side, before they cost
// the dependency anything: the more of the last ones it did not accept, the
// more.
type Throttle struct {
	Rule     ThrottleRule      `yaml:"rule" short:"true" also:"kind,algorithm" help:"how the share is found"`
	Verdicts map[string]string `yaml:"verdicts" keys:"ok,client_error,server_error,throttled,connect_error,timeout,cancelled,rejected,degraded" enum:"success,failure,neutral" help:"what an outcome means to it"`
}

func newThrottle() Config { return &Throttle{Rule: newSRE()} }

// ThrottleRule is the configuration of a rule by which a throttle refuses.
type ThrottleRule interface {
	Validate() []spec.Problem
	// New is the rule before its first call.
	New() ThrottleState
	Text() string // its settings, as part of a line
	Help() string
	Example() string
}

// ThrottleState is what a rule remembers. It is a pure state machine; time
// never goes back.
type ThrottleState interface {
	// Chance is the probability with which the call at hand is to be refused.
	Chance(now time.Duration) float64
	// Refused tells that it was.
	Refused(now time.Duration)
	// Sent tells that it was not. Ended wants the mark back.
	Sent(now time.Duration) (mark int64)
	// Ended tells how it went: Success, Failure or Neutral.
	Ended(now time.Duration, mark int64, v Verdict)
}

// ThrottleRules are the kinds of rule by the name that a scenario file uses.
var ThrottleRules = map[string]func() ThrottleRule{
	"sre":               newSRE,
	"admission_control": newAdmissionControl,
}

// defaultThrottleVerdicts: what the dependency served was accepted, what it
// turned away or did not answer in time was not. What our own layers inside
// refused, and callers who left, say nothing; such a call is as if never made.
var defaultThrottleVerdicts = [call.NumClasses]Verdict{
	call.OK:           Success,
	call.ClientError:  Success,
	call.ServerError:  Failure,
	call.Throttled:    Failure,
	call.ConnectError: Failure,
	call.Timeout:      Failure,
	call.Cancelled:    Neutral,
	call.Rejected:     Neutral,
	call.Degraded:     Neutral,
}

var _ Config = (*Throttle)(nil)

// Validate passes on what the rule finds.
func (c *Throttle) Validate() []spec.Problem {
	out := c.Rule.Validate()
	for i := range out {
		out[i].Field = strings.TrimSuffix("rule."+out[i].Field, ".")
	}
	return out
}

// Text is e.g. "sre, K 2, window 2m".
func (c *Throttle) Text() string { return c.Rule.Text() + verdictText(c.Verdicts) }

// Help says what the kind is.
func (*Throttle) Help() string {
	return "refuses on the caller's side the more, the less the dependency accepts"
}

// Example is a line of YAML.
func (*Throttle) Example() string { return "{throttle: {sre: {k: 2, window: 2m}}}" }

// Metrics are the figures of the layer.
func (*Throttle) Metrics() []spec.Metric {
	return []spec.Metric{
		{Name: "throttled", Unit: spec.Count, Good: spec.LowerBetter, Help: "calls it refused"},
		{Name: "throttled_rate", Unit: spec.Share, Good: spec.LowerBetter, Help: "throttled over the calls that came to it"},
		{Name: "failures", Unit: spec.Count, Good: spec.LowerBetter, Help: "calls it let out that the dependency did not accept"},
	}
}

// Layer builds the policy.
func (c *Throttle) Layer(env Env) call.Layer {
	return func(next call.Handler) call.Handler {
		l := &throttleLayer{state: c.Rule.New(), verdicts: defaultThrottleVerdicts, sched: env.Sched, purpose: dist.Hash(env.Source), next: next}
		for class, name := range c.Verdicts {
			i, _ := call.ParseClass(class)
			l.verdicts[i] = Verdict(slices.Index(verdictNames[:], name))
		}
		m := env.Meter
		m.Count("throttled", &l.throttled)
		m.Share("throttled_rate", &l.throttled, &l.asked, "no call came to it")
		m.Count("failures", &l.failures)
		return l
	}
}

type throttleLayer struct {
	state    ThrottleState
	verdicts [call.NumClasses]Verdict
	sched    des.Scheduler
	purpose  uint64
	next     call.Handler
	frames   call.Frames[throttleFrame]

	drawn struct { // the last call that a draw was made for
		stream, request uint64
		at              time.Duration
		times           uint64
	}
	asked, throttled, failures int64
}

type throttleFrame struct {
	passage
	layer *throttleLayer
	mark  int64
}

var (
	_ call.Handler  = (*throttleLayer)(nil)
	_ call.Done     = (*throttleFrame)(nil)
	_ call.Canceler = (*throttleFrame)(nil)
)

// Start lets the call out, or refuses it by chance.
func (l *throttleLayer) Start(c *call.Call, d call.Done) call.Canceler {
	now := l.sched.Now()
	l.asked++
	if p := l.state.Chance(now); p > 0 && l.draw(now, c) < p {
		l.state.Refused(now)
		l.throttled++
		d.Done(call.Outcome{Class: call.Rejected, Reason: call.ShedEarly})
		return nil
	}
	f := l.frames.Get()
	f.begin(d)
	f.layer, f.mark = l, l.state.Sent(now)
	if f.start(l.next, c, f); f.state == over {
		l.frames.Put(f)
		return nil
	}
	return f
}

// draw is keyed by the call and the instant, and by how often that call has come
// at that instant: a retry that tries again at once has luck of its own.
func (l *throttleLayer) draw(now time.Duration, c *call.Call) float64 {
	last := &l.drawn
	if last.request == c.Request && last.stream == c.Stream && last.at == now {
		last.times++
	} else {
		last.request, last.stream, last.at, last.times = c.Request, c.Stream, now, 0
	}
	var r dist.Rand
	r.Key(dist.Fold(c.Stream^l.purpose, uint64(now)), c.Request<<16|last.times)
	return r.Float64()
}

// Done counts the answer and passes it on.
func (f *throttleFrame) Done(o call.Outcome) {
	l, d := f.layer, f.done
	f.ended(l.verdicts[o.Class])
	if f.onStack() {
		f.state = over
	} else {
		l.frames.Put(f)
	}
	d.Done(o)
}

// Cancel ends the call because its caller left.
func (f *throttleFrame) Cancel() {
	f.inner.Cancel()
	f.ended(f.layer.verdicts[call.Cancelled])
	f.layer.frames.Put(f)
}

func (f *throttleFrame) ended(v Verdict) {
	l := f.layer
	if v == Failure {
		l.failures++
	}
	l.state.Ended(l.sched.Now(), f.mark, v)
}
