package resilience

import (
	"time"

	"blastradius/sim/call"
	"blastradius/sim/spec"
)

// Budget bounds the extra attempts, retries and hedges, of all calls of a layer
// together. It is a pure state machine: no clock, no generator.
type Budget interface {
	// Enter and Leave tell of a call and of its end, whatever way it ends.
	Enter(now time.Duration)
	Leave(now time.Duration)
	// Ask asks for one more attempt after one that ended in class, or beside one
	// that is still out: then the class is OK.
	Ask(now time.Duration, after call.Class) (Permit, bool)
	// Return gives back a permit whose attempt was never begun.
	Return(Permit)
	// Begin and End tell of an attempt: NoPermit goes with the first of a call. bad
	// says that it failed in a way that is tried again.
	Begin(Permit)
	End(now time.Duration, p Permit, class call.Class, bad bool)
	// Late reports that the budget is asked when the pause is over; others are
	// asked before it begins, and their permits are held through it.
	Late() bool
}

// Permit is what a budget gave for one extra attempt.
type Permit int32

// NoPermit is that of an attempt which needs none.
const NoPermit Permit = 0

// BudgetConfig is the configuration of a budget as a scenario file gives it.
type BudgetConfig interface {
	Validate() []spec.Problem
	// Budget makes a new one; nil is no bound.
	Budget() Budget
	Text() string // its settings, as part of a line
	Help() string
	Example() string
}

// Budgets are the kinds of budget by the name that a scenario file uses.
var Budgets = map[string]func() BudgetConfig{
	"none":        func() BudgetConfig { return &NoBudget{} },
	"shared":      func() BudgetConfig { return &SharedBudget{} },
	"envoy":       func() BudgetConfig { return &EnvoyBudget{Share: 0.2, Min: 3, Active: ActiveAttempts} },
	"grpc":        func() BudgetConfig { return &GRPCBudget{MaxTokens: 10, TokenRatio: 0.1} },
	"aws":         func() BudgetConfig { return &AWSBudget{Tokens: 500, Cost: 5, TimeoutCost: 10, Refill: 1} },
	"failsafe-go": func() BudgetConfig { return &FailsafeBudget{Share: 0.2, Min: 3} },
	"linkerd": func() BudgetConfig {
		return &LinkerdBudget{Ratio: 0.2, MinPerSecond: 10, TTL: 10 * time.Second, Deposit: DepositAnswer}
	},
}

// NoBudget bounds nothing.
type NoBudget struct{}

// Validate has nothing to check.
func (*NoBudget) Validate() []spec.Problem { return nil }

// Budget is none.
func (*NoBudget) Budget() Budget { return nil }

// Text is "no budget".
func (*NoBudget) Text() string { return "no budget" }

// Help says what the kind is.
func (*NoBudget) Help() string { return "no bound on the extra attempts of all calls together" }

// Example is a line of YAML.
func (*NoBudget) Example() string { return "none" }

// SharedBudget is the budget of another layer of the same stack, as a retry and
// a hedge of failsafe-go share one.
type SharedBudget struct{}

// Validate has nothing to check: whether there is another is seen by the whole
// file.
func (*SharedBudget) Validate() []spec.Problem { return nil }

// Budget is none of its own.
func (*SharedBudget) Budget() Budget { return nil }

// Text is "shared budget".
func (*SharedBudget) Text() string { return "shared budget" }

// Help says what the kind is.
func (*SharedBudget) Help() string {
	return "the budget of the other layer in this stack that has one"
}

// Example is a line of YAML.
func (*SharedBudget) Example() string { return "shared" }

// StackBudgets are the budgets of one stack, for those that share.
type StackBudgets struct{ first Budget }

// budgetOf makes the budget of a layer. Where it is another layer's it is known
// only when all layers of the stack are made, so it comes as a function.
func budgetOf(c BudgetConfig, stack *StackBudgets) func() Budget {
	if _, shared := c.(*SharedBudget); shared {
		return func() Budget {
			if stack == nil {
				return nil
			}
			return stack.first
		}
	}
	b := c.Budget()
	if stack != nil && stack.first == nil {
		stack.first = b
	}
	return func() Budget { return b }
}
