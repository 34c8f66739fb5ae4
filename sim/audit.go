package sim

import (
	"fmt"
	"math"

	"blastradius/sim/des"
)

// AuditRow is Little's law at one station in one phase. L = W·Out/T + Edge is
// exact; the gap L/(λW) − 1 is what a stationary reading would be wrong by.
type AuditRow struct {
	Station string
	Phase   string
	In, Out int64
	Lambda  float64 // arrivals per second
	W       float64 // mean sojourn of those that left, seconds
	L       float64 // time average inside
	Edge    float64 // (ages inside at the end − at the start) ÷ length
	Gap     float64 // NaN when λW is 0
	// Exact: ∫N dt = Σ sojourns of those that left + ages at the end − ages at
	// the start, to the nanosecond, in three accumulators that share nothing.
	Exact bool
	Note  string
}

// stationaryGap is the gap from which a row says why it is not stationary.
const stationaryGap = 0.05

// audit makes the row of one station in one phase.
func (v phaseView) audit(a audit) AuditRow {
	var sum des.Flow
	edge, area, exact := int64(0), 0.0, true
	for _, w := range v.windows {
		f := &a.g.windows[w]
		sum.In += f.In
		sum.Out += f.Out
		sum.Sojourn += f.Sojourn
		edge += f.Age - a.g.start[w]
		area += a.g.area[w]
		exact = exact && f.Area == f.Sojourn+f.Age-a.g.start[w]
	}
	row := AuditRow{Station: a.name, Phase: v.Name, In: sum.In, Out: sum.Out, Exact: exact}
	row.Lambda = float64(sum.In) / v.seconds
	if sum.Out > 0 {
		row.W = float64(sum.Sojourn) / float64(sum.Out) / 1e9
	}
	row.L = area / (v.seconds * 1e9)
	row.Edge = float64(edge) / (v.seconds * 1e9)
	row.Gap = math.NaN()
	if lw := float64(row.Lambda * row.W); lw > 0 {
		row.Gap = row.L/lw - 1
	}
	row.Note = row.note()
	return row
}

// note says in words why λW is not L here.
func (r *AuditRow) note() string {
	switch {
	case r.In == 0 && r.Out == 0:
		return "nothing came or left"
	case r.Out == 0:
		return "nothing left: all that came is still inside"
	case math.Abs(r.Gap) < stationaryGap:
		return ""
	case r.In > r.Out && r.Edge > 0:
		return fmt.Sprintf("filling: not stationary, %d came and %d left", r.In, r.Out)
	case r.In < r.Out:
		return fmt.Sprintf("draining: not stationary, %d came and %d left", r.In, r.Out)
	default:
		return "not stationary: sojourns changed within the phase"
	}
}
