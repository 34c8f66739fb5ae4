package resilience

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"blastradius/sim/dist"
)

// The model behind Marc Brooker's "Exponential Backoff And Jitter" (AWS
// Architecture Blog, 2015; its simulator is published as
// aws-samples/aws-arch-backoff-simulator): clients that start together each
// want to change one row once. A client reads the row's version, then writes
// with it; the write fails when somebody else changed the row in between, and
// after a pause the client reads again. Every leg over the network takes
// |N(10, 2)| ms. Counted are the writes tried and the time until all are done.

// occClient is one client; its message is what travels for it now.
type occClient struct {
	at      time.Duration // when the message arrives
	leg     int
	version int
	won     bool
	fails   int
	last    time.Duration
}

const (
	readAtServer = iota
	readAtClient
	writeAtServer
	writeAtClient
)

type occQueue []*occClient

func (q occQueue) Len() int           { return len(q) }
func (q occQueue) Less(i, j int) bool { return q[i].at < q[j].at }
func (q occQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *occQueue) Push(x any)        { *q = append(*q, x.(*occClient)) }
func (q *occQueue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

// occ runs the model once.
func occ(clients int, pause func(c *occClient) time.Duration, r *rand.Rand) (writes int, took time.Duration) {
	net := func() time.Duration { return time.Duration(math.Abs(10+2*r.NormFloat64()) * float64(ms)) }
	q := make(occQueue, clients)
	for i := range q {
		q[i] = &occClient{at: net()}
	}
	heap.Init(&q)
	version := 0
	for q.Len() > 0 {
		c := q[0]
		took = c.at
		switch c.leg {
		case readAtServer:
			c.version = version
		case writeAtServer:
			writes++
			if c.won = c.version == version; c.won {
				version++
			}
		case writeAtClient:
			if c.won {
				heap.Pop(&q)
				continue
			}
			c.fails++
			c.at += pause(c)
		}
		c.leg = (c.leg + 1) % 4
		c.at += net()
		heap.Fix(&q, 0)
	}
	return writes, took
}

func TestPublishedContentionIsReproduced(t *testing.T) {
	const runs = 300
	type pair struct{ writes, took sample }
	results := map[string]*pair{}
	var all scores
	defer all.settle(t)
	for _, r := range references(t, "give-10") {
		kind := r.Params.Backoff
		if results[kind] == nil {
			p := &pair{}
			results[kind] = p
			for run := range runs {
				var draws, luck dist.Rand
				draws.Key(21, uint64(run))
				luck.Key(22, uint64(run))
				writes, took := occ(r.Params.Clients, pauseOf(r, &draws), rand.New(&luck))
				p.writes.add(float64(writes))
				p.took.add(float64(took) / float64(ms))
			}
		}
		got := results[kind].writes
		if r.Metric == "time to finish, ms" {
			got = results[kind].took
		}
		// Both sides are simulated, so both errors count.
		all.within(t, r, got.mean(), math.Hypot(r.Sigma/math.Sqrt(runs), r.SE))
	}
}

// pauseOf is the backoff of a published curve. The published pause before retry
// n is base·2^n, this package's base·2^(n-1): hence n+1.
func pauseOf(r reference, draws *dist.Rand) func(*occClient) time.Duration {
	b := &ExponentialBackoff{Base: time.Duration(r.Params.BaseMs * float64(ms)), Factor: 2, Max: time.Duration(r.Params.CapMs * float64(ms))}
	kind, jitter := Backoff(b), r.Params.Backoff
	switch jitter {
	case "none":
		kind = &NoBackoff{}
	case "exponential":
		jitter = "none"
	}
	draw := Jitters[jitter]()
	return func(c *occClient) time.Duration { return draw.Pause(kind, c.fails+1, &c.last, draws) }
}
