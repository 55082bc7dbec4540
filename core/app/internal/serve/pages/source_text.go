package pages

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/resource"
)

// policyText is the text of a policy, line by line.
type policyText struct {
	Lines []textLine
	Plain string
	// Made reports that the text was made from what is in effect, because the file cannot
	// be shown: it has changed since, or has more in the same document.
	Made bool
	File string
}

// textLine is a line of a text with the findings about it.
type textLine struct {
	Number   int
	ID       string
	Text     string
	Findings []finding
}

// policyText returns the text of a policy. It reads the document from its file, and shows
// it only if it still is the policy that is in effect. So a server need not keep the text
// of all files.
func (a *ask) policyText(p *resource.Policy) *policyText {
	if a.site.ReadSource != nil && p.Pos.Line > 0 {
		if content, err := a.site.ReadSource(p.Pos.File); err == nil {
			if document, first, ok := documentAt(content, p.Pos.Line); ok && a.isPolicy(document, p) {
				return newText(document, first, p.Pos.File, false)
			}
		}
	}
	made, err := inspect.JSON(p)
	if err != nil {
		return nil
	}
	return newText(made, 1, "", true)
}

// documentAt returns the document of a file that has a line, and the number of its first
// line. Documents are separated by lines that begin with "---".
func documentAt(content []byte, line int) (document []byte, first int, ok bool) {
	lines := bytes.SplitAfter(content, []byte("\n"))
	if line > len(lines) {
		return nil, 0, false
	}
	begin, end := line-1, line-1
	for begin > 0 && !bytes.HasPrefix(lines[begin-1], []byte("---")) {
		begin--
	}
	for end < len(lines) && (end == line-1 || !bytes.HasPrefix(lines[end], []byte("---"))) {
		end++
	}
	for begin < line-1 && len(bytes.TrimSpace(lines[begin])) == 0 {
		begin++
	}
	return bytes.TrimRight(bytes.Join(lines[begin:end], nil), "\n \t"), begin + 1, true
}

// isPolicy reports whether a document is a policy with the content of p, and nothing else.
func (a *ask) isPolicy(document []byte, p *resource.Policy) bool {
	loader := resource.Loader{Kinds: a.View.Kinds(), Documents: a.site.Loader.Documents}
	set, err := loader.Decode(context.WithoutCancel(a.Context()), resource.Input{Name: p.Pos.File, Data: append(slices.Clip(document), '\n')})
	if err != nil || len(set.Policies) != 1 || len(set.Skipped)+len(set.Unread) > 0 {
		return false
	}
	return samePolicy(set.Policies[0], p)
}

// samePolicy reports whether two policies have the same content, regardless of positions.
func samePolicy(a, b *resource.Policy) bool {
	x, errX := conf.Marshal(a)
	y, errY := conf.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func newText(document []byte, first int, file string, made bool) *policyText {
	t := &policyText{Plain: string(document), Made: made, File: file}
	number := first
	for line := range strings.SplitSeq(strings.ReplaceAll(t.Plain, "\r\n", "\n"), "\n") {
		t.Lines = append(t.Lines, textLine{Number: number, ID: lineID(number), Text: line})
		number++
	}
	return t
}

// mark adds findings to their lines.
func (t *policyText) mark(findings []finding) {
	if t == nil || t.Made {
		return
	}
	for _, f := range findings {
		at := slices.IndexFunc(t.Lines, func(l textLine) bool { return l.Number == f.Line })
		if at >= 0 {
			t.Lines[at].Findings = append(t.Lines[at].Findings, f)
		}
	}
}
