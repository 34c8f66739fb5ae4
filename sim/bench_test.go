package sim

import (
	"context"
	"math"
	"testing"
	"time"

	"blastradius/resilience"
	"blastradius/sim/dist"
)

// w3 is the workload of DESIGN.md section 8: 200/s Poisson for 600 s, lognormal
// 50 ms sigma 0.5, 8 s from 120 s to 300 s, behind breaker, bulkhead 20 with
// 250 ms, timeout 1.5 s and a pool of 100.
func w3(duration time.Duration) *Config {
	c := one(poisson(200), &dist.Lognormal{Median: 50 * time.Millisecond, Sigma: 0.5}, duration,
		breaker(func(*resilience.Breaker) {}), bulkhead(20, 250*time.Millisecond), timeout(1500*time.Millisecond))
	c.Process.Pool = &Pool{Size: 100, MaxWait: Forever, Queue: Unbounded}
	c.Dependencies[0].Faults = []Fault{slowTo(8*time.Second, 120*time.Second, 180*time.Second)}
	return c
}

// BenchmarkW3 reports the whole simulation of one arm, all metrics and series
// recorded, per request; BenchmarkReferenceLoop the same system written out by
// hand with two figures. Their ratio is what docs/performance.md quotes.
func BenchmarkW3(b *testing.B) {
	c := w3(600 * time.Second)
	requests := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		s := build(c, nil)
		if err := s.run(context.Background()); err != nil {
			b.Fatal(err)
		}
		requests += s.result(nil, false, 0).Requests
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(requests), "ns/request")
	b.ReportMetric(float64(requests)/float64(b.N), "requests")
}

func BenchmarkReferenceLoop(b *testing.B) {
	requests := 0
	b.ReportAllocs()
	for b.Loop() {
		requests += referenceLoop(600, 120, 300)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(requests), "ns/request")
}

// TestW3MatchesTheReferenceLoop keeps the yardstick honest: it simulates the
// same system.
func TestW3MatchesTheReferenceLoop(t *testing.T) {
	r := Run(context.Background(), w3(600*time.Second))
	n := float64(referenceLoop(600, 120, 300))
	if got := float64(r.Requests); math.Abs(got-n) > 4*math.Sqrt(2*n) {
		t.Errorf("%g requests, the reference loop has %g", got, n)
	}
	open := r.Phase(PhaseFault).Metrics["dependency.db.breaker.time_open"]
	if math.Abs(open-referenceOpen) > 15 {
		t.Errorf("open for %g s in the fault, the reference loop %g s", open, referenceOpen)
	}
}

// BenchmarkMillionParked holds a million calls that never return.
func BenchmarkMillionParked(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		c := one(even(100_000), constant(time.Hour), 10*time.Second)
		s := build(c, nil)
		if err := s.run(context.Background()); err != nil {
			b.Fatal(err)
		}
		if s.parked.N() != 1_000_000 {
			b.Fatalf("%d parked", s.parked.N())
		}
	}
}
