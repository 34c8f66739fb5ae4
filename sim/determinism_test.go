package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"blastradius/faults"
	"blastradius/sim/des"
)

func short() *Config {
	c := paymentsSlow()
	c.Duration, c.Warmup = 90*time.Second, 10*time.Second
	c.Dependencies[0].Faults = []Fault{slowTo(8*time.Second, 30*time.Second, 30*time.Second)}
	return c
}

func TestSameFiguresOnOneAndEightProcessors(t *testing.T) {
	want := Run(context.Background(), short()).Digest
	all := fingerprints(t)
	for _, n := range []int{1, 8} {
		old := runtime.GOMAXPROCS(n)
		got := fingerprints(t)
		runtime.GOMAXPROCS(old)
		if got != all {
			t.Errorf("on %d: %s, want %s", n, got, all)
		}
	}
	c := short()
	c.Seed++
	if Run(context.Background(), c).Digest == want {
		t.Error("another seed gives the same digest")
	}
}

func TestUnrelatedPartsChangeNobodysLuck(t *testing.T) {
	want := Run(context.Background(), short()).EndpointDigests
	c := short()
	c.Endpoints = append([]Endpoint{{Name: "admin", Arrivals: poisson(3), Calls: []Step{{{Dependency: "mail"}}}}}, c.Endpoints...)
	c.Dependencies = append([]Dependency{{Name: "mail", Latency: constant(time.Second), Pool: "mail"}}, c.Dependencies...)
	c.Process.Pools = map[string]Pool{"mail": {Size: 50, MaxWait: Forever, Queue: Unbounded}}
	got := Run(context.Background(), c).EndpointDigests
	for name, d := range want {
		if got[name] != d {
			t.Errorf("%s: %x, without the unrelated parts %x", name, got[name], d)
		}
	}
}

func TestARequestMeetsTheSameLuckInEveryArm(t *testing.T) {
	// Without faults and with room for everybody the arms differ in nothing.
	healthy := func(c *Config) uint64 {
		c.Dependencies[0].Faults = nil
		c.Dependencies[0].Errors = nil
		return Run(context.Background(), c).Digest
	}
	a, b := healthy(without(short())), healthy(without(short(), "bulkhead"))
	if a != b {
		t.Errorf("digest %x without layers, %x behind idle bulkheads", a, b)
	}
}

func TestATraceChangesNothing(t *testing.T) {
	want := Run(context.Background(), short())
	got := RunTraced(context.Background(), short(), "checkout", 3000)
	if got.Digest != want.Digest {
		t.Errorf("digest %x with a trace, %x without", got.Digest, want.Digest)
	}
	if got.Trace == nil || len(got.Trace.Steps) < 4 {
		t.Errorf("trace %+v", got.Trace)
	}
}

