package des

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// arrival is a task of a thread pool.
type arrival struct{ at, hold time.Duration }

// play runs tasks through p, one guest each.
func play(t interface{ Fatal(...any) }, k *Kernel, p *Pool, tasks []arrival) (log []string) {
	for i, a := range tasks {
		g := &guest{pool: p, k: k, hold: a.hold, log: &log, name: fmt.Sprint(i)}
		k.After(a.at, Arrive, fireFunc(g.arrive))
	}
	if err := k.Run(context.Background(), time.Hour); err != nil {
		t.Fatal(err)
	}
	return log
}

func TestThreadsGrowOnlyWhenTheQueueIsFull(t *testing.T) {
	tests := []struct {
		name              string
		core, most, queue int
		keep              time.Duration
		tasks             []arrival
		want              []string
	}{
		{"core, then queue, then max, then refused", 1, 2, 1, 0, []arrival{{0, 10}, {1, 10}, {2, 10}, {3, 10}},
			[]string{"0 in 0", "2 in 2", "3 refused 3", "1 in 10"}}, // 2 is newer than 1, and runs before it
		{"max is core: refused when the queue is full", 2, 2, 1, 0, []arrival{{0, 10}, {1, 10}, {2, 10}, {3, 10}},
			[]string{"0 in 0", "1 in 1", "3 refused 3", "2 in 10"}},
		{"no queue: straight to max", 1, 3, 0, 0, []arrival{{0, 10}, {1, 10}, {2, 10}, {3, 10}},
			[]string{"0 in 0", "1 in 1", "2 in 2", "3 refused 3"}},
		{"a thread beyond core that is alive takes the next task at once", 1, 2, 1, 5, []arrival{{0, 20}, {1, 10}, {2, 10}, {13, 1}, {14, 1}, {26, 1}},
			// 2 runs on a second thread until 12, then 1 until 22; 3 queues until 0 ends.
			[]string{"0 in 0", "2 in 2", "1 in 12", "4 refused 14", "3 in 20", "5 in 26"}},
		{"one that was idle for longer than keep is gone", 1, 2, 1, 5, []arrival{{0, 100}, {1, 1}, {2, 1}, {20, 1}},
			// 2 in 2 on a new thread, 1 on it in 3, idle from 4, gone after 9: 3 queues until 0 ends.
			[]string{"0 in 0", "2 in 2", "1 in 3", "3 in 100"}},
		{"idle for exactly keep, it is still there", 1, 2, 1, 5, []arrival{{0, 100}, {1, 1}, {2, 1}, {9, 1}},
			[]string{"0 in 0", "2 in 2", "1 in 3", "3 in 9"}},
		{"an unbounded queue never grows", 1, 9, -1, 0, []arrival{{0, 10}, {0, 10}, {0, 10}},
			[]string{"0 in 0", "1 in 10", "2 in 20"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := NewKernel()
			p := NewThreads(k, tt.core, tt.most, tt.queue, tt.keep)
			if got := play(t, k, p, tt.tasks); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if p.InUse.N() != 0 || p.Waiting.N() != 0 || k.Live() != 0 {
				t.Errorf("in use %d, waiting %d, timers %d", p.InUse.N(), p.Waiting.N(), k.Live())
			}
		})
	}
}

// slowThreads is a thread pool written out: threads one by one, each with what
// it does, looked through for every task.
type slowThreads struct {
	core, most, queue int
	keep              time.Duration
	threads           []slowThread
	waiting           []int // tasks
}

type slowThread struct {
	task  int // -1: idle
	since time.Duration
}

