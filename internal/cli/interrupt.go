package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"blastradius/sim/des"
)

// stopped is the cause of a context that a signal ended.
type stopped struct{ signal os.Signal }

// Error names the signal as people say it.
func (s *stopped) Error() string {
	if s.signal == syscall.SIGTERM {
		return "terminated"
	}
	return "interrupted"
}

// errTimeLimit is the cause of a context that --time-limit ended.
var errTimeLimit = errors.New("time limit reached")

// stoppable derives a context that the first interrupt or termination ends, so
// that what is finished can still be written. The second finds no handler of
// ours and kills the process. A limit above 0 ends it too.
func (e *env) stoppable(parent context.Context, limit time.Duration) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	release := func() {}
	if limit > 0 {
		var timed context.CancelFunc
		ctx, timed = context.WithTimeoutCause(ctx, limit, errTimeLimit)
		release = timed
	}
	signals := make(chan os.Signal, 1)
	e.notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			e.release(signals)
			cause := &stopped{s}
			fmt.Fprintf(e.stderr, "%s; writing what is finished (again to stop at once)\n", cause)
			cancel(cause)
		case <-done:
		}
	}()
	return ctx, func() {
		e.release(signals)
		close(done)
		release()
		cancel(nil)
	}
}

// earlyEnd finds the code and the words for a run that ended before its time;
// ok is false when err is something else.
func earlyEnd(ctx context.Context, err error) (code int, text string, ok bool) {
	var s *stopped
	cause := context.Cause(ctx)
	switch {
	case errors.Is(err, des.ErrBudget):
		return exitLimit, des.ErrBudget.Error(), true
	case errors.Is(err, des.ErrTooLong):
		return exitLimit, des.ErrTooLong.Error(), true
	case errors.As(cause, &s):
		if s.signal == syscall.SIGTERM {
			return exitTerminated, s.Error(), true
		}
		return exitInterrupted, s.Error(), true
	case errors.Is(cause, errTimeLimit):
		return exitLimit, errTimeLimit.Error(), true
	}
	return 0, "", false
}
