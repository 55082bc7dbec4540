package strict

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Offsets in any order have the line and the column that counting from the beginning gives.
func TestLocate(t *testing.T) {
	const part = "aä€😀bcdefghijklm\n\r\nn\ro" // characters of one to four bytes, and all line breaks
	data := []byte(strings.Repeat(part, 3*markEvery/len(part)))
	text := &flatText{content: content{data: data, lines: &lines{first: 5}}}
	var starts []int
	want := map[int]mark{}
	at := mark{5, 1}
	for i := 0; i < len(data); {
		starts, want[i] = append(starts, i), at
		_, size := utf8.DecodeRune(data[i:])
		if i += size; data[i-1] == '\n' || data[i-1] == '\r' && (i == len(data) || data[i] != '\n') {
			at = mark{at.line + 1, 1}
		} else {
			at.column++
		}
	}
	for step := 1; step < len(starts); step = 3*step + 1 {
		for n := range len(starts) {
			offset := starts[n*step%len(starts)]
			if data[offset] == '\n' && offset > 0 && data[offset-1] == '\r' {
				continue // within a line break
			}
			if got := text.locate(offset); got != want[offset] {
				t.Fatalf("offset %d is at %v, want %v", offset, got, want[offset])
			}
		}
	}
}
