package diag

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// Ignore removes the findings with a code at a line, or in a resource, from an answer
// (SPEC 13.5).
type Ignore struct {
	Code   Code
	Reason string
	Pos    Position // of the comment, or of the annotation
	// Line is the line of the findings; 0: the findings of the resource at Resource.
	Line     int
	Resource Position
}

// IgnoreComment begins the text of a comment that ignores a finding at the next line.
const IgnoreComment = "meshmatch:ignore"

// HasIgnoreComments reports whether a file may have ignores in comments.
func HasIgnoreComments(data []byte) bool { return bytes.Contains(data, []byte(IgnoreComment)) }

// IgnoreComments returns the ignores in the comments of a file, and reports malformed
// ignores to sink. Any number of comments may be between an ignore and the line to which
// it applies.
func IgnoreComments(file string, data []byte, sink *Sink) []Ignore {
	if !HasIgnoreComments(data) {
		return nil
	}
	var ignores []Ignore
	pending := 0 // the first ignore whose line is not found
	number := 0
	for line := range strings.SplitSeq(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n") {
		number++
		text := strings.TrimLeft(line, " \t")
		comment, isComment := strings.CutPrefix(text, "#")
		if text == "" {
			continue
		}
		if !isComment {
			for ; pending < len(ignores); pending++ {
				ignores[pending].Line = number
			}
			continue
		}
		rest, is := strings.CutPrefix(strings.TrimLeft(comment, " \t"), IgnoreComment)
		if !is {
			continue
		}
		pos := Position{File: file, Line: number, Column: len(line) - len(text) + 1}
		if ignore, ok := newIgnore(pos, "", rest, sink); ok {
			ignores = append(ignores, ignore)
		}
	}
	for ; pending < len(ignores); pending++ {
		ignores[pending].Line = number + 1 // there is no such line, so it ignores no finding
	}
	return ignores
}

// IgnoreAnnotation returns the ignores in the text of an annotation at a place, one for
// each line of the text. Resource is the position of the resource.
func IgnoreAnnotation(at *At, text string, resource Position) []Ignore {
	var ignores []Ignore
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if ignore, ok := newIgnore(at.Pos(), at.Path(), line, at.Sink()); ok {
			ignore.Resource = resource
			ignores = append(ignores, ignore)
		}
	}
	return ignores
}

// newIgnore parses "CODE reason". It reports errors to sink.
func newIgnore(pos Position, path, text string, sink *Sink) (Ignore, bool) {
	word, reason, _ := strings.Cut(strings.TrimSpace(text), " ")
	reason = strings.TrimSpace(reason)
	bad := func(what string) (Ignore, bool) {
		sink.Warn(Diagnostic{Code: BadIgnore, Pos: pos, Path: path, What: OneLine(Clip(what, maxText)), Hint: "write the code and the reason, such as MM2001 the service comes next week"})
		return Ignore{}, false
	}
	code, known := ParseCode(word)
	switch {
	case !known:
		return bad("nothing is ignored: there is no code \"" + word + "\"")
	case code.Class() == ClassError:
		return bad("nothing is ignored: " + code.String() + " is an error, and errors cannot be ignored")
	case reason == "":
		return bad("nothing is ignored: the reason is missing")
	}
	return Ignore{Code: code, Reason: reason, Pos: pos}, true
}

// WithoutIgnored returns the findings that no ignore removes, and a finding for each
// ignore that removes none, sorted. Resources contains the positions of all resources; a
// resource ends where the next one of its file begins. Absent reports whether findings
// with a code were not computed.
func WithoutIgnored(findings []Diagnostic, ignores []Ignore, resources []Position, absent func(Code) bool) []Diagnostic {
	if len(ignores) == 0 {
		return Sorted(findings)
	}
	resources = slices.Clone(resources)
	slices.SortFunc(resources, Position.compare)
	type key struct {
		code Code
		pos  Position
	}
	byPlace := map[key][]int{}
	for i, ignore := range ignores {
		at := ignore.Resource
		if ignore.Line > 0 {
			at = Position{File: ignore.Pos.File, Line: ignore.Line}
		}
		byPlace[key{ignore.Code, at}] = append(byPlace[key{ignore.Code, at}], i)
	}
	used := make([]bool, len(ignores))
	kept := slices.DeleteFunc(slices.Clone(findings), func(d Diagnostic) bool {
		if d.Code.Class() == ClassError {
			return false
		}
		places := append([]int(nil), byPlace[key{d.Code, Position{File: d.Pos.File, Line: d.Pos.Line}}]...)
		if i, exact := slices.BinarySearchFunc(resources, d.Pos, Position.compare); exact {
			places = append(places, byPlace[key{d.Code, resources[i]}]...)
		} else if i > 0 && resources[i-1].File == d.Pos.File {
			places = append(places, byPlace[key{d.Code, resources[i-1]}]...)
		}
		for _, i := range places {
			used[i] = true
		}
		return len(places) > 0
	})
	for i, ignore := range ignores {
		if !used[i] && !absent(ignore.Code) {
			kept = append(kept, Diagnostic{
				Code: UnusedIgnore, Pos: ignore.Pos,
				What: "ignores nothing: there is no finding " + ignore.Code.String() + " here (" + OneLine(Clip(ignore.Reason, 100)) + ")",
				Hint: "remove it",
			})
		}
	}
	return Sorted(kept)
}

func (p Position) compare(o Position) int {
	return cmp.Or(cmp.Compare(p.File, o.File), cmp.Compare(p.Line, o.Line), cmp.Compare(p.Column, o.Column))
}
