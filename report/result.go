// Package report turns a result into what people and machines read: text,
// tables, JSON, CSV, pictures and one page.
package report

import "encoding/json"

// Result is everything a run produced, as it is saved (schema 1) and as every
// format is made from: what cannot be said from a Result cannot be shown.
// Durations are seconds, shares 0…1.
type Result struct {
	Schema       int           `json:"schema"`
	Tool         Tool          `json:"tool"`
	Scenario     Scenario      `json:"scenario"`
	Seed         uint64        `json:"seed"`
	Arms         []Arm         `json:"arms"`
	Expectations []Expectation `json:"expectations"`
	Findings     []Finding     `json:"findings"`          // about the arms together; an arm's own stand in it
	Warnings     []string      `json:"warnings"`          // doubt that travels with the figures
	Partial      string        `json:"partial,omitempty"` // why the run ended early, "" when it did not
}

// Tool says what made the result.
type Tool struct {
	Version string `json:"version"`
}

// Scenario is what was simulated.
type Scenario struct {
	Name   string `json:"name"`
	Title  string `json:"title,omitempty"`
	About  string `json:"about,omitempty"`
	Source string `json:"source"` // the word or file given on the command line
	// Args are the further words that shaped the run ("--set", "seed=7"), so that
	// the line that reproduces it is whole.
	Args      []string        `json:"args,omitempty"`
	Digest    string          `json:"digest"` // 12 hex digits over the effective scenario
	Effective json.RawMessage `json:"effective"`
	// EffectiveYAML is the same with every default marked, for the page.
	EffectiveYAML string       `json:"effective_yaml"`
	Duration      float64      `json:"duration"`
	Warmup        float64      `json:"warmup"`
	Rate          float64      `json:"rate"` // mean requests per second over all endpoints after the warm-up
	Replicas      int          `json:"replicates,omitempty"`
	Phases        []Phase      `json:"phases"` // all, then before, fault, after where there are faults, then the file's own
	Faults        []Fault      `json:"faults"`
	Endpoints     []Endpoint   `json:"endpoints"`
	Dependencies  []Dependency `json:"dependencies"`
	Pools         []Pool       `json:"pools"` // process.pool, process.workers, pool.NAME: those that exist
}

// Phase is a window [From, To) in seconds.
type Phase struct {
	Name string  `json:"name"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// Fault is one window in which a dependency was faulty.
type Fault struct {
	Dependency string  `json:"dependency"`
	Kind       string  `json:"kind"`
	Text       string  `json:"text"` // "slow: 8s"
	From       float64 `json:"from"`
	To         float64 `json:"to"`
	// Latency is the mean latency while it is active, in seconds; null when it
	// has none (down, hang).
	Latency *float64 `json:"latency"`
}

// Endpoint is one stream of requests.
type Endpoint struct {
	Name     string   `json:"name"`
	Rate     float64  `json:"rate"`     // mean per second after the warm-up
	Peak     float64  `json:"peak"`     // the rate curve's maximum
	SLO      float64  `json:"slo"`      // 0: none
	Deadline float64  `json:"deadline"` // 0: none
	Calls    []string `json:"calls"`    // dependencies it needs, once each
	Direct   bool     `json:"direct"`   // it calls a dependency that has a fault
}

// Dependency is something the process calls.
type Dependency struct {
	Name    string  `json:"name"`
	Faulted bool    `json:"faulted"`
	Rate    float64 `json:"rate"` // calls per second that endpoints make of it
	Mean    float64 `json:"mean"` // latency without faults
	P99     float64 `json:"p99"`
	Pool    string  `json:"pool"` // process.pool, pool.NAME or ""
}

// Pool is a bounded thing of the process.
type Pool struct {
	Name string `json:"name"`
	Size int    `json:"size"`
}

// Arm is one variant of the scenario.
type Arm struct {
	Name    string             `json:"name"`
	About   string             `json:"about"`   // how it differs from the file: "remove: all", "set payments.breaker.cooldown: 5s"
	Layers  []Layer            `json:"layers"`  // the stacks it has
	Metrics map[string]float64 `json:"metrics"` // phase all
	Absent  map[string]string  `json:"absent"`  // metric → why there is no figure
	// Phases holds the other phases' figures.
	Phases map[string]Figures `json:"phases"`
	Audit  []AuditRow         `json:"audit"`
	Sizing []SizingRow        `json:"sizing"`
	Series Series             `json:"series"`
	// States are the breakers' state changes, for the ribbons and the status lines.
	States   []StateChange `json:"states"`
	Findings []Finding     `json:"findings"`
	Digest   string        `json:"digest"` // 16 hex digits over every request's outcome and time
	Trace    *Trace        `json:"trace,omitempty"`
}

// Layer is one policy of one dependency's stack in an arm.
type Layer struct {
	Dependency string `json:"dependency"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	Text       string `json:"text"`               // its settings on one line: "50% of 20, min_calls 5, cooldown 30s"
	Permits    int    `json:"permits,omitempty"`  // of a bulkhead
	Abandons   bool   `json:"abandons,omitempty"` // of a timeout: the work goes on
	// Seconds is the one time that says most: a timeout's limit, a breaker's
	// cooldown.
	Seconds float64 `json:"seconds,omitempty"`
}

