package resilience

import (
	"time"

	"blastradius/sim/spec"
)

// LastSpan holds the results of the last while exactly: a result counts until it
// is so old, and not when it is unless inclusive.
type LastSpan struct {
	Span time.Duration `yaml:"span" unit:"duration" min:"0s" open:"min" short:"true" required:"true" help:"age at which a result is forgotten"`

	Inclusive bool `yaml:"inclusive" help:"at exactly that age a result still counts"`
}

// Validate has nothing to add to the range of the field.
func (*LastSpan) Validate() []spec.Problem { return nil }

// Help says what the kind is.
func (*LastSpan) Help() string { return "the results of the last while, without buckets" }

// Example is a line of YAML.
func (*LastSpan) Example() string { return "10s" }

// Text is e.g. "10s".
func (w *LastSpan) Text() string { return brief(w.Span) }

func (w *LastSpan) make(countAtAdmission bool) window {
	return &lastSpan{span: w.Span, inclusive: w.Inclusive, early: countAtAdmission}
}

// lastSpan remembers each result of the span, 16 bytes. With early a call is in
// the total from its admission to its result, and then its result is.
type lastSpan struct {
	span      time.Duration
	inclusive bool
	times     []timed // ring of a power of two
	head, n   int
	counts_   counts
	early     bool
	era       stamp // times it was emptied
}

type timed struct {
	at time.Duration
	result
}

var _ window = (*lastSpan)(nil)

func (w *lastSpan) admit(time.Duration) stamp {
	if w.early {
		w.counts_.total++
	}
	return w.era + 1
}

func (w *lastSpan) add(now time.Duration, s stamp, r result) bool {
	w.touch(now)
	if w.early && s == w.era+1 {
		w.counts_.total-- // its result takes the place
	}
	if r.void {
		return true
	}
	if w.n == len(w.times) {
		w.grow()
	}
	w.times[(w.head+w.n)&(len(w.times)-1)] = timed{now, r}
	w.n++
	w.counts_.add(r)
	return true
}

func (w *lastSpan) touch(now time.Duration) {
	for w.n > 0 && w.gone(now-w.times[w.head].at) {
		w.counts_.take(w.times[w.head].result)
		w.head = (w.head + 1) & (len(w.times) - 1)
		w.n--
	}
	w.counts_.row = min(w.counts_.row, w.counts_.failures)
}

// gone reports whether a result of that age is forgotten.
func (w *lastSpan) gone(age time.Duration) bool {
	return age > w.span || age == w.span && !w.inclusive
}

func (w *lastSpan) grow() {
	bigger := make([]timed, max(64, 2*len(w.times)))
	for i := range w.n {
		bigger[i] = w.times[(w.head+i)&(len(w.times)-1)]
	}
	w.times, w.head = bigger, 0
}

func (w *lastSpan) counts() *counts { return &w.counts_ }

func (w *lastSpan) reset(time.Duration) {
	w.head, w.n, w.counts_ = 0, 0, counts{}
	w.era++
}

// ErrorTimes holds the instants of the last errors, as semian does: successes
// leave no trace, and an error is forgotten once it is older than the span.
type ErrorTimes struct {
	Span time.Duration `yaml:"span" unit:"duration" min:"0s" open:"min" short:"true" required:"true" help:"age above which an error is forgotten"`
}

// Validate has nothing to add to the range of the field.
func (*ErrorTimes) Validate() []spec.Problem { return nil }

// Help says what the kind is.
func (*ErrorTimes) Help() string { return "the errors of the last while; successes leave no trace" }

// Example is a line of YAML.
func (*ErrorTimes) Example() string { return "{errors: 10s}" }

// Text is e.g. "errors of 10s".
func (w *ErrorTimes) Text() string { return "errors of " + brief(w.Span) }

func (w *ErrorTimes) make(bool) window { return &errorTimes{span: w.Span} }

type errorTimes struct {
	span    time.Duration
	times   []time.Duration
	counts_ counts
}

var _ window = (*errorTimes)(nil)

func (w *errorTimes) touch(time.Duration) {}

func (w *errorTimes) admit(time.Duration) stamp { return 0 }

func (w *errorTimes) add(now time.Duration, _ stamp, r result) bool {
	if r.void || !r.failed {
		return true
	}
	old := 0
	for old < len(w.times) && now-w.times[old] > w.span {
		old++
	}
	w.times = append(w.times[:copy(w.times, w.times[old:])], now)
	n := len(w.times)
	w.counts_ = counts{total: n, failures: n, row: n}
	return true
}

func (w *errorTimes) counts() *counts { return &w.counts_ }

func (w *errorTimes) reset(time.Duration) { w.times, w.counts_ = w.times[:0], counts{} }
