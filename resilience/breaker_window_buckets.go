package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/spec"
)

// Where buckets begin.
const (
	alignEpoch      = "epoch"       // at multiples of their width since the start of the run
	alignFirstEvent = "first_event" // each at the first result after the one before has ended
	alignGeneration = "generation"  // at multiples since the window was last emptied
)

// Buckets holds the results of the last while in buckets, so that it reaches
// back between N-1 and N of them.
type Buckets struct {
	Span  time.Duration `yaml:"span" unit:"duration" min:"0s" open:"min" required:"true" help:"length of all buckets together"`
	N     int           `yaml:"n" unit:"count" min:"1" max:"100000" also:"buckets,bucketCount" help:"number of buckets"`
	Align string        `yaml:"align" enum:"epoch,first_event,generation" help:"where buckets begin: at multiples since the start, at the first result, or when the window was last emptied"`
}

// Validate wants buckets of at least a nanosecond.
func (w *Buckets) Validate() []spec.Problem {
	if w.Span/time.Duration(w.N) < 1 {
		return []spec.Problem{{Field: "n", Text: fmt.Sprintf("%d buckets of %s are shorter than a nanosecond", w.N, brief(w.Span)), Hint: "n: 10"}}
	}
	return nil
}

// Help says what the kind is.
func (*Buckets) Help() string { return "the results of the last while, in buckets" }

// Example is a line of YAML.
func (*Buckets) Example() string { return "{buckets: {span: 10s, n: 10}}" }

// Text is e.g. "10s in 10 buckets".
func (w *Buckets) Text() string {
	if w.N == 1 {
		return brief(w.Span) + " at a time"
	}
	return fmt.Sprintf("%s in %d buckets", brief(w.Span), w.N)
}

func (w *Buckets) make(countAtAdmission bool) window {
	return &buckets{width: w.Span / time.Duration(w.N), align: w.Align, ring: make([]bucket, w.N), early: countAtAdmission}
}

// bucket is a stretch of time. Its start is in units that the alignment gives:
// the number of the bucket, or the instant of its first result.
type bucket struct {
	start int64
	id    stamp
	counts
}

type buckets struct {
	width   time.Duration
	align   string
	ring    []bucket
	head, n int // newest bucket, buckets in use
	began   time.Duration
	age     int64 // number of the bucket at the last touch
	counts_ counts
	early   bool // results go to the bucket of their admission, whose total has them

	made  stamp // buckets begun so far
	first stamp // of those, the last before it was emptied
}

var _ window = (*buckets)(nil)

// number is the bucket that now belongs to, for alignments that number them.
func (w *buckets) number(now time.Duration) int64 {
	if w.align == alignGeneration {
		return int64((now - w.began) / w.width)
	}
	return int64(now / w.width)
}

func (w *buckets) touch(now time.Duration) {
	if w.align == alignFirstEvent {
		span := w.width * time.Duration(len(w.ring))
		for w.n > 0 && now-time.Duration(w.oldest().start) >= span {
			w.drop()
		}
		return
	}
	number := w.number(now)
	if number-w.age >= int64(len(w.ring)) {
		w.n, w.counts_ = 0, counts{}
	}
	w.age = number
	for w.n > 0 && w.oldest().start <= number-int64(len(w.ring)) {
		w.drop()
	}
}

// current is the bucket of now, begun if need be.
func (w *buckets) current(now time.Duration) *bucket {
	w.touch(now)
	if w.align == alignFirstEvent {
		if w.n > 0 && now-time.Duration(w.ring[w.head].start) < w.width {
			return &w.ring[w.head]
		}
		return w.begin(int64(now))
	}
	number := w.number(now)
	if w.n > 0 && w.ring[w.head].start == number {
		return &w.ring[w.head]
	}
	return w.begin(number)
}

func (w *buckets) begin(start int64) *bucket {
	if w.n == len(w.ring) {
		w.drop()
	}
	w.head = (w.head + 1) % len(w.ring)
	w.n++
	w.made++
	w.ring[w.head] = bucket{start: start, id: w.made}
	return &w.ring[w.head]
}

func (w *buckets) oldest() *bucket { return w.nth(0) }

// nth is the nth bucket in use, the oldest first.
func (w *buckets) nth(i int) *bucket {
	return &w.ring[(w.head-w.n+1+i+len(w.ring))%len(w.ring)]
}

// drop forgets the oldest bucket. Failures in a row shrink by those of it when
// the row reaches back into it, as in gobreaker's rolling counts.
func (w *buckets) drop() {
	b := w.oldest()
	later := 0
	for i := 1; i < w.n; i++ {
		later += w.nth(i).failures
	}
	if w.counts_.row == b.row+later {
		w.counts_.row -= b.row
	}
	w.counts_.total -= b.total
	w.counts_.failures -= b.failures
	w.counts_.slow -= b.slow
	w.n--
}

func (w *buckets) admit(now time.Duration) stamp {
	if !w.early {
		return 0
	}
	b := w.current(now)
	b.total++
	w.counts_.total++
	return b.id
}

func (w *buckets) add(now time.Duration, s stamp, r result) bool {
	if !w.early || s <= w.first {
		if !r.void {
			w.current(now).add(r)
			w.counts_.add(r)
		}
		return true
	}
	w.touch(now)
	for i := w.n - 1; i >= 0; i-- {
		if b := w.nth(i); b.id == s {
			if !r.void {
				b.judge(r)
				w.counts_.judge(r)
			}
			break
		}
	}
	return true // also where its bucket is gone: then nothing is added
}

func (w *buckets) counts() *counts { return &w.counts_ }

func (w *buckets) reset(now time.Duration) {
	w.n, w.began, w.counts_ = 0, now, counts{}
	w.age = w.number(now)
	w.first = w.made
}

// Fixed holds the results of one interval and forgets all of them when the next
// begins, which is at the first call or result after the interval has passed.
// What was admitted in an earlier interval is not counted.
type Fixed struct {
	Interval time.Duration `yaml:"interval" unit:"duration" min:"0s" open:"min" short:"true" required:"true" help:"length of an interval"`
}

// Validate has nothing to add to the range of the field.
func (*Fixed) Validate() []spec.Problem { return nil }

// Help says what the kind is.
func (*Fixed) Help() string { return "the results of one interval, all forgotten when the next begins" }

// Example is a line of YAML.
func (*Fixed) Example() string { return "{fixed: 10s}" }

// Text is e.g. "intervals of 10s".
func (w *Fixed) Text() string { return "intervals of " + brief(w.Interval) }

func (w *Fixed) make(countAtAdmission bool) window {
	return &fixed{interval: w.Interval, sinceClear: sinceClear{early: countAtAdmission}}
}

type fixed struct {
	sinceClear
	interval time.Duration
	began    time.Duration
}

var _ window = (*fixed)(nil)

func (w *fixed) touch(now time.Duration) {
	if now-w.began > w.interval {
		w.reset(now)
	}
}

func (w *fixed) admit(now time.Duration) stamp {
	w.touch(now)
	return w.sinceClear.admit(now)
}

func (w *fixed) add(now time.Duration, s stamp, r result) bool {
	w.touch(now)
	return (s == 0 || s == w.era+1) && w.sinceClear.add(now, s, r)
}

func (w *fixed) reset(now time.Duration) {
	w.sinceClear.reset(now)
	w.began = now
}
