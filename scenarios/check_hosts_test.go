package scenarios

import (
	"strings"
	"testing"
)

func TestOutlierThatCannotActIsWarnedOf(t *testing.T) {
	stack := func(hosts, layers string) string {
		return swap("    stack:\n      - breaker: {cooldown: 30s}\n      - bulkhead: {permits: 20}\n      - timeout: 1s\n", "    hosts: "+hosts+"\n    stack:\n      - "+strings.ReplaceAll(layers, "; ", "\n      - ")+"\n")
	}
	for _, c := range []struct{ name, src, want string }{
		{"one host", stack("1", "outlier; timeout: 1s"), "one host: there is no other to send to"},
		{"a tenth of nine", stack("9", "outlier; timeout: 1s"), "10% of 9 hosts is less than one host: nothing is ever ejected"},
		{"a third of three, not quite", stack("3", "outlier: {max_ejection_percent: 33%}; timeout: 1s"), "33% of 3 hosts is less than one host"},
		{"a tenth of ten", stack("10", "outlier; timeout: 1s"), ""},
		{"34 % of three", stack("3", "outlier: {max_ejection_percent: 34%}; timeout: 1s"), ""},
		{"at least one", stack("3", "outlier: {always_eject_one_host: true}; timeout: 1s"), ""},
		{"as it was in old versions", stack("3", "outlier: {dialect: envoy-old}; timeout: 1s"), ""},
		{"as in gRPC", stack("3", "outlier: {dialect: grpc-a50}; timeout: 1s"), ""},
		{"nobody", stack("10", "outlier: {max_ejection_percent: 0%}; timeout: 1s"), "max_ejection_percent 0% ejects no host ever"},
		{"no rule", stack("10", "outlier: {enforcing_consecutive_5xx: 0%, success_rate: {enforcing: 0%}}; timeout: 1s"), "no rule is enforced"},
		{"nothing is a failure", stack("10", "outlier: {verdicts: {server_error: neutral, connect_error: success, timeout: neutral}}; timeout: 1s"), "no outcome is a failure"},
		{"inside of the timeout", stack("10", "timeout: 1s; outlier"), "never hears of a timeout"},
		{"between two", stack("10", "{timeout: 2s, name: whole}; outlier; timeout: 1s"), ""},
		{"no timeout anywhere", stack("10", "outlier"), ""},
		{"more hosts wanted than there are", stack("12", "outlier: {success_rate: {minimum_hosts: 13}}; timeout: 1s"), "success_rate.minimum_hosts 13 is above the 12 hosts"},
		{"as many as there are", stack("12", "outlier: {success_rate: {minimum_hosts: 12}}; timeout: 1s"), ""},
		{"more wanted by a rule that is not enforced", stack("12", "outlier: {failure_percentage: {minimum_hosts: 13}}; timeout: 1s"), ""},
		{"more wanted by one that is", stack("12", "outlier: {failure_percentage: {minimum_hosts: 13, enforcing: 1%}}; timeout: 1s"), "failure_percentage.minimum_hosts 13 is above the 12 hosts"},
	} {
		f, err := Load("w.yaml", []byte(strings.ReplaceAll(c.src, "      - \n", "")))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		w := strings.Join(f.Warnings(), "\n")
		if c.want == "" && w != "" || !strings.Contains(w, c.want) {
			t.Errorf("%s: warnings %q, want %q", c.name, w, c.want)
		}
	}
}

// A dialect sets the defaults wherever it stands in its block; other keys and
// --set override it.
func TestDialectSetsDefaults(t *testing.T) {
	explain := func(outlier string) string {
		f, err := Load("w.yaml", []byte(swap("    stack:", "    hosts: 10\n    stack:\n      - outlier: "+outlier)))
		if err != nil {
			t.Fatal(err)
		}
		text, _ := f.Effective()
		g, err := Load("w.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if f.Digest() != g.Digest() {
			t.Errorf("%s: reading the effective form gives another scenario\n%s", outlier, text)
		}
		return text
	}
	for _, c := range []struct {
		outlier string
		want    []string
	}{
		{"{}", []string{"dialect: envoy # default", "consecutive_5xx: 5 # default", "limit: after # default", "panic_threshold: 50% # default"}},
		{"{dialect: grpc-a50}", []string{"dialect: grpc-a50\n", "consecutive_5xx: 0 # default", "limit: before # default", "panic_threshold: 0% # default", "client_error: failure"}},
		{"{consecutive_5xx: 7, dialect: grpc-a50}", []string{"consecutive_5xx: 7\n", "limit: before # default"}},
		{"{dialect: grpc-a50, limit: after, failure_percentage: {threshold: 50%}}", []string{"limit: after\n", "threshold: 50%\n", "enforcing: 100% # default"}},
		{"{dialect: envoy-old, verdicts: {client_error: failure}}", []string{"limit: before # default", "{client_error: failure}"}},
	} {
		got := explain(c.outlier)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", c.outlier, want, got)
			}
		}
	}
}
