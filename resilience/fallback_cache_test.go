package resilience

import (
	"fmt"
	"math"
	"testing"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/des"
)

// Each key has an answer of its own age: a cold one misses, and one that is
// asked for again and again is never old.
func TestKeysAgeByThemselves(t *testing.T) {
	c := fallbackOf(func(c *Fallback) { c.Serve, c.MaxAge, c.Keys = ServeCached, 10*s, &Keys{Count: 4} })
	up := true
	w := &work{}
	w.decide = func(*call.Call) step {
		if up {
			return step{}
		}
		return step{class: call.ServerError}
	}
	r := newRig(t, w, c)
	l := r.layers[0].(*fallbackLayer)
	slow := map[int32]time.Duration{} // by key: the last live answer
	r.at(30*s, func() { up = false })
	r.at(50*s, func() { up = true })
	for i := range 600 {
		r.call(time.Duration(i)*100*ms, 0)
	}
	r.run(100 * s)
	served := 0
	for i, x := range r.callers {
		at := time.Duration(i) * 100 * ms
		key := l.cache.key(&x.call)
		if at < 30*s || at >= 50*s {
			slow[key] = at
			if x.out.Class != call.OK {
				t.Fatalf("request %d: %v", i, x)
			}
			continue
		}
		last, warm := slow[key]
		want := call.ServerError
		if warm && at-last <= 10*s {
			want, served = call.Degraded, served+1
		}
		if x.out.Class != want || want == call.Degraded && x.out.Age != at-last {
			t.Fatalf("request %d of key %d: %v, age %v; the last live answer is of %v", i, key, x, x.out.Age, last)
		}
	}
	if served < 50 || l.served != int64(served) || l.misses != int64(200-served) {
		t.Errorf("served %d by the layer, %d by hand; %d misses", l.served, served, l.misses)
	}
}

// The share of each key against 1/k^zipf over the sum, within 4.5 standard
// deviations of a binomial share.
func TestKeysAreAskedForByTheirPopularity(t *testing.T) {
	const n = 200_000
	for _, tt := range []Keys{{Count: 1}, {Count: 7}, {Count: 5, Zipf: 1}, {Count: 40, Zipf: 0.7}, {Count: 3, Zipf: 10}} {
		c := newCache(&tt)
		counts := make([]int, tt.Count)
		for i := range uint64(n) {
			counts[c.key(&call.Call{Stream: 99, Request: i})]++
		}
		sum := 0.0
		for k := range counts {
			sum += math.Pow(float64(k+1), -tt.Zipf)
		}
		for k, got := range counts {
			p := math.Pow(float64(k+1), -tt.Zipf) / sum
			if sd := math.Sqrt(n * p * (1 - p)); math.Abs(float64(got)-n*p) > 4.5*sd+1e-6 {
				t.Errorf("%s: key %d %d times, want %.0f ± %.0f", tt.text(), k+1, got, n*p, 4.5*sd)
			}
		}
	}
}

func TestTheKeyIsTheRequestsOwn(t *testing.T) {
	a, b := newCache(&Keys{Count: 1000, Zipf: 1}), newCache(&Keys{Count: 1000, Zipf: 1})
	different := 0
	for i := range uint64(1000) {
		x := call.Call{Stream: 5, Request: i}
		y := call.Call{Stream: 5, Request: i, Attempts: 7, Deadline: time.Second}
		if a.key(&x) != b.key(&y) {
			t.Fatalf("request %d has two keys", i)
		}
		z := call.Call{Stream: 6, Request: i}
		if a.key(&x) != a.key(&z) {
			different++
		}
	}
	if different < 500 {
		t.Errorf("of two streams only %d of 1000 keys differ", different)
	}
}

