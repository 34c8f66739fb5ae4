package conformance

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"blastradius/internal/conform"
	"blastradius/sim/call"
)

const (
	tracesPerDialect = 1200
	minSteps         = 20
	maxSteps         = 60
)

// clocked makes a subject a conform.Breaker: it sleeps in the bubble until the
// instant of each step.
type clocked struct {
	subject
	start time.Time
}

func (c *clocked) until(at time.Duration) { time.Sleep(at - time.Since(c.start)) }

func (c *clocked) Admit(at time.Duration, id int) bool {
	c.until(at)
	return c.subject.Admit(id)
}

func (c *clocked) Complete(at time.Duration, id int, class call.Class) {
	c.until(at)
	c.subject.Complete(id, class)
}

func (c *clocked) State(at time.Duration) conform.State {
	c.until(at)
	return c.subject.State()
}

// inBubble runs f with a new breaker at the bubble's midnight. A panic of f
// reaches the caller.
func inBubble(t *testing.T, c config, f func(b conform.Breaker)) {
	var panicked any
	bubble(t, c.leaks, func() {
		s := c.build()
		defer func() {
			panicked = recover()
			if e, ok := s.(ender); ok {
				e.End()
			}
		}()
		f(&clocked{subject: s, start: time.Now()})
	})
	if panicked != nil {
		panic(panicked)
	}
}

// leaked is the whole complaint about a goroutine that outlives its bubble. It
// stays blocked for ever: time ends with the bubble.
const leaked = "deadlock: main bubble goroutine has exited but blocked goroutines remain"

func bubble(t *testing.T, leaks bool, f func()) {
	defer func() {
		if p := recover(); p != nil && (!leaks || fmt.Sprint(p) != leaked) {
			panic(p)
		}
	}()
	synctest.Test(t, func(*testing.T) { f() })
}

// record makes the whole file of a dialect: the traces made by hand, then the
// generated ones. The same library gives the same bytes.
func record(t *testing.T, d dialect) *conform.File {
	t.Helper()
	v, err := version(d.module)
	if err != nil {
		t.Fatal(err)
	}
	f := &conform.File{Library: d.module, Version: v, Dialect: d.name}
	for _, h := range d.hand {
		g := groupFor(f, h.config)
		tr, err := h.trace()
		if err != nil {
			t.Fatal(err)
		}
		g.Traces = append(g.Traces, *tr)
		inBubble(t, h.config, func(b conform.Breaker) {
			if diff := conform.Replay(g, tr, b); diff != nil {
				t.Errorf("%s: %s\n%v", d.name, h.about, diff)
			}
		})
	}
	name := fnv.New64a()
	name.Write([]byte(d.name))
	number := 0
	for i, c := range d.configs {
		g := conform.Group{Settings: c.settings, Unit: c.unit}
		for range share(tracesPerDialect, len(d.configs), i) {
			number++
			gen := &generator{
				chooser: rand.New(rand.NewPCG(name.Sum64(), uint64(number))), config: c, classes: d.classes, least: minSteps,
			}
			inBubble(t, c, func(b conform.Breaker) {
				g.Traces = append(g.Traces, conform.Trace{Name: fmt.Sprintf("g%d", number), Steps: gen.run(b)})
			})
		}
		f.Groups = append(f.Groups, g)
	}
	return f
}

// groupFor is the file's last group when it has this configuration, else a new
// one.
func groupFor(f *conform.File, c config) *conform.Group {
	if n := len(f.Groups); n == 0 || f.Groups[n-1].Settings != c.settings || f.Groups[n-1].Unit != c.unit {
		f.Groups = append(f.Groups, conform.Group{Settings: c.settings, Unit: c.unit})
	}
	return &f.Groups[len(f.Groups)-1]
}

// share is the i-th of n nearly equal parts of all.
func share(all, n, i int) int { return all*(i+1)/n - all*i/n }

