package report

import (
	"fmt"
	"strings"
)

// findings writes them numbered, each with the flag that tries its change at
// the right.
func (p *printer) findings() {
	for i := range p.d.Findings {
		f := &p.d.Findings[i]
		number := fmt.Sprint(i + 1)
		indent := max(3, len(number)+1)
		lines := wrap(p.clean(f.Text()), textWidth-indent)
		if flag := p.clean(f.VsFlag()); flag != "" {
			lines = rightAligned(lines, flag, textWidth-indent)
		}
		for k, line := range lines {
			first := ""
			if k == 0 {
				first = number
			}
			p.line(padRight(first, indent) + line)
		}
	}
}

// rightAligned ends lines with a flag at the right edge, on the last line where
// it fits beside two spaces.
func rightAligned(lines []string, flag string, width int) []string {
	if n := len(lines) - 1; n >= 0 {
		if room := width - displayWidth(lines[n]) - displayWidth(flag); room >= 2 {
			lines[n] += strings.Repeat(" ", room) + flag
			return lines
		}
	}
	if displayWidth(flag) <= width {
		return append(lines, padLeft(flag, width))
	}
	return append(lines, continued(flag, width)...)
}

// continued breaks a command into lines that a shell reads as one.
func continued(command string, width int) (lines []string) {
	for displayWidth(command) > width {
		head, _ := split(command, width-1)
		if at := strings.LastIndexByte(head, ' '); at > 0 {
			head = head[:at+1]
		}
		// A backslash before the break would escape the one that joins the lines.
		for strings.HasSuffix(head, "\\") && len(head) > 1 {
			head = head[:len(head)-1]
		}
		lines = append(lines, head+"\\")
		command = command[len(head):]
	}
	return append(lines, command)
}

// The columns of an expectation: its state, its arm, the rest.
const (
	stateWidth     = 6
	expectArmWidth = 13
)

// expectations writes a line each with the figure that it met or missed; only
// those not met unless all is set.
func (p *printer) expectations(all bool) {
	for i := range p.d.Result.Expectations {
		e := &p.d.Result.Expectations[i]
		if e.OK && !all {
			continue
		}
		state := p.paint(green, "met")
		if !e.OK {
			state = p.paint(red, "UNMET")
		}
		lead := stateWidth + expectArmWidth
		first := padRight(state, stateWidth) + padRight(p.shorten(p.clean(e.Arm), expectArmWidth-1), expectArmWidth)
		lines := wrap(p.clean(e.Text), textWidth-lead)
		lines = rightAligned(lines, p.clean(p.d.Actual(e)), textWidth-lead)
		for _, line := range lines {
			p.line(padRight(first, lead) + line)
			first = ""
		}
		if words := p.d.Seeds(e); words != "" {
			p.paragraph("", words, stateWidth)
		}
		if !e.OK && e.Why != "" {
			p.paragraph(strings.Repeat(" ", stateWidth)+"why", p.clean(e.Why), lead)
		}
	}
}

// warnings are doubts about the figures.
func (p *printer) warnings() {
	for _, w := range p.d.Result.Warnings {
		p.paragraph("note", p.clean(w), 7)
	}
}

// again is the line that reproduces the report, and what made it.
func (p *printer) again() {
	const indent = 7
	command, origin := p.clean(p.d.Command), p.clean(p.d.Origin)
	lines := continued(command, textWidth-indent)
	if n := len(lines) - 1; indent+displayWidth(lines[n])+4+displayWidth(origin) <= textWidth {
		lines[n] += "    " + origin
	} else {
		lines = append(lines, wrap(origin, textWidth-indent)...)
	}
	for i, line := range lines {
		first := ""
		if i == 0 {
			first = "again"
		}
		p.line(padRight(first, indent) + line)
	}
}
