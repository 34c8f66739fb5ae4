package conformance

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"blastradius/internal/conform"
	"blastradius/resilience"
	"blastradius/sim/call"

	"pgregory.net/rapid"
)

// ourBreaker is a dialect of ours behind the calls of a trace.
type ourBreaker struct {
	machine  *resilience.Machine
	verdicts [call.NumClasses]resilience.Verdict
	tokens   []resilience.Token
}

func (b *ourBreaker) Admit(at time.Duration, _ int) bool {
	t, ok := b.machine.Admit(at)
	if ok {
		b.tokens = append(b.tokens, t)
	}
	return ok
}

func (b *ourBreaker) Complete(at time.Duration, id int, class call.Class) {
	b.machine.Record(at, b.tokens[id], b.verdicts[class])
}

func (b *ourBreaker) State(at time.Duration) conform.State {
	return conform.ParseState(b.machine.State(at).String())
}

// settingsOf reads the settings of a trace.
type settingsOf map[string]any

func (s settingsOf) text(key string) string { return fmt.Sprint(s[key]) }

func (s settingsOf) count(t *testing.T, key string) int {
	n, err := strconv.Atoi(s.text(key))
	if err != nil {
		t.Fatal(key, err)
	}
	return n
}

func (s settingsOf) span(t *testing.T, key string) time.Duration {
	d, err := time.ParseDuration(s.text(key))
	if err != nil {
		t.Fatal(key, err)
	}
	return d
}

func (s settingsOf) share(t *testing.T, key string) float64 {
	f, err := strconv.ParseFloat(strings.TrimSuffix(s.text(key), "%"), 64)
	if err != nil {
		t.Fatal(key, err)
	}
	return f / 100
}

// newOurs builds the dialect that the settings name.
func newOurs(t *testing.T, settings string) conform.Breaker {
	var keys map[string]any
	if err := yaml.Unmarshal([]byte(settings), &keys); err != nil {
		t.Fatal(err)
	}
	s := settingsOf(keys)
	c := resilience.NewBreaker(s.text("dialect"))
	given := map[string]bool{}
	for key := range s {
		given[key] = true
	}
	c.Chose(given)
	for key := range s {
		switch key {
		case "dialect", "verdicts":
		case "consecutive":
			c.Consecutive = s.count(t, key)
		case "failures":
			c.Failures = s.count(t, key)
		case "ratio":
			c.Ratio = s.share(t, key)
		case "min_calls":
			c.MinCalls = s.count(t, key)
		case "slow_ratio":
			c.Slow.Ratio = s.share(t, key)
		case "slow_after":
			c.Slow.Over = s.span(t, key)
		case "cooldown":
			c.Cooldown = s.span(t, key)
		case "probes":
			// Sentinel's number of probes bounds successes, not admissions.
			switch n := s.count(t, key); {
			case n == 0:
				c.Probes = 1
			case strings.HasPrefix(c.Dialect, "sentinel"):
				c.Probes, c.HalfOpen.Admit = n, "everyone"
			default:
				c.Probes = n
			}
		case "successes":
			c.HalfOpen.Need = s.count(t, key)
		case "window":
			switch w := c.Window.(type) {
			case *resilience.LastCalls:
				w.N = s.count(t, key)
			case *resilience.Fixed:
				w.Interval = s.span(t, key)
			case *resilience.Buckets:
				w.Span = s.span(t, key)
			default:
				t.Fatalf("window of type %T", w)
			}
		case "buckets":
			c.Window.(*resilience.Buckets).N = s.count(t, key)
		default:
			t.Fatalf("no key of ours is meant by %s", key)
		}
	}
	b := &ourBreaker{machine: c.NewMachine(1), verdicts: *resilience.Dialects[c.Dialect].Verdicts}
	changes, ok := s["verdicts"].(map[string]any)
	if !ok && given["verdicts"] {
		t.Fatalf("verdicts of type %T", s["verdicts"])
	}
	for name, verdict := range changes {
		class, _ := call.ParseClass(name)
		for v := range resilience.Lost + 1 {
			if v.String() == verdict {
				b.verdicts[class] = v
			}
		}
	}
	return b
}

// What rapid draws, the library and our dialect of it do alike.
func TestDialectsDoWhatLibrariesDo(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d.name, func(t *testing.T) {
			rapid.Check(t, compare(t, d, func(settings string) conform.Breaker { return newOurs(t, settings) }))
		})
	}
}
