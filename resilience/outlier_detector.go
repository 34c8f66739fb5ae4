package resilience

import (
	"time"

	"blastradius/sim/call"
	"blastradius/sim/dist"
)

// detector watches the hosts of a dependency: a pure state machine that knows
// no clock. Record is told of every answer, tick is called at every multiple of
// the interval, pick chooses among the hosts that are in.
type detector struct {
	config Outlier
	rules  outlierRules
	limit  ejectLimit
	panics int64 // panic_threshold in millionths
	most   time.Duration
	stream uint64 // keys the draws of its decisions

	hosts   []watch
	out     int   // hosts that are ejected
	in      []int // those that are not, ascending; empty when it is to be made
	rates   []hostRate
	failing []hostRate
	counted bool // an answer came since the last tick

	ejections, overflow int64
}

// watch is what is known of one host.
type watch struct {
	failures  streak
	gateway   streak
	answers   tally
	out       ejection
	ejected   bool
	decisions uint64 // findings that were allowed to lead to an ejection
}

func newDetector(c *Outlier, hosts int, stream uint64) *detector {
	d := &detector{config: *c, rules: c.rules(), limit: c.limit(), panics: millionths(c.PanicThreshold), most: c.Longest(), stream: stream}
	d.hosts = make([]watch, max(1, hosts))
	for i := range d.hosts {
		d.hosts[i].failures.limit, d.hosts[i].gateway.limit = c.Consecutive, c.Gateway
	}
	d.in = make([]int, 0, len(d.hosts))
	d.rates, d.failing = make([]hostRate, 0, len(d.hosts)), make([]hostRate, 0, len(d.hosts))
	return d
}

// record counts one answer. The gateway counter is asked first, as in
// DetectorHostMonitorImpl::putHttpResponseCode.
func (d *detector) record(now time.Duration, host int, v hostVerdict) {
	w := &d.hosts[host]
	w.answers.all++
	d.counted = true
	if v == hostSucceeded {
		w.answers.good++
		w.failures.clear()
		w.gateway.clear()
		return
	}
	if v != hostUnreachable {
		w.gateway.clear()
	} else if w.gateway.fail() {
		d.consecutive(now, host, &w.gateway, d.config.EnforceGateway)
	}
	if w.failures.fail() {
		d.consecutive(now, host, &w.failures, d.config.EnforceConsecutive)
	}
}

// consecutive is a counter at its limit. It begins anew whether the host is
// ejected or not; for a host that is out already it does not even begin anew
// until the host returns.
func (d *detector) consecutive(now time.Duration, host int, s *streak, enforce float64) {
	if d.hosts[host].ejected {
		return
	}
	d.eject(now, host, enforce)
	s.clear()
}

// eject takes a host out, if the limit and the draw allow it. The limit is
// asked first: a finding beyond it is an overflow and no draw.
func (d *detector) eject(now time.Duration, host int, enforce float64) {
	w := &d.hosts[host]
	if w.ejected {
		return
	}
	if !d.limit.allows(d.out, len(d.hosts)) {
		d.overflow++
		return
	}
	var r dist.Rand
	r.Key(d.stream, uint64(host)<<40|w.decisions)
	w.decisions++
	if r.Float64() >= enforce {
		return
	}
	w.ejected, d.in = true, d.in[:0]
	d.out++
	d.ejections++
	w.out.begin(now, r.Duration(d.config.Jitter+1), d.config.BaseEjectionTime, d.most, d.rules.unbounded)
}

// tick is the end of an interval: hosts whose time is over come back, the
// answers of the interval are judged, and hosts that are in get some of their
// credit back. In gRPC they come back last.
func (d *detector) tick(now time.Duration) {
	d.counted = false
	for i := range d.hosts {
		if !d.rules.lateReturn {
			d.comeBack(now, i)
		}
		d.hosts[i].answers.swap()
	}
	d.judge(now)
	for i := range d.hosts {
		if w := &d.hosts[i]; !w.ejected {
			w.out.rest(now, d.config.Interval)
		} else if d.rules.lateReturn {
			d.comeBack(now, i)
		}
	}
}

// comeBack lets a host in again when its time is over. Its counters begin anew,
// so that a near-miss of another rule does not eject it at once.
func (d *detector) comeBack(now time.Duration, host int) {
	w := &d.hosts[host]
	if !w.ejected {
		return
	}
	over := now - w.out.since - w.out.length(d.config.BaseEjectionTime, d.most)
	if over < 0 || over == 0 && d.rules.lateReturn {
		return
	}
	w.ejected, d.in = false, d.in[:0]
	d.out--
	w.out.back = now
	w.failures.clear()
	w.gateway.clear()
}

// judge looks at the rates of the last interval: first who is below the others,
// then who fails too often, as processSuccessRateEjections does. A host that
// the first rule ejected is left alone by the second, where Envoy would eject it
// twice.
func (d *detector) judge(now time.Duration) {
	s, f := &d.config.SuccessRate, &d.config.FailurePercentage
	d.rates, d.failing = d.rates[:0], d.failing[:0]
	for i := range d.hosts {
		w := &d.hosts[i]
		p, ok := w.answers.percent()
		if w.ejected || !ok {
			continue
		}
		if w.answers.lastAll >= int64(s.RequestVolume) {
			d.rates = append(d.rates, hostRate{i, p})
		}
		if w.answers.lastAll >= int64(f.RequestVolume) {
			d.failing = append(d.failing, hostRate{i, p})
		}
	}
	if len(d.rates) > 0 && len(d.rates) >= s.MinimumHosts {
		threshold := belowMean(d.rates, s.StdevFactor)
		for _, r := range d.rates {
			if r.percent < threshold {
				d.eject(now, r.host, s.Enforcing)
			}
		}
	}
	if len(d.failing) > 0 && len(d.failing) >= f.MinimumHosts {
		threshold := float64(millionths(f.Threshold)) / 1e4
		for _, r := range d.failing {
			if bad := 100 - r.percent; bad > threshold || bad == threshold && !d.rules.above {
				d.eject(now, r.host, f.Enforcing)
			}
		}
	}
}

// idle reports that a tick would change nothing: no answer to judge, nobody out,
// no multiplier to shrink.
func (d *detector) idle() bool {
	if d.counted || d.out > 0 {
		return false
	}
	for i := range d.hosts {
		if d.hosts[i].out.multiplier > 0 {
			return false
		}
	}
	return true
}

// panicked reports that the share of hosts that are in is below the threshold,
// so that all are used (LoadBalancerBase::isHostSetInPanic).
func (d *detector) panicked() bool {
	return int64(len(d.hosts)-d.out)*1e6 < d.panics*int64(len(d.hosts))
}

// pick chooses a host, counted from 0, each that is in alike; in panic each of
// all. -1 is nobody: every host is out and there is no panic. Who would have
// gone to a host that is in without a detector goes there with one.
func (d *detector) pick(r *dist.Rand, c *call.Call) (host int, panicked bool) {
	host = DrawHost(r, c, c.Started()+1, len(d.hosts))
	switch {
	case !d.hosts[host].ejected:
		return host, d.panicked()
	case d.panicked():
		return host, true
	case d.out == len(d.hosts):
		return -1, false
	}
	if len(d.in) == 0 {
		for i := range d.hosts {
			if !d.hosts[i].ejected {
				d.in = append(d.in, i)
			}
		}
	}
	return d.in[r.IntN(len(d.in))], false
}
