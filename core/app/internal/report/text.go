package report

import (
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
)

// textOf returns "path: what; hint".
func textOf(d diag.Diagnostic) string {
	if d.Path == "" {
		return d.Message()
	}
	return d.Path + ": " + d.Message()
}

func level(d diag.Diagnostic) string { return levelOf(d.Code.Class()) }

// levelOf returns the level of a class in SARIF.
func levelOf(class diag.Class) string {
	switch class {
	case diag.ClassError:
		return "error"
	case diag.ClassInfo:
		return "note"
	}
	return "warning"
}

// githubLevel returns the command of GitHub for a finding.
func githubLevel(d diag.Diagnostic) string {
	if l := level(d); l != "note" {
		return l
	}
	return "notice"
}

// GitHub returns one workflow command for each finding, which GitHub shows as an
// annotation of the line.
func GitHub(findings []diag.Diagnostic) []byte {
	var b strings.Builder
	for _, d := range findings {
		fmt.Fprintf(&b, "::%s ", githubLevel(d))
		if d.Pos.File != "" {
			fmt.Fprintf(&b, "file=%s,", githubProperty.Replace(d.Pos.File))
		}
		if d.Pos.Line > 0 {
			fmt.Fprintf(&b, "line=%d,col=%d,", d.Pos.Line, d.Pos.Column)
		}
		fmt.Fprintf(&b, "title=%s::%s\n", d.Code, githubData.Replace(diag.OneLine(textOf(d))))
	}
	return []byte(b.String())
}

// The characters that a workflow command cannot contain.
var (
	githubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// Markdown returns one item of a list for each finding.
func Markdown(findings []diag.Diagnostic) []byte {
	var b strings.Builder
	if len(findings) == 0 {
		b.WriteString("No findings.\n")
	}
	for _, d := range findings {
		fmt.Fprintf(&b, "- **%s** (%s)", d.Code, d.Code.Class())
		if pos := d.Pos.String(); pos != "" {
			b.WriteString(" " + codeSpan(diag.OneLine(pos)))
		}
		if d.Path != "" {
			b.WriteString(" " + codeSpan(diag.OneLine(d.Path)))
		}
		b.WriteString(" " + markdownText(diag.OneLine(d.Message())) + "\n")
	}
	return []byte(b.String())
}

// codeSpan returns a text in backticks, with more backticks than the text has in
// a row.
func codeSpan(text string) string {
	longest, run := 0, 0
	for _, c := range text {
		if c != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if longest > 0 {
		text = " " + text + " "
	}
	return fence + text + fence
}

// markdownText escapes text that Markdown, or GitHub in a comment, would interpret:
// markup, HTML, mentions and references to issues.
func markdownText(text string) string {
	var b strings.Builder
	for _, c := range text {
		switch {
		case c == '@' || c == '#':
			fmt.Fprintf(&b, "&#%d;", c)
		case strings.ContainsRune("\\`*_{}[]<>|~&", c):
			b.WriteByte('\\')
			b.WriteRune(c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}
