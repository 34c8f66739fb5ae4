package resilience

import "time"

// ejectLimit decides whether one more host may be ejected.
//
//	after:  100·(ejected + 1)/hosts ≤ percent   Envoy since its pull request 27624
//	before: 100·ejected/hosts < percent         Envoy before it; gRPC
//
// With the first, a percentage below 100/hosts ejects nobody; with the second
// one host can always go.
type ejectLimit struct {
	share  int64 // max_ejection_percent in millionths
	before bool
	one    bool // always_eject_one_host
}

// millionths makes an integer of a share, so that 10 % of 10 hosts is one host
// and not 0.9999 of one.
func millionths(share float64) int64 { return int64(float64(share*1e6) + 0.5) }

func (l ejectLimit) allows(ejected, hosts int) bool {
	switch {
	case l.one && ejected == 0:
		return true
	case l.before:
		return int64(ejected)*1e6 < l.share*int64(hosts)
	}
	return int64(ejected+1)*1e6 <= l.share*int64(hosts)
}

// ejection is how long a host stays out: min(base·multiplier, most) + jitter.
// The multiplier grows with each ejection and shrinks with each interval that
// the host has been back for. Envoy lets it grow while base·multiplier < most +
// base, so that a host that was bad for a day is not distrusted for another.
type ejection struct {
	multiplier int64
	jitter     time.Duration
	since      time.Duration // of the last ejection
	back       time.Duration // of the last return
}

func (e *ejection) begin(now, jitter, base, most time.Duration, unbounded bool) {
	e.since, e.jitter = now, jitter
	if unbounded || e.multiplier-1 <= int64((most-1)/base) { // base·(multiplier − 1) < most, without an overflow
		e.multiplier++
	}
}

func (e *ejection) length(base, most time.Duration) time.Duration {
	d := most
	if e.multiplier <= int64(most/base) {
		d = min(base*time.Duration(e.multiplier), most)
	}
	return d + e.jitter
}

// rest shrinks the multiplier of a host that is in; the tick at which it came
// back does not count.
func (e *ejection) rest(now, interval time.Duration) {
	if e.multiplier > 0 && now-e.back >= interval {
		e.multiplier--
	}
}
