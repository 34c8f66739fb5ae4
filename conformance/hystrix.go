package conformance

import (
	"context"
	"fmt"
	"reflect"
	"testing/synctest"
	"time"
	"unsafe"

	"blastradius/internal/conform"
	"blastradius/sim/call"

	"github.com/afex/hystrix-go/hystrix"
)

const hystrixModule = "github.com/afex/hystrix-go"

// hystrixCommand is the one command guarded; hystrix-go keeps circuits by name
// in package variables, so one subject lives at a time.
const hystrixCommand = "dependency"

// hystrixSubject runs each call by hystrix.Go. Its counters are filled by
// goroutines; after each step it waits until they have done so.
type hystrixSubject struct {
	circuit *hystrix.CircuitBreaker
	calls   map[int]chan error // of those under way, by id: how to end them
	errorOf func(call.Class) error
}

var (
	_ subject = (*hystrixSubject)(nil)
	_ ender   = (*hystrixSubject)(nil)
)

func (s *hystrixSubject) Admit(id int) bool {
	begun, end := false, make(chan error)
	refused := hystrix.Go(hystrixCommand, func() error {
		begun = true
		return <-end
	}, nil)
	synctest.Wait()
	if begun {
		s.calls[id] = end
		return true
	}
	if err := <-refused; err != hystrix.ErrCircuitOpen {
		panic(err)
	}
	return false
}

func (s *hystrixSubject) Complete(id int, class call.Class) {
	s.calls[id] <- s.errorOf(class)
	delete(s.calls, id)
	synctest.Wait()
}

// State is what the circuit says of itself in private: IsOpen would move it.
func (s *hystrixSubject) State() conform.State {
	if reflect.ValueOf(s.circuit).Elem().FieldByName("open").Bool() {
		return conform.Open
	}
	return conform.Closed
}

// End ends the calls under way, and the two goroutines of the circuit, which
// hystrix-go leaves for ever: they read channels that it never closes.
func (s *hystrixSubject) End() {
	for _, end := range s.calls {
		end <- nil
	}
	synctest.Wait()
	closeUpdates(reflect.ValueOf(s.circuit).Elem().FieldByName("metrics"))
	closeUpdates(reflect.ValueOf(s.circuit).Elem().FieldByName("executorPool").Elem().FieldByName("Metrics"))
	hystrix.Flush()
}

// closeUpdates closes the channel Updates of what p points to, which reflect
// alone would not do behind a private field.
func closeUpdates(p reflect.Value) {
	updates := p.Elem().FieldByName("Updates")
	reflect.NewAt(updates.Type(), unsafe.Pointer(updates.UnsafeAddr())).Elem().Close()
}

// hystrixConfig are the settings that our keys stand for. The window cannot be
// set.
type hystrixConfig struct {
	ratio     int // percent
	minCalls  int
	cooldown  time.Duration
	forgives  bool // the program returns no error for client_error
	deadlines bool // the program returns context.DeadlineExceeded for timeout
}

func (c hystrixConfig) settings() string {
	clientError, timeout := "failure", "failure"
	if c.forgives {
		clientError = "success"
	}
	if c.deadlines {
		timeout = "attempt"
	}
	return fmt.Sprintf("{dialect: hystrix-go, ratio: %d%%, min_calls: %d, cooldown: %s, verdicts: {client_error: %s, timeout: %s}}",
		c.ratio, c.minCalls, brief(c.cooldown), clientError, timeout)
}

// errorOf is what a program returns to hystrix-go, which knows some errors by
// their identity.
func (c hystrixConfig) errorOf(class call.Class) error {
	switch {
	case class == call.ClientError && c.forgives:
		return nil
	case class == call.Cancelled:
		return context.Canceled
	case class == call.Timeout && c.deadlines:
		return context.DeadlineExceeded
	case class == call.Timeout:
		return hystrix.ErrTimeout
	case class == call.Rejected:
		return hystrix.ErrMaxConcurrency
	}
	return errorOf(class)
}

func (c hystrixConfig) build() subject {
	hystrix.ConfigureCommand(hystrixCommand, hystrix.CommandConfig{
		Timeout: 1 << 40, MaxConcurrentRequests: 100, // both out of reach
		RequestVolumeThreshold: c.minCalls, ErrorPercentThreshold: c.ratio, SleepWindow: int(millis(c.cooldown)),
	})
	circuit, created, err := hystrix.GetCircuit(hystrixCommand)
	if err != nil || !created {
		panic(fmt.Sprintf("circuit created: %v, %v", created, err))
	}
	return &hystrixSubject{circuit: circuit, calls: map[int]chan error{}, errorOf: c.errorOf}
}

func (c hystrixConfig) config() config {
	return config{
		settings: c.settings(), unit: time.Second, grid: gcd(time.Second, c.cooldown), cooldown: c.cooldown, edge: 1,
		failures: call.ServerError, build: c.build,
	}
}

