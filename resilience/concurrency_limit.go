package resilience

import (
	"maps"
	"slices"
	"strings"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
	"blastradius/sim/dist"
	"blastradius/sim/spec"
)

// ConcurrencyLimit bounds the calls inside by a limit that follows how they go.
// A call that finds as many in flight as the limit says is refused at once.
type ConcurrencyLimit struct {
	Algorithm Algorithm         `yaml:"algorithm" short:"true" also:"limit,kind" help:"how the limit is found"`
	Window    time.Duration     `yaml:"window" unit:"duration" min:"0s" also:"minWindowTime,maxWindowTime" help:"makes one sample of each while, if ten calls ended in it; 0s takes every call"`
	Verdicts  map[string]string `yaml:"verdicts" keys:"ok,client_error,server_error,throttled,connect_error,timeout,cancelled,rejected,degraded" enum:"success,drop,ignore" help:"what an outcome means to it"`
}

func newConcurrencyLimit() Config { return &ConcurrencyLimit{Algorithm: newVegas()} }

var _ Config = (*ConcurrencyLimit)(nil)

// sampleVerdict is what an outcome is to an adaptive limit.
type sampleVerdict uint8

const (
	sampleSuccess sampleVerdict = iota // its round trip says something
	sampleDrop                         // lost to overload
	sampleIgnore                       // says nothing
)

var sampleVerdictNames = [...]string{"success", "drop", "ignore"}

// defaultSampleVerdicts are those of concurrency-limits' client for gRPC: OK is
// a success, UNAVAILABLE a drop, all else is ignored, since the round trip of an
// error says little about load. Timeouts are drops as Limiter.Listener has it,
// and throttled answers are what an overloaded service says. A server_error may
// be either; it is ignored unless the file says drop. What our own layers inside
// refused never was a round trip.
var defaultSampleVerdicts = [call.NumClasses]sampleVerdict{
	call.OK:           sampleSuccess,
	call.ClientError:  sampleIgnore,
	call.ServerError:  sampleIgnore,
	call.Throttled:    sampleDrop,
	call.ConnectError: sampleDrop,
	call.Timeout:      sampleDrop,
	call.Cancelled:    sampleIgnore,
	call.Rejected:     sampleIgnore,
	call.Degraded:     sampleIgnore,
}

// Validate passes on what the algorithm finds.
func (c *ConcurrencyLimit) Validate() []spec.Problem {
	out := c.Algorithm.Validate()
	for i := range out {
		out[i].Field = strings.TrimSuffix("algorithm."+out[i].Field, ".")
	}
	return out
}

// Text is e.g. "vegas 20 up to 1000, probe 30".
func (c *ConcurrencyLimit) Text() string {
	out := c.Algorithm.Text()
	if c.Window > 0 {
		out += ", window " + brief(c.Window)
	}
	return out + verdictText(c.Verdicts)
}

// verdictText lists changed verdicts by class.
func verdictText(verdicts map[string]string) (out string) {
	for _, class := range slices.Sorted(maps.Keys(verdicts)) {
		out += ", " + class + " is " + verdicts[class]
	}
	return out
}

// Help says what the kind is.
func (*ConcurrencyLimit) Help() string {
	return "a bound on the calls inside at once that follows how they go"
}

// Example is a line of YAML.
func (*ConcurrencyLimit) Example() string {
	return "{concurrency_limit: {aimd: {start: 20, min: 5, max: 200, timeout: 1s}}}"
}

// Metrics are the figures of the layer.
func (*ConcurrencyLimit) Metrics() []spec.Metric {
	return []spec.Metric{
		{Name: "limit_min", Unit: spec.Count, Help: "smallest limit"},
		{Name: "limit_mean", Unit: spec.Count, Help: "time average of the limit"},
		{Name: "limit_max", Unit: spec.Count, Help: "largest limit"},
		{Name: "in_use_mean", Unit: spec.Count, Help: "time average of the calls inside"},
		{Name: "in_use_max", Unit: spec.Count, Help: "most calls inside at once"},
		{Name: "limited", Unit: spec.Count, Good: spec.LowerBetter, Help: "calls it turned away: as many were inside as the limit says"},
		{Name: "limited_rate", Unit: spec.Share, Good: spec.LowerBetter, Help: "limited over the calls that came to it"},
		{Name: "drops", Unit: spec.Count, Good: spec.LowerBetter, Help: "calls that ended as a drop, timeouts of the algorithm's own not among them"},
	}
}

