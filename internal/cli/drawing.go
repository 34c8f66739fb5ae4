package cli

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"

	"blastradius/report"
)

// formats are what stdout can be.
var formats = []string{"text", "json", "csv", "md"}

// drawing makes the bytes of every format from one result, each when it is
// asked for: a run without -o draws no picture.
type drawing struct {
	result *report.Result
	text   report.TextOptions
	every  string // status lines below the text, "" for none
}

// newDrawing passes the result through its saved form first. Whatever saving
// rounds is rounded for the run too, so render shows the same bytes.
func newDrawing(result *report.Result, o *outputOptions, e *env) (*drawing, error) {
	saved, err := report.JSON(result)
	if err != nil {
		return nil, err
	}
	if result, err = report.Read(resultFile, bytes.NewReader(saved)); err != nil {
		return nil, err
	}
	d := &drawing{result: result, text: report.TextOptions{
		ASCII: o.ascii || e.ascii(), Wide: o.wide, Quiet: o.quiet, Color: e.colour(o.color),
	}}
	if o.every > 0 {
		d.every = report.EveryLines(result, o.every, d.text)
	}
	return d, nil
}

// verdict is the code that the expectations deserve. A run that ended early is
// not judged: its figures are not those that the expectations speak of.
func (d *drawing) verdict(exitZero bool) int {
	unmet := slices.ContainsFunc(d.result.Expectations, func(x report.Expectation) bool { return !x.OK })
	if unmet && !exitZero && d.result.Partial == "" {
		return exitUnmet
	}
	return exitFine
}

// stdout is the result in one of the formats.
func (d *drawing) stdout(format string) ([]byte, error) {
	if format != "text" {
		return d.file(format)
	}
	text := report.Text(d.result, d.text)
	if d.every != "" {
		text += "\n" + d.every
	}
	return []byte(text), nil
}

// reportKinds are the kinds of --report, pictures last.
func reportKinds() []string {
	kinds := []string{"html", "text", "md", "json", "csv", "series"}
	for _, p := range report.PictureNames() {
		kinds = append(kinds, p+".png", p+".svg")
	}
	return kinds
}

// folderKinds are what -o writes. The result comes first: with it the folder
// counts as ours, however far the writing gets.
func folderKinds() []string {
	return append([]string{"json", "html", "series"}, reportKinds()[6:]...)
}

// fileNameOf is the name of a kind in a folder of ours.
func fileNameOf(kind string) string {
	switch kind {
	case "html":
		return "report.html"
	case "text":
		return "report.txt"
	case "md":
		return "report.md"
	case "json":
		return resultFile
	case "csv":
		return "metrics.csv"
	case "series":
		return "series.csv"
	}
	return kind
}

// file is the bytes of a kind. Text in a file is never coloured.
func (d *drawing) file(kind string) ([]byte, error) {
	switch kind {
	case "html":
		return report.HTML(d.result)
	case "text":
		plain := d.text
		plain.Color = false
		return []byte(report.Text(d.result, plain)), nil
	case "md":
		return []byte(report.Markdown(d.result)), nil
	case "json":
		return report.JSON(d.result)
	case "csv":
		return report.CSV(d.result)
	case "series":
		return report.SeriesCSV(d.result)
	}
	name, format, _ := strings.Cut(kind, ".")
	return report.DrawPicture(d.result, name, format)
}

// drawAll makes the files of several kinds, as many at once as there are cores:
// the pictures are most of the time that -o takes. A panic in one of them is
// raised again here, where main catches it.
func (d *drawing) drawAll(kinds []string) ([]named, error) {
	files := make([]named, len(kinds))
	errs := make([]error, len(kinds))
	panics := make([]any, len(kinds))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for i, kind := range kinds {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { panics[i] = recover(); <-slots }()
			files[i].name = fileNameOf(kind)
			files[i].data, errs[i] = d.file(kind)
		})
	}
	all.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
	return files, errors.Join(errs...)
}
