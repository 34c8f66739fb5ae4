package study

import (
	"fmt"
	"math"
	"testing"

	"blastradius/scenarios"
)

// A place that is held until the work ends carries all of it; one that the
// timeout frees, what is below the limit. 10/s of 300 ms on average, exponential,
// cut at 300 ms: E[min(S, t)] is 300 ms · (1 - 1/e).
func TestSizingKnowsWhoHoldsAbandonedWork(t *testing.T) {
	cut := 3 * (1 - 1/math.E)
	for _, tt := range []struct {
		mode, bulkhead string
		bulkheadLoad   float64
		poolLoad       float64
		permits        int
	}{
		{"cancel", "{permits: 4}", cut, cut, 4},
		{"abandon", "{permits: 4}", cut, 3, 4},
		{"abandon", "{permits: 4, release: on_work_done}", 3, 3, 4},
		{"abandon", "{threads: {core: 3, max: 6}}", 3, 3, 6},
		{"cancel", "{threads: {core: 3, max: 6}}", cut, cut, 6},
	} {
		f, err := scenarios.Load("x.yaml", fmt.Appendf(nil, "duration: 10s\nprocess: {pool: 50}\nendpoints: {web: {arrivals: {poisson: 10/s}, calls: [db]}}\ndependencies: {db: {latency: {exp: 300ms}, stack: [{bulkhead: %s}, {timeout: {after: 300ms, mode: %s}}]}}\narms: {one: {}}\n", tt.bulkhead, tt.mode))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(t.Context(), f, Options{Version: "test", NoFindings: true, NoTrace: true})
		if err != nil {
			t.Fatal(err)
		}
		rows := r.Arms[0].Sizing
		if len(rows) != 2 {
			t.Fatalf("%d rows", len(rows))
		}
		b, p := rows[0], rows[1]
		if math.Abs(b.Load-tt.bulkheadLoad) > 1e-6 || math.Abs(p.Load-tt.poolLoad) > 1e-6 || b.Permits != tt.permits || p.SumPermits != tt.permits {
			t.Errorf("%s %s: %s of %d with %g, %s with %g of %d; want %g and %g", tt.mode, tt.bulkhead, b.Station, b.Permits, b.Load, p.Station, p.Load, p.SumPermits, tt.bulkheadLoad, tt.poolLoad)
		}
	}
}
