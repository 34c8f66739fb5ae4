package report

import (
	"math"
	"strings"
)

// Spark is one figure over the run for the arms that have it.
type Spark struct {
	Name  string // parked, pool, lost, fallback
	Scale float64
	Share bool // 0…1 instead of a level
	// Full is the level at which it is full, 0 for none.
	Full  float64
	Lines []SparkLine
}

// SparkLine is a figure of one arm, one value per cell of equal length over
// the whole run: of a level the highest in the cell, of a share the mean over
// its requests. Null is a cell without a value.
type SparkLine struct {
	Arm   int
	Cells []*float64
	Max   float64 // of the cells
}

// Sparks are the figures that the report draws small, in cells.
func (d *Document) Sparks(cells int) (out []Spark) {
	add := func(s Spark, series string) {
		for i := range d.Result.Arms {
			if line, ok := d.sparkLine(i, series, s.Share, cells); ok {
				s.Lines = append(s.Lines, line)
				if s.Full == 0 && !s.Share {
					s.Scale = max(s.Scale, line.Max)
				}
			}
		}
		if len(s.Lines) > 0 {
			out = append(out, s)
		}
	}
	add(Spark{Name: "parked", Scale: 1}, "process.parked_max")
	if p := d.mainPool(); p != nil {
		name := strings.TrimPrefix(strings.TrimPrefix(p.Name, "process."), "pool.")
		add(Spark{Name: name, Scale: max(1, float64(p.Size)), Full: max(1, float64(p.Size))}, p.Name+".in_use_max")
	}
	add(Spark{Name: "lost", Scale: 1, Share: true}, "process.lost_rate")
	add(Spark{Name: "fallback", Scale: 1, Share: true}, "process.fallback_rate")
	return out
}

// mainPool is the shared pool, else the one of a faulted dependency, else the
// workers; nil where nothing is bounded.
func (d *Document) mainPool() *Pool {
	pools := d.Result.Scenario.Pools
	wanted := []string{"process.pool"}
	for _, dep := range d.Result.Scenario.Dependencies {
		if dep.Faulted {
			wanted = append(wanted, dep.Pool)
		}
	}
	for _, name := range append(wanted, "process.workers") {
		for i := range pools {
			if pools[i].Name == name {
				return &pools[i]
			}
		}
	}
	return nil
}

func (d *Document) sparkLine(arm int, series string, share bool, cells int) (SparkLine, bool) {
	a := &d.Result.Arms[arm]
	values := a.series(series)
	step := a.Series.step()
	if len(values) == 0 || step <= 0 || cells < 1 {
		return SparkLine{}, false
	}
	var weights []float64
	if share {
		weights = d.arrivals(a, len(values))
	}
	// A run that ended early has fewer bins than its length would have.
	bins := max(len(values), int(math.Ceil(d.Result.Scenario.Duration/step-1e-9)))
	line := SparkLine{Arm: arm, Cells: make([]*float64, cells)}
	for c := range cells {
		from := c * bins / cells
		to := max(from+1, (c+1)*bins/cells)
		var v *float64
		if share {
			v = weightedMean(values, weights, from, min(to, len(values)))
		} else {
			v = highest(values, from, min(to, len(values)))
		}
		if v != nil {
			line.Max = max(line.Max, *v)
		}
		line.Cells[c] = v
	}
	return line, true
}

// arrivals are the requests of each bin, which weigh its share.
func (d *Document) arrivals(a *Arm, bins int) []float64 {
	sum := make([]float64, bins)
	for _, e := range d.Result.Scenario.Endpoints {
		for i, v := range a.series("endpoint." + e.Name + ".rate") {
			if v != nil && i < bins {
				sum[i] += *v
			}
		}
	}
	return sum
}

func weightedMean(values []*float64, weights []float64, from, to int) *float64 {
	sum, weight, plain, n := 0.0, 0.0, 0.0, 0
	for i := from; i < to; i++ {
		if values[i] == nil {
			continue
		}
		sum += float64(*values[i] * weights[i])
		weight += weights[i]
		plain += *values[i]
		n++
	}
	switch {
	case n == 0:
		return nil
	case weight == 0: // arrivals were not recorded
		sum, weight = plain, float64(n)
	}
	mean := sum / weight
	return &mean
}

func highest(values []*float64, from, to int) (high *float64) {
	for i := from; i < to; i++ {
		if values[i] != nil && (high == nil || *values[i] > *high) {
			high = values[i]
		}
	}
	return high
}

// MaxWords say how high a line went: "max 403", "full", "max 99%".
func (s *Spark) MaxWords(l *SparkLine) string {
	switch {
	case s.Full > 0 && l.Max >= s.Full:
		return "full"
	case s.Share:
		return "max " + wholePercents(l.Max, 1-l.Max)[0] + "%"
	}
	return "max " + FormatLevel(l.Max)
}
