package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/spec"
)

// Lagging holds the results of the last while in buckets as hystrix-go does:
// totals and failures are counted apart, each forgets its old buckets only when
// it grows itself, and reading looks at one bucket more than forgetting leaves.
type Lagging struct {
	Span time.Duration `yaml:"span" unit:"duration" min:"0s" open:"min" required:"true" help:"length of all buckets together"`
	N    int           `yaml:"n" unit:"count" min:"1" max:"100000" help:"number of buckets"`
}

// Validate wants buckets of at least a nanosecond.
func (w *Lagging) Validate() []spec.Problem {
	return (&Buckets{Span: w.Span, N: w.N}).Validate()
}

// Help says what the kind is.
func (*Lagging) Help() string {
	return "buckets as in hystrix-go, whose totals and failures forget apart and late"
}

// Example is a line of YAML.
func (*Lagging) Example() string { return "{lagging: {span: 10s, n: 10}}" }

// Text is e.g. "10s in 10 lagging buckets".
func (w *Lagging) Text() string { return fmt.Sprintf("%s in %d lagging buckets", brief(w.Span), w.N) }

func (w *Lagging) make(bool) window {
	return &lagging{width: w.Span / time.Duration(w.N), total: newLaggingSum(w.N), failures: newLaggingSum(w.N)}
}

type lagging struct {
	width           time.Duration
	total, failures laggingSum
	counts_         counts
}

var _ window = (*lagging)(nil)

// touch reads both sums as they are at now.
func (w *lagging) touch(now time.Duration) {
	number := int64(now / w.width)
	w.counts_.total, w.counts_.failures = w.total.read(number), w.failures.read(number)
	w.counts_.row = min(w.counts_.row, w.counts_.failures)
}

func (w *lagging) admit(time.Duration) stamp { return 0 }

func (w *lagging) add(now time.Duration, _ stamp, r result) bool {
	if r.void {
		return true
	}
	number := int64(now / w.width)
	w.total.grow(number)
	if r.failed {
		w.failures.grow(number)
		w.counts_.row++
	} else {
		w.counts_.row = 0
	}
	w.touch(now)
	return true
}

func (w *lagging) counts() *counts { return &w.counts_ }

func (w *lagging) reset(time.Duration) {
	w.total.clear()
	w.failures.clear()
	w.counts_ = counts{}
}

// laggingSum is one rolling number: buckets by number, forgotten when it grows.
type laggingSum struct {
	n       int64
	numbers []int64 // of the buckets, by number modulo n+1
	counts  []int
}

func newLaggingSum(n int) laggingSum {
	s := laggingSum{n: int64(n), numbers: make([]int64, n+1), counts: make([]int, n+1)}
	s.clear()
	return s
}

func (s *laggingSum) grow(number int64) {
	i := number % (s.n + 1)
	if s.numbers[i] != number {
		s.numbers[i], s.counts[i] = number, 0
	}
	s.counts[i]++
	for i, k := range s.numbers {
		if k <= number-s.n {
			s.counts[i] = 0
		}
	}
}

// read sums the buckets down to n before number.
func (s *laggingSum) read(number int64) (sum int) {
	for i, k := range s.numbers {
		if k >= number-s.n {
			sum += s.counts[i]
		}
	}
	return sum
}

func (s *laggingSum) clear() {
	for i := range s.numbers {
		s.numbers[i], s.counts[i] = -1<<62, 0
	}
}
