package resilience

import (
	"fmt"
	"time"

	"blastradius/sim/dist"
	"blastradius/sim/spec"
)

// AdmissionControl is Envoy's filter of that name: a call is refused with
// probability
//
//	((n − successes/threshold) / (n + 1)) ^ (1/aggression)
//
// at most max, of the n calls that were let out and ended within the window. It
// does not count its own refusals, so even a dependency that fails all gets 1 −
// max of the calls. Below min_rate, n over the window, it lets all out. Envoy
// counts every HTTP status below 500 as a success, 429 too: verdicts:
// {throttled: success}. Its buckets of a second begin with the first call
// instead of the run.
type AdmissionControl struct {
	Window     time.Duration `yaml:"window" unit:"duration" min:"0s" open:"min" also:"sampling_window" help:"the while that is looked back"`
	Buckets    int           `yaml:"buckets" unit:"count" min:"1" max:"100000" help:"parts that the window slides by"`
	Threshold  float64       `yaml:"threshold" unit:"share" min:"0%" open:"min" max:"100%" also:"sr_threshold,success_rate_threshold" help:"share of successes from which on nothing is refused"`
	Aggression float64       `yaml:"aggression" unit:"factor" min:"1" help:"above 1 it refuses more when few fail"`
	MinRate    float64       `yaml:"min_rate" unit:"rate" min:"0/s" also:"rps_threshold" help:"calls per time below which nothing is refused"`
	Max        float64       `yaml:"max" unit:"share" min:"0%" max:"100%" also:"max_rejection_probability" help:"largest probability of refusing"`
}

func newAdmissionControl() ThrottleRule {
	return &AdmissionControl{Window: 30 * time.Second, Buckets: 30, Threshold: 0.95, Aggression: 1, Max: 0.8}
}

var (
	_ ThrottleRule  = (*AdmissionControl)(nil)
	_ ThrottleState = (*admissionControl)(nil)
)

// Validate has nothing to add to the ranges of the fields.
func (*AdmissionControl) Validate() []spec.Problem { return nil }

// Text is e.g. "admission control, threshold 95%, window 30s, max 80%".
func (c *AdmissionControl) Text() string {
	out := fmt.Sprintf("admission control, threshold %s, window %s, max %s", percent(c.Threshold), brief(c.Window), percent(c.Max))
	if c.Aggression != 1 {
		out += fmt.Sprintf(", aggression %g", c.Aggression)
	}
	if c.MinRate > 0 {
		out += ", from " + perTime(c.MinRate)
	}
	return out
}

// Help says what the kind is.
func (*AdmissionControl) Help() string {
	return "refuses by how far the share of successes is below a threshold, as Envoy's filter does"
}

// Example is a line of YAML.
func (*AdmissionControl) Example() string {
	return "{admission_control: {threshold: 95%, window: 30s}}"
}

// New remembers nothing.
func (c *AdmissionControl) New() ThrottleState {
	return &admissionControl{AdmissionControl: *c, fewest: c.MinRate * (float64(c.Window) / 1e9), counts: newRecentCounts(c.Window, c.Buckets)}
}

type admissionControl struct {
	AdmissionControl
	fewest float64 // calls in a window from which on it refuses
	counts recentCounts
}

// Chance is the formula.
func (t *admissionControl) Chance(now time.Duration) float64 {
	t.counts.turn(now)
	n := float64(t.counts.total.requests)
	p := (n - float64(t.counts.total.accepts)/t.Threshold) / (n + 1)
	if p <= 0 || n < t.fewest {
		return 0
	}
	if t.Aggression != 1 {
		p = dist.Exp(dist.Log(p) / t.Aggression)
	}
	return min(p, t.Max)
}

// Refused counts nothing.
func (*admissionControl) Refused(time.Duration) {}

// Sent counts nothing yet.
func (*admissionControl) Sent(time.Duration) int64 { return 0 }

// Ended counts the call.
func (t *admissionControl) Ended(now time.Duration, _ int64, v Verdict) {
	switch v {
	case Success:
		t.counts.add(now, 1, 1)
	case Failure:
		t.counts.add(now, 1, 0)
	}
}
