package resilience

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"blastradius/sim/call"
)

// trace drives a budget by words: "in" and "out" of a call, "go" of a first
// attempt, "ask" for another, "+" success, "-" failure, "x" a failure not to be
// tried again, "gone" a caller that left. A word after an ask that was allowed
// ends that attempt. The answer has one letter for each ask: y or n.
func trace(b Budget, words string) string {
	var now time.Duration
	var held []Permit
	first := 0
	var out strings.Builder
	end := func(class call.Class, bad bool) {
		p := NoPermit
		if n := len(held); n > 0 {
			p, held = held[n-1], held[:n-1]
		} else {
			first--
		}
		b.End(now, p, class, bad)
	}
	after := call.ServerError
	for _, w := range strings.Fields(words) {
		times := 1
		if n := 0; len(w) > 1 {
			if _, err := fmt.Sscanf(w, "%d×", &n); err == nil {
				times, w = n, w[strings.Index(w, "×")+len("×"):]
			}
		}
		for range times {
			switch w {
			case "in":
				b.Enter(now)
				b.Begin(NoPermit)
				first++
			case "out":
				b.Leave(now)
			case "ask":
				p, ok := b.Ask(now, after)
				if ok {
					b.Begin(p)
					held = append(held, p)
				}
				out.WriteString(map[bool]string{true: "y", false: "n"}[ok])
			case "wait": // a permit whose attempt is not begun
				p, ok := b.Ask(now, after)
				if ok {
					held = append(held, p)
				}
				out.WriteString(map[bool]string{true: "y", false: "n"}[ok])
			case "back":
				b.Return(held[len(held)-1])
				held = held[:len(held)-1]
			case "+":
				end(call.OK, false)
			case "-":
				end(call.ServerError, true)
			case "fail": // of a first attempt
				b.End(now, NoPermit, call.ServerError, true)
				first--
			case "x":
				end(call.ClientError, false)
			case "gone":
				end(call.Cancelled, false)
			case "timeouts":
				after = call.Timeout
			default:
				d, err := time.ParseDuration(w)
				if err != nil {
					panic(w)
				}
				now += d
			}
		}
	}
	return out.String()
}

