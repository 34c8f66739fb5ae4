package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"blastradius/internal/study"
	"blastradius/report"
	"blastradius/scenarios"
)

// runOptions are the flags of run.
type runOptions struct {
	scenario   string // a built-in's name, a file, "-"
	seed       *uint64
	replicates int
	jobs       int // 0: as many as there are cores
	set        []string
	vs         []string
	arms       []string
	expect     []string
	events     int           // budget of one run; 0: none
	limit      time.Duration // of real time; 0: none
	output     outputOptions
}

func newRunCmd(e *env) *cobra.Command {
	o := runOptions{}
	cmd := &cobra.Command{
		Use:   "run [SCENARIO] [flags]",
		Short: "All arms of a scenario side by side",
		Long: `Simulates a scenario in each of its arms (by default without containment, with
timeouts alone, and as the file stands), on the same requests, and shows what
broke, how far it spread, what contained it and what ran out.

SCENARIO is the name of a built-in one (blastradius list), or a file: anything
with a / or ending in .yaml or .yml, or - for standard input. Without one it is
` + defaultScenario + `.

Exit codes: 0 fine; 1 an expectation was not met; 2 wrong use, or a scenario
that did not load; 3 our own failure; 4 time limit or event budget exceeded;
130 interrupted, 143 terminated (what was finished is shown, marked partial).`,
		Example: `  blastradius run                        # the built-in payments-slow
  blastradius run mine.yaml -o out       # and the page out/report.html
  blastradius run mine.yaml --vs payments.timeout=1s  # today against a change
  blastradius run mine.yaml --set payments.breaker.cooldown=5s --seed 7
  blastradius run mine.yaml --every 30s --arm contained
  blastradius run --replicates 20 --expect 'blast_radius.collateral < 1%'
  blastradius run mine.yaml -f json | jq '.arms[].metrics'`,
		Args:        arguments(0, 1, "one scenario", "blastradius run mine.yaml"),
		Annotations: annotated("Look", "arms side by side"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.scenario = strings.Join(args, "")
			return run(cmd.Context(), e, cmd, &o)
		},
		ValidArgsFunction: completeScenario,
	}
	f := cmd.Flags()
	f.SortFlags = false
	o.output.register(f)
	addFlag(f, &o.seed, "seed", "", "N", "", "42", "seed instead of the file's", seed)
	addFlag(f, &o.replicates, "replicates", "", "N", "1", "20", "judge expectations over N seeds, the first and those after it", atLeast(1, "--replicates 20"))
	addFlag(f, &o.jobs, "jobs", "j", "N", "", "2", "simulate N at once (default: one a core)", atLeast(1, "--jobs 2"))
	addList(f, &o.set, "set", "PATH=VALUE", "payments.breaker.cooldown=5s", "change a field of the scenario; repeatable")
	addList(f, &o.vs, "vs", "[ARM:]PATH=VALUE", "payments.timeout=1s", "one more arm with that change; repeatable")
	addList(f, &o.arms, "arm", "NAME", "contained", "only this arm (and those of --vs); repeatable")
	addList(f, &o.expect, "expect", "EXPR", "'endpoint.search.slo_rate@fault >= 99%'", "hold this in place of the file's expectations; repeatable")
	addFlag(f, &o.events, "max-events", "", "N", "", "50000000", "end a simulation after N events", atLeast(1, "--max-events 50000000"))
	addFlag(f, &o.limit, "time-limit", "", "DURATION", "", "1m", "end the work after this much real time", positive("--time-limit 1m"))
	completeFlags(cmd)
	return cmd
}

// run simulates and shows. What ended early is shown too, marked partial.
func run(ctx context.Context, e *env, cmd *cobra.Command, o *runOptions) error {
	if err := o.output.check(); err != nil {
		return err
	}
	named := o.scenario != ""
	if !named {
		o.scenario = defaultScenario
	}
	// A scenario may come from the keyboard: an interrupt there just ends us.
	file, err := e.loadScenario(cmd, o.scenario)
	if err != nil {
		return err
	}
	ctx, stop := e.stoppable(ctx, o.limit)
	defer stop()
	if !named {
		fmt.Fprintf(e.stderr, "no scenario named; running the built-in %s\n", defaultScenario)
	}
	file, arms, err := changed(file, o)
	if err != nil {
		return err
	}
	if !o.output.quiet {
		for _, w := range file.Warnings() {
			fmt.Fprintln(e.stderr, w)
		}
	}
	result, err := simulate(ctx, e, file, o, arms)
	if err != nil {
		code, words, ok := earlyEnd(ctx, err)
		if !ok || result == nil {
			return err
		}
		fmt.Fprintf(e.stderr, "%s; the figures are partial\n", words)
		return withCode(worst(code, o.output.emit(e, result)))
	}
	return withCode(o.output.emit(e, result))
}

// changed applies --set and --vs, and says which arms to run: those of --arm
// and those that --vs adds, or all (nil) without --arm.
func changed(file *scenarios.File, o *runOptions) (_ *scenarios.File, arms []string, err error) {
	if len(o.set) > 0 {
		if file, err = file.WithSet(o.set); err != nil {
			return nil, nil, of("--set", err)
		}
	}
	before := len(file.Arms())
	for _, v := range o.vs {
		if file, err = file.AddVs(v); err != nil {
			return nil, nil, of("--vs", err)
		}
	}
	if len(o.arms) > 0 {
		arms = slices.Clone(o.arms)
		for _, added := range file.Arms()[before:] {
			arms = append(arms, added.Name)
		}
	}
	return file, arms, nil
}

// of says which flag an error is about.
func of(flag string, err error) error {
	f := *asFailure(err)
	if !f.raw {
		f.text = flag + ": " + f.text
	}
	return &f
}

func simulate(ctx context.Context, e *env, file *scenarios.File, o *runOptions, arms []string) (*report.Result, error) {
	p := e.newProgress(o.output.quiet)
	defer p.stop()
	result, err := study.Run(ctx, file, study.Options{
		Seed: o.seed, Replicates: o.replicates, Jobs: o.jobs, Arm: arms, Expect: o.expect,
		Version: Version, Source: o.scenario, Events: uint64(o.events), Progress: p.step,
	})
	if result != nil {
		result.Scenario.Args = o.again()
	}
	return result, err
}

// again are the flags without which the scenario's name and the seed would not
// give the same result.
func (o *runOptions) again() (args []string) {
	for _, f := range []struct {
		name   string
		values []string
	}{{"--set", o.set}, {"--vs", o.vs}, {"--arm", o.arms}, {"--expect", o.expect}} {
		for _, v := range f.values {
			args = append(args, f.name, v)
		}
	}
	if o.replicates > 1 {
		args = append(args, "--replicates", strconv.Itoa(o.replicates))
	}
	if o.events > 0 {
		args = append(args, "--max-events", strconv.Itoa(o.events))
	}
	return args
}
