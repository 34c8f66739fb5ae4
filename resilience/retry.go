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
	RetryOn  []string `yaml:"retry_on" enum:"timeout,server_error,connect_error,throttled,rejected,client_error" also:"retryOn,retryOnResult" help:"outcomes that are tried again"`
}

func newRetry() Config {
	return &Retry{Attempts: 3, Backoff: &NoBackoff{}, Jitter: JitterNone,
		RetryOn: []string{call.Timeout.String(), call.ServerError.String(), call.ConnectError.String()}}
}

var _ Config = (*Retry)(nil)

// Validate warns of jitter on nothing.
func (c *Retry) Validate() []spec.Problem {
	out := c.Backoff.Validate()
	if _, none := c.Backoff.(*NoBackoff); none && c.Jitter != JitterNone {
		out = append(out, spec.Problem{Field: "jitter", Text: "jitter " + c.Jitter + " on no backoff does nothing", Hint: "backoff: {exponential: {base: 100ms, max: 2s}}", Warning: true})
	}
	return out
}

// Text is e.g. "3 attempts, backoff none".
func (c *Retry) Text() string {
	out := fmt.Sprintf("%d attempts", c.Attempts)
	switch b := c.Backoff.(type) {
	case *ConstantBackoff:
		out += ", backoff " + b.Wait.String()
	case *ExponentialBackoff:
		out += fmt.Sprintf(", backoff %v x%g", b.Base, b.Factor)
		if b.Max > 0 {
			out += " up to " + b.Max.String()
		}
	default:
		out += ", no backoff"
	}
	if c.Jitter != JitterNone {
		out += ", " + c.Jitter + " jitter"
	}
	if on := strings.Join(c.RetryOn, " "); on != "timeout server_error connect_error" {
		out += ", on " + on
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
	if b, ok := c.Backoff.(*ConstantBackoff); ok && c.Jitter == JitterNone {
		des.NameConstant(env.Sched, b.Wait, des.Arrive)
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
	free      *retryFrame
	retries   int64
	exhausted int64
}

type retryFrame struct {
	passage
	layer *retryLayer
	call  *call.Call
	tries int
	last  time.Duration // pause before the last retry
	again bool          // the attempt failed within Start; the next one is due at once
	timer des.Timer
	next  *retryFrame
}

// Start makes the first attempt.
func (l *retryLayer) Start(c *call.Call, d call.Done) call.Canceler {
	f := l.get()
	f.done, f.call = d, c
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
		f.tries++
		f.again = false
		f.start(f.layer.next, f.call, f)
		switch {
		case f.again:
		case f.state == over:
			f.layer.put(f)
			return false
		default:
			return true
		}
	}
}

// Done is the end of one attempt.
func (f *retryFrame) Done(o call.Outcome) {
	l := f.layer
	if l.reports && f.call.Sink != nil {
		f.call.Sink.AttemptDone(o)
	}
	inStart := f.onStack()
	if f.state == abandoned {
		f.state = over
		return
	}
	pause, more := f.plan(o)
	switch {
	case !more:
		d := f.done
		if inStart {
			f.state = over
		} else {
			l.put(f)
		}
		d.Done(o)
	case pause > 0:
		l.retries++
		f.state = waiting
		f.timer = l.sched.After(pause, des.Arrive, f)
	case inStart:
		l.retries++
		f.state, f.again = over, true
	default:
		l.retries++
		f.attempt()
	}
}

// plan decides whether to try again and after which pause. A pause that would
// end at or after the caller's deadline is not begun.
func (f *retryFrame) plan(o call.Outcome) (time.Duration, bool) {
	l := f.layer
	if !l.on[o.Class] {
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
	pause := Delay(l.backoff, l.jitter, f.tries, f.last, &r)
	pause = max(pause, o.RetryAfter)
	if pause > 0 && pause >= f.call.Deadline-l.sched.Now() {
		l.exhausted++
		return 0, false
	}
	f.last = pause
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
	f.layer.put(f)
}

func (l *retryLayer) get() *retryFrame {
	f := l.free
	if f == nil {
		frames := make([]retryFrame, chunk)
		for i := range frames {
			frames[i].layer = l
			l.put(&frames[i])
		}
		f = l.free
	}
	l.free = f.next
	return f
}

func (l *retryLayer) put(f *retryFrame) {
	*f = retryFrame{layer: l, next: l.free}
	l.free = f
}
