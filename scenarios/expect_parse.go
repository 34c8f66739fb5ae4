package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"blastradius/sim"
	"blastradius/sim/spec"
)

// ParseExpectation reads a text against what it can speak of:
//
//	[arm:] metric[@phase] op value
//	[arm:] metric[@phase] [in | ==] low..high
//	arm1 (/ | -) arm2 metric[@phase] …
//
// The metric may be any end of its name that only one metric has
// (payments.breaker.opens), as everywhere.
func ParseExpectation(text string, know *Vocabulary) (*Expectation, *SyntaxError) {
	if len(text) > longestExpectation {
		return nil, &SyntaxError{Len: longestExpectation, text: "the expectation is too long", hint: expectationForm}
	}
	p := &expectationParser{text: text, know: know, e: &Expectation{Phase: sim.PhaseAll}}
	for _, part := range []func() *SyntaxError{p.arms, p.metric, p.comparison, p.operand} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	return p.e, nil
}

// Vocabulary is what an expectation can speak of.
type Vocabulary struct {
	Arms    []string
	Phases  []string
	Metrics map[string]spec.Unit // by full name
}

// SyntaxError is a problem in an expectation's text.
type SyntaxError struct {
	Pos, Len int // bytes; Len 0 where something is missing
	text     string
	hint     string
}

// Error says what is wrong.
func (e *SyntaxError) Error() string { return e.text }

// Hint says what to write instead.
func (e *SyntaxError) Hint() string { return e.hint }

const expectationForm = "METRIC[@PHASE] OP VALUE, e.g. endpoint.search.slo_rate@fault >= 99.9%"

// longestExpectation, in bytes, keeps what is quoted in an error readable.
const longestExpectation = 1000

type expectationParser struct {
	text string
	pos  int
	know *Vocabulary
	e    *Expectation
}

// span is a stretch of the text.
type span struct {
	text string
	pos  int
}

func (w span) fail(hint, format string, args ...any) *SyntaxError {
	return &SyntaxError{Pos: w.pos, Len: len(w.text), text: fmt.Sprintf(format, args...), hint: hint}
}

const (
	blanks        = " \t\r\n"
	operatorRunes = "<>=!≤≥≠"
)

// space skips blanks; it is false at the end of the text.
func (p *expectationParser) space() bool {
	rest := strings.TrimLeft(p.text[p.pos:], blanks)
	p.pos = len(p.text) - len(rest)
	return rest != ""
}

// until reads up to the first of stop.
func (p *expectationParser) until(stop string) span {
	w := span{p.text[p.pos:], p.pos}
	if i := strings.IndexAny(w.text, stop); i >= 0 {
		w.text = w.text[:i]
	}
	p.pos += len(w.text)
	return w
}

// name reads a name: of an arm, or of a metric with its phase.
func (p *expectationParser) name() span {
	p.space()
	return p.until(blanks + operatorRunes + "/:")
}

// next takes one byte if it comes next, blanks apart.
func (p *expectationParser) next(b byte) (span, bool) {
	if !p.space() || p.text[p.pos] != b {
		return span{}, false
	}
	p.pos++
	return span{string(b), p.pos - 1}, true
}

// armName reads a name that may be an arm's. An arm of the command line is
// called by its change, with signs and blanks in it (ramp={from: 10%, over:
// 30s}): the longest arm that the text goes on with comes first.
func (p *expectationParser) armName() span {
	p.space()
	rest, longest := p.text[p.pos:], ""
	for _, arm := range p.know.Arms {
		after, ok := strings.CutPrefix(rest, arm)
		if ok && len(arm) > len(longest) && (after == "" || strings.IndexByte(blanks+"/:", after[0]) >= 0) {
			longest = arm
		}
	}
	if longest == "" {
		return p.name()
	}
	p.pos += len(longest)
	return span{longest, p.pos - len(longest)}
}

func (p *expectationParser) arm(w span) *SyntaxError {
	if slices.Contains(p.know.Arms, w.text) {
		return nil
	}
	u := &UnknownName{What: "arm", Name: w.text, Known: p.know.Arms}
	return w.fail(u.Hint(), "%s", u.Error())
}

// arms reads "arm:", "arm1 / arm2" or "arm1 - arm2"; what is none of them is
// left for the metric.
func (p *expectationParser) arms() *SyntaxError {
	start := p.pos
	first := p.armName()
	var one bool
	var join span
	if join, one = p.next(':'); one {
		if err := p.arm(first); err != nil {
			return err
		}
		p.e.Arm = first.text
		return nil
	}
	slash, divided := p.next('/')
	minus, subtracted := span{}, false
	if !divided {
		minus, subtracted = p.next('-')
	}
	switch {
	case divided:
		join = slash
	case subtracted:
		join = minus
	default:
		p.pos = start
		return nil
	}
	second := p.armName()
	for _, w := range []span{first, second} {
		if err := p.arm(w); err != nil {
			return err
		}
	}
	p.e.Arm, p.e.Join, p.e.Second = first.text, join.text, second.text
	if colon, ok := p.next(':'); ok {
		return colon.fail("arm1 / arm2 metric op value", "two arms take no colon")
	}
	return nil
}

// metric reads METRIC[@PHASE].
func (p *expectationParser) metric() *SyntaxError {
	if !p.space() {
		what := "no metric is named"
		if p.e.Arm == "" {
			what = "the expectation is empty"
		}
		return span{pos: p.pos}.fail(expectationForm, "%s", what)
	}
	w := p.name()
	name, phase, hasPhase := strings.Cut(w.text, "@")
	if name == "" {
		return span{pos: w.pos}.fail(expectationForm, "no metric is named")
	}
	full, candidates := p.know.resolve(name)
	at := span{name, w.pos}
	switch {
	case len(candidates) > 1:
		return at.fail(several(candidates), "%q is the end of %d metrics", name, len(candidates))
	case full == "":
		hint := "blastradius metrics lists them"
		if near, ok := p.know.near(name); ok {
			hint = fmt.Sprintf("did you mean %s?", near)
		}
		return at.fail(hint, "unknown metric %q", name)
	}
	p.e.Metric, p.e.unit = full, p.know.Metrics[full]
	if p.e.Join == "/" {
		p.e.unit = spec.Ratio
	}
	if !hasPhase {
		return nil
	}
	if !slices.Contains(p.know.Phases, phase) {
		u := &UnknownName{What: "phase", Name: phase, Known: p.know.Phases}
		return span{phase, w.pos + len(name) + 1}.fail(u.Hint(), "%s", u.Error())
	}
	p.e.Phase, p.e.phase = phase, true
	return nil
}

// several names at most three of the candidates.
func several(names []string) string {
	if len(names) > 3 {
		return strings.Join(names[:3], ", ") + ", …"
	}
	return strings.Join(names, " or ")
}
