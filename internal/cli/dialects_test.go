package cli

import (
	"bytes"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the generated parts of the documents again")

// The matrix in the documentation is what the code has.
func TestDialectsPageIsGenerated(t *testing.T) {
	const path = "../../docs/dialects.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := []byte("<!-- blastradius kinds dialects -f md -->\n"), []byte("<!-- end -->\n")
	head, rest, ok := bytes.Cut(text, begin)
	_, tail, closed := bytes.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("the marks of the matrix are missing")
	}
	want := bytes.Join([][]byte{head, begin, []byte("\n"), dialectMarkdown(), []byte("\n"), end, tail}, nil)
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(text, want) {
		t.Error("docs/dialects.md is not what the code has: go test ./internal/cli -run DialectsPage -update")
	}
}
