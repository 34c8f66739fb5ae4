package scenarios

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"blastradius/sim"
)

// MaxSize is the largest file that is read.
const MaxSize = 4 << 20

// maxDepth is how deep lists and maps may nest.
const maxDepth = 64

// File is a scenario that was read, filled in and checked.
type File struct {
	source   string // as it stands in messages
	src      []byte
	root     *yaml.Node
	scenario Scenario
	at       map[string]place
	warnings *Problems
	vs       []vsArm
	part     bool // its arms and expectations are not checked
}

// LoadPath reads a file, or standard input for "-".
func LoadPath(path string, stdin io.Reader) (*File, error) {
	if path == "-" {
		src, err := io.ReadAll(io.LimitReader(stdin, MaxSize+1))
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		return Load("stdin", src)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &FileError{Path: path, Text: "no such file", Hint: nearFile(path)}
	case err != nil:
		return nil, &FileError{Path: path, Text: reason(err)}
	case info.IsDir():
		return nil, &FileError{Path: path, Text: "is a directory, and run takes one scenario", Hint: "name a file in it"}
	case info.Size() > MaxSize:
		return nil, tooLarge(path)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, &FileError{Path: path, Text: reason(err)}
	}
	return Load(path, src)
}

// FileError is a file that could not be read at all.
type FileError struct{ Path, Text, Hint string }

// Error says which file and why.
func (e *FileError) Error() string { return e.Path + ": " + e.Text }

func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

func tooLarge(path string) error {
	return &FileError{Path: path, Text: fmt.Sprintf("is larger than %d MB", MaxSize>>20), Hint: "a scenario is a short text; is this the right file?"}
}

// nearFile finds a file of nearly that name.
func nearFile(path string) string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext == ".yaml" || ext == ".yml" {
			names = append(names, e.Name())
		}
	}
	if near, ok := Nearest(filepath.Base(path), names); ok {
		return fmt.Sprintf("did you mean %s?", filepath.Join(filepath.Dir(path), near))
	}
	return ""
}

// Load reads a scenario from src; source names it in messages. The error is a
// *Problems with everything that is wrong, or a *FileError.
func Load(source string, src []byte) (*File, error) {
	if len(src) > MaxSize {
		return nil, tooLarge(source)
	}
	f := &File{source: source, src: src}
	root, problem := parse(src)
	if problem != nil {
		return nil, f.problems([]Problem{*problem})
	}
	f.root = root
	if err := f.decode(); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *File) problems(list []Problem) *Problems {
	text := strings.ReplaceAll(string(bytes.TrimPrefix(f.src, []byte("\ufeff"))), "\r\n", "\n")
	slices.SortStableFunc(list, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Col - b.Col
	})
	list = slices.CompactFunc(list, func(a, b Problem) bool { return a == b }) // an alias read often is one mistake
	return &Problems{File: f.source, List: list, src: strings.Split(text, "\n")}
}

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

// decode fills f from its tree. On a problem it returns all of them.
func (f *File) decode() error {
	d := &decoder{at: map[string]place{}, budget: maxNodes}
	f.scenario = Scenario{}
	f.scenario.SetDefaults()
	d.structure("", f.root, reflect.ValueOf(&f.scenario).Elem())
	f.at = d.at
	if f.scenario.Name == "" {
		f.scenario.Name = nameFrom(f.source)
	}
	f.check(d)
	p := f.problems(d.problems)
	if p.Errors() {
		return p
	}
	f.warnings = p
	return nil
}

// nameFrom makes a name of a file's.
func nameFrom(source string) string {
	base := strings.TrimSuffix(filepath.Base(source), filepath.Ext(source))
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, base)
	name = strings.TrimLeft(name, "-_0123456789")
	if name == "" {
		return "scenario"
	}
	return name
}

// Source is what was read, as it stands in messages.
func (f *File) Source() string { return f.source }

// Name is the scenario's short name.
func (f *File) Name() string { return f.scenario.Name }

// Title is the scenario's free title.
func (f *File) Title() string { return f.scenario.Title }

// About is the scenario's sentence.
func (f *File) About() string { return f.scenario.About }

// Seed is the scenario's seed.
func (f *File) Seed() uint64 { return f.scenario.Seed }

// Scenario is what was read, every default filled in. It must not be changed.
func (f *File) Scenario() *Scenario { return &f.scenario }

// Warnings are the doubts about the file, each with its source lines.
func (f *File) Warnings() []string { return f.warnings.Warnings() }

// ShortWarnings are the doubts on a line each.
func (f *File) ShortWarnings() []string { return f.warnings.Short() }

// WithSeed is f with another seed, in every arm: in the tree too, from which
// the arms that set fields are decoded again.
func (f *File) WithSeed(seed uint64) *File {
	g := *f
	g.scenario.Seed = seed
	g.root = clone(f.root)
	value := plain(strconv.FormatUint(seed, 10))
	replace(g.root, "seed", value)
	g.at = maps.Clone(f.at)
	g.at["seed"] = place{nil, value}
	return &g
}

// Config is the system as the file stands.
func (f *File) Config() *sim.Config { return build(&f.scenario, "") }

// tree is the whole scenario with every default marked.
func (f *File) tree() *yaml.Node {
	e := &encoder{given: f.at}
	return e.structure("", reflect.ValueOf(&f.scenario).Elem())
}

// Effective is the scenario with every default filled in: as YAML, where each
// default carries the comment "default", and as JSON.
func (f *File) Effective() (text string, compact json.RawMessage) {
	tree := f.tree()
	compact = toJSON(tree)
	out, err := yaml.Dump(tree, yaml.WithIndent(2), yaml.WithLineWidth(-1))
	if err != nil {
		panic("scenarios: " + err.Error())
	}
	return string(out), compact
}

// Digest names what is simulated: 12 hex digits over the effective scenario
// and the arms added, without what people read (title, about, expectations) and
// without the seed.
func (f *File) Digest() string {
	tree := f.tree()
	kept := mapping(false)
	for i := 0; i+1 < len(tree.Content); i += 2 {
		switch tree.Content[i].Value {
		case "title", "about", "expect", "name", "seed":
		default:
			kept.Content = append(kept.Content, tree.Content[i], tree.Content[i+1])
		}
	}
	h := sha256.New()
	h.Write(toJSON(kept))
	for _, v := range f.vs {
		fmt.Fprintf(h, "\n%s:%s=%s", v.base, v.path, v.value)
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// toJSON writes a tree in its own order; values stay as a file writes them.
func toJSON(n *yaml.Node) json.RawMessage {
	var b bytes.Buffer
	writeJSON(&b, n)
	return b.Bytes()
}

func writeJSON(b *bytes.Buffer, n *yaml.Node) {
	text := func(s string) {
		out, err := json.Marshal(s)
		if err != nil {
			panic("scenarios: " + err.Error())
		}
		b.Write(out)
	}
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteByte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				b.WriteByte(',')
			}
			text(n.Content[i].Value)
			b.WriteByte(':')
			writeJSON(b, n.Content[i+1])
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, c := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			writeJSON(b, c)
		}
		b.WriteByte(']')
	default:
		if json.Valid([]byte(n.Value)) && n.Style == 0 && !strings.HasPrefix(n.Value, `"`) {
			b.WriteString(n.Value)
			return
		}
		text(n.Value)
	}
}
