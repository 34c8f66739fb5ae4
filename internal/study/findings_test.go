package study

import (
	"context"
	"slices"
	"strings"
	"testing"

	"blastradius/report"
	"blastradius/scenarios"
)

// findingsOf runs a shorter payments-slow with changes. The file's expectations
// are left out: they speak of layers that a change may take away.
func findingsOf(t *testing.T, set ...string) []report.Finding {
	t.Helper()
	src, err := scenarios.BuiltinSource("payments-slow")
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(src), "\nexpect:")
	f, err := scenarios.Load("payments-slow.yaml", []byte(text+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if f, err = f.WithSet(append([]string{"duration=4m", "payments.slow.from=1m", "payments.slow.for=1m"}, set...)); err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), f, Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return r.Findings
}

func find(findings []report.Finding, id string) *report.Finding {
	i := slices.IndexFunc(findings, func(f report.Finding) bool { return f.ID == id })
	if i < 0 {
		return nil
	}
	return &findings[i]
}

func TestTheSlowDependencyIsExplained(t *testing.T) {
	found := findingsOf(t)
	if n := len(found); n < 2 || n > 5 {
		t.Errorf("%d findings, want two to five", n)
	}
	for _, f := range found {
		if len(f.Evidence) == 0 || f.What == "" || f.Why == "" || f.Change == "" {
			t.Errorf("%s lacks a part: %+v", f.ID, f)
		}
		if strings.Contains(f.Change, "(simulated)") != (len(f.Effects) > 0) {
			t.Errorf("%s speaks of an effect that was not simulated, or keeps one back: %q", f.ID, f.Change)
		}
		if len(f.Effects) > 0 && f.Vs == "" {
			t.Errorf("%s does not say how to try its change", f.ID)
		}
	}
	if f := find(found, "pool-runs-out"); f == nil || !strings.Contains(f.Why, "80/s x 8s = 640") {
		t.Errorf("the pool's end is not explained: %+v", f)
	}
	if f := find(found, "timeouts-fill-the-pool"); f == nil || len(f.Effects) != 1 || *f.Effects[0].After >= *f.Effects[0].Before {
		t.Errorf("the shorter timeout was not tried, or did not help: %+v", f)
	}
	if find(found, "late-recovery") == nil {
		t.Error("the late recovery is not explained")
	}
}

func TestNothingIsFoundOnAHealthyRun(t *testing.T) {
	if found := findingsOf(t, "payments.faults=[]", "payments.errors={}"); len(found) > 0 {
		t.Errorf("found %+v", found)
	}
}

func TestEachKindOfTroubleIsNamed(t *testing.T) {
	for id, set := range map[string][]string{
		"retries-amplify": {"payments.faults=[{error: {class: server_error}, from: 1m, for: 1m}]", "payments.stack=[{retry: {attempts: 4}}, {timeout: 300ms}]"},
		"too-few-permits": {"index.bulkhead.permits=5", "index.bulkhead.max_wait=0s"},
		"fallback-misses": {"payments.fallback.hit=50%"},
		"overloaded":      {"index.capacity=3"},
		"not-contained":   {"payments.bulkhead.permits=100", "payments.breaker.min_calls=1000", "payments.breaker.window=1000", "payments.timeout=9s"},
		"blind-breaker":   {"payments.breaker.window=20000", "payments.breaker.min_calls=20000"},
	} {
		found := findingsOf(t, set...)
		if find(found, id) == nil {
			var ids []string
			for _, f := range found {
				ids = append(ids, f.ID)
			}
			t.Errorf("%s is not found after %v: %v", id, set, ids)
		}
	}
}
