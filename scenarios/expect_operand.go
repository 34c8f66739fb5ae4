package scenarios

import (
	"slices"
	"strings"
)

var operators = []string{"<", "<=", ">", ">=", "==", "!=", "in"}

// otherWords are what other languages, and people, write for an operator.
var otherWords = map[string]string{
	"=": "==", "===": "==", "is": "==", "equals": "==", "eq": "==",
	"=>": ">=", "≥": ">=", "ge": ">=", "gte": ">=", "=<": "<=", "≤": "<=", "le": "<=", "lte": "<=",
	"<>": "!=", "≠": "!=", "!==": "!=", "not": "!=", "ne": "!=",
	"gt": ">", "above": ">", "over": ">", "lt": "<", "below": "<", "under": "<", "between": "in",
}

// comparison reads the operator; a range may go without one.
func (p *expectationParser) comparison() *SyntaxError {
	if !p.space() {
		return span{pos: len(p.text)}.fail(expectationForm, "no comparison follows the metric")
	}
	rest := p.text[p.pos:]
	w := span{rest[:len(rest)-len(strings.TrimLeft(rest, operatorRunes))], p.pos}
	if w.text == "" {
		w = p.until(blanks + operatorRunes)
		p.pos = w.pos
		if strings.Contains(rest, "..") && strings.IndexByte("+-.0123456789", rest[0]) >= 0 {
			p.e.Op = "in"
			return nil
		}
	}
	p.pos += len(w.text)
	p.e.Op = w.text
	if slices.Contains(operators, w.text) {
		return nil
	}
	hint := "one of < <= > >= == != or a range a..b"
	if meant, ok := otherWords[w.text]; ok {
		hint = meant + "?"
	}
	return w.fail(hint, "%q is no comparison", w.text)
}

// operand reads the value, or the two ends of a range, in the metric's unit.
func (p *expectationParser) operand() *SyntaxError {
	if !p.space() {
		return span{pos: len(p.text)}.fail("e.g. "+p.e.Op+" "+figureLike(p.e.unit), "no value follows the comparison")
	}
	rest := span{strings.TrimRight(p.text[p.pos:], blanks), p.pos}
	low, high, isRange := rest.cut("..")
	switch {
	case isRange && p.e.Op != "in" && p.e.Op != "==":
		return rest.fail("in "+low.text+".."+high.text+"?", "a range does not go with %s", p.e.Op)
	case !isRange && p.e.Op == "in":
		return rest.fail("e.g. in 10..20", "in takes a range a..b")
	}
	var err *SyntaxError
	if p.e.Low, err = low.figure(p.e.unit); err != nil {
		return err
	}
	p.e.High, p.e.value = p.e.Low, low.text
	if !isRange {
		return nil
	}
	if p.e.High, err = high.figure(p.e.unit); err != nil {
		return err
	}
	p.e.Op, p.e.value = "in", low.text+".."+high.text
	if p.e.High < p.e.Low {
		return rest.fail(high.text+".."+low.text+"?", "the range ends before it begins")
	}
	return nil
}

// cut takes a range apart; blanks around its dots do not count.
func (w span) cut(separator string) (low, high span, ok bool) {
	before, after, ok := strings.Cut(w.text, separator)
	if !ok {
		return w, span{}, false
	}
	low = span{strings.TrimRight(before, blanks), w.pos}
	trimmed := strings.TrimLeft(after, blanks)
	high = span{trimmed, w.pos + len(w.text) - len(trimmed)}
	return low, high, true
}
