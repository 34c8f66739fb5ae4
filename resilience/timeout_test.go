package resilience

import (
	"strings"
	"testing"
	"time"

	"blastradius/sim/call"
)

func TestTimeoutTable(t *testing.T) {
	tests := []struct {
		name     string
		work     step
		patience time.Duration
		want     string
		fired    int64
		canceled int
	}{
		{"an answer in time passes", step{after: 9 * ms}, 0, "ok at 9ms", 0, 0},
		{"a reply due exactly at the limit is in time", step{after: 10 * ms, class: call.ServerError}, 0, "server_error at 10ms", 0, 0},
		{"a nanosecond later it is not", step{after: 10*ms + 1}, 0, "timeout at 10ms", 1, 1},
		{"work that hangs is cancelled", step{hang: true}, 0, "timeout at 10ms", 1, 1},
		{"an answer at once passes", step{class: call.ConnectError}, 0, "connect_error at 0s", 0, 0},
		{"a caller that leaves before is not answered", step{hang: true}, 4 * ms, "left", 0, 1},
		{"a caller that leaves at the limit came first and is not answered", step{hang: true}, 10 * ms, "left", 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, &work{steps: []step{tt.work}}, &Timeout{After: 10 * ms})
			r.call(0, tt.patience)
			r.run(s)
			if got := strings.Join(r.got(), ", "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if l := r.layers[0].(*timeoutLayer); l.fired != tt.fired || r.work.canceled != tt.canceled || r.k.Live() != 0 || r.work.inside != 0 {
				t.Errorf("fired %d, cancelled %d, timers %d, inside %d", l.fired, r.work.canceled, r.k.Live(), r.work.inside)
			}
		})
	}
}

// The limit is on what is inside: a wait for a permit inside of it counts.
func TestTimeoutEndsAWaitInside(t *testing.T) {
	r := newRig(t, &work{steps: []step{{after: 50 * ms}}}, &Timeout{After: 20 * ms}, &Bulkhead{Permits: 1, Queue: -1, MaxWait: -1})
	r.call(0, 0)
	r.call(10*ms, 0)
	r.run(s)
	if got, want := strings.Join(r.got(), ", "), "timeout at 20ms, timeout at 30ms"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if p := r.layers[1].(*bulkheadLayer).pool; r.work.started != 2 || p.InUse.N() != 0 || p.Waiting.N() != 0 {
		t.Errorf("%d started, in use %d, waiting %d; the first permit goes to the second call at 20ms", r.work.started, p.InUse.N(), p.Waiting.N())
	}
}
