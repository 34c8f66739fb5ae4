package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"blastradius/scenarios"
)

// defaultScenario is what is run when none is named.
const defaultScenario = "payments-slow"

// looksLikeFile tells a file from the name of a built-in scenario: it has a
// separator or the ending of a YAML file, or is "-", standard input.
func looksLikeFile(word string) bool {
	if word == "-" || strings.Contains(word, "/") || strings.ContainsRune(word, filepath.Separator) {
		return true
	}
	ext := strings.ToLower(filepath.Ext(word))
	return ext == ".yaml" || ext == ".yml"
}

// loadScenario reads the scenario that a word names.
func (e *env) loadScenario(cmd *cobra.Command, word string) (*scenarios.File, error) {
	if !looksLikeFile(word) {
		return e.loadBuiltin(cmd, word)
	}
	if word == "-" {
		if e.stdinTerminal {
			fmt.Fprintln(e.stderr, "reading a scenario from the keyboard; end it with Ctrl-D")
		}
		return scenarios.LoadPath(word, e.stdin)
	}
	if info, err := os.Stat(word); err == nil && info.IsDir() {
		return nil, folderGiven(cmd, word)
	}
	return scenarios.LoadPath(word, e.stdin)
}

func (e *env) loadBuiltin(cmd *cobra.Command, word string) (*scenarios.File, error) {
	if slices.Contains(scenarios.Builtins(), word) {
		return scenarios.Builtin(word)
	}
	if info, err := os.Stat(word); err == nil {
		if info.IsDir() {
			return nil, folderGiven(cmd, word)
		}
		return nil, wrongUse("for the file of that name: "+cmd.CommandPath()+" ./"+shellWord(word), "no built-in scenario is called %q", word)
	}
	return nil, unknownScenario(word)
}

func unknownScenario(word string) error {
	hint := "blastradius list shows them; a file has a / or ends in .yaml"
	if near, ok := nearestScenario(word); ok {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return wrongUse(hint, "no built-in scenario is called %q", word)
}

// nearestScenario finds the built-in scenario meant by a mistyped name, or by
// a part of one: "paymnts" is nearest to payments-slow.
func nearestScenario(word string) (string, bool) {
	names := scenarios.Builtins()
	if near, ok := scenarios.Nearest(word, names); ok {
		return near, true
	}
	for _, name := range names {
		if _, ok := scenarios.Nearest(word, strings.Split(name, "-")); ok {
			return name, true
		}
	}
	return "", false
}

// folderGiven sends a folder to check, where there is that command, and names
// a file of the folder.
func folderGiven(cmd *cobra.Command, dir string) error {
	hint := "name one scenario file in it"
	if file := firstScenario(dir); file != "" {
		hint = fmt.Sprintf("one of its files: %s %s", cmd.CommandPath(), shellWord(file))
	}
	if c, _, err := cmd.Root().Find([]string{"check"}); err == nil && c != cmd.Root() {
		hint = fmt.Sprintf("all of it: %s %s; %s", c.CommandPath(), shellWord(dir), hint)
	}
	return wrongUse(hint, "%s is a folder, which is for check; %s takes one scenario", dir, cmd.Name())
}

func firstScenario(dir string) (path string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	i := slices.IndexFunc(entries, func(d fs.DirEntry) bool {
		return !d.IsDir() && looksLikeFile(d.Name())
	})
	if i < 0 {
		return ""
	}
	return filepath.Join(dir, entries[i].Name())
}
