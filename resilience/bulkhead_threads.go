package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/spec"
)

// Threads is a thread pool by the rule of Java's ThreadPoolExecutor: a call gets
// an idle thread, or a new one below core; else it queues; only when the queue is
// full does a new thread take it, up to max; then it is turned away. Queue 100
// and keep_alive 20ms are those of a resilience4j ThreadPoolBulkhead, whose
// core is one below the number of processors and whose max is that number.
type Threads struct {
	Core      int           `yaml:"core" unit:"count" min:"1" short:"true" required:"true" also:"coreThreadPoolSize,core_thread_pool_size,coreSize,corePoolSize" help:"threads that stay"`
	Max       int           `yaml:"max" unit:"count" min:"1" default:"core" also:"maxThreadPoolSize,max_thread_pool_size,maximumSize,maximumPoolSize" help:"threads at most; those beyond core start only when the queue is full"`
	Queue     int           `yaml:"queue" unit:"count" min:"0" unbounded:"true" also:"queueCapacity,queue_capacity,maxQueueSize" help:"calls that may wait for a thread, as long as it takes"`
	KeepAlive time.Duration `yaml:"keep_alive" unit:"duration" min:"0s" also:"keepAliveDuration,keep_alive_duration,keepAliveTime" help:"how long a thread beyond core stays idle before it ends"`
}

// SetDefaults fills in what a file may omit.
func (t *Threads) SetDefaults() { t.Queue, t.KeepAlive = 100, 20*time.Millisecond }

func (t *Threads) most() int {
	if t.Max == 0 {
		return t.Core
	}
	return t.Max
}

func (t *Threads) validate(c *Bulkhead) (out []spec.Problem) {
	unused := func(field string) {
		out = append(out, spec.Problem{Field: field, Text: field + " is not for threads", Hint: "drop " + field + ", or threads", Warning: true})
	}
	switch {
	case c.Permits != 0:
		out = append(out, spec.Problem{Field: "permits", Text: "permits and threads are two bounds", Hint: "keep one of them"})
	case t.most() < t.Core:
		out = append(out, spec.Problem{Field: "threads.max", Text: fmt.Sprintf("max %d is below core %d", t.Max, t.Core), Hint: "raise max or lower core"})
	case t.most() > t.Core && t.Queue < 0:
		out = append(out, spec.Problem{Field: "threads.max", Text: fmt.Sprintf("max %d is never reached: a thread beyond core starts only when the queue is full", t.Max), Hint: fmt.Sprintf("queue: 100, or core: %d", t.Max), Warning: true})
	}
	if c.MaxWait != 0 {
		unused("max_wait")
	}
	if c.Queue >= 0 {
		out = append(out, spec.Problem{Field: "queue", Text: "the queue of a thread pool stands under threads", Hint: fmt.Sprintf("threads: {core: %d, queue: %d}", t.Core, c.Queue)})
	}
	if c.Order == OrderLIFO && t.Queue == 0 {
		out = append(out, spec.Problem{Field: "order", Text: "order lifo says nothing: nobody waits", Hint: "threads: {queue: 100}, or drop order", Warning: true})
	}
	return out
}

// text is e.g. "9 threads, queue 100, then up to 10".
func (t *Threads) text() string {
	out := fmt.Sprintf("%d threads", t.Core)
	if t.Core == 1 {
		out = "1 thread"
	}
	if t.Queue >= 0 {
		out += fmt.Sprintf(", queue %d", t.Queue)
	} else {
		out += ", queue unbounded"
	}
	if t.most() > t.Core {
		out += fmt.Sprintf(", then up to %d for %s", t.most(), brief(t.KeepAlive))
	}
	return out
}
