package sizing

import (
	"math"
	"testing"
)

// A thread bulkhead that was sized by its rejections: 55 permits at 166.7/s
// refused 41 %, so a call takes 0.55 s, and 250/s need 142, 157 or 170 permits.
func TestBulkheadSizedFromItsRejections(t *testing.T) {
	wantRounded(t, "shed of 55", ErlangB(55, 91.7), 0.415, 3)
	wantRounded(t, "E[S] from 41.5 %", ErlangBLoad(55, 0.415)/166.7, 0.55, 2)
	for target, want := range map[float64]int{0.05: 142, 0.01: 157, 0.001: 170} {
		if got := ErlangBPermits(Little(250, 0.55), target); got != want {
			t.Errorf("permits for %g: got %d, want %d", target, got, want)
		}
	}
	if rule, exact := RulePermits(200, 0.5), ErlangBPermits(Little(200, 0.1), 0.01); rule != 100 || exact != 30 {
		t.Errorf("200/s, mean 100 ms, p99 500 ms: got %d by the rule and %d exactly, want 100 and 30", rule, exact)
	}
	wantRounded(t, "shed of 30 in per cent", 100*ErlangB(30, 20), 0.85, 2)
	if got := ErlangBPermits(20, 0.001); got != 35 {
		t.Errorf("permits for 0.1 %%: got %d, want 35", got)
	}
}

// A healthy dependency behind too few permits sheds 30.2 %, with twice as many
// 0.98 %.
func TestBulkheadShedsWithoutAFault(t *testing.T) {
	wantRounded(t, "10 permits", 100*ErlangB(10, 12), 30.2, 1)
	wantRounded(t, "20 permits", 100*ErlangB(20, 12), 0.98, 2)
}

// One compartment for all refuses everybody alike; one each spares the good.
func TestSharedCompartmentIsolatesNothing(t *testing.T) {
	const rate = 40
	good, bad, ugly := rate*0.7*0.1, rate*0.2*1.0, rate*0.1*10.0
	wantRounded(t, "shared", 100*ErlangB(25, good+bad+ugly), 52.5, 1)
	wantRounded(t, "good", 100*ErlangB(8, good), 0.57, 2)
	wantRounded(t, "bad", 100*ErlangB(12, bad), 5.1, 1)
	wantRounded(t, "ugly", 100*ErlangB(5, ugly), 87.8, 1)
	if sum, excess := PermitSum(25, 8, 12, 5); sum != 25 || excess != 0 {
		t.Errorf("permits: got sum %d, excess %d", sum, excess)
	}
}

// A cache that hangs is noticed after its timeout: 15 s park 1504, 0.5 s 54.
func TestFallbackThatComesTooLate(t *testing.T) {
	for timeout, want := range map[float64]struct{ opens, parked float64 }{15: {15.04, 1504}, 0.5: {0.54, 54}} {
		opens := Consecutive(5).DetectionEven(100, timeout)
		wantNear(t, "opens", opens, want.opens, 1e-12)
		wantNear(t, "parked", Little(100, opens), want.parked, 1e-12)
		if got := Consecutive(5).ParkedAtDetection(100, timeout); !(math.Abs(got-want.parked) <= 4) {
			t.Errorf("parked peak: got %g, want %g within 4", got, want.parked)
		}
	}
	mean, sd := Consecutive(5).Detection(100, 0.5)
	wantNear(t, "detection with Poisson arrivals", mean, 0.55, 1e-12)
	wantNear(t, "its spread", sd, math.Sqrt(5)/100, 1e-12)
}

// Random failures of 5 % open "5 consecutive" about once in a thousand runs of
// ten minutes at 5/s.
func TestRandomFailuresDoNotOpenAConsecutiveBreaker(t *testing.T) {
	wantNear(t, "openings in 3,000 calls", Consecutive(5).OpenWithin(0.05, 3000), 0.0009, 0.05)
}

// In an outage nearly all calls are shed, 10 places and 8 s each.
func TestPoolInAnOutage(t *testing.T) {
	s := Saturated{Rate: 100, Permits: 10, Timeout: 8, MaxWait: 0.25}
	wantNear(t, "growth without max_wait", 100-s.Carried(), 98.75, 1e-12)
	wantRounded(t, "shed in per cent", 100*s.Shed(), 98.75, 2)
	wantNear(t, "parked", s.Holding()+s.Waiting(), 35, 1e-12)
	if !PoolRunsOut(100, 8, 10) || PoolRunsOut(100, 0.05, 10) {
		t.Error("the pool must run out at 8 s and not at 50 ms")
	}
}

// Sixty percent of capacity is safe whatever the retries, 80 % is not.
func TestRetriesKeepAnOverloadAlive(t *testing.T) {
	low, high := StickyRegion(300, 3)
	wantNear(t, "low", low, 100, 1e-12)
	wantNear(t, "high", high, 300, 0)
}
