package conformance

import (
	"errors"
	"fmt"
	"time"

	"blastradius/internal/conform"
	"blastradius/sim/call"

	"github.com/sony/gobreaker/v2"
)

const gobreakerModule = "github.com/sony/gobreaker/v2"

// classError is a call that ended with a class: what a program that has errors
// of its own would hand to a breaker.
type classError struct{ class call.Class }

func (e classError) Error() string { return e.class.String() }

// errorOf is nil for ok alone. A library that takes errors is told by its
// configuration which of them count.
func errorOf(class call.Class) error {
	if class == call.OK {
		return nil
	}
	return classError{class}
}

// isClass reports whether err is a call that ended with one of the classes.
func isClass(err error, classes ...call.Class) bool {
	var c classError
	if !errors.As(err, &c) {
		return false
	}
	for _, class := range classes {
		if c.class == class {
			return true
		}
	}
	return false
}

// gobreakerSubject uses the breaker in two steps, which is what its Execute
// does too.
type gobreakerSubject struct {
	cb   *gobreaker.TwoStepCircuitBreaker[any]
	done map[int]func(error)
}

var _ subject = (*gobreakerSubject)(nil)

func (s *gobreakerSubject) Admit(id int) bool {
	done, err := s.cb.Allow()
	if err != nil {
		return false
	}
	s.done[id] = done
	return true
}

func (s *gobreakerSubject) Complete(id int, class call.Class) { s.done[id](errorOf(class)) }

// State of gobreaker looks at the clock: read later than the last step it may
// become half-open, or begin a new interval. Right after a step it cannot.
func (s *gobreakerSubject) State() conform.State { return conform.ParseState(s.cb.State().String()) }

// gobreakerConfig are the settings that our keys stand for.
type gobreakerConfig struct {
	dialect     string
	consecutive int     // ReadyToTrip: ConsecutiveFailures >= n
	ratio       float64 // of whole percents; ReadyToTrip: Requests >= minCalls and TotalFailures/Requests >= ratio
	minCalls    int
	interval    time.Duration
	buckets     int
	cooldown    time.Duration
	probes      int
	excludes    bool // IsExcluded: cancelled
	forgives    bool // IsSuccessful: client_error and rejected too
}

// settings tells them in our keys. Verdicts are told in full, for the classes
// that occur.
func (c gobreakerConfig) settings() string {
	out := fmt.Sprintf("{dialect: %s, ", c.dialect)
	if c.consecutive > 0 {
		out += fmt.Sprintf("consecutive: %d, ", c.consecutive)
	} else {
		out += fmt.Sprintf("ratio: %.0f%%, min_calls: %d, ", c.ratio*100, c.minCalls)
	}
	switch {
	case c.buckets > 0:
		out += fmt.Sprintf("window: {buckets: {span: %s, n: %d, align: generation}}, ", brief(c.interval), c.buckets)
	case c.interval > 0:
		out += fmt.Sprintf("window: {fixed: %s}, ", brief(c.interval))
	}
	return out + fmt.Sprintf("cooldown: %s, probes: %d, %s}", brief(c.cooldown), c.probes, c.verdicts())
}

func (c gobreakerConfig) verdicts() string {
	cancelled, others := "failure", "failure"
	if c.excludes {
		cancelled = "neutral"
	}
	if c.forgives {
		others = "success"
	}
	return fmt.Sprintf("verdicts: {client_error: %s, cancelled: %s, rejected: %s}", others, cancelled, others)
}

func (c gobreakerConfig) build() subject {
	st := gobreaker.Settings{
		MaxRequests: uint32(c.probes), Interval: c.interval, Timeout: c.cooldown,
		ReadyToTrip: func(n gobreaker.Counts) bool {
			if c.consecutive > 0 {
				return n.ConsecutiveFailures >= uint32(c.consecutive)
			}
			return n.Requests >= uint32(c.minCalls) && float64(n.TotalFailures)/float64(n.Requests) >= c.ratio
		},
	}
	if c.buckets > 0 {
		st.BucketPeriod = c.interval / time.Duration(c.buckets)
	}
	if c.excludes {
		st.IsExcluded = func(err error) bool { return isClass(err, call.Cancelled) }
	}
	if c.forgives {
		st.IsSuccessful = func(err error) bool { return err == nil || isClass(err, call.ClientError, call.Rejected) }
	}
	return &gobreakerSubject{cb: gobreaker.NewTwoStepCircuitBreaker[any](st), done: map[int]func(error){}}
}

