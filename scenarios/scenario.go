// Package scenarios knows what a scenario file says: it decodes one strictly,
// fills in every default, checks it, builds the system of each arm, and judges
// its expectations. Every key is a tagged field of the types below or of a
// registered kind; decoding, defaults, ranges, explain and the reference are
// all made from those tags.
package scenarios

import (
	"time"

	"blastradius/faults"
	"blastradius/resilience"
	"blastradius/sim/call"
	"blastradius/sim/dist"
	"blastradius/sim/load"
)

// Scenario is a whole file.
type Scenario struct {
	Version      int           `yaml:"version" unit:"count" min:"1" max:"1" help:"version of the file format"`
	Name         string        `yaml:"name" unit:"name" help:"short name; the file's own when omitted"`
	Title        string        `yaml:"title" unit:"text" help:"free title"`
	About        string        `yaml:"about" unit:"text" help:"what happens and what must hold, in a sentence"`
	Duration     time.Duration `yaml:"duration" unit:"duration" min:"0s" open:"min" max:"8760h" help:"length of the run, warm-up included"`
	Warmup       time.Duration `yaml:"warmup" unit:"duration" min:"0s" help:"excluded from every figure"`
	Seed         uint64        `yaml:"seed" unit:"count" min:"0" help:"one seed, one answer, to the byte"`
	Process      Process       `yaml:"process" help:"the service: what its requests hold"`
	Endpoints    []Endpoint    `yaml:"endpoints" named:"true" required:"true" help:"streams of requests"`
	Dependencies []Dependency  `yaml:"dependencies" named:"true" help:"what the service calls"`
	Phases       []Phase       `yaml:"phases" named:"true" help:"named windows, beside all, before, fault and after"`
	Arms         []ArmSpec     `yaml:"arms" named:"true" help:"what is compared; uncontained, timeouts and contained when omitted"`
	Expect       Expects       `yaml:"expect" help:"what must hold, by arm"`
}

// SetDefaults fills in what a file may omit.
func (s *Scenario) SetDefaults() {
	s.Version, s.Duration, s.Seed = 1, 5*time.Minute, 1
}

// Process is one instance of the service.
type Process struct {
	Workers *Pool       `yaml:"workers" help:"requests at once; unlimited when omitted"`
	Pool    *Pool       `yaml:"pool" help:"connections shared by all dependencies that name no pool; unlimited when omitted"`
	Pools   []NamedPool `yaml:"pools" named:"true" help:"connections of their own, for the dependencies that name them"`
}

// Pool is a bounded thing that requests or calls hold.
type Pool struct {
	Size    int           `yaml:"size" unit:"count" min:"1" short:"true" required:"true" also:"max,limit,maximumPoolSize,max_connections" help:"how many there are"`
	MaxWait time.Duration `yaml:"max_wait" unit:"duration" min:"0s" forever:"true" also:"queue_timeout,connectionTimeout,connection_timeout,timeout" help:"how long to wait for one"`
	Queue   int           `yaml:"queue" unit:"count" min:"0" unbounded:"true" also:"max_pending,accept_count" help:"how many may wait"`
}

// SetDefaults fills in what a file may omit.
func (p *Pool) SetDefaults() { p.MaxWait, p.Queue = -1, -1 }

// NamedPool is a pool of process.pools.
type NamedPool struct {
	Name string `yaml:"-"`
	Pool `yaml:"-" embed:"true"`
}

// Endpoint is one stream of requests and what each of them calls.
type Endpoint struct {
	Name     string        `yaml:"-"`
	Arrivals load.Config   `yaml:"arrivals" required:"true" help:"when requests come"`
	Deadline time.Duration `yaml:"deadline" unit:"duration" min:"0s" none:"true" also:"timeout,patience" help:"the client's patience: the whole request ends then"`
	SLO      time.Duration `yaml:"slo" unit:"duration" min:"0s" none:"true" help:"an answer within it is good"`
	Calls    Calls         `yaml:"calls" help:"dependencies called, in order; a nested list runs in parallel"`
}

