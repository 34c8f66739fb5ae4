package sim

import (
	"slices"
	"time"

	"blastradius/sim/des"
)

// recorder turns the instruments of a run into figures by window and by bin.
// It reads them only when a window or bin closes, so that the event path pays
// an increment. Windows are elementary: the run after the warm-up, cut at every
// edge of every phase; a phase is a union of them.
type recorder struct {
	edges   []time.Duration // of elementary windows, the warm-up's end first, the run's end last
	current int             // open elementary window; -1 during the warm-up

	width time.Duration // of a bin
	bins  int
	bin   int // open bin

	cuts []time.Duration // every instant at which something closes, ascending
	next int

	gauges   []*gaugeRecord
	byGauge  map[*des.Gauge]*gaugeRecord
	counts   []*countRecord
	byCount  map[*int64]*countRecord
	times    []*timesRecord
	blind    bool // record nothing: a twin is asked for the fate of its requests alone
	fulls    []*fullRecord
	merged   des.Hist // of several windows, for the figure being made
	figures  []figure
	audits   []audit
	seriesOf []seriesLine
}

// figure makes one or more metrics of a phase.
type figure func(p phaseView, out *Figures)

// phaseView is the set of elementary windows that make up a phase.
type phaseView struct {
	Phase
	windows []int
	seconds float64
	all     bool // the whole run after the warm-up
	merged  *des.Hist
}

type gaugeRecord struct {
	gauge   *des.Gauge
	station *des.Station
	windows []des.Flow
	start   []int64 // age inside at the start of each window
	lastAge int64
	area    []float64 // ∫n dt per window, for levels too large for an integer

	binned  bool
	binArea []float64 // thing-nanoseconds
	binMax  []int64
	opened  bool
}

type countRecord struct {
	n       *int64
	last    int64
	windows []int64
	binned  bool
	bins    []int64
}

type timesRecord struct {
	hist    *des.TimesHist
	windows []des.Hist
}

// fullRecord is when a pool was first full in each window; -1: it was not.
type fullRecord struct {
	pool    *des.Pool
	windows []time.Duration
}

type audit struct {
	name string
	g    *gaugeRecord
}

type seriesLine struct {
	name  string
	value func(bin int) (float64, bool)
}

// newRecorder plans the cuts of a run.
func newRecorder(c *Config, phases []Phase) *recorder {
	r := &recorder{current: -1, blind: c.Twin, byGauge: map[*des.Gauge]*gaugeRecord{}, byCount: map[*int64]*countRecord{}}
	r.edges = []time.Duration{c.Warmup, c.Duration}
	for _, p := range phases {
		for _, t := range []time.Duration{p.From, p.To} {
			if t > c.Warmup && t < c.Duration {
				r.edges = append(r.edges, t)
			}
		}
	}
	slices.Sort(r.edges)
	r.edges = slices.Compact(r.edges)

	r.bins = c.Bins
	if r.bins <= 0 {
		r.bins = DefaultBins
	}
	r.width = (c.Duration + time.Duration(r.bins) - 1) / time.Duration(r.bins)
	r.bins = int((c.Duration + r.width - 1) / r.width)
	r.cuts = append(r.cuts, r.edges...)
	for i := 1; i <= r.bins; i++ {
		r.cuts = append(r.cuts, min(time.Duration(i)*r.width, c.Duration))
	}
	slices.Sort(r.cuts)
	r.cuts = slices.Compact(r.cuts)
	return r
}

// start begins watching k's clock. With no warm-up the first window opens now.
func (r *recorder) start(k *des.Kernel) {
	if r.blind {
		return
	}
	if r.edges[0] == 0 {
		r.cuts = slices.DeleteFunc(r.cuts, func(t time.Duration) bool { return t == 0 })
		r.current = 0
	}
	k.Watch(r.cuts[0], r)
}

// Cross closes everything that ends at at.
func (r *recorder) Cross(at time.Duration) time.Duration {
	windowEnds := slices.Contains(r.edges, at)
	binEnds := at%r.width == 0 || r.next == len(r.cuts)-1
	for _, g := range r.gauges {
		r.cutGauge(g, at)
	}
	for _, c := range r.counts {
		d := *c.n - c.last
		c.last = *c.n
		if r.current >= 0 {
			c.windows[r.current] += d
		}
		if c.binned {
			c.bins[r.bin] += d
		}
	}
	if windowEnds {
		for _, t := range r.times {
			h := t.hist.Take()
			if r.current >= 0 {
				t.windows[r.current] = h
			}
		}
		for _, f := range r.fulls {
			if r.current >= 0 {
				f.windows[r.current] = f.pool.FullAt
			}
			f.pool.ResetFull(at)
		}
		r.current++
		for _, g := range r.gauges {
			g.opened = false
		}
	}
	if binEnds && r.bin < r.bins-1 {
		r.bin++
	}
	r.next++
	if r.next >= len(r.cuts) {
		return des.Never
	}
	return r.cuts[r.next]
}

