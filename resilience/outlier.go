package resilience

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/spec"
)

// Outlier chooses the host of each attempt and takes hosts that behave unlike
// the others out of the choice for a time: Envoy's outlier detection, whose
// words the keys are (source/common/upstream/outlier_detection_impl.cc and
// api/envoy/config/cluster/v3/outlier_detection.proto), and gRPC's (gRFC A50).
//
// Its place is inside a retry, so that every attempt chooses anew, and outside
// the timeout, whose answers it has to hear. Outside of a retry it chooses once
// for all attempts of a call, and hears how the last of them ended.
type Outlier struct {
	Dialect            string            `yaml:"dialect" enum:"envoy,envoy-old,grpc-a50" preset:"true" help:"whose rules and defaults; any other key overrides"`
	Interval           time.Duration     `yaml:"interval" unit:"duration" min:"0s" open:"min" help:"time between two looks at the rates; hosts come back only then"`
	BaseEjectionTime   time.Duration     `yaml:"base_ejection_time" unit:"duration" min:"0s" open:"min" also:"baseEjectionTime" help:"how long a first ejection lasts; the second lasts twice as long, and so on"`
	MaxEjectionTime    time.Duration     `yaml:"max_ejection_time" unit:"duration" min:"0s" open:"min" also:"maxEjectionTime" help:"longest ejection; 5m, or base_ejection_time where that is longer, when omitted"`
	Jitter             time.Duration     `yaml:"max_ejection_time_jitter" unit:"duration" min:"0s" also:"maxEjectionTimeJitter,jitter" help:"up to so much is added to an ejection, each alike"`
	MaxEjectionPercent float64           `yaml:"max_ejection_percent" unit:"share" min:"0%" max:"100%" also:"maxEjectionPercent,max_ejected" help:"share of the hosts that may be out at once"`
	Limit              string            `yaml:"limit" enum:"after,before" help:"what max_ejection_percent is held against: the share out after one more ejection, or before it"`
	AlwaysEjectOneHost bool              `yaml:"always_eject_one_host" unit:"flag" also:"alwaysEjectOneHost" help:"one host may be out whatever max_ejection_percent says"`
	PanicThreshold     float64           `yaml:"panic_threshold" unit:"share" min:"0%" max:"100%" also:"healthy_panic_threshold,healthyPanicThreshold,minHealthPercent" help:"with a smaller share of hosts in, all of them are used, the ejected too"`
	Consecutive        int               `yaml:"consecutive_5xx" unit:"count" min:"0" also:"consecutive5xxErrors,consecutiveErrors,consecutive" help:"failures in a row that eject a host: server_error, connect_error and timeout; 0 never"`
	EnforceConsecutive float64           `yaml:"enforcing_consecutive_5xx" unit:"share" min:"0%" max:"100%" also:"enforcingConsecutive5xx" help:"share of these findings that lead to an ejection"`
	Gateway            int               `yaml:"consecutive_gateway_failure" unit:"count" min:"0" also:"consecutiveGatewayErrors,consecutiveGatewayFailure" help:"gateway failures in a row that eject a host: connect_error and timeout; 0 never"`
	EnforceGateway     float64           `yaml:"enforcing_consecutive_gateway_failure" unit:"share" min:"0%" max:"100%" also:"enforcingConsecutiveGatewayFailure" help:"share of these findings that lead to an ejection"`
	SuccessRate        SuccessRate       `yaml:"success_rate" also:"successRate,success_rate_ejection" help:"ejects who succeeds less than the others"`
	FailurePercentage  FailurePercentage `yaml:"failure_percentage" also:"failurePercentage,failure_percentage_ejection" help:"ejects who fails too often, whatever the others do"`
	Verdicts           map[string]string `yaml:"verdicts" keys:"ok,client_error,server_error,throttled,connect_error,timeout,cancelled,rejected,degraded" enum:"success,failure,gateway,neutral" help:"what an outcome says about the host"`
}

