package rbac

import (
	"regexp/syntax"
	"strings"
	"testing"
	"unicode/utf8"
)

// A byte that is part of no character, as a character for Go's expressions, and what \C matches.
const (
	strayByte = 0xf0000
	anyByte   = 0xf1000
)

// byCharacters returns an expression and a text for Go, which compares them as RE2 does in its
// mode UTF-8: a byte that is part of no character matches \C, and neither a dot nor a class.
func byCharacters(t testing.TB, expression, value string) (string, string) {
	t.Helper()
	tree, err := syntax.Parse(strings.ReplaceAll(expression, `\C`, string(rune(anyByte))), syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	excludeStray(tree)
	var b strings.Builder
	for len(value) > 0 {
		r, size := utf8.DecodeRuneInString(value)
		if r == utf8.RuneError && size == 1 {
			r = strayByte + rune(value[0])
		}
		b.WriteRune(r)
		value = value[size:]
	}
	return strings.ReplaceAll(tree.String(), `\x{f1000}`, `(?s:.)`), b.String()
}

// excludeStray excludes stray bytes from all dots and classes.
func excludeStray(e *syntax.Regexp) {
	switch e.Op {
	case syntax.OpAnyChar:
		e.Op, e.Rune = syntax.OpCharClass, []rune{0, utf8.MaxRune}
	case syntax.OpAnyCharNotNL:
		e.Op, e.Rune = syntax.OpCharClass, []rune{0, '\n' - 1, '\n' + 1, utf8.MaxRune}
	}
	if e.Op == syntax.OpCharClass {
		var ranges []rune
		for i := 0; i < len(e.Rune); i += 2 {
			low, high := e.Rune[i], e.Rune[i+1]
			if low <= min(high, strayByte-1) {
				ranges = append(ranges, low, min(high, strayByte-1))
			}
			if max(low, strayByte+256) <= high {
				ranges = append(ranges, max(low, strayByte+256), high)
			}
		}
		e.Rune = ranges
	}
	for _, sub := range e.Sub {
		excludeStray(sub)
	}
}

func TestByCharacters(t *testing.T) {
	in := &interpreter{t: t, characters: true}
	for _, test := range []struct {
		expression, value string
		matches           bool
	}{
		{`evil.*`, "evil", true},
		{`evil.*`, "evil\xff", false},
		{`evil\C*`, "evil\xff", true},
		{`.`, "ä", true},
		{`\C*[^\x00-\x7f]\C*`, "\xff", false},
		{`[\x00-\x7f]*`, "\xff", false},
		{`[^a]`, "\xff", false},
		{`[^a]b|c`, "äb", true},
	} {
		if got := in.matches(test.expression, test.value); got != test.matches {
			t.Errorf("%s matches %q: %v", test.expression, test.value, got)
		}
	}
}
