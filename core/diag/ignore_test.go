package diag_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
)

func TestIgnoreComments(t *testing.T) {
	for name, c := range map[string]struct{ text, want, warnings string }{
		"next line":     {"# meshmatch:ignore MM2001 soon\nx", "MM2001:1->2 soon", ""},
		"indented":      {"a:\n   #meshmatch:ignore mm2001  it comes \r\n   b", "MM2001:2->3 it comes", ""},
		"several":       {"# meshmatch:ignore MM2001 a\n# more\n\n# meshmatch:ignore MM2002 b\nx\ny", "MM2001:1->5 a, MM2002:4->5 b", ""},
		"at the end":    {"x\n# meshmatch:ignore MM2001 a\n", "MM2001:2->4 a", ""},
		"no comment":    {"x: meshmatch:ignore MM2001 a", "", ""},
		"after a value": {"x: y # meshmatch:ignore MM2001 a\nz", "", ""},
		"unknown code":  {"# meshmatch:ignore MM9999 a\nx", "", `f:1:1: nothing is ignored: there is no code "MM9999"`},
		"no code":       {"# meshmatch:ignore\nx", "", `f:1:1: nothing is ignored: there is no code ""`},
		"no reason":     {"\n  # meshmatch:ignore MM2001 \nx", "", "f:2:3: nothing is ignored: the reason is missing"},
		"an error":      {"# meshmatch:ignore MM0102 a\nx", "", "f:1:1: nothing is ignored: MM0102 is an error, and errors cannot be ignored"},
	} {
		var sink diag.Sink
		var got []string
		for _, i := range diag.IgnoreComments("f", []byte(c.text), &sink) {
			got = append(got, fmt.Sprintf("%s:%d->%d %s", i.Code, i.Pos.Line, i.Line, i.Reason))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: got %s, want %s", name, text, c.want)
		}
		var warnings []string
		for _, w := range sink.Warnings() {
			what, _, _ := strings.Cut(w.Error(), ";")
			warnings = append(warnings, what)
		}
		if text := strings.Join(warnings, "\n"); text != c.warnings {
			t.Errorf("%s: warnings %s, want %s", name, text, c.warnings)
		}
	}
}

func TestWithoutIgnored(t *testing.T) {
	at := func(file string, line, column int) diag.Position {
		return diag.Position{File: file, Line: line, Column: column}
	}
	finding := func(code diag.Code, pos diag.Position) diag.Diagnostic {
		return diag.Diagnostic{Code: code, Pos: pos, What: "w"}
	}
	resources := []diag.Position{at("b", 5, 1), at("a", 1, 1), at("a", 10, 3), at("a", 10, 40)}
	line := diag.Ignore{Code: diag.SetsNothing, Reason: "r", Pos: at("a", 2, 1), Line: 3}
	resource := diag.Ignore{Code: diag.SetsNothing, Reason: "r", Pos: at("a", 11, 9), Resource: at("a", 10, 3)}
	for name, c := range map[string]struct {
		findings []diag.Diagnostic
		ignores  []diag.Ignore
		want     string
	}{
		"nothing to ignore":         {[]diag.Diagnostic{finding(diag.SetsNothing, at("b", 2, 1)), finding(diag.SetsNothing, at("a", 2, 1))}, nil, "a:2:1 MM2004, b:2:1 MM2004"},
		"by line":                   {[]diag.Diagnostic{finding(diag.SetsNothing, at("a", 3, 7)), finding(diag.SetsNothing, at("a", 3, 9))}, []diag.Ignore{line}, ""},
		"another line":              {[]diag.Diagnostic{finding(diag.SetsNothing, at("a", 4, 7))}, []diag.Ignore{line}, "a:2:1 MM2025, a:4:7 MM2004"},
		"another file":              {[]diag.Diagnostic{finding(diag.SetsNothing, at("b", 3, 7))}, []diag.Ignore{line}, "a:2:1 MM2025, b:3:7 MM2004"},
		"another code":              {[]diag.Diagnostic{finding(diag.SelectsNothing, at("a", 3, 7))}, []diag.Ignore{line}, "a:2:1 MM2025, a:3:7 MM2001"},
		"by resource":               {[]diag.Diagnostic{finding(diag.SetsNothing, at("a", 10, 3)), finding(diag.SetsNothing, at("a", 10, 39))}, []diag.Ignore{resource}, ""},
		"the next resource":         {[]diag.Diagnostic{finding(diag.SetsNothing, at("a", 10, 40)), finding(diag.SetsNothing, at("a", 9, 40))}, []diag.Ignore{resource}, "a:9:40 MM2004, a:10:40 MM2004, a:11:9 MM2025"},
		"the next file":             {[]diag.Diagnostic{finding(diag.SetsNothing, at("b", 1, 1))}, []diag.Ignore{resource}, "a:11:9 MM2025, b:1:1 MM2004"},
		"one finding by two":        {[]diag.Diagnostic{finding(diag.SetsNothing, at("a", 3, 7))}, []diag.Ignore{line, {Code: diag.SetsNothing, Reason: "r", Pos: at("a", 1, 1), Resource: at("a", 1, 1)}}, ""},
		"a code that is not looked": {nil, []diag.Ignore{{Code: diag.NotServedOverTLS, Reason: "r", Pos: at("a", 2, 1), Line: 3}}, ""},
	} {
		var got []string
		for _, d := range diag.WithoutIgnored(c.findings, c.ignores, resources, func(code diag.Code) bool { return code == diag.NotServedOverTLS }) {
			got = append(got, d.Pos.String()+" "+d.Code.String())
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: got %s, want %s", name, text, c.want)
		}
	}
}
