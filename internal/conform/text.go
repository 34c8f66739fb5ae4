package conform

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"blastradius/sim/call"
)

// The text form, one line a trace:
//
//	library github.com/sony/gobreaker/v2 v2.4.0
//	dialect gobreaker-consecutive
//
// then, where the library was not run, where the facts were read,
//
//	read gobreaker.go at v2.4.0
//
// and the traces by their settings:
//
//	settings {dialect: gobreaker-consecutive, consecutive: 2, cooldown: 1s}
//	unit 1s
//	# at exactly the timeout it is still open
//	still-open: a s0 a s1O 1r +1aH
//
// A step is the time since the previous one, a letter, and the state when it
// is another than before (C, H, O, or U for unknown; a trace begins closed).
// The time is so many units and so many ns more or less: 2 is two units, 2-1
// one ns less, +1 one ns; none is the same instant. The letter a is a call
// admitted (the first is 0, the next 1, …), r one refused, q a look at the
// state, and all others are the end of the call whose number follows:
const (
	letterAdmitted = 'a'
	letterRefused  = 'r'
	letterLook     = 'q'
)

var classLetters = [call.NumClasses]byte{
	call.OK:           'o',
	call.ClientError:  'c',
	call.ServerError:  's',
	call.Throttled:    'h',
	call.ConnectError: 'n',
	call.Timeout:      't',
	call.Cancelled:    'x',
	call.Rejected:     'j',
	call.Degraded:     'd',
}

var stateLetters = [...]byte{Unknown: 'U', Closed: 'C', HalfOpen: 'H', Open: 'O'}

// Encode writes the text form. Decode of it gives the same file.
func (f *File) Encode() []byte {
	out := fmt.Appendf(nil, "library %s %s\ndialect %s\n", f.Library, f.Version, f.Dialect)
	if f.Read != "" {
		out = fmt.Appendf(out, "read %s\n", f.Read)
	}
	for _, g := range f.Groups {
		out = fmt.Appendf(out, "\nsettings %s\n", g.Settings)
		if g.Unit > 0 { // 0 goes with no traces
			out = fmt.Appendf(out, "unit %v\n", g.Unit)
		}
		for _, t := range g.Traces {
			if t.About != "" {
				out = fmt.Appendf(out, "# %s\n", t.About)
			}
			out = fmt.Appendf(out, "%s: ", t.Name)
			out = append(appendSteps(out, t.Steps, g.Unit), '\n')
		}
	}
	return out
}

func appendSteps(out []byte, steps []Step, unit time.Duration) []byte {
	at, state := time.Duration(0), Closed
	for i, s := range steps {
		if i > 0 {
			out = append(out, ' ')
		}
		out = appendTime(out, s.At-at, unit)
		switch {
		case s.Op == Look:
			out = append(out, letterLook)
		case s.Op == Complete:
			out = strconv.AppendInt(append(out, classLetters[s.Class]), int64(s.ID), 10)
		case s.OK:
			out = append(out, letterAdmitted)
		default:
			out = append(out, letterRefused)
		}
		if s.State != state {
			out = append(out, stateLetters[s.State])
		}
		at, state = s.At, s.State
	}
	return out
}

// appendTime writes d as the nearest number of units and the rest.
func appendTime(out []byte, d, unit time.Duration) []byte {
	units, rest := d/unit, d%unit
	if rest > unit-rest {
		units, rest = units+1, rest-unit
	}
	if units > 0 {
		out = strconv.AppendInt(out, int64(units), 10)
	}
	if rest > 0 {
		out = append(out, '+')
	}
	// A rest below zero comes with at least one unit, unless a unit has two ns
	// at most; it never does then, since half a unit is rounded down.
	if rest != 0 {
		out = strconv.AppendInt(out, int64(rest), 10)
	}
	return out
}

// Decode reads the text form. An error tells the line.
func Decode(text []byte) (*File, error) {
	f := &File{}
	about := ""
	number := 0
	for raw := range bytes.Lines(text) {
		number++
		line := strings.TrimSpace(string(raw))
		if line == "" {
			continue
		}
		if rest, ok := strings.CutPrefix(line, "#"); ok {
			about = strings.TrimSpace(rest)
			continue
		}
		if err := f.line(line, about); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		about = ""
	}
	return f, nil
}