func (r *recorder) cutGauge(g *gaugeRecord, at time.Duration) {
	var f des.Flow
	if g.station != nil {
		f = g.station.CutFlow(at)
	} else {
		f = des.Flow{Span: g.gauge.Cut(at)}
	}
	if r.current >= 0 {
		w := &g.windows[r.current]
		if !g.opened {
			g.opened = true
			g.start[r.current] = g.lastAge
			w.Max = f.Max
		}
		w.Area += f.Area
		w.Max = max(w.Max, f.Max)
		w.End = f.End
		w.In += f.In
		w.Out += f.Out
		w.Sojourn += f.Sojourn
		w.Age = f.Age
		g.area[r.current] += float64(f.Area)
	}
	g.lastAge = f.Age
	if g.binned {
		g.binArea[r.bin] += float64(f.Area)
		g.binMax[r.bin] = max(g.binMax[r.bin], f.Max)
	}
}

// stopAt closes everything at now because the run ended early: later windows
// and bins do not exist.
func (r *recorder) stopAt(now time.Duration) {
	for _, g := range r.gauges {
		r.cutGauge(g, now)
	}
	for _, c := range r.counts {
		if d := *c.n - c.last; r.current >= 0 {
			c.windows[r.current] += d
		}
	}
	r.bins = r.bin + 1
	if r.current < 0 {
		r.edges = r.edges[:1]
		return
	}
	for _, t := range r.times {
		t.windows[r.current] = t.hist.Take()
	}
	for _, f := range r.fulls {
		f.windows[r.current] = f.pool.FullAt
	}
	r.edges = append(r.edges[:r.current+1], now)
}

// gaugeOf returns the record of g, made at its first use.
func (r *recorder) gaugeOf(g *des.Gauge) *gaugeRecord {
	rec := r.byGauge[g]
	if rec == nil {
		n := len(r.edges) - 1
		rec = &gaugeRecord{gauge: g, windows: make([]des.Flow, n), start: make([]int64, n), area: make([]float64, n)}
		r.byGauge[g] = rec
		r.gauges = append(r.gauges, rec)
	}
	return rec
}

func (r *recorder) countOf(n *int64) *countRecord {
	rec := r.byCount[n]
	if rec == nil {
		rec = &countRecord{n: n, last: *n, windows: make([]int64, len(r.edges)-1)}
		r.byCount[n] = rec
		r.counts = append(r.counts, rec)
	}
	return rec
}

func (r *recorder) timesOf(h *des.TimesHist) *timesRecord {
	for _, t := range r.times {
		if t.hist == h {
			return t
		}
	}
	rec := &timesRecord{hist: h, windows: make([]des.Hist, len(r.edges)-1)}
	r.times = append(r.times, rec)
	if r.blind {
		h.Ignore()
	}
	return rec
}

// fullOf watches when a pool is full.
func (r *recorder) fullOf(p *des.Pool) *fullRecord {
	f := &fullRecord{pool: p, windows: make([]time.Duration, len(r.edges)-1)}
	r.fulls = append(r.fulls, f)
	return f
}

// binned turns on the bins of a count.
func (r *recorder) binCount(n *int64) *countRecord {
	c := r.countOf(n)
	if !c.binned {
		c.binned, c.bins = true, make([]int64, r.bins)
	}
	return c
}

func (r *recorder) binGauge(g *des.Gauge) *gaugeRecord {
	rec := r.gaugeOf(g)
	if !rec.binned {
		rec.binned, rec.binArea, rec.binMax = true, make([]float64, r.bins), make([]int64, r.bins)
	}
	return rec
}

// binWidth is the length of bin i; the last one may be shorter.
func (r *recorder) binWidth(i int) time.Duration {
	end := r.cuts[len(r.cuts)-1]
	return min(r.width, end-time.Duration(i)*r.width)
}

// view finds the elementary windows of a phase.
func (r *recorder) view(p Phase) phaseView {
	v := phaseView{Phase: p, all: p.Name == PhaseAll, merged: &r.merged}
	for i := 0; i+1 < len(r.edges); i++ {
		if r.edges[i] >= p.From && r.edges[i+1] <= p.To && r.edges[i] < r.edges[i+1] {
			v.windows = append(v.windows, i)
			v.seconds += (r.edges[i+1] - r.edges[i]).Seconds()
		}
	}
	return v
}

func (v phaseView) count(c *countRecord) (n int64) {
	for _, w := range v.windows {
		n += c.windows[w]
	}
	return n
}

// level is the time average and the maximum of a gauge in the phase.
func (v phaseView) level(g *gaugeRecord) (mean float64, high int64) {
	area := 0.0
	for _, w := range v.windows {
		area += g.area[w]
		high = max(high, g.windows[w].Max)
	}
	return area / (v.seconds * 1e9), high
}

// hist is what was recorded in the phase. It is to be read before the next call.
func (v phaseView) hist(t *timesRecord) *des.Hist {
	if len(v.windows) == 1 {
		return &t.windows[v.windows[0]]
	}
	h := v.merged
	h.Reset()
	for _, w := range v.windows {
		h.Merge(&t.windows[w])
	}
	return h
}
