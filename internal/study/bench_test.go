package study

import (
	"context"
	"testing"
	"time"

	"blastradius/scenarios"
)

// BenchmarkReplicates runs 16 seeds of payments-slow with one job and with two,
// in turns, and reports how much faster two are.
func BenchmarkReplicates(b *testing.B) {
	f, err := scenarios.Builtin("payments-slow")
	if err != nil {
		b.Fatal(err)
	}
	var took [2]time.Duration
	for b.Loop() {
		for i := range took {
			s := &study{file: f, options: Options{Replicates: 16, Jobs: i + 1}, arms: f.Arms()}
			start := time.Now()
			s.replicate(context.Background())
			took[i] += time.Since(start)
		}
	}
	b.ReportMetric(took[0].Seconds()/took[1].Seconds(), "×faster")
}
