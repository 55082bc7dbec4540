package strict

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readBlock reads documents in block style with the block reader. readLibrary
// reads documents of all forms with the library's parser.
func readBlock(s *source, yield func(*Document) bool) {
	if doc := s.block(); doc != nil {
		yield(doc)
	}
}

func readLibrary(s *source, yield func(*Document) bool) {
	if bad := s.parseYAML(yield); bad != nil {
		s.report(bad)
	}
}

var inBlockStyle = []string{
	"text: a\nother: one\nflag: true\ninteger: -128\nnatural: 18446744073709551615\n",
	"---\n# comment\n\n  # another\ntext: 'in: quotes # a'\nother: \"two\"",
	"text: http://a/b?\nlist:\n- text: a\n  other: one\n-   text: b\n    list: []\nflag: false\n",
	"text: bad\nlist:\n  - text: a\n\n  - text: b\nnme: 1\n",
	"text: 1\nlist:\n  - 1\n  - a b\n  - 'c'\n  - {}\nlist:\n    - text: a\n",
	"text: a\nmapping:\n    a: 1\n    a.b: c\n    a: 2\nstrings:\n  a: b\n  1: c\n  true: d\n",
	"text: a\nentries:\n  b: c\n  a: d\n  0: e\nanything:\n  a:\n  - 1\n  - -1\n  - 1.5\n  - true\n  - b: c\n    d:\n    - e\n  - []\n",
	"text: a\nunion:\n  type: one\n  two: true\nlater:\n  text: 1\nunused:\n  a:\n    b: 1\n  text: c\n",
	"text: \"\"\nsecond: ''\nunused: []\nlater: {}\n",
	"  text: a\n  nme: b\n  list:\n  - nme: c\n",
	"text: a # comment\nother: one   \nlist: # of two\n- text: b # 'd'\n- text: 'e # f'\nflag: false \n   # end\n",
	"text: a\nlist: [{text: b, flag: true}, {text: c, integer: -1, list: []},  { } , [ ], d e ]\n",
	"text: bad\nlist: [{text: a, list: [ {text: x:y} , {text: http://a/b} ]},{text: b,nme: 1}]\nmapping: {a: 1, a: 2, a.b: c, true: 3}\n",
	"text: 'a'\nunion: {type: one, two: true}\nlater: {text: 1}\nunused: {a: {b: \"c, d\"}, text: 'e}'}\nanything: [1, -1, 1.5, 'a', [b, {c: d}], a b]\n",
	"list:\n- {text: a, nme: b}\n-   [1]\n- text: a\n  strings: {a: b, c: 1, kuma.io/service: d_e}\n",
	"text: ä # ö\nother: \"ä€😀\"\nmapping:\n  ä: [ö, .5, .a]\n  b: 1\nnme: ü\nlater:\n  text: 1\n",
	"text: \"a\\n\\\"\\u00e4\\\\\"\nother: 'a\\n'\nlist: [\"a\\n\", {text: \"\\t\"}]\nmapping: {a: \"\\n\"}\n",
	"text: a\nmapping:\n  f:a: {}\n  .: {}\n  f:a/b.c-d: {}\n  k:{\"port\":80,\"protocol\":\"TCP\"}:\n    .: {}\n  v:\"a,b\": {}\n  f:a:b: 1\n  k:[1]: 1\nunused:\n- f:a: {}\n  v:\"a\":\n  - k:{\"a\":1}: 'x'\n",
	"text: |\n  a\nother: |-\n    b: c # d\n      - e\n\n    'f\n\n\n# comment\nstrings:\n  a: |\n    {\"b\": \"c\"}\n  b: |-\n   ä\n",
	"nme: |\n  a\ninteger: |\n  1\nlist:\n- text: |\n    a\n   \n  other: |-\n    twos\n- text: |-\n   a\n \n  # comment\n",
	"text: a\nnatural: 0x1F\ndecimal: 1.\nanything: [0o17, 0.5, 1e3, 0x, 1_000, 08, 1:2]\n",
}