func TestBudgetTraces(t *testing.T) {
	tests := []struct {
		name   string
		config BudgetConfig
		words  string
		want   string
	}{
		// Envoy: max(⌊20 %·active⌋, 3), C27 (3).
		{"envoy: 2 active, the minimum of 3", &EnvoyBudget{Share: 0.2, Min: 3, Active: ActiveCalls}, "2×in 4×wait", "yyyn"},
		{"envoy: 25 active, 5", &EnvoyBudget{Share: 0.2, Min: 3, Active: ActiveCalls}, "25×in 6×wait", "yyyyyn"},
		{"envoy: 29 active, still 5", &EnvoyBudget{Share: 0.2, Min: 3, Active: ActiveCalls}, "29×in 6×wait", "yyyyyn"},
		{"envoy: 110 active at 25 %, 27", &EnvoyBudget{Share: 0.25, Min: 10, Active: ActiveCalls}, "110×in 28×wait", strings.Repeat("y", 27) + "n"},
		{"envoy: 20 active at 25 %, the minimum of 10", &EnvoyBudget{Share: 0.25, Min: 10, Active: ActiveCalls}, "20×in 11×wait", strings.Repeat("y", 10) + "n"},
		{"envoy: max_retries 3, four fail together", &EnvoyBudget{Share: 0, Min: 3, Active: ActiveAttempts}, "4×in fail wait fail wait fail wait fail wait", "yyyn"},
		{"envoy: a retry that ended makes room", &EnvoyBudget{Share: 0, Min: 1, Active: ActiveAttempts}, "in - ask - ask +", "yy"},
		{"envoy: so does one whose caller left in its pause", &EnvoyBudget{Share: 0, Min: 1, Active: ActiveAttempts}, "wait wait back wait", "yny"},
		// gRPC: from 10, failures leave 9, 8, 7, 6 and then 5.
		{"grpc: an outage gets 4 retries", &GRPCBudget{MaxTokens: 10, TokenRatio: 0.1}, "5×in fail ask fail ask fail ask fail ask fail ask", "yyyyn"},
		{"grpc: failed retries count", &GRPCBudget{MaxTokens: 10, TokenRatio: 0.1}, "in - ask - ask - ask - ask - ask", "yyyyn"},
		{"grpc: at half it is refused", &GRPCBudget{MaxTokens: 10, TokenRatio: 0.1}, "5×in 5×- ask", "n"},
		{"grpc: one success of a tenth above half", &GRPCBudget{MaxTokens: 10, TokenRatio: 0.1}, "6×in 5×- + ask", "y"},
		{"grpc: from nothing 50 successes do not do", &GRPCBudget{MaxTokens: 10, TokenRatio: 0.1}, "20×in 20×- 50×in 50×+ ask", "n"},
		{"grpc: 51 do, for a hedge", &GRPCBudget{MaxTokens: 10, TokenRatio: 0.1}, "20×in 20×- 51×in 51×+ ask", "y"},
		{"grpc: a failure takes a token before it is asked for, so 60 are not enough for its retry", &GRPCBudget{MaxTokens: 10, TokenRatio: 0.1}, "20×in 20×- 60×in 60×+ in - ask", "n"},
		{"grpc: 61 are", &GRPCBudget{MaxTokens: 10, TokenRatio: 0.1}, "20×in 20×- 61×in 61×+ in - ask", "y"},
		{"grpc: it never exceeds the full bucket", &GRPCBudget{MaxTokens: 10, TokenRatio: 0.1}, "100×in 100×+ 5×in 5×- ask", "n"},
		{"grpc: what is not tried again does not count", &GRPCBudget{MaxTokens: 2, TokenRatio: 0.1}, "9×in 9×x ask", "y"},
		{"grpc: an odd bucket has half a token more", &GRPCBudget{MaxTokens: 3, TokenRatio: 0.5}, "3×in - ask", "y"},
		{"grpc: and not two", &GRPCBudget{MaxTokens: 3, TokenRatio: 0.5}, "3×in 2×- ask", "n"},
		// AWS: 500 pay for 100 retries.
		{"aws: 100 retries", &AWSBudget{Tokens: 500, Cost: 5, TimeoutCost: 10, Refill: 1}, "101×ask", strings.Repeat("y", 100) + "n"},
		{"aws: 50 after timeouts", &AWSBudget{Tokens: 500, Cost: 5, TimeoutCost: 10, Refill: 1}, "timeouts 51×ask", strings.Repeat("y", 50) + "n"},
		{"aws: a retry that succeeds gets its cost back and adds 1", &AWSBudget{Tokens: 5, Cost: 5, TimeoutCost: 10, Refill: 1}, "ask + ask - ask", "yyn"},
		{"aws: one that fails does not", &AWSBudget{Tokens: 9, Cost: 5, TimeoutCost: 10, Refill: 1}, "ask - ask", "yn"},
		{"aws: five successes pay for a retry", &AWSBudget{Tokens: 5, Cost: 5, TimeoutCost: 10, Refill: 1}, "ask - 4×in 4×+ ask in + ask", "yny"},
		{"aws: full again after 500", &AWSBudget{Tokens: 500, Cost: 5, TimeoutCost: 10, Refill: 1}, "100×ask 100×- 500×in 500×+ 101×ask", strings.Repeat("y", 200) + "n"},
		{"aws: a client error fills nothing", &AWSBudget{Tokens: 5, Cost: 5, TimeoutCost: 10, Refill: 1}, "ask - 9×in 9×x ask", "yn"},
		{"aws: never refilled", &AWSBudget{Tokens: 5, Cost: 5, TimeoutCost: 10, Refill: 0}, "ask - 9×in 9×+ ask", "yn"},
		// failsafe-go: refused from 3 in flight on, when above 20 %.
		{"failsafe-go: the minimum of 3", &FailsafeBudget{Share: 0.2, Min: 3}, "2×in 4×ask", "yyyn"},
		{"failsafe-go: 3 of 15 are 20 % and let a fourth in", &FailsafeBudget{Share: 0.2, Min: 3}, "12×in 5×ask", "yyyyn"},
		{"failsafe-go: 3 of 14 do not", &FailsafeBudget{Share: 0.2, Min: 3}, "11×in 4×ask", "yyyn"},
		{"failsafe-go: one that ended makes room", &FailsafeBudget{Share: 0.2, Min: 1}, "in ask ask - ask", "yny"},
		{"failsafe-go: without a minimum the first is at 0 %", &FailsafeBudget{Share: 0, Min: 0}, "in ask ask", "yn"},
		// Linkerd: over 10 s a fifth of the deposits and 10 a second.
		{"linkerd: the minimum over its time", &LinkerdBudget{Ratio: 0.2, MinPerSecond: 10, TTL: 10 * s, Deposit: DepositRequest}, "101×ask", strings.Repeat("y", 100) + "n"},
		{"linkerd: five deposits pay for one", &LinkerdBudget{Ratio: 0.2, TTL: 10 * s, Deposit: DepositRequest}, "4×in ask in ask ask", "nyn"},
		{"linkerd: of answers a failure deposits nothing", &LinkerdBudget{Ratio: 0.2, TTL: 10 * s, Deposit: DepositAnswer}, "9×in 9×- ask 4×in 4×+ ask in x ask ask", "nnyn"},
		{"linkerd: nor does a caller that left", &LinkerdBudget{Ratio: 1, TTL: 10 * s, Deposit: DepositAnswer}, "in gone ask in + ask", "ny"},
		{"linkerd: a deposit counts to the tenth slot", &LinkerdBudget{Ratio: 1, TTL: s, Deposit: DepositRequest}, "in 901ms ask ask", "yn"},
		{"linkerd: and is gone after its time", &LinkerdBudget{Ratio: 1, TTL: s, Deposit: DepositRequest}, "in 3s ask", "n"},
		{"linkerd: a ratio above 1", &LinkerdBudget{Ratio: 2, TTL: s, Deposit: DepositRequest}, "in 3×ask", "yyn"},
		{"linkerd: a share of 0.3 takes 3, as tower rounds", &LinkerdBudget{Ratio: 0.3, TTL: s, Deposit: DepositRequest}, "3×in 2×ask", "yn"},
		{"linkerd: without a ratio the minimum alone", &LinkerdBudget{MinPerSecond: 2, TTL: s, Deposit: DepositRequest}, "9×in 3×ask", "yyn"},
		// The test of tower itself (tps_slots): the first deposit is gone, the second
		// and third are not.
		{"linkerd: slots", &LinkerdBudget{Ratio: 0.5, TTL: s, Deposit: DepositRequest}, "2×in 901ms ask 2001ms in 301ms in 801ms in ask", "yy"},
	}
	for _, tt := range tests {
		if got := trace(tt.config.Budget(), tt.words); got != tt.want {
			t.Errorf("%s: %s: got %s, want %s", tt.name, tt.words, got, tt.want)
		}
	}
}

