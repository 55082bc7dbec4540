package strict_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// A stream of JSON documents is cut at lines, wherever the chunks begin. A
// document that cannot be parsed does not hide others.
func TestChunksOfJSON(t *testing.T) {
	lines := []string{
		"# fruit\n", // not JSON: the first document below begins it
		"---\n",
		`{"name": "a", "tags": {"x": "}"}}` + "\n",
		`{"name": 1}` + "\n\n",
		"  {\n  \"name\": \"b\",\n  \"tags\": {\n}\n}\n",
		`{"name": "c"} {"name": 2}` + "\n",
		`{"name" "d"}` + "\n",
		"{\n\t\"name\": \"e\",\n\t\"bad\": {}\n}\n",
		"---\nname: 3\n",
		"---\n{\"name\": \"f\"}\n",
		`{"name": 4}`,
	}
	const want = `f:4:10: name: must be a string, not the number 1; write it in quotes: "1"
f:11:24: name: must be a string, not the number 2; write it in quotes: "2"
f:12:9: bad JSON: invalid character '"' after object name (expecting ':'); check commas, quotes and brackets
f:15:2: bad: unknown field; one of "name", "colour", "weight", "ripe", "tags", "seeds", "pack", "size"
f:18:7: name: must be a string, not the number 3; write it in quotes: "3"
f:21:10: name: must be a string, not the number 4; write it in quotes: "4"`
	text := strings.Join(lines, "")
	for _, n := range []int{1, 2, 3, 5, 100} {
		var sink diag.Sink
		var names []string
		for _, chunk := range strict.Chunks([]byte(text), n) {
			for doc := range strict.Documents("f", chunk, strict.DefaultLimits, &sink) {
				var f fruit
				strict.Decode(doc.Root(), &f)
				names = append(names, f.Name)
			}
		}
		if got := fmt.Sprintf("%q", names); got != `["a" "" "b" "c" "" "e" "" "f" ""]` {
			t.Errorf("%d chunks: names %s", n, got)
		}
		if got := sink.Err().Error(); got != want {
			t.Errorf("%d chunks: got\n%s\nwant\n%s", n, got, want)
		}
	}
}

// Positions count the line breaks of YAML, including a lone CR, wherever the chunks begin.
func TestChunksWithCarriageReturns(t *testing.T) {
	const (
		text = "name: a\rbad: 1\r\n---\r# fruit\n\rname: 2\r---\nname: 3\n---\n{\"name\":\r\n 4,\r\"bad\": 1}\n---\rname: [\r\n---\nname: 5\n"
		want = `f:2:1: bad: unknown field; one of "name", "colour", "weight", "ripe", "tags", "seeds", "pack", "size"
f:6:7: name: must be a string, not the number 2; write it in quotes: "2"
f:8:7: name: must be a string, not the number 3; write it in quotes: "3"
f:11:2: name: must be a string, not the number 4; write it in quotes: "4"
f:12:1: bad: unknown field; one of "name", "colour", "weight", "ripe", "tags", "seeds", "pack", "size"
f:14:7: bad YAML: did not find expected node content; check indentation and quotes
f:16:7: name: must be a string, not the number 5; write it in quotes: "5"`
	)
	for _, n := range []int{1, 2, 3, 100} {
		var sink diag.Sink
		for _, chunk := range strict.Chunks([]byte(text), n) {
			for doc := range strict.Documents("f", chunk, strict.DefaultLimits, &sink) {
				var f fruit
				strict.Decode(doc.Root(), &f)
			}
		}
		if got := sink.Err().Error(); got != want {
			t.Errorf("%d chunks: got\n%s\nwant\n%s", n, got, want)
		}
	}
}
