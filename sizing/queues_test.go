package sizing

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

type queueCase struct {
	rate, mean float64
	servers    int
}

func drawQueue(t *rapid.T) queueCase {
	servers := rapid.IntRange(1, 200).Draw(t, "servers")
	mean := math.Exp(rapid.Float64Range(-5, 3).Draw(t, "ln mean"))
	load := float64(servers) * rapid.Float64Range(0.05, 2).Draw(t, "a/c")
	return queueCase{load / mean, mean, servers}
}

func TestQueueWithoutPlacesIsErlangB(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawQueue(t)
		b := ErlangB(q.servers, q.rate*q.mean)
		if got := (MMcK{q.rate, q.mean, q.servers, 0}).Shed(); !near(got, b, 1e-10) {
			t.Errorf("M/M/c/c sheds %g, Erlang B %g", got, b)
		}
		if got := (MMcD{q.rate, q.mean, q.servers, 0}).Shed(); !near(got, b, 1e-10) {
			t.Errorf("M/M/c+0 sheds %g, Erlang B %g", got, b)
		}
		if got := (MMcD{q.rate, q.mean, q.servers, 1e-9 * q.mean}).Shed(); !near(got, b, 1e-5) {
			t.Errorf("M/M/c+D with hardly any D sheds %g, Erlang B %g", got, b)
		}
	})
}

func TestEndlessQueueIsErlangC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawQueue(t)
		endless := MMc{q.rate, q.mean, q.servers}
		share := math.Max(0, 1-float64(q.servers)/endless.Load())
		for _, d := range []float64{math.Inf(1), 1e7 * q.mean} {
			timed := MMcD{q.rate, q.mean, q.servers, d}
			if !(math.Abs(timed.Shed()-share) <= 1e-6) {
				t.Errorf("D=%g: sheds %g, want %g", d, timed.Shed(), share)
			}
			if endless.Load() < 0.999*float64(q.servers) {
				if !near(timed.PWait(), endless.PWait(), 1e-9) || !near(timed.MeanWaitServed(), endless.MeanWait(), 1e-9) || !near(timed.MeanQueue(), endless.MeanQueue(), 1e-9) {
					t.Errorf("D=%g: %+v differs from M/M/c", d, timed)
				}
			}
		}
		for _, places := range []int{10_000_000, math.MaxInt} {
			long := MMcK{q.rate, q.mean, q.servers, places}
			if !(math.Abs(long.Shed()-share) <= 1e-6) {
				t.Errorf("%d places: sheds %g, want %g", places, long.Shed(), share)
			}
			if endless.Load() < 0.999*float64(q.servers) && (!near(long.PWait(), endless.PWait(), 1e-9) || !near(long.MeanQueue(), endless.MeanQueue(), 1e-9)) {
				t.Errorf("%d places: %+v differs from M/M/c", places, long)
			}
		}
	})
}

// What is carried is what is in use: a(1 − shed) = Σ n·p_n + c·P(all busy).
func TestQueueTimeoutCarriesWhatItHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawQueue(t)
		m := MMcD{q.rate, q.mean, q.servers, q.mean * math.Exp(rapid.Float64Range(-6, 4).Draw(t, "ln D/m"))}
		busy, sum := float64(m.Servers)*m.PWait(), m.PWait()
		for n := range m.Servers {
			busy += float64(n) * m.Probability(n)
			sum += m.Probability(n)
		}
		if !near(sum, 1, 1e-10) {
			t.Errorf("%+v: probabilities sum to %.15g", m, sum)
		}
		if !near(busy, m.MeanBusy(), 1e-9) {
			t.Errorf("%+v: %.12g in use, %.12g carried", m, busy, m.MeanBusy())
		}
		if served := m.MeanWaitServed(); !(served >= 0 && served <= m.MaxWait) {
			t.Errorf("%+v: the served wait %g", m, served)
		}
	})
}

// The density of the offered wait, integrated by Simpson's rule.
func TestQueueTimeoutAgainstItsDensity(t *testing.T) {
	for _, q := range []MMcD{
		{100, 0.2, 20, 0.25}, {100, 0.2, 18, 0.25}, {100, 0.2, 25, 0.25}, {3, 0.2, 1, 0.7}, {100, 0.2, 20, 0.001}, {100.0001, 0.2, 20, 1},
	} {
		a, c := q.Load(), float64(q.Servers)
		free, term := 0.0, 1.0 // term ends as a^(c−1)/(c−1)!
		for n := range q.Servers {
			if n > 0 {
				term *= a / float64(n)
			}
			free += term
		}
		density := func(x float64) float64 {
			return q.Rate * term * math.Exp(q.Rate*math.Min(x, q.MaxWait)-c/q.Mean*x)
		}
		within := integral(density, 0, q.MaxWait, 2000)
		waited := integral(func(x float64) float64 { return x * density(x) }, 0, q.MaxWait, 2000)
		beyond := integral(density, q.MaxWait, q.MaxWait+60*q.Mean/c, 20_000)
		total := free + within + beyond
		wantNear(t, "shed", q.Shed(), beyond/total, 1e-8)
		wantNear(t, "P(wait)", q.PWait(), (within+beyond)/total, 1e-8)
		wantNear(t, "queue", q.MeanQueue(), q.Rate*(waited+q.MaxWait*beyond)/total, 1e-8)
		wantNear(t, "wait of the served", q.MeanWaitServed(), waited/(free+within), 1e-8)
		half := q.MaxWait / 2
		wantNear(t, "tail at half", q.WaitTail(half), (integral(density, half, q.MaxWait, 2000)+beyond)/total, 1e-8)
		wantNear(t, "tail at 0", q.WaitTail(0), q.PWait(), 0)
		wantNear(t, "mean of the tail", integral(q.WaitTail, 0, q.MaxWait*(1-1e-15), 2000), q.MeanQueue()/q.Rate, 1e-8)
	}
}

func TestBoundedQueueAgainstItsStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Float64Range(0.01, 30).Draw(t, "a")
		q := MMcK{a / 0.1, 0.1, rapid.IntRange(1, 20).Draw(t, "c"), rapid.IntRange(0, 60).Draw(t, "places")}
		if rapid.Bool().Draw(t, "at capacity") {
			q.Rate = float64(q.Servers) / q.Mean * (1 + rapid.Float64Range(-1e-9, 1e-9).Draw(t, "off"))
		}
		weight, total, queue, full, busy, last := 1.0, 0.0, 0.0, 0.0, 0.0, 0.0
		for n := 0; n <= q.Servers+q.Queue; n++ {
			if n > 0 {
				weight *= q.Load() / float64(min(n, q.Servers))
			}
			total += weight
			busy += weight * float64(min(n, q.Servers))
			if n >= q.Servers {
				queue += weight * float64(n-q.Servers)
				full += weight
			}
			last = weight
		}
		for _, f := range []struct {
			name      string
			got, want float64
		}{
			{"shed", q.Shed(), last / total}, {"queue", q.MeanQueue(), queue / total}, {"busy", q.MeanBusy(), busy / total},
			{"P(wait)", q.PWait(), (full - last) / total}, {"wait", q.MeanWait(), queue / total / (q.Rate * (1 - last/total))},
		} {
			if !(math.Abs(f.got-f.want) <= 1e-9*f.want+1e-13) {
				t.Errorf("%+v: %s %.15g, want %.15g", q, f.name, f.got, f.want)
			}
		}
	})
}

// 300 permits and 10,000 erlangs of weight e^10000: nothing overflows.
func TestHugeQueuesStayFinite(t *testing.T) {
	for _, q := range []MMcD{
		{1e6, 1, 1_000_000, 1}, {1e6, 1, 900_000, 10}, {1e6, 1, 1_100_000, 10}, {1e6, 1, 1, 1e9}, {1e-9, 1, 1_000_000, 1}, {1e8, 1e-6, 50, 1e4},
	} {
		shed := q.Shed()
		if floor := math.Max(0, 1-float64(q.Servers)/q.Load()); !(shed >= floor-1e-12 && shed <= math.Min(1, floor+0.001)) {
			t.Errorf("%+v sheds %g", q, shed)
		}
		if queue := q.MeanQueue(); !(queue >= 0 && queue <= q.Rate*q.MaxWait) {
			t.Errorf("%+v queues %g", q, queue)
		}
	}
}

func TestEngset(t *testing.T) {
	// Weights C(N,n)·β^n, seen by an arrival of the other N − 1.
	f := Finite{Sources: 12, Think: 2, Mean: 0.7, Servers: 5}
	weight, total, last := 1.0, 1.0, 1.0
	for n := 1; n <= f.Servers; n++ {
		weight *= float64(f.Sources-n) * f.Mean / (f.Think * float64(n))
		total += weight
		last = weight
	}
	wantNear(t, "blocking", f.Blocking(), last/total, 1e-12)
	wantNear(t, "a server for each", Finite{5, 1, 1, 5}.Blocking(), 0, 0)
	many := Finite{Sources: 10_000_000, Think: 1e6, Mean: 1, Servers: 10}
	wantNear(t, "many sources are Poisson", many.Blocking(), ErlangB(10, 10), 1e-4)
}

// Exact mean-value analysis of one server and a delay, step by step in N.
func TestMachineRepair(t *testing.T) {
	const think, mean = 3.0, 0.4
	queue, x, response := 0.0, 0.0, 0.0
	for n := 1; n <= 40; n++ {
		response = mean * (1 + queue)
		x = float64(n) / (response + think)
		queue = x * response
		f := Finite{n, think, mean, 1}
		wantNear(t, "throughput", f.Throughput(), x, 1e-10)
		wantNear(t, "response", f.MeanResponse(), response, 1e-10)
		wantNear(t, "in the system", f.MeanQueue()+f.MeanBusy(), queue, 1e-10)
	}
	big := Finite{Sources: 200_000, Think: 1, Mean: 1, Servers: 50_000}
	wantNear(t, "saturated", big.Throughput(), 50_000, 1e-9)
	wantNear(t, "closed loop", ClosedThroughput(200_000, big.MeanResponse(), 1), big.Throughput(), 1e-9)
	wantNear(t, "no thinking", Finite{8, 0, 0.5, 3}.Throughput(), 6, 1e-12)
	wantNear(t, "no work", Finite{8, 2, 0, 3}.Throughput(), 4, 1e-12)
}
