package report

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// EveryLines is one status line per arm, step of simulated time and dependency:
// the breaker's state at the end of the step, the counts within it, and the
// most permits in use. A step shorter than the bins of the series becomes one
// bin.
func EveryLines(r *Result, step time.Duration, o TextOptions) string {
	p := newPrinter(NewDocument(r), o)
	for i := range r.Arms {
		p.section(func() { p.every(&r.Arms[i], step.Seconds()) })
	}
	return p.out.String()
}

// The columns of a status line.
const (
	everyTime  = 8
	everyName  = 14
	everyState = 12
	everyCount = 9
)

var everyCounts = []string{"calls", "failed", "shed", "fallback"}

func (p *printer) every(a *Arm, step float64) {
	bin := a.Series.step()
	bins := 0
	if len(a.Series.Values) > 0 {
		bins = len(a.Series.Values[0])
	}
	if bin <= 0 || bins == 0 {
		p.line("EVERY STEP, " + p.shorten(p.clean(a.Name), 40) + ": no series was recorded")
		return
	}
	step = max(step, bin)
	heading := fmt.Sprintf("EVERY %s, %s", FormatSetting(step), p.clean(a.Name))
	if whole := step / bin; math.Abs(whole-math.Round(whole)) > 1e-6 {
		heading += fmt.Sprintf(" (counts by bins of %s)", FormatSetting(bin))
	}
	p.line(p.paint(bold, p.shorten(heading, textWidth)))
	head := padLeft("at", everyTime) + "  " + padRight("dependency", everyName) + padRight("state", everyState)
	for _, c := range everyCounts {
		head += padLeft(c, everyCount)
	}
	p.line(head + padLeft("in use", 8))

	duration := p.d.Result.Scenario.Duration
	for k := 0; ; k++ {
		from := int(math.Ceil(float64(k)*step/bin - 1e-6))
		to := int(math.Ceil(float64(k+1)*step/bin - 1e-6))
		if from >= bins {
			return
		}
		to = min(max(to, from+1), bins)
		at := min(float64(k+1)*step, duration, float64(bins)*bin)
		for i := range p.d.Result.Scenario.Dependencies {
			label := ""
			if i == 0 {
				label = FormatSetting(at)
			}
			p.status(a, &p.d.Result.Scenario.Dependencies[i], label, at, from, to)
		}
	}
}

// status is one line: bins [from, to), the state at the instant at.
func (p *printer) status(a *Arm, dep *Dependency, label string, at float64, from, to int) {
	name := "dependency." + dep.Name + "."
	out := padLeft(label, everyTime) + "  " + padRight(p.shorten(p.clean(dep.Name), everyName-1), everyName)
	state, isOpen := p.breakerState(a, dep.Name, at)
	state = padRight(state, everyState)
	if isOpen {
		state = p.paint(red, state)
	}
	out += state
	for _, c := range everyCounts {
		out += padLeft(p.clean(sumOf(a.series(name+c), from, to)), everyCount)
	}
	p.line(out + padLeft(p.clean(permitsOf(a, dep.Name, from, to)), 8))
}

// breakerState is the state of a dependency's breakers, the highest of several,
// as number and word.
func (p *printer) breakerState(a *Arm, dependency string, at float64) (string, bool) {
	breakers := a.layers(dependency, "breaker")
	if len(breakers) == 0 {
		return "no breaker", false
	}
	state := 0
	for _, l := range breakers {
		now := 0
		for _, c := range a.States {
			if c.Breaker == "dependency."+dependency+"."+l.Name && c.At <= at {
				now = c.State
			}
		}
		state = max(state, now)
	}
	return StateWord(state), state == 2
}

// StateWord is a breaker's state as number and word.
func StateWord(state int) string {
	switch state {
	case 0:
		return "0 closed"
	case 1:
		return "1 half-open"
	case 2:
		return "2 open"
	}
	return fmt.Sprintf("%d unknown", state)
}

func sumOf(values []*float64, from, to int) string {
	sum, n := 0.0, 0
	for i := from; i < min(to, len(values)); i++ {
		if values[i] != nil {
			sum += *values[i]
			n++
		}
	}
	if n == 0 {
		return noFigure
	}
	return FormatCount(sum)
}

// permitsOf is the most permits in use over those that there are, "9/20", of
// the outermost bulkhead.
func permitsOf(a *Arm, dependency string, from, to int) string {
	for _, l := range a.layers(dependency, "bulkhead") {
		values := a.series("dependency." + dependency + "." + l.Name + ".in_use_max")
		if high := highest(values, from, min(to, len(values))); high != nil {
			return strings.Join([]string{FormatCount(*high), FormatCount(float64(l.Permits))}, "/")
		}
	}
	return noFigure
}
