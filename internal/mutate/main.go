// Command mutate puts seeded faults into the policies, one at a time, and sees
// that a test fails for each. It changes no file: the go command is given the
// changed one as an overlay.
//
//	go run ./internal/mutate              all mutants of mutants.txt
//	go run ./internal/mutate -since REF   those in files changed since REF
//	go run ./internal/mutate -match gate  those with the word in file or description
package main

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
)

//go:embed mutants.txt
var list string

// verdict is what became of a mutant.
type verdict struct {
	killed bool
	by     string // the first test that failed, or why there is no verdict
	broken bool   // it does not apply or does not compile
}

func main() {
	since := flag.String("since", "", "only mutants in files changed since this commit")
	match := flag.String("match", "", "only mutants whose file or description has this word")
	jobs := flag.Int("j", runtime.NumCPU(), "mutants tested at a time")
	flag.Parse()
	mutants, err := parse(list)
	if err == nil {
		mutants, err = chosen(mutants, *since, *match)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	if !judgeAll(mutants, *jobs) {
		os.Exit(1)
	}
}

// chosen keeps the mutants that were asked for.
func chosen(all []mutant, since, match string) (out []mutant, err error) {
	changed := ""
	if since != "" {
		diff, err := exec.Command("git", "diff", "--name-only", since).Output()
		if err != nil {
			return nil, fmt.Errorf("git diff %s: %w", since, err)
		}
		changed = "\n" + string(diff)
	}
	for _, m := range all {
		if since != "" && !strings.Contains(changed, "\n"+m.file+"\n") {
			continue
		}
		if strings.Contains(m.file+" "+m.what, match) {
			out = append(out, m)
		}
	}
	return out, nil
}

// judgeAll tests every mutant, prints a line for each and says whether all died.
func judgeAll(mutants []mutant, jobs int) bool {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		return false
	}
	defer os.RemoveAll(dir)
	verdicts := make([]verdict, len(mutants))
	var wg sync.WaitGroup
	turn := make(chan int)
	for range max(1, jobs) {
		wg.Go(func() {
			for i := range turn {
				verdicts[i] = judge(&mutants[i], filepath.Join(dir, fmt.Sprint(i)))
			}
		})
	}
	for i := range mutants {
		turn <- i
	}
	close(turn)
	wg.Wait()
	killed := 0
	for i, v := range verdicts {
		word := "SURVIVED"
		switch {
		case v.broken:
			word = "BROKEN"
		case v.killed:
			word = "killed"
			killed++
		}
		fmt.Printf("%-8s  %s: %s  (%s)\n", word, mutants[i].file, mutants[i].what, v.by)
	}
	fmt.Printf("%d of %d mutants killed\n", killed, len(mutants))
	return killed == len(mutants)
}

// suites are run in this order until one fails: the nearest tests first.
var suites = [][]string{{"./resilience"}, {"./sim", "./internal/study"}}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

func judge(m *mutant, base string) verdict {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return verdict{broken: true, by: err.Error()}
	}
	changed, err := m.apply(string(text))
	if err != nil {
		return verdict{broken: true, by: err.Error()}
	}
	overlay, err := writeOverlay(m.file, changed, base)
	if err != nil {
		return verdict{broken: true, by: err.Error()}
	}
	if out, err := exec.Command("go", "vet", "-overlay", overlay, "./"+filepath.Dir(m.file)).CombinedOutput(); err != nil {
		return verdict{broken: true, by: "it does not compile: " + lastLine(string(out))}
	}
	for _, packages := range suites {
		// The test of every processor builds without the overlay: it would fail for
		// a change of its own figures and not for the fault.
		args := append([]string{"test", "-count=1", "-failfast", "-timeout", "120s", "-skip", "OnEveryProcessor", "-overlay", overlay}, packages...)
		out, err := exec.Command("go", args...).CombinedOutput()
		if err == nil {
			continue
		}
		if hit := failed.FindStringSubmatch(string(out)); hit != nil {
			return verdict{killed: true, by: hit[1]}
		}
		return verdict{killed: true, by: lastLine(string(out))} // a panic, or no end
	}
	return verdict{by: "every test passed"}
}

// writeOverlay writes the changed file and the map that puts it in its place.
func writeOverlay(file, changed, base string) (string, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(base+".go", []byte(changed), 0o644); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{abs: base + ".go"}})
	if err != nil {
		return "", err
	}
	return base + ".json", os.WriteFile(base+".json", overlay, 0o644)
}

func lastLine(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[len(lines)-1]
}
