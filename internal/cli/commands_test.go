package cli

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// Every command, later ones too, says in a line and at length what it does,
// shows an example of itself, fits 80 columns, and stands in the overview.
func TestEveryCommandHasHelp(t *testing.T) {
	root := newRoot(newEnv(nil, &bytes.Buffer{}, &bytes.Buffer{}))
	all := overview(root)
	for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
		if c.Short == "" || c.Long == "" || !strings.Contains(c.Example, "blastradius") {
			t.Errorf("%s: Short, Long or Example is missing", c.Name())
		}
		for line := range strings.Lines(helpText(c)) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > textWidth {
				t.Errorf("%s: %d columns: %s", c.Name(), n, line)
			}
		}
		if c != root && !c.Hidden && !strings.Contains(all, c.Name()+" ") {
			t.Errorf("%s is not in the overview", c.Name())
		}
		for line := range strings.Lines(c.Example) {
			words := strings.Fields(line)
			if c != root && len(words) > 0 && !strings.Contains(line, "blastradius "+c.Name()) {
				t.Errorf("%s: an example of another command: %s", c.Name(), line)
			}
		}
	}
}
