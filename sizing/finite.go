package sizing

import "math"

// Finite is a closed population, such as a worker pool in front of a
// dependency: each of Sources thinks for Think seconds on average, then needs
// one of Servers for Mean seconds, and only then thinks again. Exponential
// times; in [Finite.Blocking] only the means matter.
type Finite struct {
	Sources int     // at least 1
	Think   float64 // seconds between an answer and the next call of one source
	Mean    float64 // seconds a server is held
	Servers int     // at least 1
}

// Blocking returns the share of calls that find all servers taken when nobody
// waits: Engset (1918). A caller does not see itself, so it is the chance that
// Sources − 1 hold all servers. 0 when there are servers for all. With many
// sources and Sources·Mean/Think fixed it tends to [ErlangB].
func (f Finite) Blocking() float64 {
	if !f.valid() {
		return math.NaN()
	}
	if f.Servers >= f.Sources || f.Mean == 0 {
		return 0
	}
	// B_k = (N−k)·β·B_(k−1)/(k + (N−k)·β·B_(k−1)) with β = Mean/Think.
	b := 1.0
	for k := 1; k <= f.Servers && b > 0; k++ {
		offered := float64(f.Sources-k) * f.Mean * b
		b = offered / (float64(k)*f.Think + offered)
	}
	return b
}

// Throughput returns the calls per second when callers wait in a queue: the
// machine-repair model, birth and death with (N−n)/Think up and min(n,c)/Mean
// down (Gross & Harris section 2.7). It takes about Sources steps.
func (f Finite) Throughput() float64 {
	busy, _ := f.repair()
	if f.Mean == 0 && f.valid() {
		return float64(f.Sources) / f.Think
	}
	return busy / f.Mean
}

// MeanBusy returns the servers in use on average in the same model.
func (f Finite) MeanBusy() float64 { busy, _ := f.repair(); return busy }

// MeanQueue returns the callers that wait on average in the same model.
func (f Finite) MeanQueue() float64 { _, queue := f.repair(); return queue }

// MeanResponse returns wait and service together, N/X − Think by the law of
// the closed loop.
func (f Finite) MeanResponse() float64 {
	busy, queue := f.repair()
	if f.Mean == 0 && f.valid() {
		return 0
	}
	return (busy + queue) / busy * f.Mean
}

func (f Finite) valid() bool {
	return f.Sources >= 1 && f.Servers >= 1 && f.Think >= 0 && f.Mean >= 0 &&
		f.Think+f.Mean > 0 && !math.IsInf(f.Think, 1) && !math.IsInf(f.Mean, 1)
}

func (f Finite) repair() (busy, queue float64) {
	if !f.valid() {
		return math.NaN(), math.NaN()
	}
	if f.Mean == 0 {
		return 0, 0
	}
	if f.Think == 0 {
		busy = float64(min(f.Sources, f.Servers))
		return busy, float64(f.Sources) - busy
	}
	weight, total := 1.0, 1.0
	for n := 1; n <= f.Sources && weight > 0; n++ {
		inUse := min(n, f.Servers)
		weight *= float64(f.Sources-n+1) * f.Mean / (float64(inUse) * f.Think)
		total += weight
		busy += weight * float64(inUse)
		queue += weight * float64(n-inUse)
		if weight > 1e200 {
			weight, total, busy, queue = weight*1e-200, total*1e-200, busy*1e-200, queue*1e-200
		}
	}
	return busy / total, queue / total
}

// ClosedThroughput returns X = N/(R + Z), what n callers achieve per second
// when each waits response seconds for an answer and think seconds before the
// next call. Little's law, so it holds for every closed loop; +Inf when both
// are 0.
func ClosedThroughput(n, response, think float64) float64 {
	if !(n >= 0 && response >= 0 && think >= 0) {
		return math.NaN()
	}
	if n == 0 {
		return 0
	}
	return n / (response + think)
}
