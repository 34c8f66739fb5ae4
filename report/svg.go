package report

import (
	"bytes"
	"html"
	"regexp"
)

var (
	fontFamily = regexp.MustCompile(`font-family:[^;"]*`)
	svgOpen    = regexp.MustCompile(`<svg [^>]*>`)
	svgWidth   = regexp.MustCompile(`width="[0-9.]+pt" height="[0-9.]+pt"`)
)

// finishSVG makes a drawing fit for pages: fonts that browsers have, a title
// and a description for those who cannot see it, and a size that follows the
// page.
func finishSVG(svg []byte, title, desc string) []byte {
	svg = fontFamily.ReplaceAll(svg, []byte("font-family:Liberation Sans, Arimo, Arial, Helvetica, sans-serif"))
	open := svgOpen.FindIndex(svg)
	if open == nil {
		return svg
	}
	head := bytes.Replace(svg[open[0]:open[1]], []byte("<svg "), []byte(`<svg role="img" `), 1)
	var out bytes.Buffer
	out.Write(svg[:open[0]])
	out.Write(head)
	out.WriteString("\n<title>" + html.EscapeString(title) + "</title>\n<desc>" + html.EscapeString(desc) + "</desc>")
	out.Write(svg[open[1]:])
	return out.Bytes()
}
