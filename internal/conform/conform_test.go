package conform

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"blastradius/sim/call"

	"pgregory.net/rapid"
)

const sample = `library example.com/lib v1.2.3
dialect lib

settings {dialect: lib, consecutive: 2, cooldown: 1s}
unit 1s
# at exactly the timeout it is still open
still-open: a a s0 s1O 1r +1aH o2C q
g1: 2-1a 1+250x0U
`

func TestTextSaysWhatItMeans(t *testing.T) {
	f, err := Decode([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	s := time.Second
	want := &File{
		Library: "example.com/lib", Version: "v1.2.3", Dialect: "lib",
		Groups: []Group{{
			Settings: "{dialect: lib, consecutive: 2, cooldown: 1s}", Unit: s,
			Traces: []Trace{
				{Name: "still-open", About: "at exactly the timeout it is still open", Steps: []Step{
					{Op: Admit, ID: 0, OK: true, State: Closed},
					{Op: Admit, ID: 1, OK: true, State: Closed},
					{Op: Complete, ID: 0, Class: call.ServerError, State: Closed},
					{Op: Complete, ID: 1, Class: call.ServerError, State: Open},
					{At: s, Op: Admit, ID: -1, State: Open},
					{At: s + 1, Op: Admit, ID: 2, OK: true, State: HalfOpen},
					{At: s + 1, Op: Complete, ID: 2, Class: call.OK, State: Closed},
					{At: s + 1, Op: Look, ID: -1, State: Closed},
				}},
				{Name: "g1", Steps: []Step{
					{At: 2*s - 1, Op: Admit, ID: 0, OK: true, State: Closed},
					{At: 3*s + 249, Op: Complete, ID: 0, Class: call.Cancelled, State: Unknown},
				}},
			},
		}},
	}
	if !reflect.DeepEqual(f, want) {
		t.Errorf("got  %+v\nwant %+v", f, want)
	}
	if got := string(f.Encode()); got != sample {
		t.Errorf("encoded again:\n%s\nwant\n%s", got, sample)
	}
	if traces, steps := f.Count(); traces != 2 || steps != 10 {
		t.Errorf("counted %d traces and %d steps, want 2 and 10", traces, steps)
	}
}

func TestEveryClassHasALetterOfItsOwn(t *testing.T) {
	seen := map[byte]bool{letterAdmitted: true, letterRefused: true, letterLook: true}
	for c, letter := range classLetters {
		if letter == 0 || seen[letter] {
			t.Errorf("%v has the letter %q", call.Class(c), letter)
		}
		seen[letter] = true
	}
}

func TestBadTextIsRefusedWithItsLine(t *testing.T) {
	head := "settings {}\nunit 1s\n"
	for text, want := range map[string]string{
		"x: a":                           `line 1: "x:" comes before any settings`,
		"settings {}\nx: a":              "line 2: a trace before the unit",
		"settings {}\nunit 0s":           `line 2: unit "0s"`,
		head + "unit 1s":                 "line 3: a second unit",
		head + "what is this":            `line 3: "what" is none of`,
		head + "x: a\n\n# c\ny: a s0 s0": `line 6: trace y: step 2, "s0": call 0 is not under way`,
		head + "x: s0":                   "call 0 is not under way",
		head + "x: r s0":                 "call 0 is not under way",
		head + "x: s":                    "no number",
		head + "x: 1":                    "no letter",
		head + "x: z":                    `no step has the letter 'z'`,
		head + "x: aX":                   `"X" is no state`,
		head + "x: aOO":                  `"OO" is no state`,
		head + "x: -1a":                  "back in time",
		head + "x: 99999999999a":         "too long",
		head + "x: 1234567890123456789a": "no number",
		head + "x: +a":                   "no number",
	} {
		if _, err := Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %q", text, err, want)
		}
	}
}

// drawFile is any file that a recorder can make.
func drawFile(t *rapid.T) *File {
	f := &File{Library: "example.com/lib", Version: "v1", Dialect: "lib"}
	for range rapid.IntRange(0, 3).Draw(t, "groups") {
		g := Group{Settings: "{dialect: lib}", Unit: time.Duration(rapid.Int64Range(1, int64(time.Minute)).Draw(t, "unit"))}
		for range rapid.IntRange(1, 3).Draw(t, "traces") {
			tr := Trace{Name: rapid.StringMatching("[a-z][a-z0-9-]{0,8}").Draw(t, "name")}
			out, admitted, at := []int{}, 0, time.Duration(0)
			for range rapid.IntRange(1, 20).Draw(t, "steps") {
				at += time.Duration(rapid.Int64Range(0, 3*int64(g.Unit)).Draw(t, "wait"))
				s := Step{At: at, ID: -1, State: State(rapid.IntRange(0, 3).Draw(t, "state"))}
				switch op := rapid.IntRange(0, 3).Draw(t, "op"); {
				case op == 0:
					s.OK, s.ID = true, admitted
					out = append(out, admitted)
					admitted++
				case op == 1 && len(out) > 0:
					s.Op, s.ID, s.Class = Complete, out[0], call.Class(rapid.IntRange(0, call.NumClasses-1).Draw(t, "class"))
					out = out[1:]
				case op == 2:
					s.Op = Look
				}
				tr.Steps = append(tr.Steps, s)
			}
			g.Traces = append(g.Traces, tr)
		}
		f.Groups = append(f.Groups, g)
	}
	return f
}

func TestDecodeOfEncodeIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawFile(t)
		got, err := Decode(want.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %+v\nwant %+v\ntext\n%s", got, want, want.Encode())
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("settings {}\nunit 2ns\nx: 1-1a +1o0H"))
	f.Fuzz(func(t *testing.T, text []byte) {
		first, err := Decode(text)
		if err != nil {
			return
		}
		again, err := Decode(first.Encode())
		if err != nil {
			t.Fatalf("its own text is refused: %v\n%s", err, first.Encode())
		}
		if !bytes.Equal(first.Encode(), again.Encode()) {
			t.Fatalf("%s\nbecame\n%s", first.Encode(), again.Encode())
		}
	})
}

