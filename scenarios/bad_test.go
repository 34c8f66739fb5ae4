package scenarios

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// badBase is a sound file into which each bad line is put at its mark.
const badBase = `duration: 5m
process:
  pool: {size: 100}
endpoints:
  web:
    arrivals: {poisson: 80/s}
    deadline: 5s
    calls: [db]
dependencies:
  db:
    latency: 50ms
    stack:
      - breaker: {cooldown: 30s}
      - bulkhead: {permits: 20}
      - timeout: 1s
`

// swap is badBase with one part replaced.
func swap(old, with string) string {
	if !strings.Contains(badBase, old) {
		panic("no " + old)
	}
	return strings.Replace(badBase, old, with, 1)
}

// badFiles are wrong in one way each; the golden file holds the whole answer.
var badFiles = []struct{ name, src string }{
	{"empty", ""},
	{"only spaces", "  \n\n"},
	{"only comments", "# nothing here\n"},
	{"binary", "PNG\x00\x01\x02"},
	{"not UTF-8", "about: caf\xe9\n"},
	{"a list", "- a\n- b\n"},
	{"a word", "hello\n"},
	{"two documents", badBase + "---\n" + badBase},
	{"a tab", swap("  pool: {size: 100}", "\tpool: {size: 100}")},
	{"an open bracket", swap("{size: 100}", "{size: 100")},
	{"an open quote", swap("50ms", "\"50ms")},
	{"a stray colon", swap("latency: 50ms", "latency: p50: 50ms")},
	{"bad indentation", swap("    deadline: 5s", "   deadline: 5s")},
	{"unknown anchor", swap("50ms", "*slow")},
	{"deep nesting", "a: " + strings.Repeat("[", 5000)},
	{"alias bomb", "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nendpoints: {web: {arrivals: {at: *e}}}\n"},
	{"a list that holds itself", swap("[db]", "&x [*x]")},
	{"key twice", swap("    deadline: 5s", "    deadline: 5s\n    deadline: 6s")},
	{"unknown key", swap("cooldown", "cooldwon")},
	{"unknown key at the top", "duraton: 5m\n" + badBase},
	{"another tool's word", swap("permits: 20", "permits: 20, queue_timeout: 1s")},
	{"another tool's word in a breaker", swap("cooldown: 30s", "waitDurationInOpenState: 30s")},
	{"failureRateThreshold", swap("cooldown: 30s", "failureRateThreshold: 50%")},
	{"maxConcurrentCalls", swap("permits: 20", "maxConcurrentCalls: 20")},
	{"fallback to no dependency", swap("      - breaker", "      - fallback: {serve: dependency}\n      - breaker")},
	{"fallback to an unknown dependency", swap("      - breaker", "      - fallback: {dependency: bd}\n      - breaker")},
	{"fallback to itself", swap("      - breaker", "      - fallback: {dependency: db}\n      - breaker")},
	{"fallbacks in a ring", swap("      - breaker", "      - fallback: {dependency: a}\n      - breaker") + "  a: {latency: 1ms, stack: [{fallback: {dependency: b}}]}\n  b: {latency: 1ms, stack: [{fallback: {dependency: c, latency: 5ms}}, timeout: 1s]}\n  c: {latency: 1ms, stack: [{fallback: {serve: dependency, dependency: a}}]}\n"},
	{"fallback to a name that is none", swap("      - breaker", "      - fallback: {dependency: My DB}\n      - breaker")},
	{"a million and one keys", swap("      - breaker", "      - fallback: {serve: cached, keys: 1000001}\n      - breaker")},
	{"keys without a number", swap("      - breaker", "      - fallback: {serve: cached, keys: {zipf: 1}}\n      - breaker")},
	{"negative zipf", swap("      - breaker", "      - fallback: {serve: cached, keys: {count: 10, zipf: -1}}\n      - breaker")},
	{"changes of an arm that make a ring together", swap("      - breaker", "      - fallback: degraded\n      - breaker") + "  spare: {latency: 1ms, stack: [fallback: degraded]}\narms: {x: {set: {db.fallback.dependency: spare, spare.fallback.dependency: db}}}\n"},
	{"changes of an arm that are wrong together", badBase + "arms: {x: {set: {breaker.window: 10, breaker.min_calls: 15}}}\n"},
	{"bulkhead of nothing", swap("bulkhead: {permits: 20}", "bulkhead: {max_wait: 1s}")},
	{"permits and threads", swap("{permits: 20}", "{permits: 20, threads: {core: 4}}")},
	{"threads without core", swap("{permits: 20}", "{threads: {max: 4}}")},
	{"threads below core", swap("{permits: 20}", "{threads: {core: 10, max: 4}}")},
	{"threads in another tool's words", swap("{permits: 20}", "{threads: {coreThreadPoolSize: 9, queueCapacity: 10}}")},
	{"unknown order", swap("permits: 20", "permits: 20, order: random")},
	{"unknown release", swap("permits: 20", "permits: 20, release: on_work_ended")},
	{"unknown mode of a timeout", swap("timeout: 1s", "timeout: {after: 1s, mode: abandoned}")},
	{"minimum_useful above the limit", swap("timeout: 1s", "timeout: {after: 1s, minimum_useful: 2s}")},
	{"minimum", swap("cooldown: 30s", "minimum: 5")},
	{"unicode key", swap("cooldown", "кулдаун")},
	{"unicode name", swap("  web:", "  прилавок:")},
	{"upper-case name", swap("  web:", "  Web Shop:")},
	{"wide title and a mistake", "title: 決済が遅い\n" + swap("50ms", "50")},
	{"mistake behind wide characters", swap("{cooldown: 30s}", "{cooldown: 30s, 冷却: 5s}")},
	{"duration without unit", swap("cooldown: 30s", "cooldown: 30")},
	{"duration of words", swap("cooldown: 30s", "cooldown: 30 secs")},
	{"duration in days", swap("duration: 5m", "duration: 2d")},
	{"duration NaN", swap("cooldown: 30s", "cooldown: NaN")},
	{"duration negative", swap("cooldown: 30s", "cooldown: -5s")},
	{"duration zero", swap("duration: 5m", "duration: 0s")},
	{"duration too long", swap("duration: 5m", "duration: 99999h")},
	{"rate without unit", swap("80/s", "80")},
	{"rate per day", swap("80/s", "80/day")},
	{"rate zero", swap("80/s", "0/s")},
	{"rate negative", swap("80/s", "-1/s")},
	{"rate overflow", swap("80/s", "1e400/s")},
	{"rate NaN", swap("80/s", "NaN/s")},
	{"a fault on more hosts than there are", swap("latency: 50ms", "latency: 50ms\n    hosts: 3\n    faults: [{down: {}, from: 1m, hosts: 4}]")},
	{"a fault on hosts of a dependency without any", swap("latency: 50ms", "latency: 50ms\n    faults: [{down: {}, from: 1m, hosts: 2}]")},
	{"a fault on no host", swap("latency: 50ms", "latency: 50ms\n    hosts: 3\n    faults: [{down: {}, from: 1m, hosts: 0}]")},
	{"no hosts", swap("latency: 50ms", "latency: 50ms\n    hosts: 0")},
	{"outlier of an unknown dialect", swap("    stack:", "    hosts: 12\n    stack:\n      - outlier: {dialect: nginx}")},
	{"outlier with times the wrong way round", swap("    stack:", "    hosts: 12\n    stack:\n      - outlier: {base_ejection_time: 2m, max_ejection_time: 1m}")},
	{"outlier by its names elsewhere", swap("    stack:", "    hosts: 12\n    stack:\n      - outlier: {baseEjectionTime: 20s}")},
	{"share above 100%", swap("cooldown: 30s", "ratio: 150%")},
	{"share without %", swap("cooldown: 30s", "ratio: 50")},
	{"share of one", swap("cooldown: 30s", "ratio: 1")},
	{"share zero", swap("cooldown: 30s", "ratio: 0%")},
	{"permits zero", swap("permits: 20", "permits: 0")},
	{"permits a half", swap("permits: 20", "permits: 2.5")},
	{"permits a word", swap("permits: 20", "permits: many")},
	{"permits huge", swap("permits: 20", "permits: 99999999999")},
	{"min_calls above window", swap("cooldown: 30s", "window: 10, min_calls: 20")},
	{"two rules in one breaker", swap("cooldown: 30s", "consecutive: 5, ratio: 30%")},
	{"list for a map", swap("breaker: {cooldown: 30s}", "breaker: [30s]")},
	{"map for a list", swap("calls: [db]", "calls: {db: 1}")},
	{"value for a map", swap("process:\n  pool: {size: 100}", "process: 100")},
	{"unknown layer", swap("- bulkhead: {permits: 20}", "- bulkhed: {permits: 20}")},
	{"two layers in one item", swap("- timeout: 1s", "- timeout: 1s\n        retry: 3")},
	{"setting beside its layer", swap("- timeout: 1s", "- timeout: 1s\n        jitter: full")},
	{"unknown jitter", swap("- timeout: 1s", "- retry: {jitter: ful}")},
	{"jitter without its share", swap("- timeout: 1s", "- retry: {backoff: {constant: 1s}, jitter: spread}")},
	{"jitter of more than all", swap("- timeout: 1s", "- retry: {backoff: {constant: 1s}, jitter: {spread: 150%}}")},
	{"pauses of none", swap("- timeout: 1s", "- retry: {backoff: {list: []}}")},
	{"unknown budget", swap("- timeout: 1s", "- retry: {budget: {envoi: {share: 20%}}}")},
	{"another tool's word in a budget", swap("- timeout: 1s", "- retry: {budget: {linkerd: {retryRatio: 20%, minRetriesPerSecond: 10}}}")},
	{"budget of too short a time", swap("- timeout: 1s", "- retry: {budget: {linkerd: {ttl: 500ms}}}")},
	{"budget shared with nobody", swap("- timeout: 1s", "- retry: {budget: shared}")},
	{"hedge without a delay", swap("- timeout: 1s", "- hedge: {max: 2}")},
	{"hedge of a quantile of all", swap("- timeout: 1s", "- hedge: {delay: {quantile: 100%}}")},
	{"hedge with a delay of two kinds", swap("- timeout: 1s", "- hedge: {delay: {quantile: 95%, fixed: 1s}}")},
	{"hedge with too many", swap("- timeout: 1s", "- hedge: {delay: 10ms, max: 51}")},
	{"hedge with max below min", swap("- timeout: 1s", "- hedge: {delay: {quantile: 95%, min: 1s, max: 10ms}}")},
	{"same layer twice", swap("- timeout: 1s", "- timeout: 1s\n      - timeout: 2s")},
	{"unknown arrivals", swap("poisson", "poison")},
	{"unknown latency", swap("latency: 50ms", "latency: {expo: 50ms}")},
	{"latency of a word", swap("latency: 50ms", "latency: quick")},
	{"p99 below p50", swap("latency: 50ms", "latency: {p50: 50ms, p99: 20ms}")},
	{"p99 too far above the mean", swap("latency: 50ms", "latency: {mean: 50ms, p99: 1s}")},
	{"weights of 90%", swap("latency: 50ms", "latency: {mix: [{weight: 90%, latency: 50ms}]}")},
	{"quantiles that end early", swap("latency: 50ms", "latency: {quantiles: {50%: 20ms, 99%: 80ms}}")},
	{"quantiles that fall", swap("latency: 50ms", "latency: {quantiles: {50%: 20ms, 100%: 10ms}}")},
	{"no latency", swap("    latency: 50ms\n", "")},
	{"no endpoints", "dependencies: {db: {latency: 1ms}}\n"},
	{"empty endpoints", "endpoints: {}\n"},
	{"unknown dependency", swap("[db]", "[dbb]")},
	{"unknown pool", swap("    latency: 50ms", "    latency: 50ms\n    pool: reports")},
	{"fault after the end", swap("    stack:", "    faults: [{down: {}, from: 6m}]\n    stack:")},
	{"fault that never ends", swap("    stack:", "    faults: [{down: {}, for: 30s, every: 20s}]\n    stack:")},
	{"fault without effect", swap("    stack:", "    faults: [{slow: {}}]\n    stack:")},
	{"fault of two minds", swap("    stack:", "    faults: [{slow: {latency: 8s, times: 3}}]\n    stack:")},
	{"unknown fault", swap("    stack:", "    faults: [slwo]\n    stack:")},
	{"warmup of the whole run", "warmup: 5m\n" + badBase},
	{"unknown class", swap("    stack:", "    errors: {server_eror: 1%}\n    stack:")},
	{"errors above 100%", swap("    stack:", "    errors: {server_error: 60%, client_error: 60%}\n    stack:")},
	{"rate limit of nothing", swap("- timeout: 1s", "- rate_limit")},
	{"rate limit without a unit", swap("- timeout: 1s", "- rate_limit: 100")},
	{"rate limit of none", swap("- timeout: 1s", "- rate_limit: 0/s")},
	{"rate limit of no kind", swap("- timeout: 1s", "- rate_limit: {limit: {token_buket: {rate: 5/s}}}")},
	{"rate limit of two kinds", swap("- timeout: 1s", "- rate_limit: {gcra: 5/s, token_bucket: 7/s}")},
	{"rate limit in full and in short", swap("- timeout: 1s", "- rate_limit: {gcra: 5/s, limit: 7/s}")},
	{"rate limit without a number", swap("- timeout: 1s", "- rate_limit: {fixed_window: {per: 1s}, when_full: wait}")},
	{"rate limit with a burst of years", swap("- timeout: 1s", "- rate_limit: {token_bucket: {rate: 1/h, burst: 1000000}}")},
	{"rate limit in another tool's words", swap("- timeout: 1s", "- rate_limit: {limitForPeriod: 5, timeoutDuration: 1s}")},
	{"concurrency limit of no kind", swap("- timeout: 1s", "- concurrency_limit: vega")},
	{"concurrency limit of a number", swap("- timeout: 1s", "- concurrency_limit: 20")},
	{"concurrency limit that starts too low", swap("- timeout: 1s", "- concurrency_limit: {aimd: {start: 10}}")},
	{"concurrency limit that backs off too far", swap("- timeout: 1s", "- concurrency_limit: {aimd: {backoff: 20%}}")},
	{"concurrency limit of a wrong verdict", swap("- timeout: 1s", "- concurrency_limit: {verdicts: {timeout: failure}}")},
	{"throttle of two rules", swap("- timeout: 1s", "- throttle: {sre: {k: 2}, admission_control: {}}")},
	{"throttle that lets out less than is accepted", swap("- timeout: 1s", "- throttle: {sre: {k: 0.5}}")},
	{"throttle in another tool's words", swap("- timeout: 1s", "- throttle: {admission_control: {sr_threshold: 95%, rps_threshold: 5}}")},
	{"arm that removes nothing there", badBase + "arms: {bare: {remove: [retry]}}\n"},
	{"arm that keeps a word", badBase + "arms: {bare: {keep: [timeot]}}\n"},
	{"arm that sets an unknown path", badBase + "arms: {slow: {set: {db.timeot: 2s}}}\n"},
	{"arm that sets nonsense", badBase + "arms: {slow: {set: {db.timeout: soon}}}\n"},
	{"expectation of an unknown metric", badBase + "expect: {contained: [endpoint.web.slo_rte >= 99%]}\n"},
	{"expectation of an unknown arm", badBase + "expect: {contaned: [endpoint.web.slo_rate >= 99%]}\n"},
	{"expectation of an unknown phase", badBase + "expect: {contained: [endpoint.web.slo_rate@fualt >= 99%]}\n"},
	{"expectation without unit", badBase + "expect: {contained: [endpoint.web.latency_p99 <= 300]}\n"},
	{"expectation with a single =", badBase + "expect: {contained: [endpoint.web.requests = 3]}\n"},
	{"unknown version", "version: 2\n" + badBase},
	{"seed of a word", "seed: luck\n" + badBase},
	{"too wide a parallel step", swap("calls: [db]", "calls: [[db"+strings.Repeat(", db", 1<<16)+"]]")},
	{"several at once", "version: 1\nduration: 30\nendpoints:\n  a:\n    arrivals: {poison: 3/s}\n    calls: [b, [c]]\ndependencies:\n  payments:\n    latency: {p50: 50ms, p99: 20ms}\n    stack:\n      - breaker:\n          cooldwon: 5s\n"},
}

