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
	Attempts      int           `yaml:"attempts" unit:"count" min:"1" max:"1000" short:"true" also:"maxAttempts,max_attempts,max_retries,maxRetryAttempts,retries" help:"attempts, the first included"`
	Backoff       Backoff       `yaml:"backoff" also:"delay,wait,waitDuration,wait_duration" help:"pause before a retry"`
	Jitter        Jitter        `yaml:"jitter" help:"randomness of the pause"`
	RetryOn       []string      `yaml:"retry_on" enum:"timeout,server_error,connect_error,throttled,rejected,client_error" also:"retryOn,retryOnResult" help:"outcomes that are tried again; throttled only when the answer names a retry_after, unless that is ignored; rejected is a refusal of our own layers"`
	RetryAfter    string        `yaml:"retry_after" enum:"honour,ignore" also:"respect_retry_after,pushback" help:"whether the pause is at least the retry_after of the answer"`
	MaxRetryAfter time.Duration `yaml:"max_retry_after" unit:"duration" min:"0s" open:"min" help:"longest retry_after that is waited for, any when omitted; of a longer one this much is waited"`
	MaxElapsed    time.Duration `yaml:"max_elapsed" unit:"duration" min:"0s" open:"min" also:"maxDuration,max_duration,maxElapsedTime,time_budget" help:"no attempt starts later than this after the first, at any time when omitted"`
	Budget        BudgetConfig  `yaml:"budget" also:"retryBudget,retry_budget,retryThrottling,quota" help:"bound on the retries of all calls together"`
}

// Whether a Retry-After is waited for.
const (
	RetryAfterHonour = "honour"
	RetryAfterIgnore = "ignore"
)

func newRetry() Config {
	return &Retry{Attempts: 3, Backoff: &NoBackoff{}, Jitter: &NoJitter{}, RetryOn: defaultRetryOn(), RetryAfter: RetryAfterHonour, Budget: &NoBudget{}}
}

func defaultRetryOn() []string {
	return []string{call.Timeout.String(), call.ServerError.String(), call.ConnectError.String()}
}

var _ Config = (*Retry)(nil)

// jittered reports that pauses are drawn.
func (c *Retry) jittered() bool {
	_, none := c.Jitter.(*NoJitter)
	return !none
}

// Validate warns of settings that do nothing.
func (c *Retry) Validate() []spec.Problem {
	out := within("backoff", c.Backoff.Validate())
	out = append(out, within("jitter", c.Jitter.Validate())...)
	out = append(out, within("budget", c.Budget.Validate())...)
	warn := func(field, text, hint string) {
		out = append(out, spec.Problem{Field: field, Text: text, Hint: hint, Warning: true})
	}
	if c.jittered() && c.Backoff.Pause(1) == 0 {
		warn("jitter", c.Jitter.Text()+" does nothing without a backoff", "backoff: {exponential: {base: 100ms, max: 2s}}")
	}
	if _, v2 := c.Jitter.(*DecorrelatedV2Jitter); v2 {
		if e, ok := c.Backoff.(*ExponentialBackoff); !ok || e.Factor != 2 {
			warn("jitter", "decorrelated-v2 jitter doubles from the base, whatever the backoff is", "backoff: {exponential: {base: 1s}}")
		}
	}
	if c.RetryAfter == RetryAfterIgnore && c.MaxRetryAfter > 0 {
		warn("max_retry_after", "max_retry_after does nothing with retry_after: ignore", "drop one of them")
	}
	if c.Attempts > 1 && c.MaxElapsed > 0 && c.Backoff.Pause(1) > c.MaxElapsed && !c.jittered() {
		warn("max_elapsed", fmt.Sprintf("max_elapsed %s is below the first pause %s: there is no retry at all", brief(c.MaxElapsed), brief(c.Backoff.Pause(1))), "raise max_elapsed or shorten the backoff")
	}
	return out
}

// within puts problems of a kind under its key.
func within(key string, problems []spec.Problem) []spec.Problem {
	for i := range problems {
		problems[i].Field = strings.TrimSuffix(key+"."+problems[i].Field, ".")
	}
	return problems
}

