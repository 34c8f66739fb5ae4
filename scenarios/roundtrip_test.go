package scenarios

import (
	"strings"
	"testing"
)

// TestEffectiveDecodesToItself writes every shipped scenario back with all its
// defaults and reads it again.
func TestEffectiveDecodesToItself(t *testing.T) {
	sources := map[string]string{"starter": Starter(), "base": badBase}
	for _, n := range Builtins() {
		src, err := BuiltinSource(n)
		if err != nil {
			t.Fatal(err)
		}
		sources[n] = string(src)
	}
	for _, k := range Kinds() {
		if k.Example == "" || k.Help == "" {
			t.Errorf("%s %s lacks its help or example", k.Family, k.Name)
		}
		switch k.Family {
		case "latency":
			sources["latency "+k.Name] = strings.Replace(badBase, "latency: 50ms", "latency: "+k.Example, 1)
		case "arrivals":
			sources["arrivals "+k.Name] = strings.Replace(badBase, "{poisson: 80/s}", k.Example, 1)
		case "layers":
			sources["layer "+k.Name] = strings.Replace(badBase, "- timeout: 1s", "- timeout: 1s\n      - "+strings.Replace(k.Example, "}", "}", 1)+"\n        name: other", 1)
			sources["layer "+k.Name] = strings.Replace(badBase, "    stack:\n      - breaker: {cooldown: 30s}\n      - bulkhead: {permits: 20}\n      - timeout: 1s\n", "    stack: ["+k.Example+"]\n", 1)
		case "backoff":
			sources["backoff "+k.Name] = strings.Replace(badBase, "- timeout: 1s", "- retry: {backoff: "+k.Example+"}", 1)
		case "limit":
			sources["limit "+k.Name] = strings.Replace(badBase, "- timeout: 1s", "- rate_limit: "+k.Example, 1)
		case "algorithm":
			sources["algorithm "+k.Name] = strings.Replace(badBase, "- timeout: 1s", "- concurrency_limit: "+k.Example, 1)
		case "rule":
			sources["rule "+k.Name] = strings.Replace(badBase, "- timeout: 1s", "- throttle: "+k.Example, 1)
		case "jitter", "budget":
			sources[k.Family+" "+k.Name] = strings.Replace(badBase, "- timeout: 1s", "- hedge: {delay: 10ms, budget: failsafe-go}\n      - retry: {"+k.Family+": "+k.Example+"}", 1)
		case "delay":
			sources["delay "+k.Name] = strings.Replace(badBase, "- timeout: 1s", "- hedge: {delay: "+k.Example+"}", 1)
		case "faults":
			sources["fault "+k.Name] = strings.Replace(badBase, "    stack:", "    faults: ["+k.Example+"]\n    stack:", 1)
		}
	}
	for name, src := range sources {
		f, err := Load(name, []byte(src))
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, src)
			continue
		}
		text, compact := f.Effective()
		g, err := Load(name, []byte(text))
		if err != nil {
			t.Errorf("%s: its effective form does not load: %v\n%s", name, err, text)
			continue
		}
		_, again := g.Effective()
		if string(compact) != string(again) || f.Digest() != g.Digest() {
			t.Errorf("%s: reading the effective form gives another scenario\n%s\n%s", name, compact, again)
		}
	}
}

// TestEveryPathResolvesToItself holds the one path language to the table.
func TestEveryPathResolvesToItself(t *testing.T) {
	f, err := Builtin("payments-slow")
	if err != nil {
		t.Fatal(err)
	}
	known := f.Paths()
	if len(known) < 100 {
		t.Fatalf("only %d paths", len(known))
	}
	for _, p := range known {
		if got, err := Resolve(p, known); err != nil || got != p {
			t.Errorf("%s resolves to %q, %v", p, got, err)
		}
	}
	for path, want := range map[string]string{
		"payments.breaker.cooldown":         "dependencies.payments.stack.breaker.cooldown",
		"dependency.payments.timeout":       "dependencies.payments.stack.timeout",
		"payments.timeout":                  "dependencies.payments.stack.timeout",
		"checkout.arrivals.poisson":         "endpoints.checkout.arrivals.poisson",
		"endpoint.search.slo":               "endpoints.search.slo",
		"payments.slow.latency":             "dependencies.payments.faults.slow.latency",
		"payments.latency.p99":              "dependencies.payments.latency.p99",
		"process.pool.size":                 "process.pool.size",
		"payments.errors.server_error":      "dependencies.payments.errors.server_error",
		"payments.breaker.verdicts.timeout": "dependencies.payments.stack.breaker.verdicts.timeout",
	} {
		if got, err := Resolve(path, known); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %s", path, got, err, want)
		}
	}
	for path, want := range map[string]string{"payments.breaker.cooldwn": "unknown path", "cooldown": "ambiguous", "breaker.cooldown": "ambiguous", "": "unknown path"} {
		if _, err := Resolve(path, known); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", path, err, want)
		}
	}
}

