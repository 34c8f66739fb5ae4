package resilience

import (
	"math"
	"time"
)

// What the results of probes decide.
const (
	decideSuccesses = "successes"
	decideResults   = "results"
	decideClean     = "clean"
	decideMajority  = "majority"
	decideMirror    = "mirror"
)

// jury hears the results of one half-open episode.
type jury interface {
	hear(now time.Duration, r result) decision
	reset(now time.Duration)
}

// unanimous closes at need good results and opens at the first bad one.
type unanimous struct {
	rule *tripRule
	need int
	good int
}

var _ jury = (*unanimous)(nil)

func (j *unanimous) hear(_ time.Duration, r result) decision {
	if j.rule.bad(r) {
		return opens
	}
	if j.good++; j.good >= j.need {
		return closes
	}
	return undecided
}

func (j *unanimous) reset(time.Duration) { j.good = 0 }

// byRule waits for need results and then decides as a trip rule does.
type byRule struct {
	rule   tripRule
	window window
}

var _ jury = (*byRule)(nil)

func newByRule(r tripRule, need int) *byRule {
	r.min = need
	return &byRule{rule: r, window: &lastCalls{ring: make([]result, need)}}
}

// newClean opens when any of need results was bad in the rule's terms. Where the
// breaker's window is a span of time, results leave it in half-open too, so that
// need of them must come within it, as in goresilience.
func newClean(r tripRule, need int, of WindowKind) *byRule {
	any := tripRule{failures: 1}
	if r.row == 0 && r.failures == 0 && r.ratio == 0 {
		any = tripRule{slow: nearly}
	}
	j := newByRule(any, need)
	switch of.(type) {
	case *Buckets, *LastSpan:
		j.window = of.make(false)
	}
	return j
}

func (j *byRule) hear(now time.Duration, r result) decision {
	j.window.add(now, 0, r)
	switch c := j.window.counts(); {
	case c.total < j.rule.min:
		return undecided
	case j.rule.trips(c):
		return opens
	}
	return closes
}

func (j *byRule) reset(now time.Duration) { j.window.reset(now) }

// majority closes at need good results among the last of, and opens as soon as
// those cannot be reached any more.
type majority struct {
	rule   *tripRule
	need   int
	window lastCalls
}

var _ jury = (*majority)(nil)

func (j *majority) hear(_ time.Duration, r result) decision {
	j.window.add(0, 0, result{failed: j.rule.bad(r)})
	switch c := j.window.counts(); {
	case c.total-c.failures >= j.need:
		return closes
	case c.failures > len(j.window.ring)-j.need:
		return opens
	}
	return undecided
}

func (j *majority) reset(time.Duration) { j.window.reset(0) }

// mirrored decides by a share after need results, the last of which count, as
// failsafe-go does: it closes when the share of successes, rounded to whole
// percents, is above what the trip rule leaves, and opens when the rule trips.
type mirrored struct{ byRule }

var _ jury = (*mirrored)(nil)

func (j *mirrored) hear(now time.Duration, r result) decision {
	j.window.add(now, 0, r)
	c := j.window.counts()
	if c.total < j.rule.min {
		return undecided
	}
	good := math.Round(float64(c.total-c.failures)/float64(c.total)*100) / 100
	switch {
	case good > 1-j.rule.ratio: // in binary fractions, as it does
		return closes
	case j.rule.trips(c):
		return opens
	}
	return undecided
}
