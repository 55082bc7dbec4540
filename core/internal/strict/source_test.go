package strict_test

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// The source of a value determines it: the source of a list in block style has the indentation
// of its first element and ends with its last text.
func TestSource(t *testing.T) {
	for document, want := range map[string]string{
		`{"of": {"list": [1, {"a": 2}]}, "z": 1}`:                         `[1, {"a": 2}]`,
		"of:\n  list:\n  - a: 1\n    b: 2 # comment\n\n  # other\nz: 1\n": "  - a: 1\n    b: 2",
		"of:\n  list:\n    - a\n    - b":                                  "    - a\n    - b",
		"of:\n  list:\n  - a: |\n      b\n\nz: 1\n":                       "  - a: |\n      b",
		"of:\n  list: [a, b]\n":                                           "",
		"of:\n  list:\n    a: b\n":                                        "",
		"of: &a\n  list:\n  - a\n":                                        "", // read by the library
		`{"of": {"list": "[]"}}`:                                          "",
	} {
		var sink diag.Sink
		for doc := range strict.Documents("f", strict.Chunks([]byte(document), 1)[0], strict.DefaultLimits, &sink) {
			if got := string(doc.Root().Field("of").Field("list").Source()); got != want {
				t.Errorf("the list of\n%s\nhas the source\n%q, want\n%q", document, got, want)
			}
		}
		if err := sink.Err(); err != nil {
			t.Error(err)
		}
	}
}

// A document that was released gives its memory, and nothing else, to the next one.
func TestRelease(t *testing.T) {
	var sink diag.Sink
	reader := &strict.Reader{}
	text := []byte("a: {b: 1}\nlist:\n- x\n- y\n---\na: {c: [2]}\n---\n{\"list\": {\"z\": 3}}\n")
	var got []any
	for doc := range reader.Documents("f", strict.Chunks(text, 1)[0], &sink) {
		var tree any
		strict.Decode(doc.Root(), &tree)
		doc.Root().Field("a")
		got = append(got, tree, doc.Root().Has("a"), doc.Root().Pos().Line)
		doc.Release()
	}
	if want := "[map[a:map[b:1] list:[x y]] true 1 map[a:map[c:[2]]] true 6 map[list:map[z:3]] false 8]"; fmt.Sprint(got) != want || sink.Failed() {
		t.Errorf("got\n%v\nwant\n%s", got, want)
	}
}
