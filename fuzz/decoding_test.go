package fuzz

import (
	"errors"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf/kinds"
	"github.com/meshmatch/meshmatch/core/strict"
)

func TestDecodingOfHostileFiles(t *testing.T) {
	tests := []struct{ name, data string }{
		{"nothing", ""},
		{"no text", "\x00\xff\xfe"},
		{"an anchor that contains itself", "a: &a [*a]"},
		{"aliases that grow", "a: &a [x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\nd: [*c, *c, *c, *c]"},
		{"deep nesting", strings.Repeat("[", 40_000)},
		{"deep nesting of JSON", strings.Repeat(`{"a":`, 20_000)},
		{"too much", strings.Repeat(" ", decodingLimits.Bytes+1)},
		{"many documents", strings.Repeat("---\na: 1\n", 5_000)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := checkDecoding(kinds.All(), []byte(test.data)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestErrorsHavePlaces(t *testing.T) {
	place := strict.Position{File: decodedFile, Line: 1, Column: 1}
	later := strict.Position{File: decodedFile, Line: 2, Column: 1}
	tests := []struct {
		name string
		err  error
		fine bool
	}{
		{"in order", strict.Errors{{Pos: place, What: "a"}, {Pos: later, What: "b"}}, true},
		{"another error", errors.New("x"), false},
		{"none", strict.Errors{}, false},
		{"without a line", strict.Errors{{Pos: strict.Position{File: decodedFile}, What: "a"}}, false},
		{"of another file", strict.Errors{{Pos: strict.Position{File: "x", Line: 1, Column: 1}, What: "a"}}, false},
		{"without a text", strict.Errors{{Pos: place}}, false},
		{"out of order", strict.Errors{{Pos: later, What: "b"}, {Pos: place, What: "a"}}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := checkErrors(test.err, false); (err == nil) != test.fine {
				t.Errorf("got %v", err)
			}
		})
	}
}
