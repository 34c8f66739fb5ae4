package report

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
)

func TestTheSampleIsWhatItsModelMakes(t *testing.T) {
	want, err := JSON(newSample())
	must(t, err)
	sample(t)
	got, err := os.ReadFile(sampleFile)
	must(t, err)
	if !bytes.Equal(got, want) {
		t.Error("testdata/sample.json is stale; go test ./report -update writes it again")
	}
}

func TestSavedAndReadAgainGivesTheSameBytes(t *testing.T) {
	first, err := JSON(newSample())
	must(t, err)
	r, err := Read("x", bytes.NewReader(first))
	must(t, err)
	second, err := JSON(r)
	must(t, err)
	if !bytes.Equal(first, second) {
		t.Error("a result changes when it is saved, read and saved again")
	}
	var plain bytes.Buffer
	must(t, json.Compact(&plain, first))
	must(t, Write(&plain, r))
}

func TestKeysStandInTheOrderOfTheSchema(t *testing.T) {
	data, err := JSON(newSample())
	must(t, err)
	at := -1
	for _, key := range []string{"schema", "tool", "scenario", "seed", "arms", "expectations", "findings", "warnings"} {
		i := bytes.Index(data, []byte("\n \""+key+"\":"))
		if i <= at {
			t.Errorf("%s is not where it belongs", key)
		}
		at = i
	}
}

func TestTimesAreRoundedToTheNanosecondAndSharesAreNot(t *testing.T) {
	r := newSample()
	third := 1.0 / 3
	r.Arms[0].Metrics["blast_radius.time_to_recover"] = third
	r.Arms[0].Metrics["blast_radius.direct"] = third
	r.Scenario.Dependencies[0].Mean = third
	r.Scenario.Faults[0].Latency = &third
	data, err := JSON(r)
	must(t, err)
	got, err := Read("x", bytes.NewReader(data))
	must(t, err)
	for name, c := range map[string][2]float64{
		"metric": {got.Arms[0].Metrics["blast_radius.time_to_recover"], 0.333333333},
		"share":  {got.Arms[0].Metrics["blast_radius.direct"], third},
		"mean":   {got.Scenario.Dependencies[0].Mean, 0.333333333},
		"fault":  {*got.Scenario.Faults[0].Latency, 0.333333333},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: got %v, want %v", name, c[0], c[1])
		}
	}
	if third != 1.0/3 || r.Arms[0].Metrics["blast_radius.time_to_recover"] != third {
		t.Error("saving changed the result itself")
	}
}

func TestListsThatAreMissingAreSavedEmpty(t *testing.T) {
	data, err := JSON(&Result{Schema: 1, Arms: []Arm{{Name: "only"}}})
	must(t, err)
	text := strings.Join(strings.Fields(string(data)), "")
	for _, want := range []string{`"findings":[]`, `"expectations":[]`, `"warnings":[]`, `"metrics":{}`, `"absent":{}`, `"phases":{}`, `"audit":[]`, `"names":[]`, `"values":[]`, `"effective":null`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}

func TestWhatIsNoNumberIsNamed(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		spoil func(r *Result)
		want  string
	}{
		{func(r *Result) { r.Arms[2].Metrics["endpoint.search.slo_rate"] = nan }, "arms.contained.metrics.endpoint.search.slo_rate is not a number"},
		{func(r *Result) { r.Arms[0].Phases["fault"].Metrics["process.parked_mean"] = inf }, "arms.uncontained.phases.fault.metrics.process.parked_mean is"},
		{func(r *Result) { r.Arms[0].Series.Values[3][7] = &nan }, "arms.uncontained.series.values.3.7 is"},
		{func(r *Result) { r.Expectations[1].Actual = &inf }, "expectations.1.actual is"},
		{func(r *Result) { r.Scenario.Dependencies[1].P99 = inf }, "scenario.dependencies.profiles.p99 is"},
	} {
		r := newSample()
		c.spoil(r)
		if _, err := JSON(r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestStrangeFilesAreRefusedInWords(t *testing.T) {
	good, err := JSON(newSample())
	must(t, err)
	edit := func(pairs ...string) string {
		out := strings.NewReplacer(pairs...).Replace(string(good))
		if out == string(good) {
			t.Fatalf("%q changes nothing", pairs)
		}
		return out
	}
	for _, c := range []struct{ name, data, want string }{
		{"empty", "", "it is empty"},
		{"blank", " \n\t", "it is empty"},
		{"truncated", string(good[:len(good)/2]), "it ends in the middle"},
		{"truncated early", "{", "it ends in the middle"},
		{"prose", "mine\n", "line 1 is no JSON"},
		{"yaml", "name: small\nduration: 5s\n", "line 1 is no JSON"},
		{"list", "[1, 2]", "line 1: the whole is an array, which does not belong there"},
		{"no schema", `{"arms": []}`, "it has no schema"},
		{"another schema", `{"schema": 3, "of": "another program"}`, "its schema is 3; this version reads schema 1"},
		{"schema of words", `{"schema": "draft-07"}`, `its schema is "draft-07"; this version`},
		{"foreign", `{"schema": 1, "name": "x"}`, `unknown key "name"`},
		{"wrong kind", `{"schema": 1, "arms": "none"}`, "line 1: arms is a string, which does not belong there"},
		{"trailing", string(good) + "{}", "is no JSON"},
		{"no duration", `{"schema": 1}`, "scenario.duration is not above 0"},
		{"binary", "\x00\x01\xff", "line 1 is no JSON"},
		{"two arms of one name", edit(`"name": "timeouts"`, `"name": "contained"`), "arm 3 has no name of its own"},
		{"no step", edit(`"step": "5s"`, `"step": "5"`), `"5" is no step of a series`},
		{"series without names", edit(`"process.parked_mean",`, ``), "rows of series"},
		{"state", edit(`"at":121.6,"state":2`, `"at":121.6,"state":7`), "dependency.payments.breaker has state 7"},
		{"phase", edit(`"from": 120,`, `"from": 900,`), "ends before it begins"},
	} {
		_, err := Read("result.json", strings.NewReader(c.data))
		want := "result.json: not a blastradius result: "
		if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s%s", c.name, err, want, c.want)
		}
		if err != nil && (strings.Contains(err.Error(), "report.") || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %q is not for people", c.name, err)
		}
	}
}

// The laying out must not touch what stands in texts.
func TestLayOutKeepsEveryByteOfTheContent(t *testing.T) {
	r := newSample()
	r.Scenario.Title = `brackets {[,:]} quotes " and \ at the end \`
	r.Scenario.About = "\\\""
	data, err := JSON(r)
	must(t, err)
	got, err := Read("x", bytes.NewReader(data))
	must(t, err)
	if got.Scenario.Title != r.Scenario.Title || got.Scenario.About != r.Scenario.About {
		t.Errorf("got %q and %q", got.Scenario.Title, got.Scenario.About)
	}
}

func FuzzReadNeverPanics(f *testing.F) {
	good, err := JSON(newSample())
	must(f, err)
	f.Add(string(good[:4000]))
	f.Add(`{"schema":1,"scenario":{"duration":1},"arms":[{"name":"a","series":{"step":"1s","names":["x"],"values":[[null,1]]}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Read("x", strings.NewReader(text))
		if err != nil {
			return
		}
		again, err := JSON(r)
		if err != nil {
			t.Fatalf("a result that was read cannot be saved: %v", err)
		}
		if _, err := Read("x", bytes.NewReader(again)); err != nil {
			t.Fatalf("a result that was saved cannot be read: %v", err)
		}
		_ = NewDocument(r)
	})
}
