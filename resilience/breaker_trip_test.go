package resilience

import "testing"

func TestTripRule(t *testing.T) {
	const third = 1.0 / 3
	tests := []struct {
		name string
		rule tripRule
		at   counts
		want bool
	}{
		{"no result never trips", tripRule{ratio: 0.5}, counts{}, false},
		{"a rule of nothing never trips", tripRule{min: 1}, counts{total: 9, failures: 9, slow: 9, row: 9}, false},

		{"row below", tripRule{row: 3}, counts{total: 2, failures: 2, row: 2}, false},
		{"row at", tripRule{row: 3}, counts{total: 3, failures: 3, row: 3}, true},
		{"row above only", tripRule{row: 3, above: true}, counts{total: 3, failures: 3, row: 3}, false},
		{"row above", tripRule{row: 3, above: true}, counts{total: 4, failures: 4, row: 4}, true},
		{"a row asks for no minimum", tripRule{row: 1, min: 100}, counts{total: 1, failures: 1, row: 1}, true},

		{"failures below", tripRule{failures: 3}, counts{total: 9, failures: 2}, false},
		{"failures at", tripRule{failures: 3}, counts{total: 9, failures: 3}, true},
		{"failures above only", tripRule{failures: 3, above: true}, counts{total: 9, failures: 3}, false},
		{"failures above", tripRule{failures: 3, above: true}, counts{total: 9, failures: 4}, true},
		{"failures below the minimum", tripRule{failures: 3, min: 10}, counts{total: 9, failures: 9}, false},
		{"failures at the minimum", tripRule{failures: 3, min: 9}, counts{total: 9, failures: 3}, true},
		{"failures go before a share", tripRule{failures: 3, ratio: 0.1}, counts{total: 9, failures: 2}, false},

		{"share below", tripRule{ratio: 0.5}, counts{total: 5, failures: 2}, false},
		{"share at", tripRule{ratio: 0.5}, counts{total: 4, failures: 2}, true},
		{"share above only", tripRule{ratio: 0.5, above: true}, counts{total: 4, failures: 2}, false},
		{"share above", tripRule{ratio: 0.5, above: true}, counts{total: 5, failures: 3}, true},
		{"share below the minimum", tripRule{ratio: 0.5, min: 5}, counts{total: 4, failures: 4}, false},
		{"share at the minimum", tripRule{ratio: 0.5, min: 4}, counts{total: 4, failures: 2}, true},
		{"no failure is no share, however small", tripRule{ratio: 1e-12}, counts{total: 1}, false},
		{"one failure of very many is at next to nothing", tripRule{ratio: 1e-12}, counts{total: 1 << 40, failures: 1}, false},
		{"a third", tripRule{ratio: third}, counts{total: 3, failures: 1}, true},
		{"7% of 100, above only", tripRule{ratio: 0.07, above: true}, counts{total: 100, failures: 7}, false},
		{"all", tripRule{ratio: 1}, counts{total: 1 << 40, failures: 1 << 40}, true},
		{"all but one of very many", tripRule{ratio: 1}, counts{total: 1 << 20, failures: 1<<20 - 1}, false},

		{"nearest: 2 of 3 are 67", tripRule{ratio: 0.67, rounding: toNearest}, counts{total: 3, failures: 2}, true},
		{"nearest: 1 of 3 are 33", tripRule{ratio: 0.34, rounding: toNearest}, counts{total: 3, failures: 1}, false},
		{"nearest: a half goes up, 1 of 8 are 13", tripRule{ratio: 0.13, rounding: toNearest}, counts{total: 8, failures: 1}, true},
		{"nearest: below a half goes down, 1 of 9 are 11", tripRule{ratio: 0.12, rounding: toNearest}, counts{total: 9, failures: 1}, false},
		{"nearest, above only: 2 of 3 are not above 67", tripRule{ratio: 0.67, above: true, rounding: toNearest}, counts{total: 3, failures: 2}, false},
		{"down: 2 of 3 are 66", tripRule{ratio: 0.67, rounding: downward}, counts{total: 3, failures: 2}, false},
		{"down: and at 66", tripRule{ratio: 0.66, rounding: downward}, counts{total: 3, failures: 2}, true},
		{"down, above only: 66 is not above 66", tripRule{ratio: 0.66, above: true, rounding: downward}, counts{total: 3, failures: 2}, false},
		{"down: 29 of 100 are 28 in binary fractions", tripRule{ratio: 0.29, rounding: downward}, counts{total: 100, failures: 29}, false},
		{"exact: 29 of 100 are 29", tripRule{ratio: 0.29}, counts{total: 100, failures: 29}, true},

		{"slow below", tripRule{slow: 0.5}, counts{total: 5, slow: 2}, false},
		{"slow at", tripRule{slow: 0.5}, counts{total: 4, slow: 2}, true},
		{"slow below the minimum", tripRule{slow: 0.5, min: 5}, counts{total: 4, slow: 4}, false},
		{"slow beside a share", tripRule{slow: 0.5, ratio: 0.9}, counts{total: 4, failures: 1, slow: 2}, true},
		{"a share beside slow", tripRule{slow: 0.9, ratio: 0.5}, counts{total: 4, failures: 2, slow: 1}, true},
		{"slow and failed are not added up", tripRule{slow: 0.5, ratio: 0.5}, counts{total: 5, failures: 2, slow: 2}, false},
		{"slow beside a row", tripRule{slow: 0.5, row: 3}, counts{total: 4, slow: 4}, false},
	}
	for _, tt := range tests {
		if got := tt.rule.trips(&tt.at); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestOneBadResult(t *testing.T) {
	failed, slow := result{failed: true}, result{slow: true}
	for _, tt := range []struct {
		name         string
		rule         tripRule
		failed, slow bool
	}{
		{"row", tripRule{row: 1}, true, false},
		{"failures", tripRule{failures: 1}, true, false},
		{"share", tripRule{ratio: 0.5}, true, false},
		{"slow alone", tripRule{slow: 0.5}, false, true},
		{"share and slow", tripRule{ratio: 0.5, slow: 0.5}, true, true},
	} {
		if tt.rule.bad(failed) != tt.failed || tt.rule.bad(slow) != tt.slow || tt.rule.bad(result{}) {
			t.Errorf("%s: failed %v, slow %v, neither %v", tt.name, tt.rule.bad(failed), tt.rule.bad(slow), tt.rule.bad(result{}))
		}
	}
}