func TestSetReachesEveryForm(t *testing.T) {
	f, err := Builtin("payments-slow")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ set, want string }{
		{"payments.breaker.cooldown=5s", `"cooldown":"5s"`},
		{"payments.timeout=1.2s", `"after":"1.2s"`},
		{"payments.timeout.after=1.2s", `"after":"1.2s"`},
		{"process.pool=50", `"pool":{"size":50`},
		{"process.pool.size=50", `"size":50`},
		{"process.workers=40", `"workers":{"size":40`},
		{"checkout.arrivals.poisson=100/s", `"poisson":"100/s"`},
		{"checkout.arrivals.even=100/s", `{"even":"100/s"}`},
		{"index.latency=20ms", `"index":{"latency":"20ms"`},
		{"index.latency.exp=20ms", `{"exp":"20ms"}`},
		{"payments.latency.p99=200ms", `"p99":"200ms"`},
		{"payments.slow.latency=2s", `"latency":"2s"`},
		{"payments.slow.from=1m", `"from":"1m"`},
		{"payments.errors.server_error=5%", `"server_error":"5%"`},
		{"payments.breaker.ramp.over=30s", `"ramp":{"from":"0%","over":"30s"}`},
		{"payments.breaker.verdicts.client_error=failure", `"verdicts":{"client_error":"failure"}`},
		{"index.stack=[{timeout: 1s}]", `"stack":[{"timeout":{"after":"1s","mode":"cancel","propagate":false,"minimum_useful":"none"}}]`},
		{"index.stack=[{retry: {attempts: 2, jitter: full}}]", `"jitter":"full"`},
		{"index.stack=[{retry: {jitter: {spread: 20%}, backoff: {linear: 1s}}}]", `"jitter":{"spread":{"share":"20%","capped":false}}`},
		{"index.stack=[{retry: {backoff: {list: [1ms, 2s]}}}]", `"backoff":{"list":["1ms","2s"]}`},
		{"index.stack=[{retry: {budget: {envoy: 30%}}}]", `"budget":{"envoy":{"share":"30%","min":3,"active":"attempts"}}`},
		{"index.stack=[{hedge: {delay: 30ms}}]", `"hedge":{"delay":"30ms","max":1`},
		{"index.stack=[{hedge: {delay: {quantile: 95%, min: 5ms}}}]", `"delay":{"quantile":"95%","initial":"forever","min":"5ms","age":100,"min_calls":20}`},
		{"seed=7", `"seed":7`},
	} {
		g, err := f.WithSet([]string{c.set})
		if err != nil {
			t.Errorf("%s: %v", c.set, err)
			continue
		}
		if _, json := g.Effective(); !strings.Contains(string(json), c.want) {
			t.Errorf("%s: no %s in %s", c.set, c.want, json)
		}
		if _, json := f.Effective(); strings.Contains(string(json), c.want) {
			t.Errorf("%s: the file it was made from has changed", c.set)
		}
	}
	for set, want := range map[string]string{"payments.timeout": "is not PATH=VALUE", "payments.timeout=soon": "is not a duration", "payments.bulkhead.permits=0": "at least 1", "=3": "is not PATH=VALUE"} {
		if _, err := f.WithSet([]string{set}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", set, err, want)
		}
	}
}

func TestArmsThatAreEqualAreOne(t *testing.T) {
	count := func(src string) (names []string) {
		f, err := Load("x.yaml", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range f.Arms() {
			names = append(names, a.Name)
		}
		return names
	}
	stackless := strings.Replace(badBase, "    stack:\n      - breaker: {cooldown: 30s}\n      - bulkhead: {permits: 20}\n      - timeout: 1s\n", "", 1)
	if got := strings.Join(count(badBase), " "); got != "uncontained timeouts contained" {
		t.Errorf("default arms: %s", got)
	}
	if got := strings.Join(count(stackless), " "); got != "contained" {
		t.Errorf("arms of a file without layers: %s", got)
	}
	if got := strings.Join(count(swap("      - breaker: {cooldown: 30s}\n      - bulkhead: {permits: 20}\n", "")), " "); got != "uncontained contained" {
		t.Errorf("arms of a file with timeouts alone: %s", got)
	}
}

// FuzzLoad: no panic, and every answer about a place has one.
func FuzzLoad(f *testing.F) {
	for _, b := range badFiles {
		f.Add(b.src)
	}
	f.Add(badBase)
	f.Add(Starter())
	f.Fuzz(func(t *testing.T, src string) {
		file, err := Load("fuzz.yaml", []byte(src))
		if err != nil {
			if p, ok := err.(*Problems); ok && len(p.List) == 0 {
				t.Error("an error without a problem")
			}
			return
		}
		text, _ := file.Effective()
		if _, err := Load("fuzz.yaml", []byte(text)); err != nil {
			t.Errorf("the effective form does not load: %v\n%s", err, text)
		}
	})
}

func TestAFileWithoutTimeoutsHasNoTimeoutsArm(t *testing.T) {
	f, err := Load("x.yaml", []byte(swap("      - timeout: 1s\n", "")))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, a := range f.Arms() {
		names = append(names, a.Name)
	}
	if got := strings.Join(names, " "); got != "uncontained contained" {
		t.Errorf("arms: %s", got)
	}
}
