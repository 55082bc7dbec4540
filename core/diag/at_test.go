package diag_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
)

// paths is a Source that returns the path as the name of the file.
type paths struct{}

func (paths) Locate(path []diag.Step, name bool) diag.Position {
	return diag.Position{File: fmt.Sprint(path, name), Line: 1, Column: 2}
}

// steps is a path that does not change.
type steps []diag.Step

func (s steps) appendSteps(to []diag.Step) []diag.Step { return append(to, s...) }

func TestAtPath(t *testing.T) {
	var sink diag.Sink
	root := diag.Root(paths{}, &sink)
	long := strings.Repeat("a", 200)
	within := root.Field("a").Moving(steps{{Field: "b", Index: diag.IsField}, {Index: 2}}.appendSteps)
	for _, c := range []struct {
		at   *diag.At
		path string
		pos  string
	}{
		{root, "", "[] false"},
		{root.Field("spec").Field("to").Index(0).Field("default"), "spec.to[0].default", "[{spec -1} {to -1} { 0} {default -1}] false"},
		{root.Index(3), "[3]", "[{ 3}] false"},
		{root.Field("a").Name("b"), "a.b", "[{a -1} {b -1}] true"},
		{root.Field("kuma.io/service"), `["kuma.io/service"]`, "[{kuma.io/service -1}] false"},
		{root.Field("a").Field(""), `a[""]`, "[{a -1} { -1}] false"},
		{root.Field("a b").Field("\n\u202e"), `["a b"]["\n\u202e"]`, "[{a b -1} {\n\u202e -1}] false"},
		{root.Field(long), long[:100] + "...", "[{" + long + " -1}] false"},
		{within, "a.b[2]", "[{a -1} {b -1} { 2}] false"},
		{within.Field("c"), "a.b[2].c", "[{a -1} {b -1} { 2} {c -1}] false"},
	} {
		if got := c.at.Path(); got != c.path {
			t.Errorf("path %s, want %s", got, c.path)
		}
		if got := c.at.Pos(); got.File != c.pos {
			t.Errorf("%s: position of %s, want %s", c.path, got.File, c.pos)
		}
		if got, want := c.at.IsRoot(), c.path == ""; got != want {
			t.Errorf("%s: IsRoot is %v", c.path, got)
		}
		if c.at.Sink() != &sink {
			t.Errorf("%s: another sink", c.path)
		}
	}
	if got := root.Moving(steps{}.appendSteps); !got.IsRoot() {
		t.Errorf("an empty path is not the root: %s", got.Path())
	}
}

func TestAtReports(t *testing.T) {
	var sink diag.Sink
	at := diag.Root(diag.GoValue("MeshTimeout a"), &sink).Field("spec")
	at.Errorf(diag.BadValue, "do\tthis", "bad %q", "x\x1b")
	at.ErrorfAt(diag.BadValue, diag.Position{File: "f", Line: 3, Column: 4}, "", "%s", strings.Repeat("b", 1000))
	at.Warnf(diag.LikelyMistake, "", "odd\n")
	want := "MeshTimeout a: spec: bad \"x\\x1b\"; do\\tthis\nf:3:4: spec: " + strings.Repeat("b", 500) + "..."
	if got := sink.Err().Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := fmt.Sprint(sink.Warnings()); got != `[MeshTimeout a: spec: odd\n]` {
		t.Errorf("warnings %s", got)
	}
}

func TestErrorIsOneLine(t *testing.T) {
	d := diag.Diagnostic{Pos: diag.Position{File: "a\nb"}, Path: "c\u202e", What: "d\x9b", Hint: "e\x1b"}
	if got, want := d.Error(), `a\nb: c\u202e: d\x9b; e\x1b`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSink(t *testing.T) {
	at := func(file string, line, column int, path string) diag.Diagnostic {
		return diag.Diagnostic{Pos: diag.Position{File: file, Line: line, Column: column}, Path: path, What: "w"}
	}
	var s, other diag.Sink
	if s.Err() != nil || s.Failed() || s.Mark() != 0 {
		t.Error("an empty sink has errors")
	}
	s.Error(at("b", 1, 1, ""))
	s.Error(at("a", 2, 1, ""))
	s.Error(at("a", 1, 2, "y"))
	other.Error(at("a", 1, 2, "x"))
	other.Error(at("a", 1, 1, ""))
	other.Error(at("b", 1, 1, ""))
	other.Warn(at("c", 1, 1, ""))
	s.Join(&other)
	if !s.Failed() || s.Mark() != 6 {
		t.Errorf("%d errors, want 6", s.Mark())
	}
	const want = "a:1:1: w\na:1:2: x: w\na:1:2: y: w\na:2:1: w\nb:1:1: w"
	if got := s.Err().Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if w := s.Warnings(); len(w) != 1 || w[0].Pos.File != "c" {
		t.Errorf("warnings %v", w)
	}
}

func TestSinkCheck(t *testing.T) {
	for name, c := range map[string]struct {
		before, since, checked, want string
	}{
		"no errors since":    {"a", "", "a b a.c", "a a.c b"},
		"same place":         {"", "a.b", "a.b c", "a.b c"},
		"within":             {"", "a", "a.b a[0].c d", "a d"},
		"around":             {"", "a.b[1].c", "a a.b a.b[1] a.b[0]", "a.b[0] a.b[1].c"},
		"the whole document": {"", "a", " b", "a b"},
		"a longer name":      {"", "ab", "a abc", "a ab abc"},
	} {
		var s diag.Sink
		report := func(paths string) {
			for _, path := range strings.Split(paths, " ") {
				if paths != "" {
					s.Error(diag.Diagnostic{Path: path})
				}
			}
		}
		report(c.before)
		before := s.Mark()
		report(c.since)
		s.Check(before, func() { report(c.checked) })
		var all diag.Errors
		if err := s.Err(); err != nil {
			all = err.(diag.Errors)
		}
		var got []string
		for _, d := range all {
			got = append(got, d.Path)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
