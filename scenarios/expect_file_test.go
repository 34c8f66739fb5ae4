package scenarios

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"blastradius/sim"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestExpectationsOfABuiltin(t *testing.T) {
	f, err := Builtin("payments-slow")
	must(t, err)
	own, err := f.Expectations(nil)
	must(t, err)
	var got []string
	for _, e := range own {
		if e.Line == 0 || e.Expr == nil {
			t.Errorf("%s has no line or no expression", e.Text)
		}
		got = append(got, e.Arm+": "+e.Text)
	}
	for _, want := range []string{"contained: endpoint.search.slo_rate@fault >= 99.9%", "uncontained: blast_radius.collateral >= 30%"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

func TestExpectationsOfTheCommandLine(t *testing.T) {
	f, err := Builtin("payments-slow")
	must(t, err)
	f, err = f.AddVs("timeouts:payments.timeout=1.2s")
	must(t, err)
	arms := f.Arms()
	added := arms[len(arms)-1].Name
	for _, c := range []struct{ text, arm, want string }{
		{"payments.breaker.opens <= 8", "contained", "dependency.payments.breaker.opens <= 8"}, // no arm named
		{"uncontained: collateral >= 30%", "uncontained", "blast_radius.collateral >= 30%"},
		{"contained / uncontained collateral <= 0.1", "contained", "contained / uncontained blast_radius.collateral <= 0.1"},
		{added + ": pool.saturation <= 90%", added, "process.pool.saturation <= 90%"}, // an arm of --vs
	} {
		got, err := f.Expectations([]string{c.text})
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if len(got) != 1 || got[0].Arm != c.arm || got[0].Text != c.want {
			t.Errorf("%q: %+v, want %s: %s", c.text, got, c.arm, c.want)
		}
	}
	for _, c := range []struct{ text, want, hint string }{
		{"nobody: collateral >= 30%", "unknown arm \"nobody\"\n  nobody: coll", "known: uncontained"},
		{"colateral >= 30%", "unknown metric \"colateral\"\n  colateral >= 30%\n  ^^^^^^^^^", "did you mean blast_radius.collateral?"},
	} {
		_, err := f.Expectations([]string{c.text})
		var bad *BadExpectation
		if !errors.As(err, &bad) || !strings.Contains(bad.Error(), c.want) || !strings.Contains(bad.Hint(), c.hint) {
			t.Errorf("%q: %v, want %q and %q", c.text, err, c.want, c.hint)
		}
	}
}

const twoArms = `
duration: 1m
endpoints: {web: {arrivals: {poisson: 5/s}, calls: [db]}}
dependencies: {db: {latency: 20ms, stack: [{timeout: 1s}]}}
arms: {bare: {remove: all}, whole: {}}
`

func TestExpectationsNeedAnArm(t *testing.T) {
	f, err := Load("two.yaml", []byte(twoArms))
	must(t, err)
	_, err = f.Expectations([]string{"process.parked_max < 3"})
	var bad *BadExpectation
	if !errors.As(err, &bad) || !strings.Contains(bad.Error(), "no arm contained") || bad.Hint() != "arms: bare, whole" {
		t.Errorf("got %v", err)
	}
	if _, err = f.Expectations([]string{"whole: process.parked_max < 3"}); err != nil {
		t.Error(err)
	}
	x := ExpectSpec{Arm: "whole", That: "bare: process.parked_max < 3"}
	if _, err := f.expectation(x); err == nil || !strings.Contains(err.Error(), "arm bare is named under arm whole") {
		t.Errorf("two arms: %v", err)
	}
	x.Arm = "bare"
	if e, err := f.expectation(x); err != nil || e.Arm != "bare" || e.Text != "process.parked_max < 3" {
		t.Errorf("the same arm twice: %+v, %v", e, err)
	}
}

// Every figure of the catalogue has a name here, and none is twice.
func TestMetricsOfAScenario(t *testing.T) {
	f, err := Builtin("payments-slow")
	must(t, err)
	seen := map[string]bool{}
	for _, m := range f.Metrics() {
		if seen[m.Name] || m.Unit == "" || m.Help == "" {
			t.Errorf("%s: twice, or without unit or help", m.Name)
		}
		seen[m.Name] = true
		if _, ok := sim.Describe(m.Name, func(string, string) string { return "" }); !ok {
			t.Errorf("%s is not in the catalogue", m.Name)
		}
	}
	for _, want := range []string{"endpoint.search.slo_rate", "dependency.payments.breaker.opens", "dependency.index.bulkhead.shed", "process.pool.saturation", "blast_radius.collateral"} {
		if !seen[want] {
			t.Errorf("no %s", want)
		}
	}
	for name := range seen {
		if strings.HasPrefix(name, "process.workers") || strings.Contains(name, ".servers.") || strings.HasPrefix(name, "dependency.index.fallback.") {
			t.Errorf("%s of a part that the scenario does not have", name)
		}
	}
}