// otherForms are documents that the library parses: documents that are not in block
// style or have errors.
var otherForms = []string{
	"", "# comment\n", "text:\n", "text: ~\n", "text: 'it''s'\n", "text: &a b\n", "text: *a\n",
	"text: !!str a\n", "text: |\n", "text: |\n\n", "text: |\n\n  a\n", "text: |\n  a", "text: |+\n  a\n", "text: |2\n  a\n", "text: >\n  a\n", "text: |\n  a\n b\n", "text: |\n  a\n   \n", "text: |\na\n", "text: |\n  a\tb\n", "list:\n- |\n  a\n", "text: [|]\n",
	"text: \"\\x41\"\n", "text: \"\\/\"\n", "text: \"\\ud83d\\ude00\"\n", "text: \"a\\\n  b\"\n", "text: a\u0085\n", "text: a\u2028\n", "text: a\ufeff\n", "text: a\xff\n", "text: a\n  b\n", "text: [a\n", "text: [a]]\n", "text: {a: b} c\n", "text: [a,]\n", "text: [,a]\n", "text: [a,,b]\n", "text: {a}\n", "text: {a: }\n", "text: {a: b,}\n", "text: {a:b}\n", "text: {\"a\": b}\n",
	"text: [a: b]\n", "text: [a:]\n", "text: [a:,b]\n", "text: [a:]b]\n", "text: [? a]\n", "text: [a?]\n", "text: [&a b]\n", "text: [*a]\n", "text: [!!str a]\n", "text: [-]\n", "text: [- a]\n", "text: ['it''s']\n",
	"text: [a, # b\n  c]\n", "text: [a\n  ]\n", "text: {a: b}: c\n", "- {a: b}\n", "text: [a #b]\n", "text: [a]#b\n", "text: 'a' # b\n", "text: [\"a\": b]\n", "text: {? a: b}\n", "text: {<<: a}\n", "text: [%a]\n", "text: b#c\n",
	"text: {- a: b}\n", "text: #\u00e4\n", "text:\ta\n", "text: a\r\n",
	"- a\n", "a\n", "list:\n- - a\n", "list:\n-\n", "text: bad\nlist:\n  -\n", "? a\n: b\n", "<<: a\n", "\"text\": a\n", "%YAML 1.2\n---\ntext: a\n", "--- # comment\ntext: a\n",
	"text: a: b\n", "text: a\nlist: - b\n", "list:\n  - a: b\n   c: d\n", "text: a\n b: c\n", "a: b\n- c\n", "list:\n- a\n b: c\n", "text: a:\n",
	"# a\x01\ntext: a\n", "text: a\n...\n", "text: \"a\" \"b\"\n", "list:\n  - a\n - b\n", "list:\n  - a\n  b: c\n",
	strings.Repeat("a", 1001) + ": b\n",
}

// FuzzBlock reads documents in block style with both readers: values and errors
// must be the same.
//
//fuzz:executions 60000
func FuzzBlock(f *testing.F) {
	for _, text := range inBlockStyle {
		f.Add(text)
	}
	for _, text := range otherForms {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		asBlock, errsBlock := read(text, readBlock)
		if asBlock == nil {
			t.Skip()
		}
		asYAML, errsYAML := read(text, readLibrary)
		if errsBlock != errsYAML {
			t.Errorf("errors of the block reader\n%s\nof the library\n%s", errsBlock, errsYAML)
		}
		if !reflect.DeepEqual(asBlock, asYAML) {
			t.Errorf("-block +library: %s", cmp.Diff(asBlock, asYAML))
		}
	})
}

// The reader of block style reads block style and no other form.
func TestBlockStyle(t *testing.T) {
	accepts := func(text string) bool {
		out, _ := read(text, readBlock)
		return out != nil
	}
	for _, text := range inBlockStyle {
		if !accepts(text) {
			t.Errorf("not accepted:\n%s", text)
		}
	}
	for _, text := range otherForms {
		if accepts(text) {
			t.Errorf("accepted:\n%s", text)
		}
	}
	deep := ""
	for i := range 30 {
		deep += strings.Repeat(" ", i) + "a:\n"
	}
	if accepts(deep + strings.Repeat(" ", 30) + "a: b\n") {
		t.Error("accepted 31 levels")
	}
	if accepts("list:\n" + strings.Repeat("- a\n", 2000)) {
		t.Error("accepted 2,003 values")
	}
}

// Positions of many errors are found in linear time, like in JSON.
func TestManyErrorsInBlockStyle(t *testing.T) {
	const n = 20_000
	text := "text: a\nlist:\n" + strings.Repeat("- a\n", n) + "strings:\n" + strings.Repeat("  a: 1\n", n) + "  z: 1\n"
	r := Limits{Depth: 20, Nodes: 10 * n}
	out, errs := readWithin(r, text, readBlock)
	if len(out) != 1 || strings.Count(errs, "\n") != n+n {
		t.Fatalf("%d documents, %d lines of errors", len(out), strings.Count(errs, "\n"))
	}
}
