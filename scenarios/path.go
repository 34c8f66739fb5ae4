package scenarios

import (
	"fmt"
	"slices"
	"strings"
)

// Resolve finds the one path that p means: any unique end of a path, with or
// without the names that only hold others (stack, faults, …), singular or
// plural. The error names the nearest one, or the candidates.
func Resolve(p string, known []string) (string, error) {
	if slices.Contains(known, p) {
		return p, nil
	}
	want := strings.Split(p, ".")
	var hits []string
	best := -1
	for _, k := range known {
		skipped, ok := matches(want, strings.Split(k, "."))
		switch {
		case !ok:
		case best < 0 || skipped < best:
			hits, best = []string{k}, skipped
		case skipped == best:
			hits = append(hits, k)
		}
	}
	switch {
	case len(hits) == 1:
		return hits[0], nil
	case len(hits) > 1:
		return "", &AmbiguousPath{Path: p, Candidates: hits}
	}
	return "", &UnknownName{What: "path", Name: p, Known: nearPaths(p, known)}
}

// skippable are the names of a path that may be left out.
var skippable = []string{"dependencies", "endpoints", "process", "stack", "faults", "arrivals", "pools", "latency", "backoff", "jitter", "budget", "delay"}

// AmbiguousPath is a path that several fields answer to.
type AmbiguousPath struct {
	Path       string
	Candidates []string
}

// Error lists some of the candidates.
func (a *AmbiguousPath) Error() string {
	shown := a.Candidates
	more := ""
	if len(shown) > 6 {
		more = fmt.Sprintf(" and %d more", len(shown)-6)
		shown = shown[:6]
	}
	return fmt.Sprintf("path %q is ambiguous: %s%s", a.Path, strings.Join(shown, ", "), more)
}

// Hint says how to choose.
func (a *AmbiguousPath) Hint() string {
	return "write more of it, e.g. " + a.Candidates[0]
}

// matches holds want against the end of path and counts the names skipped
// inside it.
func matches(want, path []string) (skipped int, ok bool) {
	i, j := len(want)-1, len(path)-1
	for i >= 0 {
		switch {
		case j < 0:
			return 0, false
		case same(want[i], path[j]):
			i, j = i-1, j-1
		case i < len(want)-1 && slices.Contains(skippable, path[j]):
			skipped++
			j--
		default:
			return 0, false
		}
	}
	return skipped, true
}

func same(a, b string) bool {
	return a == b || singular(a) == singular(b)
}

func singular(s string) string {
	if t, ok := strings.CutSuffix(s, "ies"); ok {
		return t + "y"
	}
	return strings.TrimSuffix(s, "s")
}

// nearPaths offers, for a path that nothing answers to, the fields with the
// nearest last name under the same owner, shortened.
func nearPaths(p string, known []string) []string {
	words := strings.Split(p, ".")
	var out []string
	for _, k := range known {
		path := strings.Split(k, ".")
		path = slices.DeleteFunc(path, func(s string) bool {
			return slices.Contains(skippable, s) && !slices.Contains(words, s)
		})
		if len(path) >= len(words) {
			path = path[len(path)-len(words):]
		}
		out = append(out, strings.Join(path, "."))
	}
	return out
}
