package scenarios

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// parse reads the one document of a file.
func parse(src []byte) (*yaml.Node, *Problem) {
	switch {
	case len(bytes.TrimSpace(src)) == 0:
		return nil, &Problem{Text: "the file is empty", Hint: "blastradius init FILE writes one to start from"}
	case bytes.IndexByte(src, 0) >= 0:
		return nil, &Problem{Text: "this is a binary file, not YAML"}
	case !utf8.Valid(src):
		line := 1 + bytes.Count(src[:invalidAt(src)], []byte("\n"))
		return nil, &Problem{Text: fmt.Sprintf("line %d is not valid UTF-8", line), Hint: "save the file as UTF-8"}
	}
	if p := tooDeep(src); p != nil {
		return nil, p
	}
	loader, err := yaml.NewLoader(bytes.NewReader(src))
	if err != nil {
		return nil, syntaxProblem(src, err)
	}
	var doc, more yaml.Node
	if err := loader.Load(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &Problem{Text: "the file holds nothing but comments", Hint: "blastradius init FILE writes one to start from"}
		}
		return nil, syntaxProblem(src, err)
	}
	if err := loader.Load(&more); err == nil {
		return nil, &Problem{Line: more.Line, Col: max(1, more.Column), Text: "a second document begins here", Hint: "one scenario per file"}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxProblem(src, err)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) == 0 {
		return nil, &Problem{Text: "the file holds no document"}
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, &Problem{Line: root.Line, Col: root.Column, Text: fmt.Sprintf("a scenario is a map of keys, not %s", form(root)), Hint: "blastradius init FILE writes one to start from"}
	}
	return root, nil
}

// maxDepth is how deep lists and maps may nest.
const maxDepth = 64

func invalidAt(src []byte) int {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(src)
}

// tooDeep looks for nesting that no scenario has, before the parser works
// through it: by brackets, and by indentation.
func tooDeep(src []byte) *Problem {
	depth, line := 0, 1
	for i, c := range src {
		switch c {
		case '[', '{':
			if depth++; depth > maxDepth {
				return &Problem{Line: line, Col: 1, Text: fmt.Sprintf("brackets nest deeper than %d", maxDepth)}
			}
		case ']', '}':
			depth = max(0, depth-1)
		case '\n':
			line++
			if i+1 < len(src) && src[i+1] != ' ' {
				depth = 0
			}
		}
	}
	return nil
}

// syntaxProblem puts the parser's complaint into the file's terms.
func syntaxProblem(src []byte, err error) *Problem {
	var le *yaml.LoadError
	if !errors.As(err, &le) {
		return &Problem{Text: err.Error()}
	}
	p := &Problem{Line: le.Mark.Line, Col: le.Mark.Column, Text: le.Message}
	switch {
	case strings.Contains(le.Message, "tab character"), strings.Contains(le.Message, "cannot start any token") && tabAt(src, le.Mark.Line):
		p.Text, p.Hint = "a tab where YAML wants spaces", "indent with spaces"
	case strings.Contains(le.Message, "mapping values are not allowed"):
		p.Text, p.Hint = "a ':' that starts a value where none can stand", "check the indentation, or quote the text"
	case strings.Contains(le.Message, "did not find expected ',' or"):
		p.Text, p.Hint = "a bracket is not closed", fmt.Sprintf("it opens in line %d", le.ContextMark.Line)
	case strings.Contains(le.Message, "did not find expected key"):
		p.Text, p.Hint = "this line's indentation fits no line above", "align it with its siblings"
	case strings.Contains(le.Message, "unexpected end of stream"):
		p.Text, p.Hint = "a quote is not closed", fmt.Sprintf("it opens in line %d", le.ContextMark.Line)
		p.Line, p.Col = le.ContextMark.Line, le.ContextMark.Column
	case strings.Contains(le.Message, "control characters"):
		p.Text = "this is a binary file, not YAML"
	case strings.Contains(le.Message, "unknown anchor"):
		p.Text, p.Hint = strings.TrimSuffix(strings.TrimPrefix(le.Message, "unknown "), " referenced")+" is not defined", "define it with & above"
	}
	return p
}

// tabAt reports whether a line is indented with a tab.
func tabAt(src []byte, line int) bool {
	lines := bytes.Split(src, []byte("\n"))
	if line < 1 || line > len(lines) {
		return false
	}
	text := lines[line-1]
	return bytes.IndexByte(text[:len(text)-len(bytes.TrimLeft(text, " \t"))], '\t') >= 0
}
