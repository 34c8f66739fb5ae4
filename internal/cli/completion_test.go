package cli

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
)

// candidates is what the shell is offered for the last of args.
func candidates(t *testing.T, args ...string) []string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := newEnv(nil, &out, &errs).main(context.Background(), append([]string{"__complete"}, args...)); code != exitFine {
		t.Fatalf("%v: exit code %d: %s", args, code, &errs)
	}
	var names []string
	for line := range strings.Lines(out.String()) {
		if name, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); name != "" && !strings.HasPrefix(name, ":") {
			names = append(names, name)
		}
	}
	return names
}

func TestCompletion(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{""}, "render"},
		{[]string{"run", ""}, "payments-slow"},
		{[]string{"run", "pay"}, "payments-slow"},
		{[]string{"run", "--form"}, "--format"},
		{[]string{"run", "--format", ""}, "json"},
		{[]string{"run", "--color", ""}, "never"},
		{[]string{"run", "--report", ""}, "parked.png="},
		{[]string{"run", "--set", ""}, "dependencies.payments.stack.breaker.cooldown="},
		{[]string{"run", "payments-slow", "--vs", ""}, "process.pool.size="},
		{[]string{"run", "--arm", ""}, "contained"},
		{[]string{"run", "--expect", ""}, "endpoint.search.slo_rate"},
		{[]string{"render", "--format", ""}, "md"},
		{[]string{"init", "--from", ""}, "payments-slow"},
		{[]string{"show", ""}, "payments-slow"},
		{[]string{"list", ""}, "metrics"},
		{[]string{"list", "-f", ""}, "csv"},
		{[]string{"explain", ""}, "payments-slow"},
		{[]string{"explain", ""}, "blast_radius.collateral"},
		{[]string{"kinds", ""}, "breaker"},
		{[]string{"help", ""}, "metrics"},
	} {
		if got := candidates(t, c.args...); !slices.Contains(got, c.want) {
			t.Errorf("%q: want %s in %q", c.args, c.want, got)
		}
	}
	if got := candidates(t, "run", "no-such.yaml", "--set", ""); len(got) != 0 {
		t.Errorf("a scenario that does not load offers %q", got)
	}
}