func TestBadFilesGetAnAnswer(t *testing.T) {
	var b strings.Builder
	for _, f := range badFiles {
		start := time.Now()
		_, err := Load("bad.yml", []byte(f.src))
		if err == nil {
			t.Errorf("%s: loaded", f.name)
			continue
		}
		if d := time.Since(start); d > 2*time.Second {
			t.Errorf("%s: took %v", f.name, d)
		}
		fmt.Fprintf(&b, "--- %s\n%s\n", f.name, err)
		for _, goName := range []string{"scenarios.", "resilience.", "reflect", "yaml:", "struct", "nil"} {
			if strings.Contains(err.Error(), goName) {
				t.Errorf("%s: the answer speaks of %q", f.name, goName)
			}
		}
	}
	golden := filepath.Join("testdata", "bad.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
		for i := range g {
			if i >= len(w) || g[i] != w[i] {
				t.Fatalf("line %d of the answers differs (-update rewrites them):\n got %s\nwant %s", i+1, g[i], w[min(i, len(w)-1)])
			}
		}
		t.Fatal("the golden file holds more")
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big.yaml")
	if err := os.WriteFile(big, []byte(strings.Repeat("garbage ", 10<<20/8)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine.yaml"), []byte(badBase), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:                              "is a directory",
		big:                              "is larger than 4 MB",
		filepath.Join(dir, "mien.yaml"):  "no such file",
		filepath.Join(dir, "other.yaml"): "no such file",
	} {
		_, err := LoadPath(path, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if _, err := LoadPath(filepath.Join(dir, "mien.yaml"), nil); err == nil || !strings.Contains(err.(*FileError).Hint, "mine.yaml") {
		t.Errorf("no hint at the file of nearly that name: %v", err)
	}
}

func TestWarningsDoNotStopARun(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"permits above the pool":      {swap("{size: 100}", "{size: 10}"), "1 bulkhead allow 20, process.pool: 10"},
		"timeout at the deadline":     {swap("timeout: 1s", "timeout: 5s"), "is not below the deadline"},
		"threads beyond the pool":     {swap("{permits: 20}", "{threads: {core: 90, max: 120}}"), "1 bulkhead allow 120, process.pool: 100"},
		"core beyond the pool":        {swap("{permits: 20}", "{threads: {core: 120}}"), "w.yaml:14:36: warning: 1 bulkhead allow 120, process.pool: 100"},
		"threads that never grow":     {swap("{permits: 20}", "{threads: {core: 2, max: 4, queue: unbounded}}"), "max 4 is never reached"},
		"lifo of nobody":              {swap("permits: 20", "permits: 20, order: lifo"), "nobody waits"},
		"permits of callers":          {swap("timeout: 1s", "timeout: {after: 1s, mode: abandon}"), "w.yaml:14:9: warning: bulkhead bounds callers and not work: timeout abandons the work"},
		"a backup's limit":            {swap("      - breaker", "      - fallback: {dependency: spare}\n      - breaker") + "  spare: {latency: 1ms, stack: [timeout: 5s]}\n", "w.yaml:17:42: warning: timeout 5s is not below the deadline 5s"},
		"keys without a cache":        {swap("      - breaker", "      - fallback: {keys: 10}\n      - breaker"), "keys is only for serve: cached"},
		"dependency never called":     {badBase + "  spare: {latency: 1ms}\n", "spare is never called"},
		"fault outlives the run":      {swap("    stack:", "    faults: [{down: {}, from: 4m, for: 2m}]\n    stack:"), "outlives the run by 1m"},
		"no retry fits the deadline":  {swap("- timeout: 1s", "- retry: {attempts: 2, backoff: {constant: 5s}}"), "no other can start within 5s, the deadline of its callers"},
		"no retry fits a timeout":     {swap("- timeout: 1s", "- {timeout: 1s, name: total}\n      - retry: 3\n      - timeout: 1s"), "no other can start within 1s, the total around it"},
		"the last attempts do not":    {swap("- timeout: 1s", "- {timeout: 30s, name: total}\n      - retry: {attempts: 4, backoff: {exponential: {base: 2s}}}\n      - timeout: 2s"), "4 attempts of 2s and their pauses take up to 22s, above 5s, the deadline of its callers: the last to start is number 2"},
		"the wait of Envoy is cut":    {swap("- timeout: 1s", "- {timeout: 1s, name: route}\n      - retry: {attempts: 4, backoff: envoy, jitter: full}\n      - timeout: 500ms"), "take up to 2.275s, above 1s, the route around it: the last to start is number 2"},
		"hedge above the deadline":    {swap("- timeout: 1s", "- hedge: {delay: 6s}"), "no hedge ever goes out"},
		"hedge above the timeout":     {swap("- timeout: 1s", "- hedge: {delay: 1s}\n      - timeout: 1s"), "is not below the timeout 1s inside"},
		"hedge's least above it":      {swap("- timeout: 1s", "- hedge: {delay: {quantile: 95%, min: 2s}}\n      - timeout: 1s"), "the delay 2s is not below the timeout 1s inside"},
		"floor above the rate":        {swap("- timeout: 1s", "- retry: {budget: {linkerd: {min_per_second: 100}}}"), "min_per_second 100 is above the 80/s that call: of a dead dependency it lets up to 2.5 attempts"},
		"tokens for less than second": {swap("- timeout: 1s", "- retry: {budget: grpc}"), "max_tokens 10 last for 63ms of failures at 80/s"},
		"jitter of nothing":           {swap("- timeout: 1s", "- retry: {jitter: {spread: 10%}}"), "jitter ±10% does nothing without a backoff"},
	} {
		f, err := Load("w.yaml", []byte(c.src))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if w := strings.Join(f.Warnings(), "\n"); !strings.Contains(w, c.want) {
			t.Errorf("%s: warnings %q, want %q", name, w, c.want)
		}
	}
}

func TestSoundFilesGetNoWarning(t *testing.T) {
	for name, src := range map[string]string{
		"changes that are right only together":   badBase + "arms: {x: {set: {breaker.min_calls: 30, breaker.window: 40}}}\n",
		"a dependency that only fallbacks call":  swap("      - breaker", "      - fallback: {dependency: spare}\n      - breaker") + "  spare: {latency: 1ms, stack: [{fallback: {serve: cached, keys: {count: 100, zipf: 1.1}}}]}\n",
		"a limit that follows the deadline":      swap("timeout: 1s", "timeout: {after: 6s, propagate: true}"),
		"permits that wait for abandoned work":   strings.Replace(swap("timeout: 1s", "timeout: {after: 1s, mode: abandon}"), "permits: 20", "permits: 20, release: on_work_done", 1),
		"threads that hold abandoned work":       strings.Replace(swap("timeout: 1s", "timeout: {after: 1s, mode: abandon}"), "{permits: 20}", "{threads: {core: 9, max: 10}}", 1),
		"an abandoning timeout outside of all":   strings.Replace(swap("      - timeout: 1s\n", ""), "    stack:\n", "    stack:\n      - timeout: {after: 1s, mode: abandon}\n", 1),
		"last in, first out of those that queue": swap("permits: 20", "permits: 20, order: lifo, max_wait: 1s"),
	} {
		f, err := Load("w.yaml", []byte(src))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if w := f.Warnings(); len(w) > 0 {
			t.Errorf("%s: %q", name, w)
		}
	}
}

// What looks like the cases above and is sound.
func TestSoundRetriesGetNoWarning(t *testing.T) {
	for _, stack := range []string{
		"- retry: {attempts: 3, backoff: {constant: 1s}}\n      - timeout: 900ms",
		"- retry: {attempts: 2, backoff: {constant: 4999ms}}",
		"- retry: {attempts: 1, backoff: {constant: 9s}}\n      - timeout: 4s",
		"- {timeout: 2s, name: route}\n      - retry: {attempts: 4, backoff: envoy, jitter: full}\n      - timeout: 500ms",
		"- hedge: {delay: 999ms}\n      - timeout: 1s",
		"- hedge: {delay: 1500ms}\n      - retry: 2\n      - timeout: 1s",
		"- retry: {budget: {linkerd: {min_per_second: 80}}}",
		"- retry: {budget: {grpc: 1000}}",
		"- hedge: {delay: 20ms, budget: {failsafe-go: {share: 20%, min: 3}}}\n      - retry: {budget: shared}",
		"- hedge: {delay: 20ms, budget: shared}\n      - retry: {budget: failsafe-go}",
	} {
		f, err := Load("s.yaml", []byte(swap("- timeout: 1s", stack)))
		if err != nil {
			t.Errorf("%s: %v", stack, err)
			continue
		}
		if w := f.Warnings(); len(w) > 0 {
			t.Errorf("%s: %q", stack, w)
		}
	}
}
