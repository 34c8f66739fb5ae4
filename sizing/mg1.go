package sizing

import "math"

// MG1 is one server with Poisson arrivals, any latency, endless patience and
// first come first served: one connection, one lock, one worker.
type MG1 struct {
	Rate    float64 // per second
	Latency Latency // of one service
}

// Utilisation returns ρ = λ·E[S]; the queue is stable below 1.
func (q MG1) Utilisation() float64 { return Little(q.Rate, q.Latency.Mean()) }

// MeanWait returns λ·E[S²]/(2(1−ρ)), the Pollaczek–Khinchine formula
// (Pollaczek 1930, Khinchine 1932): the wait grows with the square of the
// latency's spread, which is what a p99 hides. +Inf once ρ ≥ 1.
func (q MG1) MeanWait() float64 {
	if q.Utilisation() >= 1 {
		return math.Inf(1)
	}
	return Little(q.Rate, q.Latency.SquareMin(math.Inf(1))) / (2 * (1 - q.Utilisation()))
}

// MeanQueue returns how many wait on average, λ times the mean wait.
func (q MG1) MeanQueue() float64 { return Little(q.Rate, q.MeanWait()) }

// MeanResponse returns wait and service together.
func (q MG1) MeanResponse() float64 { return q.MeanWait() + q.Latency.Mean() }
