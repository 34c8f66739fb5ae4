// Package sim runs the simulated system: endpoints, the process with its
// workers and pools, stacks, dependencies; and measures it.
package sim

import (
	"time"

	"blastradius/faults"
	"blastradius/resilience"
	"blastradius/sim/call"
	"blastradius/sim/dist"
	"blastradius/sim/load"
)

// Forever is the MaxWait of a place where callers wait as long as it takes.
const Forever = time.Duration(-1)

// Unbounded is the Queue of a place where any number may wait.
const Unbounded = -1

// Config describes one system and one run of it: an arm of a scenario, or its
// twin without faults. Run takes it as valid.
type Config struct {
	Name     string // of the arm, for messages
	Seed     uint64
	Duration time.Duration // from 0, warm-up included
	Warmup   time.Duration // excluded from every figure
	Bins     int           // bins of the series over Duration; 0 is DefaultBins
	NoSeries bool          // leave Result.Series empty

	Process      Process
	Endpoints    []Endpoint
	Dependencies []Dependency
	Phases       []Phase // more named windows, beside all, before, fault and after

	// Twin drops every fault but keeps the phases that they define.
	Twin bool
	// Events is the number of events after which the run ends with
	// des.ErrBudget; 0 is no limit.
	Events uint64
}

// DefaultBins is the number of bins of a series.
const DefaultBins = 600

// Phase is a named window [From, To) of the run.
type Phase struct {
	Name     string
	From, To time.Duration
}

// Process is one instance of the service.
type Process struct {
	Workers *Pool           // nil: unlimited
	Pool    *Pool           // shared by all dependencies that name no pool; nil: unlimited
	Pools   map[string]Pool // named pools
}

// Pool is a bounded thing that requests or calls hold.
type Pool struct {
	Size    int
	MaxWait time.Duration // Forever, or how long a caller waits for a place
	Queue   int           // how many may wait; Unbounded
}

// Endpoint is one stream of requests and what each of them calls.
type Endpoint struct {
	Name     string
	Arrivals load.Config
	Deadline time.Duration // the client's patience; 0 is none
	SLO      time.Duration // 0 is none
	Calls    []Step        // in order
}

// Step is one element of an endpoint's calls: a single call, or several in
// parallel.
type Step []CallRef

// CallRef names the dependency of one call.
type CallRef struct {
	Dependency string
	Optional   bool // its failure degrades the request instead of failing it
}

// Dependency is something the process calls.
type Dependency struct {
	Name     string
	Latency  dist.Kind
	Errors   []ErrorShare // by class, in the order of call.Class
	Faults   []Fault
	Stack    []Layer // outermost first
	Hosts    int     // copies of it behind the one name; 0 is 1
	Capacity *Capacity
	Pool     string // a named pool, or "" for the shared one
	// OnCancel says what abandoned work does: false, it stops at once; true, it
	// runs to its natural end and occupies its server until then.
	FinishOnCancel bool
	// Standby says that only fallbacks call it, so that it may well never be.
	Standby bool
}

// ErrorShare is the share of attempts that end in a class by themselves.
type ErrorShare struct {
	Class      call.Class
	Share      float64
	RetryAfter time.Duration // for throttled answers
}

// Layer is one policy of a stack.
type Layer struct {
	Kind   string // breaker, bulkhead, …
	Name   string // the layer's name in metrics: its kind, or what the file says
	Config resilience.Config
}

// Fault is a fault on a dependency's timeline.
type Fault struct {
	Kind string
	faults.Timeline
	Config faults.Config
}

// HostCount is the number of hosts, at least 1.
func (d *Dependency) HostCount() int { return max(1, d.Hosts) }

// Capacity bounds the work that each host of a dependency does at once.
type Capacity struct {
	Servers int
	Queue   int // work that may wait; Unbounded. First come, first served.
}
