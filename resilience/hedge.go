package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
	"blastradius/sim/spec"
)

// Hedge sends further attempts beside one that takes long and answers with the
// first good one (Dean and Barroso, "The Tail at Scale", 2013). Every attempt is
// a real one: it passes all that is inside and loads the dependency.
type Hedge struct {
	Delay     HedgeDelay   `yaml:"delay" required:"true" also:"hedgingDelay,hedging_delay,after" help:"time after which the next attempt goes out beside those that are out"`
	Max       int          `yaml:"max" unit:"count" min:"1" max:"50" also:"max_hedges,maxHedges,maxHedgedAttempts,hedges" help:"attempts after the first"`
	Cancel    string       `yaml:"cancel" enum:"losers,none" help:"what becomes of the others when one has answered: cancelled, or left to run to their end"`
	OnFailure string       `yaml:"on_failure" enum:"next,wait,end" help:"what a failed attempt does: the next one goes out at once, or at its time, or the failure is the answer"`
	Fatal     []string     `yaml:"fatal" enum:"timeout,server_error,connect_error,throttled,rejected" also:"fatalStatusCodes" help:"failures that are the answer, whatever on_failure says"`
	Budget    BudgetConfig `yaml:"budget" also:"retryThrottling" help:"bound on the hedges of all calls together"`
}

// What becomes of attempts that lost, and what failed ones do. Next is the
// hedging policy of gRPC (proposal A6) with its non-fatal codes, end the default
// of failsafe-go, where any result is the answer.
const (
	CancelLosers = "losers"
	CancelNone   = "none"
	FailureNext  = "next"
	FailureWait  = "wait"
	FailureEnd   = "end"
)

func newHedge() Config {
	return &Hedge{Max: 1, Cancel: CancelLosers, OnFailure: FailureNext, Budget: &NoBudget{}}
}

var _ Config = (*Hedge)(nil)

// Validate warns of settings that do nothing.
func (c *Hedge) Validate() []spec.Problem {
	var out []spec.Problem
	if c.Delay != nil {
		out = within("delay", c.Delay.Validate())
	}
	out = append(out, within("budget", c.Budget.Validate())...)
	if c.OnFailure == FailureEnd && len(c.Fatal) > 0 {
		out = append(out, spec.Problem{Field: "fatal", Text: "fatal does nothing with on_failure: end, where every failure is the answer", Hint: "drop fatal, or on_failure: next", Warning: true})
	}
	return out
}

// Text is e.g. "after 200ms".
func (c *Hedge) Text() string {
	out := "after " + c.Delay.Text()
	if c.Max > 1 {
		out += fmt.Sprintf(", up to %d", c.Max)
	}
	if c.Cancel == CancelNone {
		out += ", losers run on"
	}
	switch c.OnFailure {
	case FailureWait:
		out += ", not at a failure"
	case FailureEnd:
		out += ", a failure ends it"
	}
	for _, f := range c.Fatal {
		out += ", " + f + " ends it"
	}
	if _, none := c.Budget.(*NoBudget); !none {
		out += ", " + c.Budget.Text()
	}
	return out
}

// Help says what the kind is.
func (*Hedge) Help() string {
	return "further attempts beside one that takes long; the first good answer wins"
}

// Example is a line of YAML.
func (*Hedge) Example() string { return "{hedge: {delay: 200ms, max: 1}}" }

// Metrics are the figures of the layer.
func (*Hedge) Metrics() []spec.Metric {
	return []spec.Metric{
		{Name: "hedges", Unit: spec.Count, Good: spec.LowerBetter, Help: "attempts it sent beside, or after, the first of a call"},
		{Name: "hedge_rate", Unit: spec.Share, Good: spec.LowerBetter, Help: "share of the calls that sent a hedge"},
		{Name: "hedge_wins", Unit: spec.Count, Help: "calls that a hedge answered"},
		{Name: "refused_by_budget", Unit: spec.Count, Good: spec.LowerBetter, Help: "hedges that the budget refused; the call goes on with what is out"},
		{Name: "delay_mean", Unit: spec.Seconds, Help: "mean delay after which a hedge was due"},
	}
}

