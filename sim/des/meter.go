package des

import "time"

// Meter is where a policy registers its instruments when it is built. The
// instruments are plain fields of the policy and are read only when a window
// closes, so counting costs an increment. Names are relative to the policy:
// "shed" becomes dependency.payments.bulkhead.shed.
type Meter interface {
	// Count reports the growth of *n under name.
	Count(name string, n *int64)
	// Share reports the growth of *part over the growth of *whole; absent, with
	// the reason given, in a window where whole did not grow.
	Share(name string, part, whole *int64, absent string)
	// Level reports the time average as NAME_mean and the maximum as NAME_max.
	Level(name string, g *Gauge)
	// Peak reports the maximum only, as NAME_max.
	Peak(name string, g *Gauge)
	// Saturation reports the time average over size as name.
	Saturation(name string, g *Gauge, size int64)
	// Times reports statistics of a set of durations: each of stats is one of
	// mean, p50, p90, p95, p99, p999, max and gives NAME_stat.
	Times(name string, h *TimesHist, stats ...string)
	// Audit puts the station into the Little's-law audit. The station's own name
	// is "" for the policy itself.
	Audit(name string, s *Station)
	// Series records the gauge in fixed bins under name.
	Series(name string, g *Gauge)
}

// TroughMeter is an optional ability of a Meter: the smallest number, which a
// gauge does not keep.
type TroughMeter interface {
	// Trough reports the minimum of top - *below as NAME_min.
	Trough(name string, below *Gauge, top int64)
}

// Trough reports the minimum of top - *below where m can: a policy that wants
// its minimum known keeps a gauge of how far it is below the top.
func Trough(m Meter, name string, below *Gauge, top int64) {
	if t, ok := m.(TroughMeter); ok {
		t.Trough(name, below, top)
	}
}

// TimesHist is a Hist that the meter empties at each window's end.
type TimesHist struct {
	cur   Hist
	blind bool
}

// Record adds one duration to the window that is open.
func (t *TimesHist) Record(d time.Duration) {
	if !t.blind {
		t.cur.Record(d)
	}
}

// Ignore makes Record do nothing from now on, for runs that want no figures.
func (t *TimesHist) Ignore() { t.blind = true }

// Take hands over what was recorded since the last Take.
func (t *TimesHist) Take() Hist {
	h := t.cur
	t.cur = Hist{}
	return h
}

// Observation is one thing that happened, for traces, digests and the figures
// of a breaker.
type Observation struct {
	At      time.Duration
	Source  string // e.g. dependency.payments.breaker
	What    string // e.g. "state"
	From    int    // for "state": 0 closed, 1 half-open, 2 open
	To      int
	Request uint64 // the request at hand, 0 when there is none
	Detail  string
}

// Probe receives observations. It must not change anything.
type Probe func(Observation)

// NullMeter ignores every instrument; for tests and for the live engine's
// callers that want no figures.
type NullMeter struct{}

var _ Meter = NullMeter{}

// Count ignores its arguments, as do all methods of NullMeter.
func (NullMeter) Count(string, *int64)                 {}
func (NullMeter) Share(string, *int64, *int64, string) {}
func (NullMeter) Level(string, *Gauge)                 {}
func (NullMeter) Peak(string, *Gauge)                  {}
func (NullMeter) Saturation(string, *Gauge, int64)     {}
func (NullMeter) Times(string, *TimesHist, ...string)  {}
func (NullMeter) Audit(string, *Station)               {}
func (NullMeter) Series(string, *Gauge)                {}
