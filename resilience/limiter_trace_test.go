package resilience

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// What libraries did with calls at the same instants, recorded from runs of
// failsafe-go 0.9.8 (in a bubble of testing/synctest) and golang.org/x/time
// 0.11.0: instant and wait in milliseconds, -1 for a refusal. The smooth limiter
// of failsafe-go is a fixed window of one interval, not an even spacing.
func TestRateLimitDoesWhatLibrariesDo(t *testing.T) {
	for _, tt := range []struct {
		library string
		config  *RateLimit
		trace   string
	}{
		{"failsafe-go bursty, 3 in 100 ms", rateLimitOf(&FixedWindow{Calls: 3, Per: 100 * ms}),
			"4:0 5:0 32:0 61:-1 61:-1 61:-1 64:-1 71:-1 83:-1 106:0 112:0 139:0 139:-1 139:-1 181:-1 192:-1 203:0 210:0 243:0 263:-1 281:-1 291:-1 313:0 313:0 314:0 362:-1 362:-1 367:-1 367:-1 367:-1 367:-1 377:-1 377:-1 402:0 451:0 490:0 490:-1 490:-1 490:-1 494:-1 494:-1 494:-1 541:0 574:0 577:0 602:0 615:0 615:0"},
		{"failsafe-go bursty, 3 in 100 ms, waits up to 150 ms", rateLimitOf(&FixedWindow{Calls: 3, Per: 100 * ms}, waitUpTo(150*ms)),
			"3:0 3:0 25:0 48:52 48:52 48:52 50:150 56:144 65:135 84:-1 89:-1 110:-1 110:-1 110:-1 144:-1 153:147 161:139 167:133 193:-1 209:-1 223:-1 231:-1 249:-1 249:-1 250:150 288:112 288:112 292:-1 292:-1 292:-1 292:-1 300:-1 300:-1 320:-1 359:141 390:110 390:110 390:-1 390:-1 393:-1 393:-1 393:-1 431:-1 457:143 459:141 479:121 489:-1 489:-1"},
		{"failsafe-go smooth, 10 in 1 s", rateLimitOf(&FixedWindow{Calls: 1, Per: 100 * ms}),
			"10:0 12:-1 78:-1 148:0 148:-1 148:-1 156:-1 174:-1 203:0 260:-1 275:-1 339:0 339:-1 339:-1 441:0 469:-1 495:-1 513:0 592:-1 641:0 684:-1 709:0 764:-1 764:-1 767:-1 882:0 882:-1 896:-1 896:-1 896:-1 896:-1 922:0 922:-1 982:-1 1100:0 1195:-1 1195:-1 1195:-1 1195:-1 1205:0 1206:-1 1206:-1 1320:0 1399:-1 1406:0 1466:-1 1497:-1 1497:-1"},
		{"failsafe-go smooth, 10 in 1 s, waits up to 250 ms", rateLimitOf(&FixedWindow{Calls: 1, Per: 100 * ms}, waitUpTo(250*ms)),
			"10:0 12:88 78:122 148:152 148:-1 148:-1 156:244 174:-1 203:-1 260:240 275:-1 339:-1 339:-1 339:-1 441:159 469:231 495:-1 513:-1 592:208 641:-1 684:216 709:-1 764:236 764:-1 767:-1 882:218 882:-1 896:-1 896:-1 896:-1 896:-1 922:-1 922:-1 982:218 1100:200 1195:205 1195:-1 1195:-1 1195:-1 1205:-1 1206:-1 1206:-1 1320:180 1399:201 1406:-1 1466:234 1497:-1 1497:-1"},
		{"x/time/rate, 10/s, burst 3", rateLimitOf(&TokenBucket{Rate: 10, Burst: 3}),
			"101:0 133:0 133:0 143:-1 244:0 337:0 337:-1 363:-1 453:0 559:0 559:-1 616:0 616:-1 636:-1 678:-1 735:0 825:0 849:-1 899:-1 899:-1 974:0 1073:0 1177:0 1177:-1 1208:0 1269:-1 1355:0 1355:-1 1474:0 1474:-1 1474:-1 1552:0 1590:-1 1590:-1 1624:0 1681:-1 1722:0 1722:-1 1804:0 1804:-1 1804:-1 1804:-1 1913:0 1978:-1 1978:-1 2077:0 2133:0 2169:-1"},
	} {
		r := newRig(t, &work{steps: []step{{}}}, tt.config)
		for _, field := range strings.Fields(tt.trace) {
			var at, wait int
			if _, err := fmt.Sscanf(field, "%d:%d", &at, &wait); err != nil {
				t.Fatal(err)
			}
			r.call(time.Duration(at)*ms, 0)
		}
		r.run(10 * s)
		var got []string
		for _, c := range r.callers {
			wait := (c.at - c.started) / ms
			if c.out.Reason != 0 {
				wait = -1
			}
			got = append(got, fmt.Sprintf("%d:%d", c.started/ms, wait))
		}
		if trace := strings.Join(got, " "); trace != tt.trace {
			t.Errorf("%s:\n got %s\nwant %s", tt.library, trace, tt.trace)
		}
	}
}

func waitUpTo(d time.Duration) func(*RateLimit) {
	return func(c *RateLimit) { c.WhenFull, c.MaxWait = WhenFullWait, d }
}
