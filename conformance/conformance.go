// Package conformance drives real circuit breakers and records what they do,
// for the dialects of blastradius to be held against. It is a module of its
// own, so that no library here becomes a dependency of the product.
package conformance

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"blastradius/internal/conform"
	"blastradius/sim/call"
)

// subject is a library's breaker behind the calls of a trace. It reads the
// time by itself, from the bubble it was made in.
type subject interface {
	Admit(id int) bool
	Complete(id int, class call.Class)
	// State must not move the breaker when it follows an admission or a
	// completion at the same instant.
	State() conform.State
}

// ender is a subject with calls or goroutines of its own, which would keep the
// bubble from ending.
type ender interface{ End() }

// config is one configuration of a library.
type config struct {
	settings string        // in the keys of our breaker
	unit     time.Duration // of the text form
	grid     time.Duration // its windows and its cooldown are multiples of this
	cooldown time.Duration
	edge     time.Duration // the smallest step of its clock: 1 ns, or 1 ms
	failures call.Class    // the class that surely is a failure
	more     int           // steps above the most of others, for a rule that needs many results
	leaks    bool          // the library leaves a goroutine behind that nothing ends
	build    func() subject
}

// dialect is everything recorded of one dialect.
type dialect struct {
	name    string
	module  string // import path of the module the library comes from
	configs []config
	hand    []handTrace
	classes []call.Class // what calls end with, besides ok and failure
	flat    bool         // it has no half-open state
	// draw makes a configuration that the list may lack, for traces that are
	// not stored.
	draw func(chooser) config
}

// handTrace shows one fact. Its steps are what the library is expected to do.
type handTrace struct {
	name, about string
	config      config
	steps       string
}

// dialects in the order of the files.
func dialects() []dialect {
	return []dialect{
		gobreakerConsecutive(), gobreakerFixed(), gobreakerRolling(),
		failsafeCount(), failsafeTime(),
		sentinelErrorRatio(), sentinelErrorCount(), sentinelSlowRatio(),
		hystrixGo(), goresilienceDialect(),
	}
}

// brief is d as people write it: 1m, not 1m0s.
func brief(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// among is one of the values.
func among[T any](c chooser, values ...T) T { return values[c.IntN(len(values))] }

// version is that of a module in our go.mod.
func version(module string) (string, error) {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		return "", err
	}
	m := regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(module) + ` (\S+)`).FindSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("go.mod does not require %s", module)
	}
	return string(m[1]), nil
}