// The two bases of the Envoy budget, C27 (5): six calls fail together at 100 %.
// When a failed attempt leaves what is active before its retry is asked for, only
// three are retried.
func TestEnvoyBudgetShrinksItsOwnBase(t *testing.T) {
	for active, want := range map[string]string{ActiveAttempts: "yyynnn", ActiveCalls: "yyyyyy"} {
		b := (&EnvoyBudget{Share: 1, Min: 3, Active: active}).Budget()
		for range 6 {
			b.Enter(0)
			b.Begin(NoPermit)
		}
		got := ""
		for range 6 {
			b.End(0, NoPermit, call.ServerError, true)
			_, ok := b.Ask(0, call.ServerError)
			got += map[bool]string{true: "y", false: "n"}[ok]
		}
		if got != want {
			t.Errorf("of %s: %s, want %s", active, got, want)
		}
	}
}

// twin is a budget as a list of what happened, from which every answer is worked
// out anew.
type twin struct {
	calls, tries, extras int
	events               []twinEvent
}

type twinEvent struct {
	at     time.Duration
	amount float64 // of tokens
}

// Budgets against slow twins: random calls, attempts and times.
func TestBudgetsAgreeWithSlowTwins(t *testing.T) {
	kinds := map[string]func(t *rapid.T) (BudgetConfig, func(tw *twin, now time.Duration, after call.Class) bool){
		"envoy": func(t *rapid.T) (BudgetConfig, func(*twin, time.Duration, call.Class) bool) {
			c := &EnvoyBudget{Share: float64(rapid.IntRange(0, 4).Draw(t, "quarters")) / 4, Min: rapid.IntRange(0, 3).Draw(t, "min"), Active: rapid.SampledFrom([]string{ActiveAttempts, ActiveCalls}).Draw(t, "active")}
			return c, func(tw *twin, _ time.Duration, _ call.Class) bool {
				active := tw.tries
				if c.Active == ActiveCalls {
					active = tw.calls
				}
				return tw.extras < max(int(c.Share*4)*active/4, c.Min)
			}
		},
		"failsafe-go": func(t *rapid.T) (BudgetConfig, func(*twin, time.Duration, call.Class) bool) {
			c := &FailsafeBudget{Share: float64(rapid.IntRange(0, 4).Draw(t, "quarters")) / 4, Min: rapid.IntRange(0, 3).Draw(t, "min")}
			return c, func(tw *twin, _ time.Duration, _ call.Class) bool {
				return tw.extras < c.Min || 4*tw.extras <= int(c.Share*4)*(tw.calls+tw.extras)
			}
		},
		"grpc": func(t *rapid.T) (BudgetConfig, func(*twin, time.Duration, call.Class) bool) {
			c := &GRPCBudget{MaxTokens: rapid.IntRange(1, 9).Draw(t, "tokens"), TokenRatio: float64(rapid.IntRange(1, 16).Draw(t, "eighths")) / 8}
			return c, func(tw *twin, _ time.Duration, _ call.Class) bool {
				tokens := float64(c.MaxTokens)
				for _, e := range tw.events {
					if e.amount < 0 {
						tokens = max(0, tokens-1)
					} else if e.amount > 0 {
						tokens = min(float64(c.MaxTokens), tokens+c.TokenRatio)
					}
				}
				return tokens > float64(c.MaxTokens)/2
			}
		},
	}
	for name, makeKind := range kinds {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			config, allows := makeKind(t)
			b, tw := config.Budget(), &twin{}
			var now time.Duration
			var first int
			var held []Permit
			for range rapid.IntRange(1, 60).Draw(t, "steps") {
				switch rapid.IntRange(0, 5).Draw(t, "step") {
				case 0:
					b.Enter(now)
					b.Begin(NoPermit)
					tw.calls++
					tw.tries++
					first++
				case 1, 2:
					class := rapid.SampledFrom([]call.Class{call.OK, call.ServerError, call.ClientError, call.Cancelled}).Draw(t, "class")
					p := NoPermit
					switch {
					case len(held) > 0 && rapid.Bool().Draw(t, "extra"):
						p, held = held[0], held[1:]
						tw.extras--
					case first > 0:
						first--
					default:
						continue
					}
					tw.tries--
					b.End(now, p, class, class == call.ServerError)
					switch class {
					case call.OK:
						tw.events = append(tw.events, twinEvent{now, 1})
					case call.ServerError:
						tw.events = append(tw.events, twinEvent{now, -1})
					}
				case 3:
					if tw.calls > 0 {
						b.Leave(now)
						tw.calls--
					}
				default:
					want := allows(tw, now, call.ServerError)
					p, ok := b.Ask(now, call.ServerError)
					if ok != want {
						t.Fatalf("%s: allowed %v, the twin says %v: %+v", config.Text(), ok, want, tw)
					}
					if ok {
						b.Begin(p)
						held = append(held, p)
						tw.extras++
						tw.tries++
					}
				}
			}
		}))
	}
}