// Layer builds the policy.
func (c *Hedge) Layer(env Env) call.Layer {
	if d, ok := c.Delay.(*FixedDelay); ok {
		des.NameConstant(env.Sched, d.After, des.Arrive)
	}
	budget := budgetOf(c.Budget, env.Budgets)
	return func(next call.Handler) call.Handler {
		_, fixed := c.Delay.(*FixedDelay)
		l := &hedgeLayer{delay: c.Delay.delay(), learns: !fixed, max: c.Max, runOn: c.Cancel == CancelNone, onFailure: c.OnFailure,
			budget: budget(), sched: env.Sched, goroutines: env.Goroutines, reports: env.CountsAttempts, next: next}
		for _, name := range c.Fatal {
			if class, ok := call.ParseClass(name); ok {
				l.fatal[class] = true
			}
		}
		m := env.Meter
		m.Count("hedges", &l.hedges)
		m.Share("hedge_rate", &l.hedged, &l.calls, "no call came to it")
		m.Count("hedge_wins", &l.wins)
		m.Count("refused_by_budget", &l.refused)
		m.Times("delay", &l.delays, "mean")
		return l
	}
}

// Interrupts is true: it cancels losers, and its attempts are out at once.
func (*Hedge) Interrupts() bool { return true }

type hedgeLayer struct {
	delay      hedgeDelay
	learns     bool // the delay wants to know how long first attempts take
	max        int
	runOn      bool
	onFailure  string
	fatal      [call.NumClasses]bool
	budget     Budget // nil: none
	sched      des.Scheduler
	goroutines *des.Gauge // of the process; nil: nobody counts them
	reports    bool       // tells the call's sink of every attempt
	next       call.Handler
	frames     call.Frames[hedgeFrame]
	branches   call.Frames[hedgeBranch]

	calls, hedged, hedges, wins, refused int64
	delays                               des.TimesHist
}

// hedgeFrame is one call; its attempts have frames of their own, since one that
// runs on outlives the call.
type hedgeFrame struct {
	layer   *hedgeLayer
	done    call.Done
	call    *call.Call
	out     []*hedgeBranch // attempts that are out, in the order of their start
	started int
	timer   des.Timer
	wait    time.Duration // that the timer was set to
	failed  call.Outcome  // the failure that will be the answer if nothing better comes
	again   bool          // an attempt failed while one was being started; the next one is due at once
	starts  bool          // an attempt is being started
	closed  bool          // no further attempt will be started
	over    bool          // answered or cancelled
	left    bool          // the caller left, so nobody is to be told
	depth   int           // calls of ours on the stack that will look at the frame again
}

var (
	_ call.Handler  = (*hedgeLayer)(nil)
	_ call.Canceler = (*hedgeFrame)(nil)
	_ des.Event     = (*hedgeFrame)(nil)
)

// Start makes the first attempt and sets the delay of the next.
func (l *hedgeLayer) Start(c *call.Call, d call.Done) call.Canceler {
	f := l.frames.Get()
	f.layer, f.done, f.call, f.started, f.timer = l, d, c, 0, des.Timer{}
	f.out, f.failed = f.out[:0], call.Outcome{Class: call.Rejected}
	f.again, f.starts, f.closed, f.over, f.left, f.depth = false, false, false, false, false, 1
	l.calls++
	if l.budget != nil {
		l.budget.Enter(l.sched.Now())
	}
	f.launch(NoPermit)
	f.depth--
	if f.over {
		l.frames.Put(f)
		return nil
	}
	return f
}

// launch starts an attempt, and further ones as long as one fails meanwhile, and
// sets the delay of the next. Its caller keeps the frame in place by its depth.
func (f *hedgeFrame) launch(p Permit) {
	for f.begin(p); f.again; f.begin(p) {
		var ok bool
		if p, ok = f.ask(); !ok {
			break
		}
	}
	switch {
	case f.over:
	case f.closed:
		f.settle()
	default:
		f.arm()
	}
}

// begin starts one attempt. again says afterwards that the next is due at once.
func (f *hedgeFrame) begin(p Permit) {
	l := f.layer
	b := l.branches.Get()
	inside := b.enter(f, p)
	f.started++
	if f.started > 1 {
		l.hedges++
	}
	if f.started == 2 {
		l.hedged++
	}
	f.closed = f.started > l.max
	f.again, f.starts = false, true
	if b.start(l.next, inside, b); b.state == over {
		l.branches.Put(b)
	}
	f.starts = false
	f.again = f.again && !f.closed && !f.over
}

// arm sets the delay of the next attempt.
func (f *hedgeFrame) arm() {
	l := f.layer
	d, ok := l.delay.next()
	if !ok {
		f.closed = true
		f.settle()
		return
	}
	f.wait = d
	f.timer = l.sched.After(d, des.Arrive, f)
}