// run gives what came of every task, in the words of guest.
func (p *slowThreads) run(tasks []arrival) (log []string) {
	start := func(now time.Duration, task int) slowThread {
		log = append(log, fmt.Sprintf("%d in %d", task, now))
		return slowThread{task, now}
	}
	for now := time.Duration(0); now < 2000; now++ {
		// Ends first, in the order in which they were begun; each thread looks at
		// the queue before it rests. A task without length ends at its own instant.
		for again := true; again; {
			again = false
			slices.SortStableFunc(p.threads, func(a, b slowThread) int { return int(a.since - b.since) })
			for i := range p.threads {
				t := &p.threads[i]
				if t.task < 0 || t.since+tasks[t.task].hold != now {
					continue
				}
				*t = slowThread{-1, now}
				if len(p.waiting) > 0 {
					*t = start(now, p.waiting[0])
					p.waiting = p.waiting[1:]
				}
				again = true
				break
			}
		}
		for i, a := range tasks {
			if a.at != now {
				continue
			}
			for p.core < len(p.threads) { // the one idle for longest goes first
				j := slices.IndexFunc(p.threads, func(t slowThread) bool { return t.task < 0 && now-t.since > p.keep })
				if j < 0 {
					break
				}
				p.threads = slices.Delete(p.threads, j, j+1)
			}
			idle := slices.IndexFunc(p.threads, func(t slowThread) bool { return t.task < 0 })
			switch {
			case idle >= 0:
				p.threads[idle] = start(now, i)
			case len(p.threads) < p.core, len(p.waiting) >= p.queue && p.queue >= 0 && len(p.threads) < p.most:
				p.threads = append(p.threads, start(now, i))
			case p.queue < 0 || len(p.waiting) < p.queue:
				p.waiting = append(p.waiting, i)
			default:
				log = append(log, fmt.Sprintf("%d refused %d", i, now))
			}
		}
	}
	return log
}

// TestThreadsFollowTheirSlowTwin also cuts Little's law at the end. Holds are
// different for every task and no two ends meet an arrival, so the order within
// an instant is not in question.
func TestThreadsFollowTheirSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		core := rapid.IntRange(1, 3).Draw(t, "core")
		beyond := rapid.SampledFrom([]int{0, 1, 3, 20}).Draw(t, "beyond")
		p := slowThreads{core: core, most: core + beyond, queue: rapid.IntRange(-1, 3).Draw(t, "queue"), keep: time.Duration(rapid.IntRange(0, 12).Draw(t, "keep"))}
		var tasks []arrival
		at := time.Duration(0)
		for range rapid.IntRange(1, 30+2*beyond).Draw(t, "tasks") {
			at += time.Duration(rapid.IntRange(1, max(1, 8-beyond)).Draw(t, "gap"))
			tasks = append(tasks, arrival{at, time.Duration(rapid.IntRange(1, 40).Draw(t, "hold"))})
		}
		k := NewKernel()
		pool := NewThreads(k, p.core, p.most, p.queue, p.keep)
		got, want := play(t, k, pool, tasks), p.run(tasks)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("core %d, max %d, queue %d, keep %d, %v:\n got %v\nwant %v", p.core, p.most, p.queue, p.keep, tasks, got, want)
		}
		if f := pool.InUse.CutFlow(k.Now()); f.Area != f.Sojourn || f.Max > int64(p.most) || f.End != 0 {
			t.Fatalf("∫N dt %d, Σ sojourns %d, most %d of %d, %d left", f.Area, f.Sojourn, f.Max, p.most, f.End)
		}
	})
}

func TestServeNewestIsLastInFirstOut(t *testing.T) {
	k := NewKernel()
	p := NewPool(k, 1, 3, 25)
	p.ServeNewest()
	got := play(t, k, p, []arrival{{0, 10}, {1, 10}, {2, 10}, {3, 10}, {4, 10}})
	want := []string{"0 in 0", "4 refused 4", "3 in 10", "2 in 20", "1 expired 26"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if p.InUse.N() != 0 || p.Waiting.N() != 0 || k.Live() != 0 {
		t.Errorf("in use %d, waiting %d, timers %d", p.InUse.N(), p.Waiting.N(), k.Live())
	}
}