// The AWS quota against one worked out from the whole history.
func TestAWSBudgetAgreesWithASlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &AWSBudget{Tokens: rapid.IntRange(1, 40).Draw(t, "tokens"), Cost: rapid.IntRange(0, 9).Draw(t, "cost"), TimeoutCost: rapid.IntRange(0, 9).Draw(t, "timeout"), Refill: rapid.IntRange(0, 3).Draw(t, "refill")}
		b := c.Budget()
		var changes []int // of the tokens
		tokens := func() int {
			n := c.Tokens
			for _, x := range changes {
				n = min(c.Tokens, n+x)
			}
			return n
		}
		type retry struct {
			p    Permit
			cost int
		}
		var held []retry
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				b.End(0, NoPermit, call.OK, false)
				changes = append(changes, c.Refill)
			case 1:
				if len(held) == 0 {
					continue
				}
				r := held[0]
				held = held[1:]
				good := rapid.Bool().Draw(t, "good")
				if b.End(0, r.p, map[bool]call.Class{true: call.OK, false: call.Timeout}[good], !good); good {
					changes = append(changes, c.Refill+r.cost)
				}
			default:
				after, cost := call.ServerError, c.Cost
				if rapid.Bool().Draw(t, "after a timeout") {
					after, cost = call.Timeout, c.TimeoutCost
				}
				p, ok := b.Ask(0, after)
				if want := tokens() >= cost; ok != want {
					t.Fatalf("%s with %d tokens: allowed %v, want %v", c.Text(), tokens(), ok, want)
				}
				if ok {
					changes = append(changes, -cost)
					held = append(held, retry{p, cost})
				}
			}
		}
	})
}

