package study

import (
	"context"

	"blastradius/internal/findings"
	"blastradius/report"
	"blastradius/sim"
)

// try simulates changes for the findings, each as one more arm.
func (s *study) try(ctx context.Context) findings.Try {
	return func(vs []string) []*report.Arm {
		out := make([]*report.Arm, len(vs))
		var jobs []func()
		for i, text := range vs {
			f, err := s.file.AddVs(text)
			if err != nil {
				continue
			}
			arms := f.Arms()
			added := arms[len(arms)-1]
			jobs = append(jobs, func() {
				c := added.Config
				c.Events = s.options.Events
				if r := sim.Run(ctx, &c); r.Cause == nil {
					a := s.arm(added, r)
					out[i] = &a
				}
			})
		}
		inParallel(s.jobs(), jobs, nil)
		return out
	}
}

// trace writes down the worst hurt request of the first arm that hurt one, in
// every arm.
func (s *study) trace(ctx context.Context, res *report.Result, runs [][]*sim.Result) {
	var worst *sim.Hurt
	for _, r := range runs {
		if w := r[0].Worst; w != nil {
			worst = w
			break
		}
	}
	if worst == nil {
		return
	}
	traces := make([]*sim.Trace, len(s.arms))
	jobs := make([]func(), len(s.arms))
	for i, arm := range s.arms {
		jobs[i] = func() {
			c := arm.Config
			c.Events = s.options.Events
			traces[i] = sim.RunTraced(ctx, &c, worst.Endpoint, worst.Request).Trace
		}
	}
	inParallel(s.jobs(), jobs, nil)
	for i, t := range traces {
		if t != nil {
			res.Arms[i].Trace = traceRows(t)
		}
	}
}

func traceRows(t *sim.Trace) *report.Trace {
	out := &report.Trace{Endpoint: t.Endpoint, Request: t.Request, At: t.At.Seconds(), Outcome: t.Outcome, Took: t.Took.Seconds()}
	for _, s := range t.Steps {
		out.Steps = append(out.Steps, report.TraceStep{At: s.At.Seconds(), Where: s.Where, What: s.What})
	}
	return out
}
