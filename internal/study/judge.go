package study

import (
	"math"

	"blastradius/report"
	"blastradius/scenarios"
	"blastradius/sim"
	"blastradius/sizing"
)

// judge holds every expectation against every replicate. The figure shown is
// that of the first seed, which is the one the rest of the result shows.
func judge(expectations []scenarios.Expect, arms []scenarios.Arm, runs [][]*sim.Result, seed uint64) []report.Expectation {
	out := make([]report.Expectation, 0, len(expectations))
	for _, e := range expectations {
		row := report.Expectation{Text: e.Text, Arm: e.Arm, Line: e.Line, Unit: string(e.Expr.Unit())}
		n := len(runs[0])
		worst, worstBy := -1, math.Inf(-1)
		for k := range n {
			v := e.Expr.Judge(func(arm, phase, metric string) (float64, string, bool) {
				if arm == "" {
					arm = e.Arm
				}
				return figure(arms, runs, k, arm, phase, metric)
			})
			if v.OK {
				row.Holds++
			} else if v.Miss > worstBy || worst < 0 {
				worst, worstBy = k, v.Miss
			}
			if k == 0 {
				row.OK, row.Why = v.OK, v.Why
				if v.HasActual {
					row.Actual = &v.Actual
				}
			}
		}
		if n > 1 {
			row.Of = n
			low, high := sizing.Wilson(row.Holds, n, 0.95)
			row.Low, row.High = &low, &high
			need := 1.0
			if e.Holds > 0 {
				need = e.Holds
			}
			row.OK = float64(row.Holds) >= float64(need*float64(n))-1e-9
			if worst >= 0 {
				w := seed + uint64(worst)
				row.Worst = &w
			}
		} else {
			row.Holds = 0
		}
		out = append(out, row)
	}
	return out
}

// figure finds one metric of one arm in replicate k.
func figure(arms []scenarios.Arm, runs [][]*sim.Result, k int, arm, phase, metric string) (float64, string, bool) {
	for i, a := range arms {
		if a.Name != arm {
			continue
		}
		p := runs[i][k].Phase(phase)
		if p == nil {
			return 0, "phase " + phase + " has no length in this run", false
		}
		if v, ok := p.Metrics[metric]; ok {
			return v, "", true
		}
		if why, ok := p.Absent[metric]; ok {
			return 0, why, false
		}
		return 0, "arm " + arm + " has no " + metric, false
	}
	return 0, "arm " + arm + " was not run", false
}
