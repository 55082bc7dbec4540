package diag

import (
	"go/token"
	"testing"
)

func TestSorted(t *testing.T) {
	at := func(file string, line, column int) token.Position {
		return token.Position{Filename: file, Line: line, Column: column}
	}
	var l List
	l.Add(Diagnostic{Pos: at("b.go", 1, 1), Path: "T.F", What: "wrong", Hint: "do right"})
	l.Add(Diagnostic{Pos: at("a.go", 10, 1), What: "late"})
	l.Add(Diagnostic{Pos: at("a.go", 9, 2), What: "first at its position"})
	l.Add(Diagnostic{Pos: at("a.go", 9, 2), What: "second at its position"})
	l.Add(Diagnostic{What: "nowhere"})
	l.Add(Diagnostic{What: "nowhere"})

	if l.Len() != 6 {
		t.Errorf("Len is %d, want 6, including repeated errors", l.Len())
	}
	want := []string{
		"nowhere",
		"a.go:9:2: first at its position",
		"a.go:10:1: late",
		"b.go:1:1: T.F: wrong; do right",
	}
	sorted := l.Sorted()
	if len(sorted) != len(want) {
		t.Fatalf("got %v, want %v", sorted, want)
	}
	for i, d := range sorted {
		if d.String() != want[i] {
			t.Errorf("%d: got %q, want %q", i, d, want[i])
		}
	}
}
