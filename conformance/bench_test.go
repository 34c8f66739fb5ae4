package conformance

import (
	"errors"
	"testing"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/sony/gobreaker/v2"
)

// What a call through breaker and bulkhead costs with the libraries: the other
// side of the live engine's benchmarks of the same names. The work does
// nothing; nobody waits for a permit.

var errWork = errors.New("failed")

const benchPermits = 20

// libraryStack is a breaker around a bulkhead around work.
type libraryStack func(work func() error) error

// gobreakerStack has the semaphore that people put beside gobreaker.
func gobreakerStack() libraryStack {
	cb := gobreaker.NewCircuitBreaker[any](gobreaker.Settings{Timeout: time.Hour})
	permits := make(chan struct{}, benchPermits)
	full := errors.New("no permit")
	return func(work func() error) error {
		_, err := cb.Execute(func() (any, error) {
			select {
			case permits <- struct{}{}:
				defer func() { <-permits }()
				return nil, work()
			default:
				return nil, full
			}
		})
		return err
	}
}

func failsafeStack() libraryStack {
	cb := circuitbreaker.NewBuilder[any]().WithDelay(time.Hour).Build()
	e := failsafe.With[any](cb, bulkhead.New[any](benchPermits))
	return func(work func() error) error { return e.Run(work) }
}

var libraryStacks = []struct {
	name  string
	build func() libraryStack
}{
	{"gobreaker+channel", gobreakerStack},
	{"failsafe-go", failsafeStack},
}

func well() error { return nil }

// open makes a stack refuse.
func (s libraryStack) open(tb testing.TB) {
	for range 10 {
		_ = s(func() error { return errWork })
	}
	if err := s(well); !errors.Is(err, gobreaker.ErrOpenState) && !errors.Is(err, circuitbreaker.ErrOpen) {
		tb.Fatalf("ten failures leave it closed: %v", err)
	}
}

func BenchmarkClosedCall(b *testing.B) {
	for _, l := range libraryStacks {
		s := l.build()
		b.Run(l.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := s(well); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkOpenCall(b *testing.B) {
	for _, l := range libraryStacks {
		s := l.build()
		s.open(b)
		b.Run(l.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if s(well) == nil {
					b.Fatal("an open breaker admitted a call")
				}
			}
		})
	}
}

func BenchmarkClosedCallParallel(b *testing.B) {
	for _, l := range libraryStacks {
		s := l.build()
		b.Run(l.name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := s(well); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