// SuccessRate finds the hosts whose share of successes in the last interval is
// below mean − stdev_factor·σ over the hosts, σ that of the population.
type SuccessRate struct {
	MinimumHosts  int     `yaml:"minimum_hosts" unit:"count" min:"0" also:"success_rate_minimum_hosts" help:"hosts with request_volume below which nobody is judged"`
	RequestVolume int     `yaml:"request_volume" unit:"count" min:"0" also:"success_rate_request_volume" help:"answers in an interval below which a host is not judged"`
	StdevFactor   float64 `yaml:"stdev_factor" unit:"factor" min:"0" also:"success_rate_stdev_factor" help:"standard deviations below the mean; 1900 in the file of Envoy is 1.9"`
	Enforcing     float64 `yaml:"enforcing" unit:"share" min:"0%" max:"100%" also:"enforcing_success_rate,enforcement_percentage" help:"share of the findings that lead to an ejection"`
}

// FailurePercentage finds the hosts whose share of failures in the last
// interval is at least threshold (above it in gRPC).
type FailurePercentage struct {
	Threshold     float64 `yaml:"threshold" unit:"share" min:"0%" max:"100%" also:"failure_percentage_threshold" help:"share of failures that ejects a host"`
	MinimumHosts  int     `yaml:"minimum_hosts" unit:"count" min:"0" also:"failure_percentage_minimum_hosts" help:"hosts with request_volume below which nobody is judged"`
	RequestVolume int     `yaml:"request_volume" unit:"count" min:"0" also:"failure_percentage_request_volume" help:"answers in an interval below which a host is not judged"`
	Enforcing     float64 `yaml:"enforcing" unit:"share" min:"0%" max:"100%" also:"enforcing_failure_percentage,enforcement_percentage" help:"share of the findings that lead to an ejection"`
}

// What max_ejection_percent is held against.
const (
	LimitAfter  = "after"
	LimitBefore = "before"
)

func newOutlier() Config {
	c := &Outlier{}
	c.UsePreset(DialectEnvoy)
	return c
}

var _ Config = (*Outlier)(nil)

// Longest is the effective max_ejection_time.
func (c *Outlier) Longest() time.Duration {
	if c.MaxEjectionTime > 0 {
		return c.MaxEjectionTime
	}
	return max(5*time.Minute, c.BaseEjectionTime)
}

// MayEject is how many of n hosts can be out at once.
func (c *Outlier) MayEject(n int) int {
	out, limit := 0, c.limit()
	for out < n && limit.allows(out, n) {
		out++
	}
	return out
}

func (c *Outlier) limit() ejectLimit {
	return ejectLimit{share: millionths(c.MaxEjectionPercent), before: c.Limit == LimitBefore, one: c.AlwaysEjectOneHost}
}

// Validate refuses what Envoy refuses and warns of a detector that never acts.
func (c *Outlier) Validate() []spec.Problem {
	var out []spec.Problem
	if c.MaxEjectionTime > 0 && c.MaxEjectionTime < c.BaseEjectionTime {
		out = append(out, spec.Problem{Field: "max_ejection_time", Text: "max_ejection_time " + brief(c.MaxEjectionTime) + " is below base_ejection_time " + brief(c.BaseEjectionTime), Hint: "raise max_ejection_time or lower base_ejection_time"})
	}
	if c.MayEject(1_000_000) == 0 {
		out = append(out, spec.Problem{Field: "max_ejection_percent", Text: "max_ejection_percent 0% ejects no host ever", Hint: "max_ejection_percent: 10%", Warning: true})
	}
	consecutive, gateway := c.Consecutive > 0 && c.EnforceConsecutive > 0, c.Gateway > 0 && c.EnforceGateway > 0
	if !consecutive && !gateway && c.SuccessRate.Enforcing == 0 && c.FailurePercentage.Enforcing == 0 {
		out = append(out, spec.Problem{Field: "enforcing_consecutive_5xx", Text: "no rule is enforced: it ejects no host ever", Hint: "enforcing_consecutive_5xx: 100%", Warning: true})
	}
	if v := hostVerdictsOf(c.Verdicts); !slices.Contains(v[:], hostFailed) && !slices.Contains(v[:], hostUnreachable) {
		out = append(out, spec.Problem{Field: "verdicts", Text: "no outcome is a failure: it ejects no host ever", Hint: "verdicts: {server_error: failure}", Warning: true})
	}
	return out
}

