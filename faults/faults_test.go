package faults

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/dist"
	"blastradius/sim/spec"
)

const (
	ms  = time.Millisecond
	sec = time.Second
)

func constant(d time.Duration) dist.Kind { return &dist.Constant{Value: d} }

func apply(reply call.Reply, seed uint64, kinds ...Config) call.Reply {
	for i, k := range kinds {
		var r dist.Rand
		r.Key(seed, uint64(i))
		k.Fault().Apply(0, &r, &reply)
	}
	return reply
}

func TestWhatAFaultDoesToAReply(t *testing.T) {
	fine := call.Reply{Latency: 50 * ms}
	wrong := call.Reply{Latency: 50 * ms, Class: call.ClientError}
	throttled := call.Reply{Latency: 50 * ms, Class: call.Throttled, RetryAfter: sec}
	refused := call.Reply{Latency: 50 * ms, Class: call.ConnectError, Immediate: true}
	for _, c := range []struct {
		name  string
		reply call.Reply
		kinds []Config
		want  call.Reply
	}{
		{"latency", fine, []Config{&Slow{Latency: constant(8 * sec)}}, call.Reply{Latency: 8 * sec}},
		{"times", fine, []Config{&Slow{Times: 10}}, call.Reply{Latency: 500 * ms}},
		{"faster", fine, []Config{&Slow{Times: 0.5}}, call.Reply{Latency: 25 * ms}},
		{"times, to the nearest nanosecond", call.Reply{Latency: 3}, []Config{&Slow{Times: 0.5}}, call.Reply{Latency: 2}},
		{"add", fine, []Config{&Slow{Add: constant(200 * ms)}}, call.Reply{Latency: 250 * ms}},
		{"slow keeps the class", wrong, []Config{&Slow{Times: 2}}, call.Reply{Latency: 100 * ms, Class: call.ClientError}},
		{"slow keeps the pause asked for", throttled, []Config{&Slow{Times: 2}}, call.Reply{Latency: 100 * ms, Class: call.Throttled, RetryAfter: sec}},
		{"slow does not delay a refusal", refused, []Config{&Slow{Times: 2}}, call.Reply{Latency: 100 * ms, Class: call.ConnectError, Immediate: true}},
		{"saturated factor", call.Reply{Latency: longest}, []Config{&Slow{Times: 3}}, call.Reply{Latency: longest}},
		{"saturated sum", call.Reply{Latency: longest}, []Config{&Slow{Add: constant(math.MaxInt64)}}, call.Reply{Latency: longest}},

		{"error takes the drawn latency", fine, []Config{&Error{Class: "server_error", Rate: 1}}, call.Reply{Latency: 50 * ms, Class: call.ServerError}},
		{"error with a latency", fine, []Config{&Error{Class: "server_error", Rate: 1, Latency: constant(sec)}}, call.Reply{Latency: sec, Class: call.ServerError}},
		{"connect_error at once", fine, []Config{&Error{Class: "connect_error", Rate: 1}}, refused},
		{"connect_error after a latency", fine, []Config{&Error{Class: "connect_error", Rate: 1, Latency: constant(sec)}}, call.Reply{Latency: sec, Class: call.ConnectError}},
		{"error in place of a 429", throttled, []Config{&Error{Class: "server_error", Rate: 1}}, call.Reply{Latency: 50 * ms, Class: call.ServerError}},
		{"throttled", fine, []Config{&Error{Class: "throttled", Rate: 1}}, call.Reply{Latency: 50 * ms, Class: call.Throttled}},
		{"client_error", fine, []Config{&Error{Class: "client_error", Rate: 1}}, wrong},

		{"down", fine, []Config{&Down{}}, refused},
		{"down after a latency", fine, []Config{&Down{Latency: constant(3 * sec)}}, call.Reply{Latency: 3 * sec, Class: call.ConnectError}},
		{"hang", fine, []Config{&Hang{}}, call.Reply{Latency: 50 * ms, Hang: true}},
		{"hang instead of a refusal", refused, []Config{&Hang{}}, call.Reply{Latency: 50 * ms, Class: call.ConnectError, Hang: true}},

		// The order of the file: the later fault sees what the earlier one left.
		{"slow twice", fine, []Config{&Slow{Times: 2}, &Slow{Add: constant(ms)}}, call.Reply{Latency: 101 * ms}},
		{"slow twice, the other way", fine, []Config{&Slow{Add: constant(ms)}, &Slow{Times: 2}}, call.Reply{Latency: 102 * ms}},
		{"slow errors", fine, []Config{&Slow{Latency: constant(8 * sec)}, &Error{Class: "server_error", Rate: 1}}, call.Reply{Latency: 8 * sec, Class: call.ServerError}},
		{"hang, then error", fine, []Config{&Hang{}, &Error{Class: "server_error", Rate: 1}}, call.Reply{Latency: 50 * ms, Class: call.ServerError}},
		{"hang, then down", fine, []Config{&Hang{}, &Down{}}, refused},
		{"down, then error", fine, []Config{&Down{}, &Error{Class: "server_error", Rate: 1}}, call.Reply{Latency: 50 * ms, Class: call.ServerError}},
		{"down, then hang", fine, []Config{&Down{}, &Hang{}}, call.Reply{Latency: 50 * ms, Class: call.ConnectError, Hang: true}},
		{"hang, then slow", fine, []Config{&Hang{}, &Slow{Times: 2}}, call.Reply{Latency: 100 * ms, Hang: true}},
	} {
		for _, k := range c.kinds {
			if problems := k.Validate(); len(problems) != 0 {
				t.Errorf("%s: %v", c.name, problems)
			}
		}
		if got := apply(c.reply, 1, c.kinds...); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestErrorRate(t *testing.T) {
	const n = 100_000
	f := (&Error{Class: "server_error", Rate: 0.4}).Fault()
	failed := 0
	for i := range uint64(n) {
		var r dist.Rand
		r.Key(11, i)
		reply := call.Reply{Latency: 50 * ms}
		f.Apply(0, &r, &reply)
		switch reply {
		case call.Reply{Latency: 50 * ms, Class: call.ServerError}:
			failed++
		case call.Reply{Latency: 50 * ms}:
		default:
			t.Fatalf("request %d: %+v", i, reply)
		}
	}
	if z := (float64(failed) - 0.4*n) / math.Sqrt(0.4*0.6*n); math.Abs(z) > 4 {
		t.Errorf("%d of %d fail at a rate of 40%% (z %.1f)", failed, n, z)
	}
}

// The slow answers of a distribution are that distribution.
func TestSlowDrawsItsLatency(t *testing.T) {
	const n = 20_000
	f := (&Slow{Latency: &dist.Uniform{Low: sec, High: 3 * sec}}).Fault()
	sum := 0.0
	for i := range uint64(n) {
		var r dist.Rand
		r.Key(12, i)
		reply := call.Reply{Latency: 50 * ms}
		f.Apply(0, &r, &reply)
		if reply.Latency < sec || reply.Latency > 3*sec {
			t.Fatalf("drew %v", reply.Latency)
		}
		sum += reply.Latency.Seconds()
	}
	if z := (sum/n - 2) / (math.Sqrt(4.0/12) / math.Sqrt(n)); math.Abs(z) > 4 {
		t.Errorf("mean %.4f s, want 2 (z %.1f)", sum/n, z)
	}
}

// A fault that needs no draw takes none, so that a latency's draw is the same
// under down, under an error at 100 %, and under slow.
func TestAnErrorAtFullRateDrawsNothing(t *testing.T) {
	latency := &dist.Exponential{MeanLatency: sec}
	fine := call.Reply{Latency: 50 * ms}
	want := apply(fine, 5, &Slow{Latency: latency}).Latency
	for _, k := range []Config{&Down{Latency: latency}, &Error{Class: "server_error", Rate: 1, Latency: latency}} {
		if got := apply(fine, 5, k).Latency; got != want || want == 0 {
			t.Errorf("%s: %v, want %v", k.Text(), got, want)
		}
	}
}

func TestMeanLatencyAndText(t *testing.T) {
	for _, c := range []struct {
		kind Config
		mean time.Duration
		ok   bool
		text string
	}{
		{&Slow{Latency: constant(8 * sec)}, 8 * sec, true, "slow: 8s"},
		{&Slow{Latency: constant(2 * time.Hour)}, 2 * time.Hour, true, "slow: 2h"},
		{&Slow{Latency: constant(90*sec + ms)}, 90*sec + ms, true, "slow: 1m30.001s"},
		{&Slow{Latency: &dist.Exponential{MeanLatency: 1234567890}}, 1234567890, true, "slow: 1.23s"},
		{&Slow{Times: 2.5}, 125 * ms, true, "slow: x2.5"},
		{&Slow{Add: constant(200 * ms)}, 250 * ms, true, "slow: +200ms"},
		{&Error{Class: "server_error", Rate: 0.4}, 50 * ms, true, "error: 40% server_error"},
		{&Error{Class: "server_error", Rate: 0.001, Latency: constant(sec)}, sec, true, "error: 0.1% server_error"},
		{&Error{Class: "connect_error", Rate: 1}, 0, false, "error: 100% connect_error"},
		{&Error{Class: "connect_error", Rate: 1, Latency: constant(sec)}, sec, true, "error: 100% connect_error"},
		{&Down{}, 0, false, "down"},
		{&Down{Latency: constant(3 * sec)}, 3 * sec, true, "down"},
		{&Hang{}, 0, false, "hang"},
	} {
		mean, ok := c.kind.MeanLatency(50 * ms)
		if mean != c.mean || ok != c.ok || c.kind.Text() != c.text {
			t.Errorf("%+v: %v, %v, %q; want %v, %v, %q", c.kind, mean, ok, c.kind.Text(), c.mean, c.ok, c.text)
		}
	}
}

func TestProblems(t *testing.T) {
	crooked := &dist.Uniform{Low: 2, High: 1} // its problem is with high
	for _, c := range []struct {
		kind interface{ Validate() []spec.Problem }
		want []string // fields
	}{
		{&Slow{Times: 2}, nil},
		{&Slow{}, []string{""}},
		{&Slow{Times: 2, Add: constant(1)}, []string{""}},
		{&Slow{Latency: constant(1), Add: constant(1)}, []string{""}},
		{&Slow{Latency: crooked, Times: 1}, []string{"latency.high", ""}},
		{&Slow{Add: crooked}, []string{"add.high"}},
		{&Slow{Latency: &dist.Mix{}}, []string{"latency"}},
		{&Error{Latency: crooked}, []string{"latency.high"}},
		{&Error{Latency: constant(1)}, nil},
		{&Down{Latency: crooked}, []string{"latency.high"}},
		{&Down{}, nil},
		{&Hang{}, nil},
		{Timeline{From: 1}, nil},
		{Timeline{For: 10, Every: 11}, nil},
		{Timeline{For: 10, Every: 10}, []string{"for"}},
		{Timeline{For: 11, Every: 10}, []string{"for"}},
		{Timeline{Every: 10}, []string{"every"}},
	} {
		var got []string
		for _, p := range c.kind.Validate() {
			if p.Text == "" || p.Hint == "" {
				t.Errorf("%+v: %+v lacks its text or hint", c.kind, p)
			}
			got = append(got, p.Field)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: problems with %q, want %q", c.kind, got, c.want)
		}
	}
}

func TestKindsExplainThemselves(t *testing.T) {
	for name, make := range Kinds {
		c := make()
		if c.Help() == "" || c.Example() == "" {
			t.Errorf("%s has no help or no example", name)
		}
		kind := reflect.TypeOf(c).Elem()
		for i := range kind.NumField() {
			if f := kind.Field(i); f.Tag.Get("yaml") == "" || f.Tag.Get("help") == "" {
				t.Errorf("%s: field %s lacks a yaml or help tag", name, f.Name)
			}
		}
	}
	// Bare words in a file: these work without a field, slow needs one.
	for _, name := range []string{"error", "down", "hang"} {
		if problems := Kinds[name]().Validate(); len(problems) != 0 {
			t.Errorf("%s without fields: %v", name, problems)
		}
	}
}