// Text is e.g. "3 attempts, backoff 100ms x2 up to 2s, full jitter".
func (c *Retry) Text() string {
	out := fmt.Sprintf("%d attempts, %s", c.Attempts, c.Backoff.Text())
	if c.Attempts == 1 {
		out = "1 attempt"
	}
	if c.jittered() {
		out += ", " + c.Jitter.Text()
	}
	if !slices.Equal(c.RetryOn, defaultRetryOn()) {
		out += ", on " + strings.Join(c.RetryOn, " ")
	}
	if c.RetryAfter == RetryAfterIgnore {
		out += ", retry_after ignored"
	}
	if c.MaxRetryAfter > 0 {
		out += ", retry_after up to " + brief(c.MaxRetryAfter)
	}
	if c.MaxElapsed > 0 {
		out += ", within " + brief(c.MaxElapsed)
	}
	if _, none := c.Budget.(*NoBudget); !none {
		out += ", " + c.Budget.Text()
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
		{Name: "exhausted", Unit: spec.Count, Good: spec.LowerBetter, Help: "calls that failed with no attempt left, or no time for another"},
		{Name: "out_of_time", Unit: spec.Count, Good: spec.LowerBetter, Help: "of these, calls whose next attempt would start after max_elapsed, or at the caller's deadline or later"},
		{Name: "refused_by_budget", Unit: spec.Count, Good: spec.LowerBetter, Help: "calls that failed because the budget refused another attempt"},
	}
}

// Layer builds the policy.
func (c *Retry) Layer(env Env) call.Layer {
	if pause := c.Backoff.Pause(1); pause > 0 && pause == c.Backoff.Pause(c.Attempts) && !c.jittered() {
		des.NameConstant(env.Sched, pause, des.Arrive)
	}
	budget := budgetOf(c.Budget, env.Budgets)
	return func(next call.Handler) call.Handler {
		l := &retryLayer{attempts: c.Attempts, backoff: c.Backoff, jitter: c.Jitter, jittered: c.jittered(), sched: env.Sched, reports: env.CountsAttempts, next: next}
		l.honours, l.maxAfter, l.maxElapsed, l.budget = c.RetryAfter != RetryAfterIgnore, c.MaxRetryAfter, c.MaxElapsed, budget()
		l.late = l.budget != nil && l.budget.Late()
		l.purpose = dist.Hash(env.Source)
		for i := range l.on {
			l.on[i] = slices.Contains(c.RetryOn, call.Class(i).String())
		}
		env.Meter.Count("retries", &l.retries)
		env.Meter.Count("exhausted", &l.exhausted)
		env.Meter.Count("out_of_time", &l.outOfTime)
		env.Meter.Count("refused_by_budget", &l.refused)
		return l
	}
}

type retryLayer struct {
	attempts   int
	backoff    Backoff
	jitter     Jitter
	jittered   bool
	on         [call.NumClasses]bool
	honours    bool          // Retry-After
	maxAfter   time.Duration // 0: any
	maxElapsed time.Duration // 0: any
	budget     Budget        // nil: none
	late       bool          // the budget is asked after the pause
	sched      des.Scheduler
	reports    bool // tells the call's sink of every attempt
	purpose    uint64
	rand       dist.Rand // keyed anew for every draw; here so that it is not allocated
	next       call.Handler
	frames     call.Frames[retryFrame]

	retries, exhausted, outOfTime, refused int64
}

type retryFrame struct {
	passage
	layer   *retryLayer
	call    *call.Call
	tries   int
	base    uint16        // attempts of the call before this retry's first, for the keys of its draws
	kept    time.Duration // what the jitter keeps
	started time.Duration // of the first attempt; with max_elapsed
	permit  Permit        // of the attempt that is out, or paused for
	again   bool          // the attempt failed within Start; the next one is due at once
	failed  call.Outcome  // of the last attempt, while it pauses
	timer   des.Timer
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
	f.layer, f.call, f.tries, f.base, f.kept, f.permit, f.timer = l, c, 0, c.Started(), 0, NoPermit, des.Timer{}
	if l.maxElapsed > 0 {
		f.started = l.sched.Now()
	}
	if l.budget != nil {
		l.budget.Enter(l.sched.Now())
	}
	if !f.attempt() {
		return nil
	}
	return f
}

// attempt makes attempts until one is out, a pause begins, or the call is
// decided; then it frees the frame and reports false. Attempts that fail within
// Start make a loop here, not a recursion.
func (f *retryFrame) attempt() bool {
	l := f.layer
	for {
		if f.tries++; f.tries > 1 {
			l.retries++
		}
		f.again = false
		if l.budget != nil {
			l.budget.Begin(f.permit)
		}
		if f.start(l.next, f.call, f) {
			f.leave(call.Cancelled)
		}
		switch {
		case f.again:
		case f.state == over:
			l.frames.Put(f)
			return false
		default:
			return true
		}
	}
}

