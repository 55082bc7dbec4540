package xds

import (
	"math/rand/v2"
	"testing"
	"unicode/utf8"
)

func TestPortableRegexPrinted(t *testing.T) {
	for _, test := range []struct{ name, expression, want string }{
		{"as it was written", `^/v[0-9]+/(?:a|b).*[^x]$`, `^/v[0-9]+/(?:a|b).*[^x]$`},
		{"a class of Unicode", `\pL+`, `[A-Za-z]+`},
		{"a complement in Unicode", `\PL+`, "[\\x00-@\\[-`\\{-\\x7f]+"},
		{"a complement of a character beyond ASCII", `[^\x00ä]`, `[\x01-\x7f]`},
		{"a character that is repeated", `ä*b`, `(?:ä(?:))*b`},
		{"a character that bytes do not have", `(\x{100})+b`, `(Ā(?:))+b`},
		{"everything but the zero byte", `ä[^\x00]`, `(?s:ä(?:).)`},
		{"nothing left of a class", `[\x{100}\x{102}]b`, `x\Ab`},
		{"letters that fold beyond ASCII", `(?i)[k]`, `[Kk]`},
	} {
		if got := portableRegex(test.expression); got != test.want {
			t.Errorf("%s: %s is printed %s, want %s", test.name, test.expression, got, test.want)
		}
	}
}

// A portable expression decides as the original on ASCII, and names nothing
// beyond it but literals.
func TestPortableRegexAgreesOnASCII(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	expressions := 2000
	if testing.Short() {
		expressions = 300
	}
	for range expressions {
		expression := randomRegex(r, 2) + []string{"", "ä", "ä*", `\pL*`, `\PL?`, "[^ä]*", `\x{4e00}?`, `[\x{100}-\x{200}a]`}[r.IntN(8)]
		printed := portableRegex(expression)
		if !utf8.ValidString(printed) {
			t.Fatalf("%q printed %q", expression, printed)
		}
		want, got := goRegex(t, expression), goRegex(t, printed)
		for range 20 {
			text := randomText(r, "abA/-\n")
			if want.MatchString(text) != got.MatchString(text) {
				t.Fatalf("%q printed %q: they differ on %q", expression, printed, text)
			}
		}
	}
}
