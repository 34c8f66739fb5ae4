package resilience

import "math"

// tally counts the answers of one host in the interval that runs and keeps
// those of the last, which is the one that is judged.
type tally struct {
	good, all         int64
	lastGood, lastAll int64
}

func (t *tally) swap() {
	t.lastGood, t.lastAll = t.good, t.all
	t.good, t.all = 0, 0
}

// percent is the share of successes in the last interval, 0 to 100; ok is false
// when there was no answer.
func (t *tally) percent() (p float64, ok bool) {
	if t.lastAll == 0 {
		return 0, false
	}
	return float64(t.lastGood) * 100 / float64(t.lastAll), true
}

// streak counts failures in a row up to a limit; 0 is none. Beyond the limit it
// goes on counting and does not fire again until it is cleared.
type streak struct{ n, limit int }

// fail reports whether this failure is the one that reaches the limit.
func (s *streak) fail() bool {
	s.n++
	return s.n == s.limit
}

func (s *streak) clear() { s.n = 0 }

// belowMean is mean − factor·σ of the rates, with the standard deviation of a
// population (divided by n).
func belowMean(rates []hostRate, factor float64) float64 {
	n, sum := float64(len(rates)), 0.0
	for _, r := range rates {
		sum += r.percent
	}
	mean, squares := sum/n, 0.0
	for _, r := range rates {
		d := r.percent - mean
		squares += float64(d * d)
	}
	return mean - float64(factor*math.Sqrt(squares/n))
}

// hostRate is the success rate of one host, in percent.
type hostRate struct {
	host    int
	percent float64
}