// hystrixConfigs crosses the trips with the rest.
func hystrixConfigs() (out []config) {
	trips := []hystrixConfig{
		{ratio: 50, minCalls: 4}, {ratio: 100, minCalls: 1}, {ratio: 67, minCalls: 3}, {ratio: 30, minCalls: 6}, {ratio: 13, minCalls: 8},
	}
	rest := []hystrixConfig{
		{cooldown: time.Second}, {cooldown: 3 * time.Second, forgives: true},
		{cooldown: 5 * time.Second, deadlines: true}, {cooldown: 10 * time.Second, forgives: true, deadlines: true},
	}
	for _, c := range trips {
		for _, r := range rest {
			c.cooldown, c.forgives, c.deadlines = r.cooldown, r.forgives, r.deadlines
			out = append(out, c.config())
		}
	}
	return out
}

func hystrixGo() dialect {
	trip := func(ratio, minCalls int) config {
		return hystrixConfig{ratio: ratio, minCalls: minCalls, cooldown: 5 * time.Second}.config()
	}
	half := trip(50, 4)
	deadlines := hystrixConfig{ratio: 50, minCalls: 4, cooldown: 5 * time.Second, deadlines: true}.config()
	return dialect{
		name: "hystrix-go", module: hystrixModule, classes: gobreakerClasses, flat: true,
		configs: hystrixConfigs(),
		draw: func(c chooser) config {
			return hystrixConfig{
				ratio: 1 + c.IntN(100), minCalls: 1 + c.IntN(8), cooldown: time.Duration(1+c.IntN(24)) * 500 * time.Millisecond,
				forgives: among(c, false, true), deadlines: among(c, false, true),
			}.config()
		},
		hand: []handTrace{
			{"opens-at-admission", "the last result opens nothing: the next admission evaluates, opens and is refused", half, "a s0 a s1 a o2 a o3 rO"},
			{"below-ratio", "1 of 4 is below the ratio", half, "a s0 a o1 a o2 a o3 a"},
			{"sleep-window-is-strict", "at exactly the sleep window it still refuses; 1 ns later one test goes out, and the state stays open", half, "a s0 a s1 a s2 a s3 rO 5r +1a"},
			{"one-test-per-window", "one test for each sleep window since the last test, whether or not it has ended", half, "a s0 a s1 a s2 a s3 rO 5+1a r 5r +1a r"},
			{"failed-test-stays-open", "a failed test changes nothing, the next one may close it", half, "a s0 a s1 a s2 a s3 rO 5+1a s4 r 5r +1a o5C"},
			{"straggler-closes", "a late success closes it at once, with no sleep window", half, "a a a a a s0 s1 s2 s3 rO o4C a"},
			{"straggler-failure", "a late failure neither reopens nor prolongs", half, "a a a a a s0 s1 s2 s3 rO 4s4 1r +1a"},
			{"cancelled-is-an-attempt", "a cancelled call is an attempt and not an error: 2 of 4", half, "a s0 a s1 a x2 a x3 rO"},
			{"cancelled-test", "a cancelled test does not close it", half, "a s0 a s1 a s2 a s3 rO 5+1a x4 r"},
			{"timeout-is-an-error", "a timeout of hystrix-go's own is an error", half, "a t0 a t1 a o2 a o3 rO"},
			{"deadline-is-an-attempt", "a deadline of the program's own context is an attempt and not an error: nothing opens", deadlines, "a t0 a t1 a t2 a t3 a"},
			{"eleven-seconds", "sums take 11 whole seconds of the clock when nothing was recorded in the last", half, "a s0 a s1 a s2 a s3 11-1rO"},
			{"eleven-seconds-are-over", "and not 12", half, "a s0 a s1 a s2 a s3 11a"},
			{"ten-after-recording", "recording something drops what is 10 seconds old, so then it is 10", half, "a s0 a s1 a s2 10a s3 a"},
			{"errors-outlive-requests", "recording a success drops old requests but not old errors: 2 errors of second 0 over 4 requests of second 10", half, "a s0 a s1 10a o2 a o3 a o4 a o5 rO"},
			{"cleared-at-close", "closing empties the window, and the success that closed is the first in the new one", half, "a s0 a s1 a s2 a s3 rO 5+1a o4C a s5 a s6 a o7 rO"},
			{"refused-are-forgotten", "refused calls are counted as errors, but only while open, and closing forgets them", half, "a s0 a s1 a s2 a s3 rO r r r 5+1a o4C a o5 a o6 a s7 a"},
			{"percent-is-rounded", "the percentage is rounded half up before it is compared: 2 of 3 is 67", trip(67, 3), "a o0 a s1 a s2 rO"},
			{"percent-is-binary", "and reckoned in binary fractions: 57.5 of 23 of 40 is a hair less and so 57", trip(58, 40), results(17, 23) + " a"},
		},
	}
}
