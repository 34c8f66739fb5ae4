package sim

import (
	"time"

	"blastradius/sim/des"
)

// scope is a recorder as one policy sees it: a des.Meter whose names start
// with the policy's own.
type scope struct {
	r      *recorder
	prefix string // "dependency.payments.bulkhead"
	// onCount, where set, hears of every counter that is registered.
	onCount func(name string, n *int64)
}

var (
	_ des.Meter       = (*scope)(nil)
	_ des.TroughMeter = (*scope)(nil)
)

func (s *scope) name(n string) string {
	if n == "" {
		return s.prefix
	}
	return s.prefix + "." + n
}

// Count reports the growth of *n.
func (s *scope) Count(name string, n *int64) {
	c, full := s.r.countOf(n), s.name(name)
	s.r.add(func(p phaseView, out *Figures) { out.put(full, float64(p.count(c))) })
	if s.onCount != nil {
		s.onCount(name, n)
	}
}

// Share reports growth of *part over growth of *whole.
func (s *scope) Share(name string, part, whole *int64, absent string) {
	a, b, full := s.r.countOf(part), s.r.countOf(whole), s.name(name)
	s.r.add(func(p phaseView, out *Figures) { out.ratio(full, float64(p.count(a)), float64(p.count(b)), absent) })
}

// Level reports NAME_mean and NAME_max.
func (s *scope) Level(name string, g *des.Gauge) {
	rec, full := s.r.gaugeOf(g), s.name(name)
	s.r.add(func(p phaseView, out *Figures) {
		mean, high := p.level(rec)
		out.put(full+"_mean", mean)
		out.put(full+"_max", float64(high))
	})
}

// Peak reports NAME_max.
func (s *scope) Peak(name string, g *des.Gauge) {
	rec, full := s.r.gaugeOf(g), s.name(name)
	s.r.add(func(p phaseView, out *Figures) {
		_, high := p.level(rec)
		out.put(full+"_max", float64(high))
	})
}

// Trough reports NAME_min.
func (s *scope) Trough(name string, below *des.Gauge, top int64) {
	rec, full := s.r.gaugeOf(below), s.name(name)
	s.r.add(func(p phaseView, out *Figures) {
		_, high := p.level(rec)
		out.put(full+"_min", float64(top-high))
	})
}

// Saturation reports the time average over size.
func (s *scope) Saturation(name string, g *des.Gauge, size int64) {
	rec, full := s.r.gaugeOf(g), s.name(name)
	s.r.add(func(p phaseView, out *Figures) {
		mean, _ := p.level(rec)
		out.ratio(full, mean, float64(size), "it has no places")
	})
}

// Times reports statistics of durations.
func (s *scope) Times(name string, h *des.TimesHist, stats ...string) {
	rec, full := s.r.timesOf(h), s.name(name)
	s.r.add(func(p phaseView, out *Figures) { out.durations(full, p.hist(rec), stats) })
}

// Audit puts a station into the Little's-law audit.
func (s *scope) Audit(name string, st *des.Station) {
	rec := s.r.gaugeOf(&st.Gauge)
	rec.station = st
	s.r.audits = append(s.r.audits, audit{name: s.name(name), g: rec})
}

// Series records NAME_mean and NAME_max per bin.
func (s *scope) Series(name string, g *des.Gauge) {
	rec, full := s.r.binGauge(g), s.name(name)
	s.r.line(full+"_mean", func(i int) (float64, bool) { return rec.binArea[i] / float64(s.r.binWidth(i)), true })
	s.r.line(full+"_max", func(i int) (float64, bool) { return float64(rec.binMax[i]), true })
}

func (r *recorder) add(f figure) { r.figures = append(r.figures, f) }

func (r *recorder) line(name string, value func(bin int) (float64, bool)) {
	r.seriesOf = append(r.seriesOf, seriesLine{name, value})
}

// quantileOf names the quantiles that a statistic of durations can ask for.
var quantileOf = map[string]float64{"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}

// latencyStats are the statistics of an endpoint's and a dependency's latency.
var latencyStats = []string{"mean", "p50", "p90", "p95", "p99", "p999", "max"}

// Figures are the metrics of one phase. A figure that cannot be given is in
// Absent with its reason, and in no other place.
type Figures struct {
	Metrics map[string]float64
	Absent  map[string]string
}

func newFigures() *Figures {
	return &Figures{Metrics: map[string]float64{}, Absent: map[string]string{}}
}

func (f *Figures) put(name string, v float64) { f.Metrics[name] = v }

func (f *Figures) absent(name, why string) { f.Absent[name] = why }

func (f *Figures) ratio(name string, part, whole float64, why string) {
	if whole == 0 {
		f.absent(name, why)
		return
	}
	f.put(name, part/whole)
}

func (f *Figures) durations(name string, h *des.Hist, stats []string) {
	for _, s := range stats {
		full := name + "_" + s
		switch {
		case h.Count() == 0:
			f.absent(full, "nothing was recorded")
		case s == "mean":
			f.put(full, h.Mean()/1e9)
		case s == "max":
			f.put(full, seconds(h.Max()))
		default:
			f.put(full, seconds(h.Quantile(quantileOf[s])))
		}
	}
}

// seconds is d as a figure.
func seconds(d time.Duration) float64 { return float64(d) / 1e9 }
