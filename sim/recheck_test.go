package sim

import (
	"testing"

	"blastradius/resilience"
	"blastradius/sim/call"
)

// Ten calls come at once to a dependency that is down and has one permit. The
// first opens the breaker at 100 ms; the nine behind it call the dead dependency
// one after the other, 100 ms each, unless the breaker is asked again. The
// second has its permit before the breaker has heard of the first.
func TestACallThatWaitedAsksTheBreakerAgain(t *testing.T) {
	for _, tt := range []struct {
		name     string
		recheck  bool
		lives    []string
		rejected float64
	}{
		{"without", false, []string{"failed: server_error after 100ms", "failed: server_error after 200ms", "failed: server_error after 300ms", "failed: server_error after 400ms"}, 0},
		{"with", true, []string{"failed: server_error after 100ms", "failed: server_error after 200ms", "failed: rejected after 200ms", "failed: rejected after 200ms"}, 8},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := breaker(func(b *resilience.Breaker) { b.Consecutive, b.Recheck = 1, tt.recheck })
			d := answers("a", 100*ms, call.ServerError, b, bulkhead(1, 5*sec))
			lifeCase{
				config:  tenSeconds(web(at(0, 0, 0, 0, 0, 0, 0, 0, 0, 0), step("a")), d),
				lives:   tt.lives,
				figures: map[string]float64{"dependency.a.breaker.opens": 1, "dependency.a.breaker.rejected": tt.rejected},
			}.run(t)
		})
	}
}