// scripted is a breaker that does what a recorded trace says, except at one
// step.
type scripted struct {
	steps []Step
	next  int
	wrong int // the step at which it errs, -1 for none
	state State
	ids   []int // as it was told them
}

func (b *scripted) Admit(_ time.Duration, id int) bool {
	b.ids = append(b.ids, id)
	s := b.take()
	return s.OK != (b.next-1 == b.wrong)
}

func (b *scripted) Complete(_ time.Duration, id int, _ call.Class) { b.take() }

func (b *scripted) State(time.Duration) State { return b.state }

func (b *scripted) take() Step {
	s := b.steps[b.next]
	b.next++
	b.state = s.State
	if s.Op == Complete && b.next-1 == b.wrong {
		b.state = Unknown
	}
	return s
}

func TestReplayFindsTheFirstDifference(t *testing.T) {
	f, err := Decode([]byte("settings {dialect: lib}\nunit 1s\nx: a a s0 s1O 1r +1aH o2C"))
	if err != nil {
		t.Fatal(err)
	}
	g := &f.Groups[0]
	tr := &g.Traces[0]
	b := &scripted{steps: tr.Steps, wrong: -1}
	if d := Replay(g, tr, b); d != nil {
		t.Errorf("the recorded behaviour differs from itself: %v", d)
	}
	if want := []int{0, 1, 2, 2}; !reflect.DeepEqual(b.ids, want) {
		t.Errorf("admissions had the ids %v, want %v: a refused call leaves its id to the next", b.ids, want)
	}
	for wrong := range tr.Steps {
		if d := Replay(g, tr, &scripted{steps: tr.Steps, wrong: wrong}); d == nil || d.Step != wrong {
			t.Errorf("wrong at step %d, found %v", wrong, d)
		}
	}
	d := Replay(g, tr, &scripted{steps: tr.Steps, wrong: 4})
	want := "trace x, step 4 at 1s: recorded refused, open, got admitted, open\nsettings {dialect: lib}\nunit 1s\na a s0 s1O 1r"
	if d.Error() != want {
		t.Errorf("got\n%v\nwant\n%v", d, want)
	}
}

func TestUnknownStateAgreesWithAny(t *testing.T) {
	g := &Group{Unit: time.Second, Traces: []Trace{{Steps: []Step{{OK: true, State: Unknown}}}}}
	b := &scripted{steps: []Step{{OK: true, State: Open}}, wrong: -1}
	if d := Replay(g, &g.Traces[0], b); d != nil {
		t.Error(d)
	}
}