// tower is TpsBudget line by line, without its atomics.
type tower struct {
	deposit, withdraw, reserve int64
	slots                      [10]int64
	writer                     int64
	index                      int
	time, window               time.Duration
}

func (t *tower) expire(now time.Duration) {
	diff := now - t.time
	if diff < t.window {
		return
	}
	t.slots[t.index], t.writer = t.writer, 0
	i := (t.index + 1) % 10
	for diff > t.window {
		t.slots[i] = 0
		diff -= t.window
		i = (i + 1) % 10
	}
	t.index, t.time = i, now
}

func (t *tower) try(now time.Duration) bool {
	t.expire(now)
	sum := t.writer + t.reserve
	for _, n := range t.slots {
		sum += n
	}
	if sum < t.withdraw {
		return false
	}
	t.writer -= t.withdraw
	return true
}

func TestLinkerdBudgetAgreesWithASlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &LinkerdBudget{Ratio: float64(rapid.IntRange(1, 15).Draw(t, "tenths")) / 10, MinPerSecond: rapid.IntRange(0, 2).Draw(t, "min"), TTL: time.Duration(rapid.IntRange(1000, 3000).Draw(t, "ttl")) * ms, Deposit: DepositRequest}
		b := c.Budget().(*linkerdBudget)
		tw := &tower{deposit: b.deposit, withdraw: b.withdraw, reserve: b.reserve, window: c.TTL / 10}
		var now time.Duration
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += time.Duration(rapid.SampledFrom([]int{0, 0, 1, 17, 99, 100, 101, 250, 1000, 5000}).Draw(t, "ms")) * ms
			if rapid.Bool().Draw(t, "deposit") {
				b.Enter(now)
				tw.expire(now)
				tw.writer += tw.deposit
				continue
			}
			want := tw.try(now)
			if _, ok := b.Ask(now, call.ServerError); ok != want {
				t.Fatalf("%s at %v: allowed %v, want %v", c.Text(), now, ok, want)
			}
		}
	})
}