func TestAnEarlyEndKeepsItsFigures(t *testing.T) {
	c := without(short())
	c.Dependencies[0].Faults = nil
	c.Events = 20_000
	r := Run(context.Background(), c)
	if !errors.Is(r.Cause, des.ErrBudget) {
		t.Fatalf("cause %v", r.Cause)
	}
	if v := r.Phase(PhaseAll).Metrics["endpoint.search.requests"]; v < 100 {
		t.Errorf("%g requests before the budget ended", v)
	}
	// A budget that ends the twin too: the arm's own figures are shown, with its
	// fault, and no blast radius.
	c = short()
	c.Events = 40_000
	r = Run(context.Background(), c)
	fault := r.Phase(PhaseFault)
	if !errors.Is(r.Cause, des.ErrBudget) || fault == nil || fault.Metrics["dependency.payments.breaker.opens"] == 0 {
		t.Errorf("cause %v, phase fault %v", r.Cause, fault != nil)
	}
	if fault != nil && fault.Absent["blast_radius.collateral"] == "" {
		t.Error("a blast radius without a whole twin")
	}
	// A budget that ends only the twin: the whole arm is there.
	c = one(even(100), constant(10*time.Millisecond), 10*time.Second)
	c.Dependencies[0] = c.Dependencies[0].with(&faults.Down{}, time.Second, 0)
	c.Events = 1500 // arrivals and replies are 2,000 in the twin, 1,100 in the arm
	r = Run(context.Background(), c)
	if got := r.Phase(PhaseAll).Metrics["endpoint.web.requests"]; !errors.Is(r.Cause, des.ErrBudget) || got != 1000 || r.Phase(PhaseFault).Absent["blast_radius.direct"] == "" {
		t.Errorf("cause %v, %g requests", r.Cause, got)
	}
	// Rates and levels are over what was simulated.
	c.Dependencies[0].Faults = nil
	r = Run(context.Background(), c)
	all := r.Phase(PhaseAll)
	if all.Metrics["endpoint.web.rate"] < 99 || all.Metrics["endpoint.web.rate"] > 101 || math.Abs(all.Metrics["dependency.db.parked_mean"]-1) > 0.01 {
		t.Errorf("after 7.5 s of 10: %g/s, %g parked", all.Metrics["endpoint.web.rate"], all.Metrics["dependency.db.parked_mean"])
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r := Run(ctx, short()); !errors.Is(r.Cause, context.Canceled) {
		t.Errorf("cause %v", r.Cause)
	}
}

// goldenDigest is the run of short(), on every processor and until somebody
// changes what happens in it.
const goldenDigest = "bb11b879bb78dd15"

func TestGoldenDigest(t *testing.T) {
	if got := fmt.Sprintf("%016x", Run(t.Context(), short()).Digest); got != goldenDigest {
		t.Errorf("digest %s, want %s", got, goldenDigest)
	}
	t.Log(fingerprints(t)) // read by the test below from another build
}

// fingerprints are those of a run of everyday and of one of every kind.
func fingerprints(t *testing.T) string {
	return "fingerprints " + fingerprint(Run(t.Context(), short())) + " " + fingerprint(Run(t.Context(), motley()))
}

// TestSameFiguresOnEveryProcessor builds this test for other processors and
// runs it there: amd64 at levels 1 and 3, and arm64 under qemu-user. Not the
// digests alone, every figure is the same to its last bit.
func TestSameFiguresOnEveryProcessor(t *testing.T) {
	if testing.Short() {
		t.Skip("builds for other processors: left out with -short")
	}
	need := os.Getenv("BLASTRADIUS_NEED_QEMU") != ""
	qemu := ""
	for _, name := range []string{"qemu-aarch64", "qemu-aarch64-static"} {
		if p, err := exec.LookPath(name); err == nil {
			qemu = p
			break
		}
	}
	if qemu == "" && !need {
		t.Skip("no qemu-aarch64 on this machine: the digest is not compared across processors")
	}
	want := fingerprints(t)
	for _, target := range []struct {
		name string
		env  []string
		via  []string
	}{
		{"amd64 v1", []string{"GOARCH=amd64", "GOAMD64=v1"}, nil},
		{"amd64 v3", []string{"GOARCH=amd64", "GOAMD64=v3"}, nil},
		{"arm64", []string{"GOARCH=arm64"}, []string{qemu}},
	} {
		t.Run(target.name, func(t *testing.T) {
			if target.via != nil && qemu == "" {
				t.Fatal("no qemu-aarch64, and BLASTRADIUS_NEED_QEMU is set")
			}
			if target.via == nil && runtime.GOARCH != "amd64" {
				t.Skip("this machine is no amd64")
			}
			binary := filepath.Join(t.TempDir(), "sim.test")
			build := exec.Command("go", "test", "-c", "-o", binary, ".")
			build.Env = append(append(os.Environ(), "CGO_ENABLED=0"), target.env...)
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("build: %v\n%s", err, out)
			}
			args := append(append([]string{}, target.via...), binary, "-test.v", "-test.run", "^TestGoldenDigest$")
			out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
			if err != nil || !strings.Contains(string(out), want) {
				t.Errorf("want %s; %v\n%s", want, err, out)
			}
		})
	}
}
