package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Document is a result prepared for reading: the same sentences, rows and words
// for text, Markdown, the page and the pictures.
type Document struct {
	Result   *Result
	Name     string // of the scenario
	Title    string // free text, "" when the file has none
	Subtitle string // "10m, 200 requests/s, 3 arms meet the same requests, seed 42"
	// Headline is what happened, sentence by sentence.
	Headline []string
	Phase    Phase  // what Table and Headline speak of: fault where there is one, else all
	Heading  string // of the table: "DURING THE FAULT, 2m..5m"
	Table    []Row
	Windows  []Window  // when something was wrong, by start
	Findings []Finding // about the arms together, then each arm's own
	Command  string    // what reproduces it
	Origin   string    // "v0.2.0  scenario 7c1e90ab5d21"

	units *units
}

// Window is a stretch of the run in which a dependency had a fault.
type Window struct {
	Dependency string
	Text       string // "payments 8s", "payments down"
	From, To   float64
}

// NewDocument prepares r. It does not change r and never fails: what is not
// there is said in words.
func NewDocument(r *Result) *Document {
	d := &Document{Result: r, Name: r.Scenario.Name, Title: r.Scenario.Title, units: newUnits(r)}
	d.Phase = d.focus()
	d.Subtitle = d.subtitle()
	d.Windows = windows(r)
	d.Heading = d.HeadingOf(d.Phase.Name)
	d.Table = d.Rows(d.Phase.Name)
	d.Headline = d.headline()
	d.Findings = slices.Clone(r.Findings)
	for _, a := range r.Arms {
		d.Findings = append(d.Findings, a.Findings...)
	}
	d.Command = d.command()
	d.Origin = strings.Trim(fmt.Sprintf("%s  scenario %s", r.Tool.Version, r.Scenario.Digest), " ")
	return d
}

// PhaseNamed finds a phase of the scenario.
func (d *Document) PhaseNamed(name string) (Phase, bool) {
	i := slices.IndexFunc(d.Result.Scenario.Phases, func(p Phase) bool { return p.Name == name })
	if i < 0 {
		return Phase{}, false
	}
	return d.Result.Scenario.Phases[i], true
}

// focus is phase fault where the scenario and any arm have it.
func (d *Document) focus() Phase {
	if p, ok := d.PhaseNamed(phaseFault); ok {
		for _, a := range d.Result.Arms {
			if _, ok := a.Phases[phaseFault]; ok {
				return p
			}
		}
	}
	if p, ok := d.PhaseNamed(phaseAll); ok {
		return p
	}
	return Phase{Name: phaseAll, From: d.Result.Scenario.Warmup, To: d.Result.Scenario.Duration}
}

// HeadingOf is the table's heading in a phase.
func (d *Document) HeadingOf(phase string) string {
	p, ok := d.PhaseNamed(phase)
	if !ok {
		p = d.Phase
	}
	span := FormatSetting(p.From) + ".." + FormatSetting(p.To)
	switch phase {
	case phaseFault:
		if len(d.Result.Scenario.Faults) > 1 {
			return "DURING THE FAULTS, " + span
		}
		return "DURING THE FAULT, " + span
	case phaseAll:
		return "WHOLE RUN, " + span
	case "before", "after":
		return strings.ToUpper(phase) + " THE FAULT, " + span
	}
	return strings.ToUpper(phase) + ", " + span
}

func (d *Document) subtitle() string {
	r := d.Result
	rate := number(r.Scenario.Rate)
	out := []string{FormatSetting(r.Scenario.Duration)}
	if rate == "1" {
		out = append(out, "1 request/s")
	} else {
		out = append(out, rate+" requests/s")
	}
	switch n := len(r.Arms); n {
	case 0:
		out = append(out, "no arm")
	case 1:
		out = append(out, "1 arm")
	default:
		out = append(out, fmt.Sprintf("%d arms meet the same requests", n))
	}
	if n := uint64(max(0, r.Scenario.Replicas)); n > 1 {
		out = append(out, fmt.Sprintf("seeds %d..%d, shown %d", r.Seed, r.Seed+n-1, r.Seed))
	} else {
		out = append(out, fmt.Sprintf("seed %d", r.Seed))
	}
	return strings.Join(out, ", ")
}

// windows are the faults by start, each with the words that fit under a chart.
func windows(r *Result) (out []Window) {
	for _, f := range r.Scenario.Faults {
		text := f.Dependency + " " + strings.TrimPrefix(strings.TrimPrefix(f.Text, "slow: "), "error: ")
		if f.Text == "" {
			text = f.Dependency + " " + f.Kind
		}
		out = append(out, Window{Dependency: f.Dependency, Text: text, From: f.From, To: f.To})
	}
	slices.SortStableFunc(out, func(a, b Window) int { return cmp.Compare(a.From, b.From) })
	return out
}

// command is the line that gives the same bytes again.
func (d *Document) command() string {
	source := d.Result.Scenario.Source
	if source == "" {
		source = d.Name
	}
	words := []string{"blastradius", "run", shellWord(source)}
	for _, a := range d.Result.Scenario.Args {
		words = append(words, shellWord(a))
	}
	return strings.Join(append(words, "--seed", fmt.Sprint(d.Result.Seed)), " ")
}

// shellWord escapes what a POSIX shell would not take as it stands. Single
// signs are escaped, not the whole quoted, so that a line may be broken anywhere.
func shellWord(s string) string {
	if s == "" {
		return "''"
	}
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 && !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+:,./@%^", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// VsFlag is the command-line argument that tries a finding, "" when it has none.
func (f *Finding) VsFlag() string {
	if f.Vs == "" {
		return ""
	}
	return "--vs " + shellWord(f.Vs)
}

// Text is a finding as sentences: what, why, what to change. A reason that
// begins with a small letter goes on from what it explains.
func (f *Finding) Text() string {
	out := ""
	for i, part := range []string{f.What, f.Why, f.Change} {
		part = strings.TrimSpace(part)
		switch {
		case part == "":
			continue
		case out == "":
		case strings.ContainsAny(out[len(out)-1:], ".!?:"):
			out += " "
		case i == 1 && part[0] >= 'a' && part[0] <= 'z':
			out += ": "
		default:
			out += ". "
		}
		out += part
	}
	if out != "" && !strings.ContainsAny(out[len(out)-1:], ".!?:") {
		out += "."
	}
	return out
}

// Figure writes a metric of an arm in a phase, or the word for its absence.
func (d *Document) Figure(a *Arm, phase, metric string) string {
	v, why, ok := a.Figure(phase, metric)
	if !ok {
		return absentWord(why)
	}
	return FormatFigure(metric, d.units.of(metric), v)
}
