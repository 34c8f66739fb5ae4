package resilience

import (
	"fmt"
	"strconv"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/spec"
)

// GRPCBudget is the retry throttling of gRPC (proposal A6): a bucket that starts
// full at max_tokens; an attempt that failed in a way to be tried again takes 1,
// also when it was the last, a success gives token_ratio; and there are retries
// only above half of it. Tokens are counted in thousandths, as gRPC reads them.
type GRPCBudget struct {
	MaxTokens  int     `yaml:"max_tokens" unit:"count" min:"1" max:"1000" short:"true" also:"maxTokens" help:"tokens of the full bucket"`
	TokenRatio float64 `yaml:"token_ratio" unit:"factor" min:"0" open:"min" also:"tokenRatio,ratio" help:"tokens that a success gives, to three digits"`
}

// Validate wants a ratio that three digits can hold.
func (c *GRPCBudget) Validate() []spec.Problem {
	if thousandths(c.TokenRatio) == 0 {
		return []spec.Problem{{Field: "token_ratio", Text: fmt.Sprintf("token_ratio %g is 0 in thousandths: the bucket never fills again", c.TokenRatio), Hint: "at least 0.001"}}
	}
	return nil
}

// thousandths drops what is behind the third digit, as gRPC does. It goes by the
// digits as written: 0.29·1000 would be 289 and a little.
func thousandths(ratio float64) int64 {
	milli, err := strconv.ParseFloat(strconv.FormatFloat(ratio, 'f', -1, 64)+"e3", 64)
	if err != nil {
		return 0
	}
	return int64(min(milli, 1e12))
}

// Budget makes a full bucket.
func (c *GRPCBudget) Budget() Budget {
	most := int64(c.MaxTokens) * 1000
	return &grpcBudget{tokens: most, most: most, ratio: thousandths(c.TokenRatio)}
}

// Text is e.g. "grpc budget 10, ratio 0.1".
func (c *GRPCBudget) Text() string {
	return fmt.Sprintf("grpc budget %d, ratio %g", c.MaxTokens, c.TokenRatio)
}

// Help says what the kind is.
func (*GRPCBudget) Help() string {
	return "a bucket that failures empty and successes fill; retries only above half of it"
}

// Example is a line of YAML.
func (*GRPCBudget) Example() string { return "{grpc: {max_tokens: 10, token_ratio: 0.1}}" }

type grpcBudget struct{ tokens, most, ratio int64 } // in thousandths

var _ Budget = (*grpcBudget)(nil)

// Enter does nothing, nor does Leave.
func (*grpcBudget) Enter(time.Duration) {}

// Leave does nothing.
func (*grpcBudget) Leave(time.Duration) {}

// Ask wants more than half of the tokens.
func (b *grpcBudget) Ask(time.Duration, call.Class) (Permit, bool) {
	return 1, b.tokens > b.most/2
}

// Return does nothing: asking cost nothing.
func (*grpcBudget) Return(Permit) {}

// Begin does nothing.
func (*grpcBudget) Begin(Permit) {}

// End takes a token for a failure and gives the ratio for a success.
func (b *grpcBudget) End(_ time.Duration, _ Permit, class call.Class, bad bool) {
	switch {
	case bad:
		b.tokens = max(0, b.tokens-1000)
	case class == call.OK:
		b.tokens = min(b.most, b.tokens+b.ratio)
	}
}

// Late is no: the failure itself decides.
func (*grpcBudget) Late() bool { return false }
