package resilience

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
	"blastradius/sim/dist"
	"blastradius/sim/spec"
)

// Retry tries again what failed in a way that may pass.
type Retry struct {
	Attempts int      `yaml:"attempts" unit:"count" min:"1" max:"1000" short:"true" also:"maxAttempts,max_attempts,max_retries,maxRetryAttempts,retries" help:"attempts, the first included"`
	Backoff  Backoff  `yaml:"backoff" also:"delay,wait,waitDuration,wait_duration" help:"pause before a retry"`
	Jitter   string   `yaml:"jitter" enum:"none,full,equal,decorrelated" help:"randomness of the pause"`
	RetryOn  []string `yaml:"retry_on" enum:"timeout,server_error,connect_error,throttled,rejected,client_error" also:"retryOn,retryOnResult" help:"outcomes that are tried again; throttled only when the answer names a retry_after"`
}

func newRetry() Config {
	return &Retry{Attempts: 3, Backoff: &NoBackoff{}, Jitter: JitterNone, RetryOn: defaultRetryOn()}
}

func defaultRetryOn() []string {
	return []string{call.Timeout.String(), call.ServerError.String(), call.ConnectError.String()}
}

var _ Config = (*Retry)(nil)

// Validate warns of jitter on nothing.
func (c *Retry) Validate() []spec.Problem {
	out := c.Backoff.Validate()
	for i := range out {
		out[i].Field = strings.TrimSuffix("backoff."+out[i].Field, ".")
	}
	if c.Jitter != JitterNone && c.Backoff.Pause(1) == 0 {
		out = append(out, spec.Problem{Field: "jitter", Text: "jitter " + c.Jitter + " does nothing without a backoff", Hint: "backoff: {exponential: {base: 100ms, max: 2s}}", Warning: true})
	}
	return out
}

// Text is e.g. "3 attempts, backoff 100ms x2 up to 2s, full jitter".
func (c *Retry) Text() string {
	out := fmt.Sprintf("%d attempts, %s", c.Attempts, c.Backoff.Text())
	if c.Attempts == 1 {
		out = "1 attempt"
	}
	if c.Jitter != JitterNone {
		out += ", " + c.Jitter + " jitter"
	}
	if !slices.Equal(c.RetryOn, defaultRetryOn()) {
		out += ", on " + strings.Join(c.RetryOn, " ")
	}
	return out
}

// Help says what the kind is.
func (*Retry) Help() string { return "tries again what failed in a way that may pass" }

// Example is a line of YAML.
func (*Retry) Example() string {
	return "{retry: {attempts: 3, backoff: {exponential: {base: 100ms, max: 2s}}, jitter: full}}"
}

// Metrics are the figures of the layer.
func (*Retry) Metrics() []spec.Metric {
	return []spec.Metric{
		{Name: "retries", Unit: spec.Count, Good: spec.LowerBetter, Help: "attempts after the first"},
		{Name: "exhausted", Unit: spec.Count, Good: spec.LowerBetter, Help: "calls that failed with no attempt left, or no time for another pause"},
	}
}

// Layer builds the policy.
func (c *Retry) Layer(env Env) call.Layer {
	if pause := c.Backoff.Pause(1); pause > 0 && pause == c.Backoff.Pause(c.Attempts) && c.Jitter == JitterNone {
		des.NameConstant(env.Sched, pause, des.Arrive)
	}
	return func(next call.Handler) call.Handler {
		l := &retryLayer{attempts: c.Attempts, backoff: c.Backoff, jitter: c.Jitter, sched: env.Sched, reports: env.CountsAttempts, next: next}
		l.purpose = dist.Hash(env.Source)
		for i := range l.on {
			l.on[i] = slices.Contains(c.RetryOn, call.Class(i).String())
		}
		env.Meter.Count("retries", &l.retries)
		env.Meter.Count("exhausted", &l.exhausted)
		return l
	}
}

type retryLayer struct {
	attempts  int
	backoff   Backoff
	jitter    string
	on        [call.NumClasses]bool
	sched     des.Scheduler
	reports   bool // tells the call's sink of every attempt
	purpose   uint64
	next      call.Handler
	frames    call.Frames[retryFrame]
	retries   int64
	exhausted int64
}

type retryFrame struct {
	passage
	layer *retryLayer
	call  *call.Call
	tries int
	last  time.Duration // backoff before the last retry
	again bool          // the attempt failed within Start; the next one is due at once
	timer des.Timer
}

var (
	_ call.Handler  = (*retryLayer)(nil)
	_ call.Done     = (*retryFrame)(nil)
	_ call.Canceler = (*retryFrame)(nil)
	_ des.Event     = (*retryFrame)(nil)
)

// Start makes the first attempt.
func (l *retryLayer) Start(c *call.Call, d call.Done) call.Canceler {
	f := l.frames.Get()
	f.begin(d)
	f.layer, f.call, f.tries, f.last, f.again, f.timer = l, c, 0, 0, false, des.Timer{}
	if !f.attempt() {
		return nil
	}
	return f
}

// attempt makes attempts until one is out, a pause begins, or the call is
// decided; then it frees the frame and reports false. Attempts that fail within
// Start make a loop here, not a recursion.
func (f *retryFrame) attempt() bool {
	for {
		if f.tries++; f.tries > 1 {
			f.layer.retries++
		}
		f.again = false
		f.start(f.layer.next, f.call, f)
		switch {
		case f.again:
		case f.state == over:
			f.layer.frames.Put(f)
			return false
		default:
			return true
		}
	}
}

// Done is the end of one attempt.
func (f *retryFrame) Done(o call.Outcome) {
	l := f.layer
	inStart := f.onStack()
	if f.state == abandoned {
		f.state = over
		return
	}
	if l.reports && f.call.Sink != nil {
		f.call.Sink.AttemptDone(o)
	}
	pause, more := f.plan(o)
	switch {
	case !more:
		d := f.done
		if inStart {
			f.state = over
		} else {
			l.frames.Put(f)
		}
		d.Done(o)
	case pause > 0:
		f.state = waiting
		f.timer = l.sched.After(pause, des.Arrive, f)
	case inStart:
		f.state, f.again = over, true
	default:
		f.attempt()
	}
}

// plan decides whether to try again and after which pause. A pause that would
// end at or after the caller's deadline is not begun: it would hold the caller
// for a certain failure.
func (f *retryFrame) plan(o call.Outcome) (time.Duration, bool) {
	l := f.layer
	if !l.on[o.Class] || (o.Class == call.Throttled && o.RetryAfter == 0) {
		return 0, false
	}
	if f.tries >= l.attempts {
		l.exhausted++
		return 0, false
	}
	var r dist.Rand
	if l.jitter != JitterNone {
		r.Key(f.call.Stream^l.purpose, f.call.Request<<16|uint64(f.tries))
	}
	f.last = Delay(l.backoff, l.jitter, f.tries, f.last, &r)
	pause := max(f.last, o.RetryAfter)
	if pause >= f.call.Deadline-l.sched.Now() {
		l.exhausted++
		return 0, false
	}
	return pause, true
}

// Fire ends a pause.
func (f *retryFrame) Fire() {
	f.timer = des.Timer{}
	f.attempt()
}

// Cancel ends the call because its caller left.
func (f *retryFrame) Cancel() {
	switch {
	case f.onStack():
		f.state = abandoned
		return
	case f.state == waiting:
		f.layer.sched.Stop(f.timer)
	default:
		f.inner.Cancel()
	}
	f.layer.frames.Put(f)
}