func (c gobreakerConfig) config() config {
	grid := c.cooldown
	for _, d := range []time.Duration{c.interval, c.interval / time.Duration(max(1, c.buckets))} {
		grid = gcd(grid, d)
	}
	return config{
		settings: c.settings(), unit: grid, grid: grid, cooldown: c.cooldown, edge: 1,
		failures: call.ServerError, build: c.build,
	}
}

// gcd of two durations; of one and 0 it is the one.
func gcd(a, b time.Duration) time.Duration {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// gobreakerClasses end calls besides ok and server_error.
var gobreakerClasses = []call.Class{call.ClientError, call.Timeout, call.Cancelled, call.Rejected}

// gobreakerConfigs crosses windows and trips with the rest, each of the rest in turn.
func gobreakerConfigs(name string, windows []gobreakerConfig) (out []config) {
	rest := []gobreakerConfig{
		{cooldown: time.Second, probes: 1},
		{cooldown: 3 * time.Second, probes: 2, excludes: true},
		{cooldown: 5 * time.Second, probes: 3, forgives: true},
		{cooldown: 10 * time.Second, probes: 1, excludes: true, forgives: true},
	}
	trips := []gobreakerConfig{
		{consecutive: 1}, {consecutive: 3}, {consecutive: 6},
		{ratio: 0.5, minCalls: 4}, {ratio: 0.6, minCalls: 3}, {ratio: 1, minCalls: 2},
	}
	i := 0
	for _, w := range windows {
		for _, t := range trips {
			r := rest[i%len(rest)]
			i++
			r.dialect, r.interval, r.buckets = name, w.interval, w.buckets
			r.consecutive, r.ratio, r.minCalls = t.consecutive, t.ratio, t.minCalls
			out = append(out, r.config())
		}
	}
	return out
}

// drawGobreaker draws a configuration; window gives it interval and buckets.
func drawGobreaker(name string, window func(chooser, *gobreakerConfig)) func(chooser) config {
	return func(c chooser) config {
		g := gobreakerConfig{
			dialect: name, cooldown: time.Duration(1+c.IntN(12)) * time.Second, probes: 1 + c.IntN(5),
			excludes: among(c, false, true), forgives: among(c, false, true),
		}
		if c.IntN(2) == 0 {
			g.consecutive = 1 + c.IntN(8)
		} else {
			g.ratio, g.minCalls = float64(1+c.IntN(100))/100, 1+c.IntN(10)
		}
		window(c, &g)
		return g.config()
	}
}

func gobreakerConsecutive() dialect {
	const name = "gobreaker-consecutive"
	one := gobreakerConfig{dialect: name, consecutive: 1, cooldown: time.Second, probes: 1}.config()
	defaults := gobreakerConfig{dialect: name, consecutive: 6, cooldown: time.Minute, probes: 1}.config()
	three := gobreakerConfig{dialect: name, consecutive: 1, cooldown: time.Second, probes: 3, excludes: true}.config()
	return dialect{
		name: name, module: gobreakerModule, classes: gobreakerClasses,
		draw: drawGobreaker(name, func(chooser, *gobreakerConfig) {}),
		// Four times the same window, so that each trip meets each of the rest.
		configs: gobreakerConfigs(name, make([]gobreakerConfig, 4)),
		hand: []handTrace{
			{"default-trip", "the sixth failure in a row opens, with the library's defaults", defaults, "a s0 a s1 a s2 a s3 a s4 a s5O"},
			{"success-resets", "a success begins the row again", defaults, "a s0 a s1 a s2 a s3 a s4 a o5 a s6 a s7 a s8 a s9 a s10 a s11O"},
			{"timeout-is-strict", "at exactly the timeout it is still open, 1 ns later it is half-open", one, "a s0O 1r +1aH"},
			{"half-open-total", "half-open admits so many in total and no more while they run; all must succeed to close it", three, "a s0O 1+1aH a a r o1 r o2 r o3C a"},
			{"first-failure-reopens", "one failed probe opens it again, from that instant, and the other probes are dropped", three, "a s0O 1+1aH a a o1 1s2O s3 1r +1aH"},
			{"straggler-dropped-open", "a result from before the opening decides nothing while it is open", one, "a a s0O o1 1r +1aH"},
			{"straggler-dropped-half-open", "nor while it is half-open: neither success nor failure", one, "a a a s0O 1+1aH o1 s2 r o3C"},
			{"straggler-dropped-closed", "nor after it has closed", one, "a a s0O 1+1aH o2C s1 a"},
			{"excluded-gives-slot-back", "an excluded result of a probe frees its slot and counts as nothing", three, "a s0O 1+1aH a a r x1 a r o2 o3 o4C"},
			{"hung-probe", "a probe that never ends keeps the slot for ever", one, "a s0O 1+1aH 1000r 1000000r"},
			{"cancel-is-failure", "unless excluded, a cancelled call is a failure", one, "a x0O"},
		},
	}
}

func gobreakerFixed() dialect {
	const name = "gobreaker-fixed"
	six := gobreakerConfig{dialect: name, consecutive: 6, interval: 10 * time.Second, cooldown: 60 * time.Second, probes: 1}.config()
	half := gobreakerConfig{dialect: name, ratio: 0.5, minCalls: 4, interval: 10 * time.Second, cooldown: 5 * time.Second, probes: 1}.config()
	draw := func(c chooser, g *gobreakerConfig) { g.interval = time.Duration(1+c.IntN(12)) * time.Second }
	windows := []gobreakerConfig{{interval: time.Second}, {interval: 2 * time.Second}, {interval: 5 * time.Second}, {interval: 10 * time.Second}}
	return dialect{
		name: name, module: gobreakerModule, classes: gobreakerClasses, configs: gobreakerConfigs(name, windows), draw: drawGobreaker(name, draw),
		hand: []handTrace{
			{"edge-of-interval", "five failures on either side of the end of the interval do not open it", six, "1a s0 a s1 a s2 a s3 a s4 +1a s5 a s6 a s7 a s8 a s9"},
			{"interval-is-inclusive", "at exactly the interval the old one still counts", six, "1a s0 a s1 a s2 a s3 a s4 a s5O"},
			{"straddling-dropped", "a call admitted before the end of the interval and ended after is not counted", six, "a a a a a a 1+1s0 s1 s2 s3 s4 s5 a s6 a s7 a s8 a s9 a s10 a s11O"},
			{"next-interval-from-first-event", "the next interval begins with the first event after the end of the old one", half, "3a s0 a s1 a s2 2a s3O"},
			{"requests-at-admission", "calls under way are in the denominator: 2 failures of 4 requests are 50%", half, "a a a a s0 s1O"},
			{"requests-at-admission-more", "with a fifth under way 2 failures are 40%", half, "a a a a a s0 s1 s2O"},
			{"success-does-not-trip", "only a failure evaluates the rule", half, "a s0 a s1 a a o2 o3 a s4O"},
		},
	}
}

func gobreakerRolling() dialect {
	const name = "gobreaker-rolling"
	half := gobreakerConfig{dialect: name, ratio: 0.5, minCalls: 4, interval: 10 * time.Second, buckets: 10, cooldown: 60 * time.Second, probes: 1}.config()
	six := gobreakerConfig{dialect: name, consecutive: 6, interval: 10 * time.Second, buckets: 10, cooldown: 60 * time.Second, probes: 1}.config()
	draw := func(c chooser, g *gobreakerConfig) {
		g.buckets = 2 + c.IntN(9)
		g.interval = time.Duration(g.buckets) * among(c, time.Second, 2*time.Second, 500*time.Millisecond)
	}
	windows := []gobreakerConfig{
		{interval: 2 * time.Second, buckets: 2}, {interval: 3 * time.Second, buckets: 3}, {interval: 10 * time.Second, buckets: 10}, {interval: time.Second, buckets: 5},
	}
	return dialect{
		name: name, module: gobreakerModule, classes: gobreakerClasses, configs: gobreakerConfigs(name, windows), draw: drawGobreaker(name, draw),
		hand: []handTrace{
			{"bucket-leaves", "a bucket leaves at exactly the interval after its start", half, "a s0 a s1 a s2 10a s3"},
			{"bucket-stays", "1 ns earlier it is still there", half, "a s0 a s1 a s2 10-1a s3O"},
			{"result-in-admission-bucket", "a result goes to the bucket of its admission, and leaves with it", half, "a a a a 9s0 s1O"},
			{"result-dropped-with-bucket", "a result whose bucket has left is dropped", half, "a a a a 10s0 s1 s2 s3 a s4"},
			{"consecutive-shrinks", "failures in a row leave with their bucket", six, "a s0 a s1 a s2 a s3 a s4 10a s5 a s6 a s7 a s8 a s9 a s10O"},
			{"consecutive-kept-behind-success", "the row shrinks only where it reaches back into the bucket that leaves", six, "a o0 1a s1 a s2 9a s3 a s4 a s5 a s6O"},
		},
	}
}
