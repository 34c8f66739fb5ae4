package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"syscall"

	"blastradius/sim/call"
)

// Outcomer is an error that knows what it means, with its Retry-After where it
// has one.
type Outcomer interface {
	error
	Outcome() call.Outcome
}

// Classify says what an error of the work means where nothing else was set: what
// an Outcomer in its chain says; a refused or reset connection is a
// connect_error; a deadline or a timeout of the network is a timeout; work
// that was cancelled is cancelled; the rest is a server_error.
func Classify(err error) call.Outcome {
	if err == nil {
		return call.Outcome{}
	}
	if o, ok := errors.AsType[Outcomer](err); ok {
		return o.Outcome()
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ECONNRESET):
		return call.Outcome{Class: call.ConnectError}
	case errors.Is(err, context.DeadlineExceeded):
		return call.Outcome{Class: call.Timeout}
	case errors.Is(err, context.Canceled):
		return call.Outcome{Class: call.Cancelled}
	}
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() {
		return call.Outcome{Class: call.Timeout}
	}
	return call.Outcome{Class: call.ServerError}
}

// Error is the answer of a layer in place of the work's.
type Error struct{ outcome call.Outcome }

var _ Outcomer = (*Error)(nil)

// Error is e.g. "rejected: breaker_open".
func (e *Error) Error() string {
	if e.outcome.Reason != call.NoReason {
		return fmt.Sprintf("%v: %v", e.outcome.Class, e.outcome.Reason)
	}
	return e.outcome.Class.String()
}

// Outcome is the answer.
func (e *Error) Outcome() call.Outcome { return e.outcome }

// ready-made errors, so that a refusal allocates nothing.
var readyMade = func() (out [call.NumClasses][call.NumReasons]*Error) {
	for c := range out {
		for r := range out[c] {
			out[c][r] = &Error{call.Outcome{Class: call.Class(c), Reason: call.Reason(r)}}
		}
	}
	return out
}()

func errorOf(o call.Outcome) *Error {
	if o.RetryAfter != 0 || o.Age != 0 {
		return &Error{o}
	}
	return readyMade[o.Class][o.Reason]
}

// PanicError is a panic of work that ran in a goroutine of its own.
type PanicError struct {
	Value any    // what it panicked with
	Stack []byte // of its goroutine
}

// Error shows the value and where it came from.
func (p *PanicError) Error() string {
	return fmt.Sprintf("panic in the work: %v\n\n%s", p.Value, p.Stack)
}

// Unwrap is the value, if it is an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// again does in the caller's goroutine what the work did in its own.
func (p *PanicError) again() {
	if p.Value == nil {
		runtime.Goexit()
	}
	panic(p)
}
