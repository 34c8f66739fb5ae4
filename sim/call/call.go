// Package call holds the words of one dependency call: the call itself, how it
// ended, and the handlers and layers it passes through.
package call

import "time"

// Class says how a call ended, as its caller sees it.
type Class uint8

// The outcome classes of DESIGN.md section 2.
const (
	OK           Class = iota // answered
	ClientError               // answered, our request was wrong (4xx)
	ServerError               // answered, unhealthy (5xx)
	Throttled                 // back-pressure (429)
	ConnectError              // refused or reset
	Timeout                   // our per-attempt timeout fired and the caller still waited
	Cancelled                 // the caller's own deadline, or a hedge winner, ended it
	Rejected                  // an inner layer of ours refused it
	Degraded                  // a fallback answered
	NumClasses   = int(Degraded) + 1
)

var classNames = [NumClasses]string{
	"ok", "client_error", "server_error", "throttled", "connect_error", "timeout", "cancelled", "rejected", "degraded",
}

// String gives the name used in files and metrics, e.g. "server_error".
func (c Class) String() string { return classNames[c] }

// ParseClass is the inverse of String; ok is false for an unknown name.
func ParseClass(name string) (c Class, ok bool) {
	for i, n := range classNames {
		if n == name {
			return Class(i), true
		}
	}
	return 0, false
}

// ClassNames lists every class name in the order of the constants.
func ClassNames() []string { return classNames[:] }

// Served reports whether the dependency answered what was asked, or refused a
// request that was wrong: the request was served either way.
func (c Class) Served() bool { return c == OK || c == ClientError }

// Answered reports whether the caller has something to show: a live answer, a
// client error, or a fallback's answer.
func (c Class) Answered() bool { return c.Served() || c == Degraded }

// Reason says which of our own layers refused a Rejected call.
type Reason uint8

// Why a call was rejected. NoReason goes with every class but Rejected.
const (
	NoReason     Reason = iota
	BreakerOpen         // the breaker is open, or its half-open slots are taken
	BulkheadFull        // no permit and no place to wait
	BulkheadWait        // max_wait of the bulkhead passed
	PoolFull            // no connection and no place to wait
	PoolWait            // max_wait of the pool passed
	QueueFull           // the dependency's bounded queue refused the work
	RateLimited         // a rate limit was used up
	LimitReached        // the adaptive limit on concurrency was reached
	ShedEarly           // the client-side throttle refused it
	NoTimeLeft          // what is left of the deadline is not enough to be useful
	StoreFailed         // the store of a shared breaker did not answer
	NoHost              // every host is ejected
	NumReasons   = int(NoHost) + 1
)

var reasonNames = [NumReasons]string{"", "breaker_open", "bulkhead_full", "bulkhead_wait", "pool_full", "pool_wait", "queue_full",
	"rate_limited", "limit_reached", "shed_early", "no_time_left", "store_failed", "no_host"}

// String gives the reason's name in traces, "" for NoReason.
func (r Reason) String() string { return reasonNames[r] }

// Outcome is how one call, or one attempt, ended.
type Outcome struct {
	Class  Class
	Reason Reason
	// Age is how old the answer is: 0 for a live one, the staleness of the
	// cached entry for a fallback's.
	Age time.Duration
	// RetryAfter is the pause a throttled answer asks for; 0 when it names none.
	RetryAfter time.Duration
}

// Call is one operation on one dependency: what enters the outermost layer of
// a stack. The same Call passes through all layers and attempts; it belongs to
// the caller and is reused after Done or Cancel, so nobody keeps the pointer
// beyond that.
type Call struct {
	// Stream keys the random draws of this call: a hash of seed, endpoint,
	// position and dependency. Draws are keyed by (Stream, Request, purpose,
	// number), so a request meets the same luck in every arm.
	Stream  uint64
	Request uint64
	// Deadline is the instant at which the caller gives up, since the start of
	// the run; NoDeadline when it never does. The caller itself cancels then.
	Deadline time.Duration
	// Attempts counts the attempts started so far, modulo 2^16; the innermost
	// handler takes the next number at each start (NextAttempt) and keys that
	// attempt's draws by it. Of a branch read Started.
	Attempts uint16
	// Detours counts the calls made to another dependency in place of this one
	// (NextDetour); their draws are keyed by it.
	Detours uint16
	// Admission is the generation in which a breaker that rechecks let the call
	// in, modulo 2^16.
	Admission uint16
	// Host is the host of the dependency that a layer has chosen for what
	// follows, counted from 1; 0 leaves the choice to the dependency. Whoever
	// sends a call on to another dependency clears it.
	Host uint16
	// Sink hears of every attempt that a retry (or hedge) makes; nil when nobody
	// counts attempts. A breaker that records attempts puts itself here while
	// its call is inside, and puts the previous one back after.
	Sink AttemptSink
	// branch is set in the Call of a Branch.
	branch *Branch
}

// NoDeadline is the Deadline of a call whose caller waits for ever.
const NoDeadline = time.Duration(1<<63 - 1)

// AttemptSink is told how each attempt of a call ended.
type AttemptSink interface{ AttemptDone(Outcome) }

// Done receives the outcome of a call: exactly once, maybe before Start
// returns, never after Cancel.
type Done interface{ Done(Outcome) }

// Canceler ends a call early. Cancel is never called after Done.
type Canceler interface{ Cancel() }

// Handler starts calls. The Canceler is nil when Done came before Start
// returned.
type Handler interface {
	Start(c *Call, d Done) Canceler
}

// Layer wraps a handler in one policy.
type Layer func(next Handler) Handler

// Stack puts layers around h, outermost first.
func Stack(h Handler, layers ...Layer) Handler {
	for i := len(layers) - 1; i >= 0; i-- {
		h = layers[i](h)
	}
	return h
}

// Reply is what a dependency is about to do with one piece of work: drawn from
// its latency and errors, then changed by the faults that are active when the
// work starts.
type Reply struct {
	Latency    time.Duration // time the work takes at the dependency
	Class      Class         // how it will end
	Hang       bool          // true: it never ends by itself
	Immediate  bool          // true: refused without taking a server or the latency
	RetryAfter time.Duration
}
