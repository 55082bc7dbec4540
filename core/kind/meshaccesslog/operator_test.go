package meshaccesslog

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// The pieces of a format are those that one expression finds, which takes quadratic time.
func TestPieces(t *testing.T) {
	operator := regexp.MustCompile(`^%([A-Z0-9_]+)(?:\((.*?)\))?(?::([0-9]+))?%`)
	random := rand.New(rand.NewPCG(48, 11))
	parts := []string{"%", "%%", "REQ", "(", ")", ":", "12", "\n", "x", "%A(", ")%", "):3%", "%A%", "%A:4%", "()"}
	operators := 0
	for range 50_000 {
		var format strings.Builder
		for range random.IntN(12) {
			format.WriteString(parts[random.IntN(len(parts))])
		}
		rest := format.String()
		for p := range pieces(format.String()) {
			match := operator.FindStringSubmatch(rest)
			want := piece{written: "%"}
			switch {
			case rest[0] != '%':
				text, _, _ := strings.Cut(rest, "%")
				want.written = text
			case strings.HasPrefix(rest, "%%"):
				want.written = "%%"
			case match != nil:
				want = piece{match[0], match[1], match[2], match[3]}
				operators++
			}
			if p != want {
				t.Fatalf("%q: %+v, want %+v at %q", format.String(), p, want, rest)
			}
			rest = rest[len(p.written):]
		}
		if rest != "" {
			t.Fatalf("%q: %q is left", format.String(), rest)
		}
	}
	if operators < 1000 {
		t.Errorf("only %d operators", operators)
	}
}

// Formats of 1 MB take no time. With time that grows by the square it is minutes.
func TestLongFormats(t *testing.T) {
	for _, part := range []string{"%REQ(X)% ", "%A(", "%A(:1", "%A()", "%", "%A(\n"} {
		n := 0
		for range pieces(strings.Repeat(part, 1_000_000/len(part))) {
			n++
		}
		if n == 0 {
			t.Error(part)
		}
	}
}