// Figures are the metrics of one phase.
type Figures struct {
	Metrics map[string]float64 `json:"metrics"`
	Absent  map[string]string  `json:"absent"`
}

// AuditRow is Little's law at one station in one phase.
type AuditRow struct {
	Station string  `json:"station"` // dependency.payments, dependency.payments.bulkhead, process.pool, …
	Phase   string  `json:"phase"`
	Lambda  float64 `json:"lambda"` // arrivals per second
	W       float64 `json:"w"`      // mean sojourn of those that left, seconds
	L       float64 `json:"l"`      // time average inside
	Edge    float64 `json:"edge"`   // (ages inside at the end − at the start) ÷ length: L = departures·W ÷ length + edge
	// Gap is L/(λW) − 1; null when λW is 0.
	Gap *float64 `json:"gap"`
	// Exact reports that ∫N dt = Σ sojourns inside the window held to the nanosecond.
	Exact bool   `json:"exact"`
	Note  string `json:"note,omitempty"` // why the phase is not stationary
}

// SizingRow holds one bulkhead or pool against the closed forms. A nil figure
// does not apply.
type SizingRow struct {
	Station      string   `json:"station"`
	Permits      int      `json:"permits"`
	Rate         float64  `json:"rate"` // peak of the rate curve, per second
	Mean         float64  `json:"mean"` // E[S] without faults, seconds
	P99          float64  `json:"p99"`
	Load         float64  `json:"load"`  // a = λ·E[S], erlangs
	Rule         int      `json:"rule"`  // ceil(peak rate × p99)
	Exact        int      `json:"exact"` // Erlang B for ShedTarget
	ShedTarget   float64  `json:"shed_target"`
	Hint         int      `json:"hint"`          // square-root rule
	ShedModel    string   `json:"shed_model"`    // "Erlang B", "M/M/c+D", …
	ShedExpected *float64 `json:"shed_expected"` // predicted for the permits configured
	ShedSeen     *float64 `json:"shed_seen"`     // simulated without a fault
	Fill         *float64 `json:"fill"`          // seconds until it is full when the dependency stalls
	Outage       *float64 `json:"outage"`        // held in an outage: min(permits, λT)
	SumPermits   int      `json:"sum_permits"`   // Σ permits of the bulkheads that draw on this pool
	Notes        []string `json:"notes"`
}

// Series are figures in fixed bins. Values[i] belongs to Names[i]; NaN is not
// used: a bin without a value is null.
type Series struct {
	Step   string       `json:"step"` // "1s"
	Names  []string     `json:"names"`
	Values [][]*float64 `json:"values"`
}

// StateChange is one transition of a breaker.
type StateChange struct {
	Breaker string  `json:"breaker"` // dependency.payments.breaker
	At      float64 `json:"at"`
	State   int     `json:"state"` // 0 closed, 1 half-open, 2 open
}

// Expectation is one line of the scenario's expect and how it turned out.
type Expectation struct {
	Text   string   `json:"text"`
	Arm    string   `json:"arm"`
	OK     bool     `json:"ok"`
	Actual *float64 `json:"actual"` // null: there is no figure, Why says why
	Unit   string   `json:"unit"`
	Why    string   `json:"why,omitempty"`
	Line   int      `json:"line"`
	// Holds and Of count the seeds in which it held, with replicates.
	Holds int      `json:"holds,omitempty"`
	Of    int      `json:"of,omitempty"`
	Low   *float64 `json:"low,omitempty"` // Wilson interval of the share of seeds
	High  *float64 `json:"high,omitempty"`
	// Worst is the seed that missed it most; nil when none did.
	Worst *uint64 `json:"worst,omitempty"`
}

// Finding is one diagnosis: what, why, what to change.
type Finding struct {
	ID       string     `json:"id"`
	Severity string     `json:"severity"` // "problem", "note"
	Arm      string     `json:"arm"`
	What     string     `json:"what"`
	Why      string     `json:"why"`
	Change   string     `json:"change"`
	Vs       string     `json:"vs,omitempty"` // the --vs argument that tries it
	Evidence []Evidence `json:"evidence"`
	// Effects are figures of the changed arm, there only when it was simulated.
	Effects []Effect `json:"effects"`
}

// Evidence is one figure that a finding rests on.
type Evidence struct {
	Metric string  `json:"metric"`
	Phase  string  `json:"phase"`
	Value  float64 `json:"value"`
}

// Effect is one figure before and after a simulated change; nil is none.
type Effect struct {
	Metric string   `json:"metric"`
	Phase  string   `json:"phase"`
	Before *float64 `json:"before"`
	After  *float64 `json:"after"`
}

// Trace is one request's life in this arm: the worst hurt one.
type Trace struct {
	Endpoint string      `json:"endpoint"`
	Request  uint64      `json:"request"`
	At       float64     `json:"at"`
	Outcome  string      `json:"outcome"`
	Took     float64     `json:"took"`
	Steps    []TraceStep `json:"steps"`
}

// TraceStep is one line of a trace.
type TraceStep struct {
	At    float64 `json:"at"` // seconds after the request's arrival
	Where string  `json:"where"`
	What  string  `json:"what"`
}
