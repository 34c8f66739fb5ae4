package sizing

import (
	"fmt"
	"math"
)

// CheckInput says of one bulkhead or pool what its sizing check needs. Times
// are seconds, rates per second.
type CheckInput struct {
	PeakRate float64 // peak of the rate curve: what permits are sized for
	Rate     float64 // mean rate; 0: PeakRate
	Mean     float64 // E[S] of the latency without faults
	MeanHeld float64 // mean time a permit is held, E[min(S,T)] behind a timeout; 0: Mean
	P99      float64 // of the latency without faults
	Timeout  float64 // longest time a permit is held; 0 or +Inf: no limit
	Permits  int     // as configured; 0: not decided yet, figures of the configuration are NaN

	MaxWait    float64 // for a permit; 0: nobody waits; negative or +Inf: for ever
	QueueLimit int     // positive: how many may wait; else no limit
	ShedTarget float64 // share of calls that may be shed, such as 0.001

	Exponential bool // the time a permit is held is exponential
	NotPoisson  bool // arrivals are not a Poisson stream, so every prediction of shed is an approximation
}

// Figure is one number of a [Check] with its formula.
type Figure struct {
	Name   string
	Value  float64 // NaN: not known; +Inf: without limit
	Unit   string  // permits, erlangs, share, s, ratio, calls
	Exact  bool    // holds exactly for the system described, not only nearly
	Source string  // formula and where it comes from, in one line
}

// Check is a sizing check: the rule of thumb beside the closed forms. Permits
// are sized for the peak; the shed predicted is that of the mean rate, which a
// run can be held against.
type Check struct {
	Load     Figure // a = mean rate × time held
	PeakLoad Figure // peak rate × time held, what the permits below are for
	Tail     Figure // p99 ÷ mean, what the rule tends to buy too much by

	Rule     Figure // ceil(peak rate × p99)
	RuleShed Figure // shed under the rule's permits at the peak, without a queue
	Hint     Figure // the square-root rule
	Loose    Figure // Erlang B permits for 1 %
	Tight    Figure // Erlang B permits for 0.1 %
	Target   Figure // Erlang B permits for ShedTarget
	Queued   Figure // permits for ShedTarget with MaxWait, M/M/c+D; NaN without a finite one

	Shed      Figure // predicted for the permits configured
	ShedModel string // Erlang B, M/M/c+D, M/M/c/K, or no limit

	Fill    Figure // seconds until the permits are taken when the dependency hangs
	Outage  Figure // permits held in an outage
	Waiting Figure // calls that wait for a permit in an outage

	Notes []string // what a reader of the figures should know first; may be empty
}

// Figures returns every figure in the order in which a report shows them.
func (c Check) Figures() []Figure {
	return []Figure{
		c.Load, c.PeakLoad, c.Tail, c.Rule, c.RuleShed, c.Hint, c.Loose, c.Tight, c.Target, c.Queued,
		c.Shed, c.Fill, c.Outage, c.Waiting,
	}
}

// NewCheck holds a bulkhead or pool against the closed forms. Input out of
// range gives NaN in the figures that need it.
func NewCheck(in CheckInput) Check {
	in = in.filled()
	steady := !in.NotPoisson && in.Rate == in.PeakRate
	peak := Little(in.PeakRate, in.MeanHeld)
	rule := RulePermits(in.PeakRate, in.P99)
	out := Check{
		Load:     Figure{"load", Little(in.Rate, in.MeanHeld), "erlangs", true, "mean rate × mean time held (Little 1961)"},
		PeakLoad: Figure{"peak load", peak, "erlangs", true, "peak rate × mean time held (Little 1961)"},
		Tail:     Figure{"p99 over mean", in.P99 / in.Mean, "ratio", true, "p99 ÷ mean latency without faults"},

		Rule:     permitFigure("rule", rule, false, "ceil(peak rate × p99), the rule of thumb"),
		RuleShed: Figure{"shed under the rule", ErlangB(rule, peak), "share", !in.NotPoisson, "Erlang B at the rule's permits and the peak load, no queue (Erlang 1917)"},
		Hint:     permitFigure("square-root hint", SquareRootPermits(peak), false, "ceil(a + 3.5·√a + 1) at the peak load, at most 0.23 % shed (square-root staffing)"),
		Loose:    in.erlangB("permits for 1 %", peak, 0.01),
		Tight:    in.erlangB("permits for 0.1 %", peak, 0.001),
		Target:   in.erlangB("permits for the target", peak, in.ShedTarget),
		Queued: Figure{"permits for the target with the queue", math.NaN(), "permits", in.Exponential && !in.NotPoisson,
			"fewest c with M/M/c+D shed ≤ target at the peak load (Barrer 1957)"},

		Fill:    Figure{"time to fill", math.NaN(), "s", true, "permits ÷ peak rate, mean time to the last permit from empty"},
		Outage:  Figure{"held in an outage", math.NaN(), "permits", true, "min(permits, peak rate × timeout)"},
		Waiting: Figure{"waiting in an outage", math.NaN(), "calls", false, "peak rate × max_wait when the permits are taken, else 0; an upper bound"},
	}
	if in.MaxWait > 0 && !math.IsInf(in.MaxWait, 1) {
		out.Queued.Value = orNaN(MMcDPermits(in.PeakRate, in.MeanHeld, in.MaxWait, in.ShedTarget))
	}
	out.ShedModel, out.Shed = in.shed(steady)
	if in.Permits > 0 {
		s := Saturated{Rate: in.PeakRate, Permits: float64(in.Permits), Timeout: in.Timeout, MaxWait: in.MaxWait}
		out.Fill.Value = FillTime(s.Permits, in.PeakRate)
		out.Outage.Value, out.Waiting.Value = s.Holding(), s.Waiting()
		if in.QueueLimit > 0 {
			out.Waiting.Value = math.Min(s.Waiting(), float64(in.QueueLimit))
		}
	}
	out.Notes = in.notes(out)
	return out
}