func TestDetourTable(t *testing.T) {
	tests := []struct {
		name     string
		first    step
		other    step
		latency  time.Duration
		patience time.Duration
		want     string
		figures  string
	}{
		{"a live answer takes no detour", step{after: ms}, step{}, 0, 0, "ok at 1ms", "served 0, degraded 0, queued 0, lost 0, misses 0; detours 0, other left 0"},
		{"a failed call does", step{after: ms, class: call.Timeout}, step{after: 5 * ms}, 0, 0, "degraded at 6ms", "served 1, degraded 0, queued 0, lost 0, misses 0; detours 1, other left 0"},
		{"both at once", step{class: call.ServerError}, step{}, 0, 0, "degraded at 0s", "served 1, degraded 0, queued 0, lost 0, misses 0; detours 1, other left 0"},
		{"the fallback's own time comes after", step{after: ms, class: call.ServerError}, step{}, 5 * ms, 0, "degraded at 6ms", "served 1, degraded 0, queued 0, lost 0, misses 0; detours 1, other left 0"},
		{"also where all is at once", step{class: call.ServerError}, step{}, 5 * ms, 0, "degraded at 5ms", "served 1, degraded 0, queued 0, lost 0, misses 0; detours 1, other left 0"},
		{"without an answer there either it fails as it did", step{after: ms, class: call.ConnectError}, step{after: ms, class: call.ServerError}, 5 * ms, 0, "connect_error at 2ms", "served 0, degraded 0, queued 0, lost 0, misses 1; detours 1, other left 0"},
		{"a caller that leaves ends the detour", step{after: ms, class: call.ServerError}, step{hang: true}, 0, 3 * ms, "left", "served 0, degraded 0, queued 0, lost 0, misses 0; detours 1, other left 1"},
		{"a caller that leaves while the answer is made", step{after: ms, class: call.ServerError}, step{after: ms}, 9 * ms, 3 * ms, "left", "served 0, degraded 0, queued 0, lost 0, misses 0; detours 1, other left 0"},
		{"an answer of a fallback there is an answer", step{class: call.ServerError}, step{class: call.Degraded}, 0, 0, "degraded at 0s", "served 1, degraded 0, queued 0, lost 0, misses 0; detours 1, other left 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			other := &work{steps: []step{tt.other}}
			r := &rig{t: t, k: des.NewKernel(), work: &work{steps: []step{tt.first}}}
			r.work.k, other.k = r.k, r.k
			env := Env{Sched: r.k, Meter: des.NullMeter{}, Source: "x", Dependency: func(name string) call.Handler {
				if name != "b" {
					t.Errorf("asked for %s", name)
				}
				return other
			}}
			c := fallbackOf(func(c *Fallback) { c.Dependency, c.Latency = "b", tt.latency })
			c.Complete()
			r.stack = c.Layer(env)(r.work)
			x := r.call(0, tt.patience)
			r.run(s)
			l := r.stack.(*fallbackLayer)
			if got := fmt.Sprintf("%s; detours %d, other left %d", figures(l), l.detours, other.canceled); x.String() != tt.want || got != tt.figures {
				t.Errorf("%v, %s; want %s, %s", x, got, tt.want, tt.figures)
			}
			if r.k.Live() != 0 || other.inside != 0 || r.work.inside != 0 {
				t.Errorf("%d timers, %d and %d work left", r.k.Live(), r.work.inside, other.inside)
			}
		})
	}
}

// Naming a dependency is enough to have it served; another way of serving that
// was asked for stays.
func TestCompleteServesTheDependencyThatIsNamed(t *testing.T) {
	for _, tt := range []struct{ serve, dependency, want string }{
		{ServeDegraded, "b", ServeDependency}, {ServeDegraded, "", ServeDegraded}, {ServeCached, "b", ServeCached},
	} {
		c := fallbackOf(func(c *Fallback) { c.Serve, c.Dependency = tt.serve, tt.dependency })
		if c.Complete(); c.Serve != tt.want {
			t.Errorf("serve %s, dependency %q: %s, want %s", tt.serve, tt.dependency, c.Serve, tt.want)
		}
	}
}
