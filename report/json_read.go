package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// largest is the size from which a file is refused unread: a result of 100 arms
// has about 60 MB.
const largest = 1 << 30

// Read loads a saved result. It is strict: what this version would not have
// written is an error that begins with name, e.g.
//
//	result.json: not a blastradius result: it ends in the middle
func Read(name string, r io.Reader) (*Result, error) {
	bad := func(format string, args ...any) (*Result, error) {
		return nil, fmt.Errorf("%s: not a blastradius result: %s", name, fmt.Sprintf(format, args...))
	}
	data, err := io.ReadAll(io.LimitReader(r, largest+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(data) > largest:
		return bad("it is larger than 1 GB")
	case len(bytes.TrimSpace(data)) == 0:
		return bad("it is empty")
	}
	var head struct {
		Schema json.RawMessage `json:"schema"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return bad("%s", inWords(err, data))
	}
	switch schema := string(head.Schema); schema {
	case fmt.Sprint(Schema):
	case "", "null":
		return bad("it has no schema")
	default:
		return bad("its schema is %s; this version reads schema %d", short(schema), Schema)
	}
	out := &Result{}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(out); err != nil {
		return bad("%s", inWords(err, data))
	}
	if problem := inconsistent(out); problem != "" {
		return bad("%s", problem)
	}
	return out, nil
}

func short(s string) string {
	if len(s) > 20 {
		return s[:20] + "…"
	}
	return s
}

// inWords says what is wrong with the JSON without the names of Go types.
func inWords(err error, data []byte) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &syntax) && syntax.Offset >= int64(len(data)):
		return "it ends in the middle"
	case errors.As(err, &syntax):
		return fmt.Sprintf("%s is no JSON", place(data, syntax.Offset))
	case errors.As(err, &kind):
		where := kind.Field
		if where == "" {
			where = "the whole"
		}
		return fmt.Sprintf("%s: %s is %s, which does not belong there", place(data, kind.Offset), where, article(kind.Value))
	case strings.Contains(err.Error(), "unknown field"):
		return "unknown key " + strings.TrimPrefix(err.Error(), "json: unknown field ")
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func article(kind string) string {
	if strings.IndexByte("aeiou", kind[0]) >= 0 {
		return "an " + kind
	}
	return "a " + kind
}

func place(data []byte, offset int64) string {
	before := data[:min(max(0, offset), int64(len(data)))]
	return fmt.Sprintf("line %d", 1+bytes.Count(before, []byte{'\n'}))
}

// inconsistent finds what fits the types and makes no sense, so that nothing
// that draws a result has to look again.
func inconsistent(r *Result) string {
	if r.Scenario.Duration <= 0 {
		return "scenario.duration is not above 0"
	}
	names := map[string]bool{}
	for i := range r.Arms {
		a := &r.Arms[i]
		if a.Name == "" || names[a.Name] {
			return fmt.Sprintf("arm %d has no name of its own", i+1)
		}
		names[a.Name] = true
		s := &a.Series
		if len(s.Names) != len(s.Values) {
			return fmt.Sprintf("arm %s: %d names and %d rows of series", a.Name, len(s.Names), len(s.Values))
		}
		if len(s.Values) > 0 && s.step() <= 0 {
			return fmt.Sprintf("arm %s: %q is no step of a series", a.Name, s.Step)
		}
		for k, row := range s.Values {
			if len(row) != len(s.Values[0]) {
				return fmt.Sprintf("arm %s: series %s has %d bins, %s has %d", a.Name, s.Names[k], len(row), s.Names[0], len(s.Values[0]))
			}
		}
		for _, c := range a.States {
			if c.State < 0 || c.State > 2 {
				return fmt.Sprintf("arm %s: %s has state %d", a.Name, c.Breaker, c.State)
			}
		}
	}
	for _, p := range r.Scenario.Phases {
		if p.To < p.From {
			return fmt.Sprintf("phase %s ends before it begins", p.Name)
		}
	}
	for _, f := range r.Scenario.Faults {
		if f.To < f.From {
			return fmt.Sprintf("a fault of %s ends before it begins", f.Dependency)
		}
	}
	return ""
}

// step is the width of a bin in seconds, 0 when it is none.
func (s *Series) step() float64 {
	d, err := time.ParseDuration(s.Step)
	if err != nil || d <= 0 {
		return 0
	}
	return d.Seconds()
}