// filled replaces zero fields by what they mean.
func (in CheckInput) filled() CheckInput {
	if in.Rate == 0 {
		in.Rate = in.PeakRate
	}
	if in.MeanHeld == 0 {
		in.MeanHeld = in.Mean
	}
	if in.Timeout == 0 {
		in.Timeout = math.Inf(1)
	}
	if in.MaxWait < 0 {
		in.MaxWait = math.Inf(1)
	}
	return in
}

// shed predicts the share of calls that get no permit at the mean rate. Only
// Erlang B does not mind the shape of the holding time.
func (in CheckInput) shed(steady bool) (model string, f Figure) {
	c, a := in.Permits, Little(in.Rate, in.MeanHeld)
	f = Figure{Name: "shed predicted", Value: math.NaN(), Unit: "share", Exact: steady && in.Exponential && math.IsInf(in.Timeout, 1)}
	timed := MMcD{in.Rate, in.MeanHeld, c, in.MaxWait}
	bounded := MMcK{in.Rate, in.MeanHeld, c, in.QueueLimit}
	switch forever := math.IsInf(in.MaxWait, 1); {
	case in.MaxWait == 0:
		model, f.Source, f.Exact = "Erlang B", "B(permits, load), the same for every shape of latency (Erlang 1917)", steady
		f.Value = ErlangB(c, a)
	case forever && in.QueueLimit <= 0:
		model, f.Source, f.Exact = "no limit", "everybody waits until there is a permit", true
		f.Value = 0
	case forever:
		model, f.Source = "M/M/c/K", "P(permits and queue full), exponential holding times (Gross & Harris)"
		f.Value = bounded.Shed()
	case in.QueueLimit <= 0:
		model, f.Source = "M/M/c+D", "P(wait needed ≥ max_wait), exponential holding times (Barrer 1957)"
		f.Value = timed.Shed()
	default:
		model, f.Exact = "M/M/c+D, M/M/c/K", false
		f.Source = "the larger of the shed by max_wait alone and by the queue alone, a lower estimate (Barrer 1957; Gross & Harris)"
		f.Value = math.Max(timed.Shed(), bounded.Shed())
	}
	if c < 1 {
		f.Value, f.Exact = math.NaN(), false
	}
	return model, f
}

func (in CheckInput) erlangB(name string, load, target float64) Figure {
	return permitFigure(name, ErlangBPermits(load, target), !in.NotPoisson,
		fmt.Sprintf("fewest c with Erlang B(c, peak load) ≤ %s, no queue (Erlang 1917)", percent(target)))
}

// notes names what is striking about a configuration.
func (in CheckInput) notes(c Check) (notes []string) {
	if in.Permits < 1 {
		return nil
	}
	permits := float64(in.Permits)
	if c.PeakLoad.Value >= permits {
		notes = append(notes, fmt.Sprintf("the peak load of %.3g erlangs does not fit into %d permits", c.PeakLoad.Value, in.Permits))
	}
	if full := Little(in.PeakRate, in.Timeout); full <= permits {
		notes = append(notes, fmt.Sprintf("the timeout alone keeps an outage at %.4g held; the permits never bind", full))
	}
	if in.Mean > in.P99 {
		notes = append(notes, "the mean is above the p99: rare, very slow calls carry the load, and the rule does not see them")
	}
	if in.MaxWait > in.Timeout && !math.IsInf(in.MaxWait, 1) {
		notes = append(notes, "max_wait is longer than the timeout: in an outage a call waits longer than it would have run")
	}
	return notes
}

func permitFigure(name string, permits int, exact bool, source string) Figure {
	return Figure{name, orNaN(permits), "permits", exact, source}
}

func orNaN(n int) float64 {
	if n == NoAnswer {
		return math.NaN()
	}
	return float64(n)
}

// percent writes a share as 0.1 %.
func percent(share float64) string { return fmt.Sprintf("%.4g %%", 100*share) }