// Calls is an endpoint's list of steps.
type Calls []Step

// Step is one call, or several in parallel.
type Step []Call

// Call is one use of a dependency.
type Call struct {
	Dependency string
	Optional   bool
	path       string
}

// Dependency is something the service calls.
type Dependency struct {
	Name     string    `yaml:"-"`
	Latency  dist.Kind `yaml:"latency" required:"true" help:"how long an answer takes"`
	Errors   Errors    `yaml:"errors" help:"shares of the attempts that fail by themselves, by class"`
	Faults   Faults    `yaml:"faults" help:"what goes wrong, and when"`
	Stack    Stack     `yaml:"stack" help:"layers around each call, outermost first"`
	Hosts    int       `yaml:"hosts" unit:"count" min:"1" max:"10000" also:"replicas,instances,endpoints,upstreams" help:"copies of it behind the one name; each attempt goes to one; one copy when omitted"`
	Capacity *Capacity `yaml:"capacity" help:"what each host can do at once; unlimited when omitted"`
	OnCancel string    `yaml:"on_cancel" enum:"stop,finish" help:"abandoned work stops, or runs to its natural end"`
	Pool     string    `yaml:"pool" unit:"name" help:"a pool of process.pools; the shared one when omitted"`
}

// SetDefaults fills in what a file may omit.
func (d *Dependency) SetDefaults() { d.OnCancel = "stop" }

// Capacity bounds the work a dependency does at once.
type Capacity struct {
	Servers int `yaml:"servers" unit:"count" min:"1" short:"true" required:"true" help:"work done at once"`
	Queue   int `yaml:"queue" unit:"count" min:"0" unbounded:"true" help:"work that may wait, first come, first served; more is a server_error"`
}

// SetDefaults fills in what a file may omit.
func (c *Capacity) SetDefaults() { c.Queue = -1 }

// Errors are shares by class, in the order of the file.
type Errors []ErrorShare

// ErrorShare is the share of one class.
type ErrorShare struct {
	Class      call.Class
	Share      float64
	RetryAfter time.Duration
}

// Stack is a list of layers, outermost first.
type Stack []LayerSpec

// LayerSpec is one layer: its kind, its name where it has one, its settings.
type LayerSpec struct {
	Kind   string
	Name   string // the kind when the file gives none
	Config resilience.Config
	path   string
}

// Faults is a list of faults on a timeline.
type Faults []FaultSpec

// FaultSpec is one fault.
type FaultSpec struct {
	Kind   string
	Name   string // in paths: the kind, with a number from the second on
	Config faults.Config
	faults.Timeline
	path string
}

// Phase is a named window of the run.
type Phase struct {
	Name string        `yaml:"-"`
	From time.Duration `yaml:"from" unit:"duration" min:"0s" required:"true" help:"its start"`
	To   time.Duration `yaml:"to" unit:"duration" min:"0s" open:"min" required:"true" help:"its end, not included"`
}

// ArmSpec says how an arm differs from the file.
type ArmSpec struct {
	Name   string      `yaml:"-"`
	Remove LayerNames  `yaml:"remove" help:"layers taken away: all, or a list of kinds or names"`
	Keep   LayerNames  `yaml:"keep" help:"layers kept, the others are taken away"`
	Set    Assignments `yaml:"set" help:"fields changed, by path"`
}

// LayerNames are kinds or names of layers, or all of them.
type LayerNames struct {
	All   bool
	Names []string
	Given bool
}

// Assignments are changes of fields, in the order of the file.
type Assignments []Assignment

// Assignment is one change.
type Assignment struct{ Path, Value string }

// Expects are expectations, in the order of the file.
type Expects []ExpectSpec

// ExpectSpec is one expectation as the file gives it.
type ExpectSpec struct {
	Arm   string
	That  string
	Why   string
	Holds float64 // share of the seeds; 0 is all
	Line  int
	path  string
}
