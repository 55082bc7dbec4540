package load

import (
	"go/token"
	"testing"
)

func TestPosition(t *testing.T) {
	tests := []struct {
		name, in string
		want     token.Position
	}{
		{"file, line and column", "a/b.go:12:3", token.Position{Filename: "a/b.go", Line: 12, Column: 3}},
		{"file and line", "a/b.go:12", token.Position{Filename: "a/b.go", Line: 12}},
		{"a drive", `C:\b.go:1:2`, token.Position{Filename: `C:\b.go`, Line: 1, Column: 2}},
		{"a file only", "a/b.go", token.Position{Filename: "a/b.go"}},
		{"nowhere", "-", token.Position{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := position(test.in); got != test.want {
				t.Errorf("position(%q) = %+v, want %+v", test.in, got, test.want)
			}
		})
	}
}