// Text is e.g. "5 in a row, 1.9σ below the mean, at most 10% out for 30s to 5m, looks every 10s".
func (c *Outlier) Text() string {
	var rules []string
	if c.Consecutive > 0 && c.EnforceConsecutive > 0 {
		rules = append(rules, fmt.Sprintf("%d in a row%s", c.Consecutive, partly(c.EnforceConsecutive)))
	}
	if c.Gateway > 0 && c.EnforceGateway > 0 {
		rules = append(rules, fmt.Sprintf("%d gateway failures in a row%s", c.Gateway, partly(c.EnforceGateway)))
	}
	if r := c.SuccessRate; r.Enforcing > 0 {
		rules = append(rules, fmt.Sprintf("%gσ below the mean%s", r.StdevFactor, partly(r.Enforcing)))
	}
	if r := c.FailurePercentage; r.Enforcing > 0 {
		rules = append(rules, percent(r.Threshold)+" failures"+partly(r.Enforcing))
	}
	if len(rules) == 0 {
		rules = []string{"no rule enforced"}
	}
	length := brief(c.BaseEjectionTime)
	if most := c.Longest(); most > c.BaseEjectionTime {
		length += " to " + brief(most)
	}
	out := fmt.Sprintf("%s, at most %s out for %s, looks every %s", strings.Join(rules, ", "), percent(c.MaxEjectionPercent), length, brief(c.Interval))
	if c.Dialect != DialectEnvoy {
		out = c.Dialect + ", " + out
	}
	for _, class := range slices.Sorted(maps.Keys(c.Verdicts)) {
		out += ", " + class + " is " + c.Verdicts[class]
	}
	return out
}

func partly(share float64) string {
	if share == 1 {
		return ""
	}
	return " (" + percent(share) + " enforced)"
}

// Help says what the kind is.
func (*Outlier) Help() string {
	return "chooses a host for each attempt and ejects for a time those that behave unlike the others"
}

// Example is a line of YAML.
func (*Outlier) Example() string {
	return "{outlier: {consecutive_5xx: 5, base_ejection_time: 30s, max_ejection_percent: 30%}}"
}

// Metrics are the figures of the layer.
func (*Outlier) Metrics() []spec.Metric {
	return []spec.Metric{
		{Name: "ejections", Unit: spec.Count, Help: "hosts it ejected, each time counted"},
		{Name: "ejected_mean", Unit: spec.Count, Help: "time average of hosts that are ejected"},
		{Name: "ejected_max", Unit: spec.Count, Help: "most hosts ejected at once"},
		{Name: "panics", Unit: spec.Count, Good: spec.LowerBetter, Help: "attempts for which all hosts were used, the ejected too, because too few were left"},
		{Name: "overflow", Unit: spec.Count, Good: spec.LowerBetter, Help: "findings that max_ejection_percent kept from an ejection"},
		{Name: "rejected", Unit: spec.Count, Good: spec.LowerBetter, Help: "attempts it refused because every host was ejected; only with panic_threshold 0%"},
	}
}

// hostVerdict is what an outcome says about the host it came from.
type hostVerdict uint8

const (
	hostNeutral     hostVerdict = iota // nothing
	hostSucceeded                      // it answered
	hostFailed                         // 5xx
	hostUnreachable                    // 5xx that a gateway reports: 502, 503, 504
)

var hostVerdictNames = [...]string{"neutral", "success", "failure", "gateway"}

// defaultHostVerdicts fold what Envoy calls local origin into the answers, as it
// does unless told otherwise: a refused connection is 503 and a timeout 504,
// both gateway failures. 4xx, 429 among them, are successes of the host. What a
// layer of ours or a caller ended says nothing. (Envoy takes the timeout of a
// whole request for the host's; here that is cancelled, as is what a failed
// sibling ends.)
var defaultHostVerdicts = [call.NumClasses]hostVerdict{
	call.OK:           hostSucceeded,
	call.ClientError:  hostSucceeded,
	call.Throttled:    hostSucceeded,
	call.ServerError:  hostFailed,
	call.ConnectError: hostUnreachable,
	call.Timeout:      hostUnreachable,
}

// hostVerdictsOf applies a file's map of class to verdict to the defaults.
// Names are valid.
func hostVerdictsOf(changes map[string]string) [call.NumClasses]hostVerdict {
	out := defaultHostVerdicts
	for class, name := range changes {
		c, _ := call.ParseClass(class)
		out[c] = hostVerdict(slices.Index(hostVerdictNames[:], name))
	}
	return out
}
