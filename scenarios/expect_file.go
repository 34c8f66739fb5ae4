package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"blastradius/sim"
	"blastradius/sim/spec"
)

// Expect is an expectation of a file, parsed.
type Expect struct {
	Arm   string
	Text  string
	Why   string
	Holds float64
	Line  int
	Expr  *Expectation
}

// vocabulary is what f's expectations can speak of.
func (f *File) vocabulary() *Vocabulary {
	v := &Vocabulary{Metrics: map[string]spec.Unit{}}
	for _, s := range f.specs() {
		v.Arms = append(v.Arms, s.Name)
	}
	for _, x := range f.vs {
		v.Arms = append(v.Arms, x.name)
	}
	// Phases that faults make are always known: without a fault an expectation
	// about them has no figure, which is something else than a typing mistake.
	v.Phases = []string{sim.PhaseAll, sim.PhaseBefore, sim.PhaseFault, sim.PhaseAfter}
	for _, p := range f.scenario.Phases {
		v.Phases = append(v.Phases, p.Name)
	}
	for _, m := range f.Metrics() {
		v.Metrics[m.Name] = m.Unit
	}
	return v
}

// Metrics are the figures that the scenario's arms can have, by full name.
func (f *File) Metrics() (out []spec.Metric) {
	for _, e := range sim.Catalogue() {
		for _, subject := range f.subjects(e.Subject) {
			m := e.Metric
			m.Name = subject + "." + m.Name
			out = append(out, m)
		}
	}
	return out
}

// subjects are what a subject pattern of the catalogue stands for in f.
func (f *File) subjects(pattern string) (out []string) {
	s := &f.scenario
	switch {
	case pattern == "endpoint.X":
		for _, e := range s.Endpoints {
			out = append(out, "endpoint."+e.Name)
		}
	case pattern == "pool.NAME":
		for _, p := range s.Process.Pools {
			out = append(out, "pool."+p.Name)
		}
	case pattern == "process.pool" && s.Process.Pool == nil, pattern == "process.workers" && s.Process.Workers == nil:
	case pattern == "dependency.X":
		for _, d := range s.Dependencies {
			out = append(out, "dependency."+d.Name)
		}
	case pattern == "dependency.X.servers":
		for _, d := range s.Dependencies {
			if d.Capacity != nil {
				out = append(out, "dependency."+d.Name+".servers")
			}
		}
	case pattern == "dependency.X.hosts":
		for _, d := range s.Dependencies {
			if d.Hosts > 1 {
				out = append(out, "dependency."+d.Name+".hosts")
			}
		}
	case strings.HasPrefix(pattern, "dependency.X."):
		kind := strings.TrimPrefix(pattern, "dependency.X.")
		for _, d := range s.Dependencies {
			for _, l := range d.Stack {
				if l.Kind == kind {
					out = append(out, "dependency."+d.Name+"."+l.Name)
				}
			}
		}
	default:
		out = []string{pattern}
	}
	return out
}

// expectation parses one of the file's own and settles its arm.
func (f *File) expectation(x ExpectSpec) (*Expect, *SyntaxError) {
	return x.parse(f.vocabulary())
}

func (x ExpectSpec) parse(know *Vocabulary) (*Expect, *SyntaxError) {
	e, err := ParseExpectation(x.That, know)
	if err != nil {
		return nil, err
	}
	arm := x.Arm
	switch {
	case e.Join != "":
		arm = e.Arm
	case e.Arm != "" && arm != "" && e.Arm != arm:
		return nil, &SyntaxError{Len: len(e.Arm), text: fmt.Sprintf("arm %s is named under arm %s", e.Arm, arm), hint: "drop one of them"}
	case e.Arm != "":
		arm, e.Arm = e.Arm, ""
	case arm == "" && slices.Contains(know.Arms, ArmContained):
		arm = ArmContained
	case arm == "":
		return nil, &SyntaxError{text: "no arm is named, and there is no arm contained", hint: "arms: " + strings.Join(know.Arms, ", ")}
	}
	if !slices.Contains(know.Arms, arm) {
		u := &UnknownName{What: "arm", Name: arm, Known: know.Arms}
		return nil, &SyntaxError{text: u.Error(), hint: u.Hint()}
	}
	return &Expect{Arm: arm, Text: e.String(), Why: x.Why, Holds: x.Holds, Line: x.Line, Expr: e}, nil
}

// Expectations parses the file's expectations, or the given texts in their
// place.
func (f *File) Expectations(texts []string) ([]Expect, error) {
	specs := f.scenario.Expect
	if len(texts) > 0 {
		specs = nil
		for _, t := range texts {
			specs = append(specs, ExpectSpec{That: t})
		}
	}
	know := f.vocabulary()
	out := make([]Expect, 0, len(specs))
	for _, x := range specs {
		e, err := x.parse(know)
		if err != nil {
			return nil, &BadExpectation{Text: x.That, Err: err}
		}
		out = append(out, *e)
	}
	return out, nil
}

// BadExpectation is an expectation of the command line that does not parse.
type BadExpectation struct {
	Text string
	Err  *SyntaxError
}

// Error shows the place in the text.
func (b *BadExpectation) Error() string {
	from := min(b.Err.Pos, len(b.Text))
	to := min(from+b.Err.Len, len(b.Text))
	pad, mark := columns(b.Text[:from]), strings.Repeat("^", max(1, cells(b.Text[from:to])))
	return fmt.Sprintf("%s\n  %s\n  %s%s", b.Err.text, b.Text, pad, mark)
}

// Hint says what to write instead.
func (b *BadExpectation) Hint() string { return b.Err.hint }