// leave tells the budget of a call whose caller left while an attempt was out.
func (f *retryFrame) leave(class call.Class) {
	if b := f.layer.budget; b != nil {
		now := f.layer.sched.Now()
		b.End(now, f.permit, class, false)
		b.Leave(now)
	}
}

// Done is the end of one attempt.
func (f *retryFrame) Done(o call.Outcome) {
	l := f.layer
	inStart := f.onStack()
	if f.state == abandoned {
		f.state = over
		f.leave(call.Cancelled)
		return
	}
	if l.reports && f.call.Sink != nil {
		f.call.Sink.AttemptDone(o)
	}
	bad := l.on[o.Class] && (o.Class != call.Throttled || o.RetryAfter > 0 || !l.honours)
	if l.budget != nil {
		l.budget.End(l.sched.Now(), f.permit, o.Class, bad)
		f.permit = NoPermit
	}
	pause, more := time.Duration(0), false
	if bad {
		pause, more = f.plan(o)
	}
	switch {
	case !more:
		f.answer(o, inStart)
	case pause > 0:
		f.state, f.failed = waiting, o
		f.timer = l.sched.After(pause, des.Arrive, f)
	case inStart:
		f.state, f.again = over, true
	default:
		f.attempt()
	}
}

// answer tells the caller.
func (f *retryFrame) answer(o call.Outcome, inStart bool) {
	l, d := f.layer, f.done
	if l.budget != nil {
		l.budget.Leave(l.sched.Now())
	}
	if inStart {
		f.state = over
	} else {
		l.frames.Put(f)
	}
	d.Done(o)
}

// plan decides whether to try again and after which pause. A pause that would
// end after max_elapsed, or at the caller's deadline or later, is not begun: it
// would hold the caller for a certain failure. The budget comes last, so that
// what it gives is used.
func (f *retryFrame) plan(o call.Outcome) (time.Duration, bool) {
	l := f.layer
	if f.tries >= l.attempts {
		l.exhausted++
		return 0, false
	}
	pause := f.pause(o)
	now := l.sched.Now()
	if pause >= f.call.Deadline-now || (l.maxElapsed > 0 && pause > l.maxElapsed-(now-f.started)) {
		l.exhausted++
		l.outOfTime++
		return 0, false
	}
	if l.budget != nil && (!l.late || pause == 0) && !f.ask(now, o.Class) {
		return 0, false
	}
	return pause, true
}

// pause is the longer of the backoff, jittered, and the answer's Retry-After.
func (f *retryFrame) pause(o call.Outcome) time.Duration {
	l := f.layer
	if l.jittered {
		l.rand.Key(f.call.Stream^l.purpose, f.call.Request<<16|uint64(f.base<<8+uint16(f.tries)))
	}
	pause := l.jitter.Pause(l.backoff, f.tries, &f.kept, &l.rand)
	if !l.honours {
		return pause
	}
	after := o.RetryAfter
	if l.maxAfter > 0 {
		after = min(after, l.maxAfter)
	}
	return max(pause, after)
}

// ask wants a permit for one more attempt.
func (f *retryFrame) ask(now time.Duration, after call.Class) bool {
	l := f.layer
	p, ok := l.budget.Ask(now, after)
	if !ok {
		l.refused++
		return false
	}
	f.permit = p
	return true
}

// Fire ends a pause.
func (f *retryFrame) Fire() {
	f.timer = des.Timer{}
	if f.layer.late && !f.ask(f.layer.sched.Now(), f.failed.Class) {
		f.answer(f.failed, false)
		return
	}
	f.attempt()
}

// Cancel ends the call because its caller left.
func (f *retryFrame) Cancel() {
	l := f.layer
	switch {
	case f.onStack():
		f.state = abandoned
		return
	case f.state == waiting:
		l.sched.Stop(f.timer)
		if l.budget != nil {
			if f.permit != NoPermit {
				l.budget.Return(f.permit)
			}
			l.budget.Leave(l.sched.Now())
		}
	default:
		f.inner.Cancel()
		f.leave(call.Cancelled)
	}
	l.frames.Put(f)
}
