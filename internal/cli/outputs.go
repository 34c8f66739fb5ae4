package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"blastradius/report"
	"blastradius/scenarios"
)

// outputOptions are the flags that say how a result is shown and where it is
// written; run and render share them.
type outputOptions struct {
	format   string // of stdout
	folder   string // "": none
	files    []reportFile
	force    bool
	quiet    bool
	every    time.Duration // 0: no status lines
	exitZero bool
	ascii    bool
	wide     bool
	color    string
}

// reportFile is one --report KIND=PATH.
type reportFile struct{ kind, path string }

func (o *outputOptions) register(f *pflag.FlagSet) {
	o.format, o.color = "text", "auto"
	addFlag(f, &o.format, "format", "f", "FORMAT", "text", "json", "what stdout is: "+strings.Join(formats, ", "), word(formats...))
	addFlag(f, &o.folder, "output", "o", "DIR", "", "out", "write the page, the pictures and the data into DIR", notEmpty)
	f.Var(&reportFlag{&o.files}, "report", "write a single file; repeatable; KIND: "+kindsInWords())
	f.Lookup("report").Annotations = map[string][]string{exampleAnnotation: {"html=report.html"}}
	f.BoolVar(&o.force, "force", false, "let -o write into a folder that holds other things")
	addFlag(f, &o.every, "every", "", "DURATION", "", "30s", "also a status line per dependency and so much simulated time", positive("--every 30s"))
	f.BoolVarP(&o.quiet, "quiet", "q", false, "the headline and unmet expectations only")
	f.BoolVar(&o.exitZero, "exit-zero", false, "exit 0 although an expectation was not met")
	f.BoolVar(&o.ascii, "ascii", false, "plain ASCII (by itself where the locale is not UTF-8)")
	f.BoolVar(&o.wide, "wide", false, "all arms in one block, however wide")
	addFlag(f, &o.color, "color", "", "WHEN", "auto", "never", "colour: auto, always, never", word("auto", "always", "never"))
}

func kindsInWords() string {
	var out []string
	for _, k := range reportKinds() {
		if !slices.ContainsFunc(report.PictureNames(), func(p string) bool { return strings.HasPrefix(k, p+".") }) {
			out = append(out, k)
		}
	}
	return strings.Join(out, ", ") + ", or a picture as parked.png (" + strings.Join(report.PictureNames(), ", ") + "; png, svg)"
}

func notEmpty(s string) (string, error) {
	if strings.TrimSpace(s) == "" {
		return "", &badValue{"is empty", "name a folder, e.g. -o out"}
	}
	return s, nil
}

// reportFlag collects --report KIND=PATH.
type reportFlag struct{ target *[]reportFile }

// String is empty: the default is no file.
func (r *reportFlag) String() string { return "" }

// Type is the placeholder in help.
func (r *reportFlag) Type() string { return "KIND=PATH" }

// Set takes one apart.
func (r *reportFlag) Set(s string) error {
	kind, path, ok := strings.Cut(s, "=")
	switch {
	case !ok || kind == "" || path == "":
		return &badValue{fmt.Sprintf("%q is not KIND=PATH", s), "e.g. --report html=report.html"}
	case path == "-":
		return &badValue{"standard output is for --format", "-f json, or a path"}
	}
	known := reportKinds()
	if !slices.Contains(known, kind) {
		hint := "one of " + strings.Join(known, ", ")
		if near, ok := scenarios.Nearest(kind, known); ok {
			hint = fmt.Sprintf("did you mean %s=%s?", near, path)
		}
		return &badValue{fmt.Sprintf("unknown kind %q", kind), hint}
	}
	*r.target = append(*r.target, reportFile{kind, path})
	return nil
}

// check refuses, before the work, what could not be written after it.
func (o *outputOptions) check() error {
	if o.every > 0 && o.format != "text" {
		return wrongUse("drop -f, or read the series: --report series=series.csv", "--every prints lines of text, and -f is %s", o.format)
	}
	if o.folder != "" {
		if err := checkFolder(o.folder, o.force, folderFiles()); err != nil {
			return err
		}
	} else if o.force {
		return wrongUse("e.g. -o out --force", "--force is about -o, which is not there")
	}
	taken := map[string]string{}
	for _, f := range o.files {
		path := filepath.Clean(f.path)
		if other, ok := taken[path]; ok {
			return wrongUse("give each a path of its own", "--report %s and %s both go to %s", other, f.kind, f.path)
		}
		taken[path] = f.kind
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return wrongUse(fmt.Sprintf("--report %s=%s", f.kind, filepath.Join(f.path, fileNameOf(f.kind))), "--report %s: %s is a folder", f.kind, f.path)
		}
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return writeFailure(f.path, err)
		}
	}
	return nil
}

// emit shows result on stdout and writes every file asked for. It returns the
// exit code that the result deserves; a failure to write is reported at once,
// and the rest is still written.
func (o *outputOptions) emit(e *env, result *report.Result) int {
	d, err := newDrawing(result, o, e)
	if err != nil {
		return e.report(&failure{code: exitOurs, text: err.Error()})
	}
	code := d.verdict(o.exitZero)
	if text, err := d.stdout(o.format); err != nil {
		code = worst(code, e.report(&failure{code: exitOurs, text: err.Error()}))
	} else {
		e.stdout.Write(text)
	}
	for _, f := range o.files {
		data, err := d.file(f.kind)
		if err != nil {
			code = worst(code, e.report(&failure{code: exitOurs, text: err.Error()}))
			continue
		}
		if err := writeFile(f.path, data); err != nil {
			code = worst(code, e.report(writeFailure(f.path, err)))
		}
	}
	if o.folder != "" {
		code = worst(code, o.emitFolder(e, d))
	}
	return code
}

// folderFiles are the names of what -o writes.
func folderFiles() (names []string) {
	for _, kind := range folderKinds() {
		names = append(names, fileNameOf(kind))
	}
	return names
}

func (o *outputOptions) emitFolder(e *env, d *drawing) int {
	files, err := d.drawAll(folderKinds())
	if err != nil {
		return e.report(&failure{code: exitOurs, text: err.Error()})
	}
	if err := writeFolder(o.folder, o.force, files); err != nil {
		return e.report(err)
	}
	fmt.Fprintf(e.stderr, "open %s\n", filepath.Join(o.folder, fileNameOf("html")))
	return exitFine
}
