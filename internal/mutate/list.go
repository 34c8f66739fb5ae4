package main

import (
	"fmt"
	"strings"
)

// mutant is one seeded fault: a place in a file and what stands there instead.
type mutant struct {
	file string
	what string
	old  string
	new  string
	line int // in the list
}

// parse reads the list: a mutant is a line "== FILE: WHAT", then the lines as
// they are, each after a "-", then those in their place, each after a "+".
func parse(text string) (out []mutant, err error) {
	for i, line := range strings.Split(text, "\n") {
		bad := func(what string) ([]mutant, error) { return nil, fmt.Errorf("line %d: %s: %q", i+1, what, line) }
		var last *mutant
		if len(out) > 0 {
			last = &out[len(out)-1]
		}
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "== "):
			file, what, ok := strings.Cut(line[3:], ": ")
			if !ok {
				return bad("a mutant begins == FILE: WHAT")
			}
			out = append(out, mutant{file: file, what: what, line: i + 1})
		case last == nil:
			return bad("no mutant has begun")
		case line[0] == '-':
			last.old += line[1:] + "\n"
		case line[0] == '+':
			last.new += line[1:] + "\n"
		default:
			return bad("neither ==, - nor +")
		}
	}
	for _, m := range out {
		if m.old == "" {
			return nil, fmt.Errorf("line %d: %s changes nothing", m.line, m.what)
		}
	}
	return out, nil
}

// apply is the file with the fault in it. The old lines must stand there once:
// a list that has fallen behind the code must be mended.
func (m *mutant) apply(text string) (string, error) {
	if n := strings.Count(text, m.old); n != 1 {
		return "", fmt.Errorf("the lines to change stand %d times in %s", n, m.file)
	}
	return strings.Replace(text, m.old, m.new, 1), nil
}
