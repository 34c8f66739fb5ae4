package dist

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSamplesAreTheSameBitsEverywhere holds a digest of 10,000 samples of each
// kind: any change of the sampler, of Go, or of the processor shows.
func TestSamplesAreTheSameBitsEverywhere(t *testing.T) {
	var b strings.Builder
	for _, s := range sound {
		digest := uint64(0)
		for _, x := range samples(s.kind, 10_000) {
			digest = Fold(digest, uint64(x))
		}
		fmt.Fprintf(&b, "%s %016x\n", s.name, digest)
	}
	golden := filepath.Join("testdata", "samples.golden")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
