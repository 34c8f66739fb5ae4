package sim

import (
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
)

// Trace is one request's life, layer by layer.
type Trace struct {
	Endpoint string
	Request  uint64
	At       time.Duration // of the arrival
	Took     time.Duration
	Outcome  string // "answered", "degraded", "failed: deadline", "in flight"
	Steps    []TraceStep
}

// TraceStep is one thing that happened to the request.
type TraceStep struct {
	At    time.Duration // since the arrival
	Where string        // "payments.bulkhead"
	What  string        // "enters", "rejected: bulkhead_full", "cancelled"
}

// tracer follows one request. It stands between the layers as a layer of its
// own, so that no policy knows of it and an untraced run pays nothing.
type tracer struct {
	endpoint string
	request  uint64
	kernel   *des.Kernel
	streams  map[uint64]bool // call streams of the endpoint
	out      Trace
	began    bool
}

func (t *tracer) note(where, what string) {
	t.out.Steps = append(t.out.Steps, TraceStep{At: t.kernel.Now() - t.out.At, Where: where, What: what})
}

func (t *tracer) follows(c *call.Call) bool { return c.Request == t.request && t.streams[c.Stream] }

// begin notes the request's arrival.
func (t *tracer) begin(now time.Duration) {
	t.began = true
	t.out.Endpoint, t.out.Request, t.out.At, t.out.Outcome = t.endpoint, t.request, now, "in flight"
}

// is reports whether r is the request to follow.
func (t *tracer) is(r *request) bool { return r.number() == t.request && r.ep.name == t.endpoint }

// end notes how the request ended.
func (t *tracer) end(took time.Duration, outcome string) {
	t.out.Took, t.out.Outcome = took, outcome
	t.note("request", outcome)
}

func (t *tracer) trace() *Trace {
	if !t.began {
		return nil
	}
	if t.out.Outcome == "in flight" {
		t.out.Took = t.kernel.Now() - t.out.At
	}
	return &t.out
}

// traced returns a layer that writes down what passes between two layers, or
// nil when nobody traces.
func (s *system) traced(dependency, layer string) call.Layer {
	t := s.tracer
	if t == nil {
		return nil
	}
	where := dependency + "." + layer
	return func(next call.Handler) call.Handler { return &tracePoint{t, where, next} }
}

type tracePoint struct {
	t     *tracer
	where string
	next  call.Handler
}

// traceSpan is a passage through one trace point.
type traceSpan struct {
	point *tracePoint
	done  call.Done
	inner call.Canceler
	ended bool
}

// Start passes the call on and, for the traced request, notes it.
func (p *tracePoint) Start(c *call.Call, d call.Done) call.Canceler {
	if !p.t.follows(c) {
		return p.next.Start(c, d)
	}
	p.t.note(p.where, "enters")
	span := &traceSpan{point: p, done: d}
	span.inner = p.next.Start(c, span)
	if span.ended {
		return nil
	}
	return span
}

// Done notes the outcome and passes it on.
func (s *traceSpan) Done(o call.Outcome) {
	s.ended = true
	what := o.Class.String()
	if o.Reason != call.NoReason {
		what += ": " + o.Reason.String()
	}
	s.point.t.note(s.point.where, what)
	s.done.Done(o)
}

// Cancel notes that the caller left and passes it on.
func (s *traceSpan) Cancel() {
	s.point.t.note(s.point.where, "cancelled")
	s.inner.Cancel()
}