// ask wants a permit for one more attempt. Without one there are no more.
func (f *hedgeFrame) ask() (Permit, bool) {
	l := f.layer
	if l.budget == nil {
		return NoPermit, true
	}
	after := call.OK
	if len(f.out) == 0 {
		after = f.failed.Class
	}
	p, ok := l.budget.Ask(l.sched.Now(), after)
	if !ok {
		l.refused++
		f.closed = true
	}
	return p, ok
}

// Fire is the delay's end.
func (f *hedgeFrame) Fire() {
	f.timer = des.Timer{}
	f.layer.delays.Record(f.wait)
	f.further()
}

// further starts one more attempt, if the budget allows it.
func (f *hedgeFrame) further() {
	f.depth++
	if p, ok := f.ask(); ok {
		f.launch(p)
	} else {
		f.settle()
	}
	f.depth--
	f.release()
}

// release gives the frame back once it is over and nothing of it is on the stack.
func (f *hedgeFrame) release() {
	if f.over && f.depth == 0 {
		f.layer.frames.Put(f)
	}
}

// failedOne takes the failure of an attempt, which is no longer out, and reports
// that the next one is due at once. A refusal, ours or a throttled answer, asks
// for less load: nothing further goes out then.
func (f *hedgeFrame) failedOne(o call.Outcome) (next bool) {
	if f.failed.Class == call.Rejected || o.Class != call.Rejected {
		f.failed = o
	}
	if o.Class == call.Rejected || o.Class == call.Throttled {
		f.close()
	}
	return f.layer.onFailure == FailureNext && !f.closed
}

// close starts no further attempt.
func (f *hedgeFrame) close() {
	f.closed = true
	f.layer.sched.Stop(f.timer)
	f.timer = des.Timer{}
}

// settle answers with the failure when nothing better can come.
func (f *hedgeFrame) settle() {
	if !f.over && f.closed && len(f.out) == 0 {
		f.answer(f.failed)
	}
}

// answer ends the attempts that are still out, or lets them run on, and then
// tells the caller, unless what they gave back made it leave.
func (f *hedgeFrame) answer(o call.Outcome) {
	l, d := f.layer, f.done
	f.over = true
	f.close()
	f.depth++
	alone := 0
	if l.runOn {
		alone = f.detach()
	} else {
		f.cancel(true)
	}
	f.depth--
	if f.left {
		f.release()
		return
	}
	if l.budget != nil {
		l.budget.Leave(l.sched.Now())
	}
	f.release()
	d.Done(o)
	// Only now, since the caller's own goroutine has gone meanwhile, if it has: the
	// most at once is not one too many.
	if alone > 0 && l.goroutines != nil {
		l.goroutines.Add(l.sched.Now(), 1)
	}
}

// detach lets the attempts run on, each with a goroutine of its own, and reports
// how many they are. All but one are counted already.
func (f *hedgeFrame) detach() int {
	for _, b := range f.out {
		b.frame = nil
		b.call.Cut()
		if b.keeper != nil {
			b.keeper.Keep()
		}
	}
	n := len(f.out)
	f.out = f.out[:0]
	return n
}

// cancel ends the attempts that are out, after an answer or because the caller
// left: then their age tells nothing and nobody hears of their end. All are marked first: what one gives
// back may make another one answer, and that answer must find it lost.
func (f *hedgeFrame) cancel(answered bool) {
	l := f.layer
	losers := f.out
	for _, b := range losers {
		if b.lost = true; answered {
			b.observe()
		}
		b.call.Cut() // what it still does on the stack is nobody's
	}
	f.park(-max(0, len(losers)-1))
	for _, b := range losers {
		b.end(call.Cancelled, false)
		if l.reports && !f.left && f.call.Sink != nil {
			f.call.Sink.AttemptDone(call.Outcome{Class: call.Cancelled})
		}
		switch {
		case b.onStack():
			b.state = abandoned // its start cancels it and gives the frame back
			continue
		case b.state != over:
			b.state = over
			b.inner.Cancel()
		}
		l.branches.Put(b)
	}
	f.out = f.out[:0]
}

// park counts n more goroutines of ours.
func (f *hedgeFrame) park(n int) {
	if g := f.layer.goroutines; g != nil && n != 0 {
		g.Add(f.layer.sched.Now(), int64(n))
	}
}

// Cancel ends the call because its caller left.
func (f *hedgeFrame) Cancel() {
	l := f.layer
	f.left = true
	if l.budget != nil {
		l.budget.Leave(l.sched.Now())
	}
	if f.over {
		return // it was about to be answered
	}
	f.over = true
	f.close()
	f.depth++
	f.cancel(false)
	f.depth--
	f.release()
}