// Layer builds the policy.
func (c *ConcurrencyLimit) Layer(env Env) call.Layer {
	return func(next call.Handler) call.Handler {
		start, most := c.Algorithm.Bounds()
		l := &concurrencyLayer{algorithm: c.Algorithm.New(), limit: start, most: most, window: sampleWindow{span: c.Window}, sched: env.Sched, next: next}
		l.purpose = dist.Hash(env.Source)
		l.verdicts = defaultSampleVerdicts
		for class, name := range c.Verdicts {
			i, _ := call.ParseClass(class)
			l.verdicts[i] = sampleVerdict(slices.Index(sampleVerdictNames[:], name))
		}
		l.show(env.Sched.Now())
		m := env.Meter
		des.Trough(m, "limit", &l.below, int64(most))
		m.Level("limit", &l.level)
		m.Level("in_use", &l.inUse.Gauge)
		m.Count("limited", &l.limited)
		m.Share("limited_rate", &l.limited, &l.asked, "no call came to it")
		m.Count("drops", &l.drops)
		m.Audit("", &l.inUse)
		m.Series("limit", &l.level)
		m.Series("in_use", &l.inUse.Gauge)
		return l
	}
}

type concurrencyLayer struct {
	algorithm AdaptiveLimit
	limit     int
	most      int // that the limit can become
	window    sampleWindow
	verdicts  [call.NumClasses]sampleVerdict
	sched     des.Scheduler
	purpose   uint64
	next      call.Handler
	frames    call.Frames[concurrencyFrame]

	inUse                 des.Station
	level, below          des.Gauge // the limit, and by how much it is below most
	asked, limited, drops int64
}

type concurrencyFrame struct {
	passage
	layer    *concurrencyLayer
	stream   uint64
	request  uint64
	since    time.Duration
	inFlight int // when it started, itself included
}

var (
	_ call.Handler  = (*concurrencyLayer)(nil)
	_ call.Done     = (*concurrencyFrame)(nil)
	_ call.Canceler = (*concurrencyFrame)(nil)
)

// Start lets the call in when fewer are inside than the limit says.
func (l *concurrencyLayer) Start(c *call.Call, d call.Done) call.Canceler {
	l.asked++
	if int(l.inUse.N()) >= l.limit {
		l.limited++
		d.Done(call.Outcome{Class: call.Rejected, Reason: call.LimitReached})
		return nil
	}
	now := l.sched.Now()
	l.inUse.Enter(now)
	f := l.frames.Get()
	f.begin(d)
	f.layer, f.stream, f.request, f.since, f.inFlight = l, c.Stream, c.Request, now, int(l.inUse.N())
	if f.start(l.next, c, f); f.state == over {
		l.frames.Put(f)
		return nil
	}
	return f
}

// Done gives the place back, lets the limit learn, and passes the answer on.
func (f *concurrencyFrame) Done(o call.Outcome) {
	l, d := f.layer, f.done
	f.leave(l.verdicts[o.Class])
	if f.onStack() {
		f.state = over
	} else {
		l.frames.Put(f)
	}
	d.Done(o)
}

// Cancel ends the call because its caller left.
func (f *concurrencyFrame) Cancel() {
	f.inner.Cancel()
	f.leave(f.layer.verdicts[call.Cancelled])
	f.layer.frames.Put(f)
}

func (f *concurrencyFrame) leave(v sampleVerdict) {
	l := f.layer
	now := l.sched.Now()
	l.inUse.Leave(now, f.since)
	if v == sampleIgnore {
		return
	}
	if v == sampleDrop {
		l.drops++
	}
	s := Sample{RTT: max(1, now-f.since), InFlight: f.inFlight, Dropped: v == sampleDrop, Stream: f.stream ^ l.purpose, Request: f.request}
	if l.window.span > 0 {
		whole, ready := l.window.add(now, s)
		if !ready {
			return
		}
		s = whole
	}
	if limit := l.algorithm.Sample(s); limit != l.limit {
		l.limit = limit
		l.show(now)
	}
}

// show sets the gauges of the limit.
func (l *concurrencyLayer) show(now time.Duration) {
	l.level.Set(now, int64(l.limit))
	l.below.Set(now, int64(l.most-l.limit))
}
