package dist

import (
	"os"
	"os/exec"
	"regexp"
	"testing"
)

var fused = regexp.MustCompile(`\(([^()]*\.go:\d+)\)\s+(FN?M(?:ADD|SUB)[SD])\b`)

// TestNoProductIsFusedWithASum reads the compiler's listing for arm64, which
// fuses wherever it may. The source looked right when duration was first
// inlined: its sum met the product of its caller, and samples rounded
// differently there.
func TestNoProductIsFusedWithASum(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for another processor: left out with -short")
	}
	if got := fused.FindStringSubmatch("0x0054 00084 (dist.go:52)\tFMADDD\tF1, F2, F0, F0"); got == nil {
		t.Fatal("a fused instruction is not recognised")
	}
	build := exec.Command("go", "build", "-gcflags=-S", ".")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	listing, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, listing)
	}
	if !regexp.MustCompile(`\bFMULD\b`).Match(listing) {
		t.Fatal("the listing has no multiplication at all")
	}
	for _, hit := range fused.FindAllSubmatch(listing, -1) {
		t.Errorf("%s: %s; wrap the product in float64()", hit[1], hit[2])
	}
}
