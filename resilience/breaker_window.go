package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/spec"
)

// window remembers results for the trip rule. Time must not go back.
type window interface {
	// touch forgets what is too old at now.
	touch(now time.Duration)
	// admit notes that a call was let in; its stamp comes back with the result.
	admit(now time.Duration) stamp
	// add notes a result. False: it is too old to count.
	add(now time.Duration, s stamp, r result) bool
	// counts are the results held.
	counts() *counts
	// reset empties it.
	reset(now time.Duration)
}

// stamp tells a window when a call was admitted, in the window's own terms; 0 is
// that of a call which no window saw come. Where calls are in the total from
// their admission, the result of one that is not (it came half-open, or before
// the window was emptied) enters the total itself.
type stamp int64

// result is one recorded call. A result without a verdict only ends what its
// admission began.
type result struct {
	failed, slow bool
	void         bool // neither success nor failure
}

// counts are what a trip rule looks at.
type counts struct {
	total, failures, slow int
	row                   int // failures in a row, the last results
}

func (c *counts) add(r result) {
	c.total++
	c.judge(r)
}

// judge adds a result that is in the total already.
func (c *counts) judge(r result) {
	if r.failed {
		c.failures++
		c.row++
	} else {
		c.row = 0
	}
	if r.slow {
		c.slow++
	}
}

// take removes a result; the row is not its business.
func (c *counts) take(r result) {
	c.total--
	if r.failed {
		c.failures--
	}
	if r.slow {
		c.slow--
	}
}

// WindowKind is one kind of window as a file configures it.
type WindowKind interface {
	Validate() []spec.Problem
	Help() string
	Example() string
	Text() string // e.g. "20", "10s in 10 buckets"
	make(countAtAdmission bool) window
}

// Windows are the kinds of window by the name that a file uses.
var Windows = map[string]func() WindowKind{
	"calls":   func() WindowKind { return &LastCalls{} },
	"sliding": func() WindowKind { return &LastSpan{} },
	"buckets": func() WindowKind { return &Buckets{N: 10, Align: alignEpoch} },
	"lagging": func() WindowKind { return &Lagging{N: 10} },
	"fixed":   func() WindowKind { return &Fixed{} },
	"errors":  func() WindowKind { return &ErrorTimes{} },
	"all":     func() WindowKind { return &SinceClear{} },
}

// WindowScalar names the kind that a bare value stands for: a number of calls,
// or a duration.
func WindowScalar(value string) string {
	for _, r := range value {
		if (r < '0' || r > '9') && r != '_' {
			return "sliding"
		}
	}
	return "calls"
}

// SinceClear holds every result since the window was last emptied.
type SinceClear struct{}

// Validate has nothing to check.
func (*SinceClear) Validate() []spec.Problem { return nil }

// Help says what the kind is.
func (*SinceClear) Help() string { return "every result since it was last emptied" }

// Example is a line of YAML.
func (*SinceClear) Example() string { return "all" }

// Text is "all".
func (*SinceClear) Text() string { return "all" }

func (*SinceClear) make(countAtAdmission bool) window {
	return &sinceClear{early: countAtAdmission}
}

type sinceClear struct {
	counts_ counts
	early   bool  // the total grows at admission
	era     stamp // times it was emptied
}

var _ window = (*sinceClear)(nil)

func (w *sinceClear) touch(time.Duration) {}

func (w *sinceClear) admit(time.Duration) stamp {
	if w.early {
		w.counts_.total++
	}
	return w.era + 1
}

func (w *sinceClear) add(_ time.Duration, s stamp, r result) bool {
	switch {
	case r.void:
	case w.early && s == w.era+1:
		w.counts_.judge(r)
	default:
		w.counts_.add(r)
	}
	return true
}

func (w *sinceClear) counts() *counts { return &w.counts_ }

func (w *sinceClear) reset(time.Duration) {
	w.counts_ = counts{}
	w.era++
}

// LastCalls holds the last N results.
type LastCalls struct {
	N int `yaml:"n" unit:"count" min:"1" max:"1000000" short:"true" required:"true" help:"results held"`
}

// Validate has nothing to add to the range of the field.
func (*LastCalls) Validate() []spec.Problem { return nil }

// Help says what the kind is.
func (*LastCalls) Help() string { return "the last n results" }

// Example is a line of YAML.
func (*LastCalls) Example() string { return "20" }

// Text is e.g. "20".
func (w *LastCalls) Text() string { return fmt.Sprint(w.N) }

func (w *LastCalls) make(countAtAdmission bool) window {
	return &lastCalls{ring: make([]result, w.N), early: countAtAdmission}
}

type lastCalls struct {
	ring    []result
	at      int // next place
	held    int
	counts_ counts
	early   bool
	era     stamp // times it was emptied
}

var _ window = (*lastCalls)(nil)

func (w *lastCalls) touch(time.Duration) {}

func (w *lastCalls) admit(time.Duration) stamp {
	if w.early {
		w.counts_.total++
	}
	return w.era + 1
}

func (w *lastCalls) add(_ time.Duration, s stamp, r result) bool {
	if w.early && s == w.era+1 {
		w.counts_.total-- // its result takes the place
	}
	if r.void {
		return true
	}
	p := &w.ring[w.at]
	if w.held == len(w.ring) {
		w.counts_.take(*p)
	} else {
		w.held++
	}
	*p = r
	if w.at++; w.at == len(w.ring) {
		w.at = 0
	}
	w.counts_.add(r)
	return true
}

func (w *lastCalls) counts() *counts { return &w.counts_ }

func (w *lastCalls) reset(time.Duration) {
	w.at, w.held, w.counts_ = 0, 0, counts{}
	w.era++
}
