package resilience

import "time"

// Dialects of outlier detection.
const (
	// DialectEnvoy is Envoy as it is now.
	DialectEnvoy = "envoy"
	// DialectEnvoyOld is Envoy until the middle of 2023 (its pull request 27624):
	// max_ejection_percent is held against the hosts that are out already, so one
	// host can always be ejected. Between that and pull request 27909, later in
	// the year, it was DialectEnvoy with always_eject_one_host.
	DialectEnvoyOld = "envoy-old"
	// DialectGRPC is gRFC A50 as gRPC for Go has it
	// (balancer/outlierdetection/balancer.go), with both of its rules set. It has
	// no consecutive rules and no panic: with every host ejected a call fails.
	// Whatever is not OK is a failure, a cancelled call among them.
	DialectGRPC = "grpc-a50"
)

// UsePreset sets every key to the dialect's value.
func (c *Outlier) UsePreset(name string) {
	*c = Outlier{
		Dialect: name, Interval: 10 * time.Second, BaseEjectionTime: 30 * time.Second, MaxEjectionPercent: 0.1, Limit: LimitAfter, PanicThreshold: 0.5,
		Consecutive: 5, EnforceConsecutive: 1, Gateway: 5,
		SuccessRate:       SuccessRate{MinimumHosts: 5, RequestVolume: 100, StdevFactor: 1.9, Enforcing: 1},
		FailurePercentage: FailurePercentage{Threshold: 0.85, MinimumHosts: 5, RequestVolume: 50},
	}
	switch name {
	case DialectEnvoyOld:
		c.Limit = LimitBefore
	case DialectGRPC:
		c.Consecutive, c.EnforceConsecutive, c.Gateway = 0, 0, 0
		c.Limit, c.PanicThreshold, c.FailurePercentage.Enforcing = LimitBefore, 0, 1
		c.Verdicts = map[string]string{"client_error": "failure", "throttled": "failure", "cancelled": "failure"}
	}
}

// outlierRules are the differences between the dialects that no key tells.
type outlierRules struct {
	lateReturn bool // hosts come back at the end of a tick and only after their time, not at its beginning and when it is over
	above      bool // failure_percentage ejects above the threshold, not from it on
	unbounded  bool // the multiplier of the ejection time grows with every ejection
}

func (c *Outlier) rules() outlierRules {
	g := c.Dialect == DialectGRPC
	return outlierRules{lateReturn: g, above: g, unbounded: g}
}
