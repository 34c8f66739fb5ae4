// Package study runs a scenario: its arms, their replicates, the expectations
// and the findings, and puts everything into one result that is saved and
// shown.
package study

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"

	"blastradius/internal/findings"
	"blastradius/report"
	"blastradius/scenarios"
	"blastradius/sim"
)

// Options say how a scenario is run. The zero Options run every arm once with
// the file's seed on all cores.
type Options struct {
	Seed       *uint64  // instead of the file's
	Replicates int      // seeds S, S+1, … on which expectations are judged; 0 is 1
	Jobs       int      // runs at once; 0 is the number of cores
	Arm        []string // only these arms; empty is all
	Expect     []string // expectations in place of the file's; empty keeps the file's
	Version    string
	Source     string // the word or file given on the command line
	Events     uint64 // event budget of one run; 0 is none
	NoFindings bool   // leaves out the findings and the runs that check them
	NoTrace    bool   // leaves out the trace of the worst hurt request
	// Progress hears of every finished run; nil is nobody. It may be called from
	// several goroutines, one at a time.
	Progress func(done, total int)
}

// Run simulates f. An interrupted or over-budget run is a result marked
// partial together with the error that ended it; a request that makes no sense
// (an arm that is not there) is an error and no result.
func Run(ctx context.Context, f *scenarios.File, o Options) (*report.Result, error) {
	if o.Seed != nil {
		f = f.WithSeed(*o.Seed)
	}
	arms, err := chooseArms(f, o.Arm)
	if err != nil {
		return nil, err
	}
	expectations, err := f.Expectations(o.Expect)
	if err != nil {
		return nil, err
	}
	expectations, left := ofArms(expectations, arms)
	s := &study{file: f, options: o, arms: arms}
	runs := s.replicate(ctx)

	res := s.skeleton()
	for i, arm := range arms {
		res.Arms = append(res.Arms, s.arm(arm, runs[i][0]))
	}
	if left > 0 {
		res.Warnings = append(res.Warnings, fmt.Sprintf("%d of the file's expectations speak of arms that were not run", left))
	}
	res.Expectations = judge(expectations, arms, runs, f.Seed())
	if cause := firstCause(runs); cause != nil {
		res.Partial = partial(cause)
		return res, cause
	}
	if !o.NoTrace {
		s.trace(ctx, res, runs)
	}
	if !o.NoFindings {
		res.Findings = findings.Find(res, s.try(ctx))
	}
	return res, nil
}

type study struct {
	file    *scenarios.File
	options Options
	arms    []scenarios.Arm
}

// chooseArms keeps the arms asked for, in the file's order.
func chooseArms(f *scenarios.File, names []string) ([]scenarios.Arm, error) {
	all := f.Arms()
	if len(names) == 0 {
		return all, nil
	}
	known := make([]string, len(all))
	for i, a := range all {
		known[i] = a.Name
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, &scenarios.UnknownName{What: "arm", Name: n, Known: known}
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(a scenarios.Arm) bool { return !slices.Contains(names, a.Name) }), nil
}

// ofArms keeps the expectations that speak only of the arms that are run, and
// counts the others.
func ofArms(all []scenarios.Expect, arms []scenarios.Arm) (kept []scenarios.Expect, left int) {
	runs := func(name string) bool {
		return name == "" || slices.ContainsFunc(arms, func(a scenarios.Arm) bool { return a.Name == name })
	}
	for _, e := range all {
		if runs(e.Arm) && runs(e.Expr.Arm) && runs(e.Expr.Second) {
			kept = append(kept, e)
		}
	}
	return kept, len(all) - len(kept)
}

// replicate runs every arm on every seed; runs[arm][replicate]. Which core
// runs what does not matter: each run stands alone and has its own place.
func (s *study) replicate(ctx context.Context) [][]*sim.Result {
	n := max(1, s.options.Replicates)
	runs := make([][]*sim.Result, len(s.arms))
	var jobs []func()
	for i, arm := range s.arms {
		runs[i] = make([]*sim.Result, n)
		for k := range n {
			jobs = append(jobs, func() {
				c := arm.Config
				c.Seed += uint64(k)
				c.Events = s.options.Events
				c.NoSeries = k > 0 // only the first seed is drawn
				runs[i][k] = sim.Run(ctx, &c)
			})
		}
	}
	inParallel(s.jobs(), jobs, s.options.Progress)
	return runs
}

func (s *study) jobs() int {
	if s.options.Jobs > 0 {
		return s.options.Jobs
	}
	return runtime.GOMAXPROCS(0)
}

// inParallel runs jobs on n goroutines and tells progress of each that ends.
// A panic in one of them is raised again here, in the caller's goroutine.
func inParallel(n int, jobs []func(), progress func(done, total int)) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	next, done := 0, 0
	var panicked any
	for range min(n, len(jobs)) {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := panicked != nil
				mu.Unlock()
				if i >= len(jobs) || stop {
					return
				}
				failed := protect(jobs[i])
				mu.Lock()
				done++
				if failed != nil && panicked == nil {
					panicked = failed
				}
				if progress != nil {
					progress(done, len(jobs))
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if panicked != nil {
		panic(panicked)
	}
}

// protect runs job and returns what it panicked with, and where.
func protect(job func()) (panicked any) {
	defer func() {
		if what := recover(); what != nil {
			panicked = fmt.Sprintf("%v\n\nin a run of its own goroutine:\n%s", what, debug.Stack())
		}
	}()
	job()
	return nil
}

// firstCause is why the first run that ended early did.
func firstCause(runs [][]*sim.Result) error {
	for _, arm := range runs {
		for _, r := range arm {
			if r.Cause != nil {
				return r.Cause
			}
		}
	}
	return nil
}

func partial(cause error) string {
	switch {
	case errors.Is(cause, context.Canceled):
		return "interrupted"
	case errors.Is(cause, context.DeadlineExceeded):
		return "time limit reached"
	}
	return fmt.Sprint(cause)
}