// trace decodes the expected steps.
func (h *handTrace) trace() (*conform.Trace, error) {
	text := fmt.Sprintf("settings {}\nunit %v\n%s: %s\n", h.config.unit, h.name, h.steps)
	f, err := conform.Decode([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", h.name, err)
	}
	tr := f.Groups[0].Traces[0]
	tr.About = h.about
	return &tr, nil
}

// chooser chooses one of n, from 0: a seeded generator for the files, or rapid,
// which can make what it chose smaller.
type chooser interface{ IntN(n int) int }

// generator draws a trace while the breaker answers, so that calls end that
// were admitted, and time goes where the breaker is about to move.
type generator struct {
	chooser
	config
	classes []call.Class
	least   int // steps

	now      time.Duration
	opened   time.Duration // when it was last seen to open
	state    conform.State
	out      []int // calls under way
	admitted int
	failing  bool // the mood of the dependency
	purity   int  // how rarely a call ends against the mood
	pace     int  // while closed, one step in so many lets time pass
}

func (g *generator) run(b conform.Breaker) (steps []conform.Step) {
	g.state = conform.Closed
	g.failing = g.IntN(2) == 0
	g.purity = 1 << (2 * g.IntN(3))
	g.pace = 1 << g.IntN(5)
	for range g.least + g.IntN(maxSteps+g.more-g.least+1) {
		g.wait()
		if g.IntN(12) == 0 {
			g.failing = !g.failing
		}
		s := conform.Step{At: g.now, ID: -1}
		if len(g.out) > 0 && (len(g.out) >= 8 || g.IntN(2) == 0) {
			g.complete(b, &s)
		} else {
			g.admit(b, &s)
		}
		s.State = b.State(g.now)
		if s.State == conform.Open && (g.state != conform.Open || s.OK) {
			g.opened = g.now // or last tested
		}
		g.state = s.State
		steps = append(steps, s)
	}
	return steps
}

func (g *generator) admit(b conform.Breaker, s *conform.Step) {
	if s.OK = b.Admit(g.now, g.admitted); s.OK {
		s.ID = g.admitted
		g.out = append(g.out, s.ID)
		g.admitted++
	}
}

// complete ends a call: mostly the youngest, so that the old become
// stragglers.
func (g *generator) complete(b conform.Breaker, s *conform.Step) {
	i := len(g.out) - 1
	if g.IntN(3) == 0 {
		i = g.IntN(len(g.out))
	}
	s.Op, s.ID, s.Class = conform.Complete, g.out[i], g.class()
	g.out = append(g.out[:i], g.out[i+1:]...)
	b.Complete(g.now, s.ID, s.Class)
}

func (g *generator) class() call.Class {
	if g.IntN(10*g.purity) == 0 {
		return g.classes[g.IntN(len(g.classes))]
	}
	if g.failing == (g.IntN(5*g.purity) > 0) {
		return g.config.failures
	}
	return call.OK
}

// wait lets time pass to where something may happen: not at all, to a point of
// the grid, to the end of the cooldown, or far beyond; exactly there or one
// step of the clock beside it.
func (g *generator) wait() {
	if g.state == conform.Closed && g.IntN(g.pace) > 0 {
		return
	}
	edge := g.edge
	if g.IntN(8) == 0 {
		edge = 1
	}
	beside := edge * time.Duration(g.IntN(3)-1)
	at := g.now
	switch n := g.IntN(100); {
	case g.state == conform.Open && n < 40:
		at = g.opened + g.cooldown + beside
	case n < 55:
	case n < 60:
		at += edge
	case n < 85:
		at = (g.now/g.grid+1)*g.grid + beside
	case n < 97:
		at = (g.now/g.grid+time.Duration(2+g.IntN(9)))*g.grid + beside
	default:
		at = (g.now/g.grid+time.Duration(20+g.IntN(40)))*g.grid + beside
	}
	g.now = max(g.now, at)
}
