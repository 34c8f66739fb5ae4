package sizing

import "math"

// MMcK is the M/M/c queue with room for so many waiters: what finds neither a
// server nor a place is shed. Exponential times; any load, there is always a
// steady state. Birth and death, Gross & Harris section 2.4: the states past c
// are in the ratio a/c, the states up to c together are 1/B times state c.
type MMcK struct {
	Rate    float64 // per second
	Mean    float64 // seconds a server is held
	Servers int     // at least 1
	Queue   int     // places to wait in, 0 for none; the K of the name is Servers + Queue
}

// Load returns a = λm.
func (q MMcK) Load() float64 { return Little(q.Rate, q.Mean) }

// Shed returns the share of arrivals that find server and queue full. It is
// [ErlangB] with no queue, and tends to max(0, 1 − c/a) with a long one.
func (q MMcK) Shed() float64 { shed, _, _ := q.solve(); return shed }

// PWait returns the share of arrivals that are let in and wait.
func (q MMcK) PWait() float64 { shed, full, _ := q.solve(); return full - shed }

// MeanQueue returns how many wait on average.
func (q MMcK) MeanQueue() float64 { _, _, queue := q.solve(); return queue }

// MeanBusy returns the servers in use on average, a·(1 − shed).
func (q MMcK) MeanBusy() float64 { return q.Load() * (1 - q.Shed()) }

// MeanWait returns the mean wait of those that are let in, the ones that wait
// 0 included. NaN when nothing arrives.
func (q MMcK) MeanWait() float64 {
	shed, _, queue := q.solve()
	return queue / (q.Rate * (1 - shed))
}

// solve returns the probability of the last state, that all servers are busy,
// and the mean queue.
func (q MMcK) solve() (shed, full, queue float64) {
	a := q.Load()
	if q.Servers < 1 || q.Queue < 0 || math.IsNaN(a) {
		return math.NaN(), math.NaN(), math.NaN()
	}
	if math.IsInf(a, 1) {
		return 1, 1, float64(q.Queue)
	}
	b, ratio, places := ErlangB(q.Servers, a), a/float64(q.Servers), min(q.Queue, math.MaxInt-1)
	if b == 0 {
		return 0, 0, 0
	}
	if ratio <= 1 { // weights in units of state c
		sum, weighted := geometricSums(ratio, places+1)
		last := math.Pow(ratio, float64(places))
		total := 1/b - 1 + sum
		return last / total, sum / total, weighted / total
	}
	// Units of the last state, counted from it downwards, so that nothing
	// grows with the length of the queue.
	sum, weighted := geometricSums(1/ratio, places+1)
	first := math.Pow(1/ratio, float64(places))
	total := (1/b-1)*first + sum
	return 1 / total, sum / total, (float64(places)*sum - weighted) / total
}

// geometricSums returns Σ r^j and Σ j·r^j over j < n, for 0 ≤ r ≤ 1. It builds
// n bit by bit from halves; every term is positive, so unlike the quotients of
// the textbooks it keeps its digits near r = 1.
func geometricSums(r float64, n int) (sum, weighted float64) {
	power, length := 1.0, 0.0 // r^length
	for bit := 62; bit >= 0; bit-- {
		weighted += power * (weighted + length*sum)
		sum += power * sum
		power *= power
		length *= 2
		if n>>bit&1 == 1 {
			weighted += length * power
			sum += power
			power *= r
			length++
		}
	}
	return sum, weighted
}