// A budget in a retry: who is asked when, and what is given back.
func TestRetryBudgetTable(t *testing.T) {
	fails := []step{{after: 10 * ms, class: call.ServerError}}
	one := func(c *Retry) { c.Budget = &EnvoyBudget{Share: 0, Min: 1, Active: ActiveAttempts} }
	late := func(c *Retry) { c.Budget = &FailsafeBudget{Share: 0, Min: 1} }
	wait := &ConstantBackoff{Wait: 100 * ms}
	tests := []struct {
		name    string
		config  *Retry
		callers []time.Duration // when they leave without having said so, 0 is never; all come at 0
		want    string
		starts  string
		refused int64
	}{
		{"one retry at once, its pause included", retryOf(2, wait, one), []time.Duration{0, 0}, "server_error at 120ms, server_error at 10ms", "[0s 0s 110ms]", 1},
		{"who comes when it is over gets it", retryOf(3, &NoBackoff{}, one), []time.Duration{0, 0}, "server_error at 30ms, server_error at 10ms", "[0s 0s 10ms 20ms]", 1},
		{"a caller that leaves in its pause", retryOf(2, wait, one), []time.Duration{50 * ms, 0}, "left, server_error at 10ms", "[0s 0s]", 1},
		{"a late budget is asked after the pause", retryOf(2, wait, late), []time.Duration{0, 0}, "server_error at 120ms, server_error at 110ms", "[0s 0s 110ms]", 1},
		{"a late budget without a pause", retryOf(2, &NoBackoff{}, late), []time.Duration{0, 0}, "server_error at 20ms, server_error at 10ms", "[0s 0s 10ms]", 1},
	}
	for _, tt := range tests {
		r := newRig(t, &work{steps: fails}, tt.config)
		for _, d := range tt.callers {
			if c := r.call(0, 0); d > 0 {
				r.at(d, c.leave)
			}
		}
		r.run(10 * s)
		l := r.layers[0].(*retryLayer)
		if got := strings.Join(r.got(), ", "); got != tt.want || fmt.Sprint(r.work.seen) != tt.starts || l.refused != tt.refused {
			t.Errorf("%s: %s, attempts at %v, refused %d; want %s, %s, %d", tt.name, got, r.work.seen, l.refused, tt.want, tt.starts, tt.refused)
		}
	}
}

// After whatever happened nothing is held: the next call may retry.
func TestRetryGivesItsPermitBack(t *testing.T) {
	for _, kind := range []string{"envoy", "failsafe-go"} {
		for _, left := range []time.Duration{5 * ms, 50 * ms, 115 * ms} {
			c := retryOf(2, &ConstantBackoff{Wait: 100 * ms}, budgeted(kind))
			switch b := c.Budget.(type) {
			case *EnvoyBudget:
				b.Share, b.Min = 0, 1
			case *FailsafeBudget:
				b.Share, b.Min = 0, 1
			}
			r := newRig(t, &work{steps: []step{{after: 10 * ms, class: call.ServerError}}}, c)
			r.at(left, r.call(0, 0).leave)
			r.call(s, 0)
			r.run(10 * s)
			if got, want := r.got(), []string{"left", "server_error at 1.12s"}; !slices.Equal(got, want) {
				t.Errorf("%s, a caller that left after %v: %v, want %v", kind, left, got, want)
			}
		}
	}
}

func TestBudgetsValidate(t *testing.T) {
	tests := []struct {
		config BudgetConfig
		want   string
	}{
		{&EnvoyBudget{}, "warning: budget.min: share 0% and min 0 allow no retry at all (min: 3)"},
		{&GRPCBudget{MaxTokens: 10, TokenRatio: 0.0004}, "budget.token_ratio: token_ratio 0.0004 is 0 in thousandths: the bucket never fills again (at least 0.001)"},
		{&AWSBudget{Tokens: 4, Cost: 5, TimeoutCost: 10, Refill: 1}, "warning: budget.tokens: tokens 4 pay for no retry at all (tokens: 500)"},
		{&AWSBudget{Tokens: 500, Cost: 5, TimeoutCost: 10}, "warning: budget.refill: refill 0: what failed retries took never comes back (refill: 1)"},
		{&LinkerdBudget{TTL: s}, "warning: budget.min_per_second: ratio 0% and min_per_second 0 allow no retry at all (ratio: 20%)"},
		{&FailsafeBudget{}, ""},
	}
	for _, tt := range tests {
		c := retryOf(3, &NoBackoff{})
		c.Budget = tt.config
		if got := problems(c.Validate()); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.config.Text(), got, tt.want)
		}
	}
}

func TestThousandthsAreTheDigitsAsWritten(t *testing.T) {
	for ratio, want := range map[float64]int64{0.1: 100, 0.29: 290, 0.5555: 555, 1: 1000, 0.001: 1, 0.0009: 0, 1e300: 1e12} {
		if got := thousandths(ratio); got != want {
			t.Errorf("%g: %d, want %d", ratio, got, want)
		}
	}
}
