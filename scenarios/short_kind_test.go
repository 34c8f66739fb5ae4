package scenarios

import (
	"strings"
	"testing"
)

// A kind may stand among the keys of its layer, by its name alone, or as a bare
// value; --set reaches into each.
func TestKindsInShort(t *testing.T) {
	for _, c := range []struct{ layer, set, want string }{
		{"rate_limit: 100/s", "", `{"rate_limit":{"limit":{"token_bucket":{"rate":"100/s","burst":1}},"when_full":"refuse","max_wait":"forever"}}`},
		{"rate_limit: {token_bucket: 100/s}", "", `"limit":{"token_bucket":{"rate":"100/s","burst":1}}`},
		{"rate_limit: {limit: 10/min, when_full: wait}", "", `"limit":{"token_bucket":{"rate":"10/min","burst":1}},"when_full":"wait"`},
		{"rate_limit: {when_full: wait, gcra: {rate: 5/s, burst: 3}, max_wait: 1s}", "", `"limit":{"gcra":{"rate":"5/s","burst":3}},"when_full":"wait","max_wait":"1s"`},
		{"rate_limit: 100/s", "db.rate_limit.limit.token_bucket.burst=20", `"limit":{"token_bucket":{"rate":"100/s","burst":20}}`},
		{"rate_limit: 100/s", "db.rate_limit.limit.token_bucket.rate=7/s", `"limit":{"token_bucket":{"rate":"7/s","burst":1}}`},
		{"rate_limit: 100/s", "db.rate_limit.limit=7/s", `"limit":{"token_bucket":{"rate":"7/s","burst":1}}`},
		{"rate_limit: 100/s", "db.rate_limit=7/s", `"limit":{"token_bucket":{"rate":"7/s","burst":1}}`},
		{"rate_limit: 100/s", "db.rate_limit.when_full=wait", `"limit":{"token_bucket":{"rate":"100/s","burst":1}},"when_full":"wait"`},
		{"rate_limit: {leaky_bucket: {rate: 5/s, size: 3}}", "db.rate_limit.limit.leaky_bucket.size=4", `"limit":{"leaky_bucket":{"rate":"5/s","size":4}}`},
		{"rate_limit: {leaky_bucket: 5/s}", "db.rate_limit.when_full=wait", `"limit":{"leaky_bucket":{"rate":"5/s","size":0}},"when_full":"wait"`},
		{"rate_limit: {leaky_bucket: 5/s}", "db.rate_limit.limit={gcra: 7/s}", `"limit":{"gcra":{"rate":"7/s","burst":1}}`},
		{"throttle", "", `{"throttle":{"rule":{"sre":{"k":2,"window":"2m","buckets":40,"count_at":"send","protection":0}}}}`},
		{"throttle: admission_control", "db.throttle.rule.admission_control.max=95%", `"rule":{"admission_control":{"window":"30s","buckets":30,"threshold":"95%","aggression":1,"min_rate":"0/h","max":"95%"}}`},
		{"throttle: {sre: {k: 1.5}, verdicts: {throttled: success}}", "db.throttle.rule.sre.count_at=completion", `"k":1.5,"window":"2m","buckets":40,"count_at":"completion","protection":0}},"verdicts":{"throttled":"success"}`},
		{"concurrency_limit", "", `{"concurrency_limit":{"algorithm":{"vegas":{"start":20,"max":1000,"smoothing":"100%","probe":30}},"window":"0s"}}`},
		{"concurrency_limit: gradient2", "", `"algorithm":{"gradient2":{"start":20,"min":20,"max":200,"smoothing":"20%","queue":4,"tolerance":1.5,"long_window":600}}`},
		{"concurrency_limit: aimd", "db.concurrency_limit.algorithm.aimd.min=5", `"algorithm":{"aimd":{"start":20,"min":5,`},
		{"concurrency_limit: {aimd: {max: 30}, verdicts: {server_error: drop}}", "db.concurrency_limit.window=1s", `"max":30,"backoff":"90%","timeout":"5s"}},"window":"1s","verdicts":{"server_error":"drop"}`},
	} {
		f, err := Load("short.yaml", []byte(swap("- timeout: 1s", "- "+c.layer)))
		if err != nil {
			t.Errorf("%s: %v", c.layer, err)
			continue
		}
		if c.set != "" {
			if f, err = f.WithSet([]string{c.set}); err != nil {
				t.Errorf("%s, %s: %v", c.layer, c.set, err)
				continue
			}
		}
		if _, json := f.Effective(); !strings.Contains(string(json), c.want) {
			t.Errorf("%s, %s: no %s in %s", c.layer, c.set, c.want, json)
		}
	}
}