// line takes one line that says something.
func (f *File) line(line, about string) error {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "library":
		f.Library, f.Version, _ = strings.Cut(rest, " ")
		return nil
	case "dialect":
		f.Dialect = rest
		return nil
	case "read":
		f.Read = rest
		return nil
	case "settings":
		f.Groups = append(f.Groups, Group{Settings: rest})
		return nil
	}
	if len(f.Groups) == 0 {
		return fmt.Errorf("%q comes before any settings", word)
	}
	g := &f.Groups[len(f.Groups)-1]
	if word == "unit" {
		d, err := time.ParseDuration(rest)
		if err != nil || d <= 0 {
			return fmt.Errorf("unit %q is not a duration above 0", rest)
		}
		if g.Unit != 0 {
			return fmt.Errorf("a second unit for the same settings")
		}
		g.Unit = d
		return nil
	}
	name, isTrace := strings.CutSuffix(word, ":")
	switch {
	case !isTrace || name == "":
		return fmt.Errorf("%q is none of library, dialect, read, settings, unit and a name with a colon", word)
	case g.Unit == 0:
		return fmt.Errorf("a trace before the unit of its settings")
	}
	steps, err := decodeSteps(rest, g.Unit)
	if err != nil {
		return fmt.Errorf("trace %s: %w", name, err)
	}
	g.Traces = append(g.Traces, Trace{Name: name, About: about, Steps: steps})
	return nil
}

func decodeSteps(text string, unit time.Duration) ([]Step, error) {
	d := stepDecoder{unit: unit, state: Closed}
	var out []Step
	for i, token := range strings.Fields(text) {
		s, err := d.step(token)
		if err != nil {
			return nil, fmt.Errorf("step %d, %q: %w", i, token, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// stepDecoder knows what a step inherits from those before it.
type stepDecoder struct {
	unit  time.Duration
	at    time.Duration
	state State
	ids   int    // calls admitted
	ended []bool // by id
}

func (d *stepDecoder) step(token string) (s Step, err error) {
	rest, err := d.time(token)
	if err != nil {
		return s, err
	}
	if rest == "" {
		return s, fmt.Errorf("no letter after the time")
	}
	s.At, s.ID = d.at, -1
	letter := rest[0]
	rest = rest[1:]
	switch letter {
	case letterAdmitted:
		s.OK, s.ID = true, d.ids
		d.ids++
		d.ended = append(d.ended, false)
	case letterRefused:
	case letterLook:
		s.Op = Look
	default:
		class := bytes.IndexByte(classLetters[:], letter)
		if class < 0 {
			return s, fmt.Errorf("no step has the letter %q", letter)
		}
		s.Op, s.Class = Complete, call.Class(class)
		if s.ID, rest, err = leadingInt(rest); err != nil {
			return s, err
		}
		if s.ID >= d.ids || d.ended[s.ID] {
			return s, fmt.Errorf("call %d is not under way", s.ID)
		}
		d.ended[s.ID] = true
	}
	if rest != "" {
		state := bytes.IndexByte(stateLetters[:], rest[0])
		if state < 0 || len(rest) > 1 {
			return s, fmt.Errorf("%q is no state", rest)
		}
		d.state = State(state)
	}
	s.State = d.state
	return s, nil
}

// maxTime keeps sums of times far from overflow.
const maxTime = 1 << 60

// time takes the time off the front of a step and moves the clock by it.
func (d *stepDecoder) time(token string) (rest string, err error) {
	units, nanos, rest := 0, 0, token
	if token[0] >= '0' && token[0] <= '9' {
		if units, rest, err = leadingInt(rest); err != nil {
			return "", err
		}
	}
	if rest != "" && (rest[0] == '+' || rest[0] == '-') {
		minus := rest[0] == '-'
		if nanos, rest, err = leadingInt(rest[1:]); err != nil {
			return "", err
		}
		if minus {
			nanos = -nanos
		}
	}
	if int64(units) > maxTime/int64(d.unit) {
		return "", fmt.Errorf("the time is too long")
	}
	step := time.Duration(units)*d.unit + time.Duration(nanos)
	if step < 0 {
		return "", fmt.Errorf("it would go back in time")
	}
	if d.at += step; d.at > maxTime {
		return "", fmt.Errorf("the time is too long")
	}
	return rest, nil
}

// leadingInt cuts a number of up to 18 digits off the front.
func leadingInt(s string) (n int, rest string, err error) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if i == 0 || i > 18 {
		return 0, "", fmt.Errorf("no number at %q", s)
	}
	n, err = strconv.Atoi(s[:i])
	return n, s[i:], err
}
