package xds

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// goRegex reads an expression of ours with Go's package, which has no \C.
func goRegex(t testing.TB, expression string) *regexp.Regexp {
	t.Helper()
	re, err := regexp.Compile(`\A(?:` + strings.ReplaceAll(expression, `\C`, `(?s:.)`) + `)\z`)
	if err != nil {
		t.Fatal(err)
	}
	return re
}

func TestPathRegexPrinted(t *testing.T) {
	for _, test := range []struct{ expression, want string }{
		{"/a", "(?:/a)" + anyQuery},
		{"^/v[0-9]+$", `(?:\A/v[0-9]+)` + anyQuery},
		{`/.*\.bak`, `(?:/[^\n\?]*\.bak)` + anyQuery},
		{`/a\?b`, `(?:x\A)` + anyQuery},
		{`/[^\x00a]`, `(?:/[^\?a])` + anyQuery},
		{`/\pL`, `(?:/[A-Za-z])` + anyQuery},
	} {
		if got := pathRegex(test.expression); got != test.want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", test.expression, got, test.want)
		}
	}
}

// The expression for path and query decides as the one for the path does, for
// random expressions of everything that can look at the end of the path or take
// its question mark.
func TestPathRegexAgreesOnTargets(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	matched, expressions := 0, 1500
	if testing.Short() {
		expressions = 200
	}
	for range expressions {
		expression := randomRegex(r, 3)
		path := goRegex(t, expression)
		printed := pathRegex(expression)
		target := goRegex(t, printed)
		for range 20 {
			p := "/" + randomText(r, "ab-\n")
			for _, query := range []string{"", "?", "?" + randomText(r, "ab/?-\n")} {
				want := path.MatchString(p)
				if got := target.MatchString(p + query); got != want {
					t.Fatalf("%q printed %q: %q is %v, its path alone is %v", expression, printed, p+query, got, want)
				}
				if want {
					matched++
				}
			}
		}
	}
	if matched < expressions/3 {
		t.Errorf("only %d matches of %d expressions: they test nothing", matched, expressions)
	}
}

// Ends of text in many places take about as much as the expression: what is
// written for n of them grows like n log n, not like its square.
func TestPathRegexOfManyEnds(t *testing.T) {
	once, twice := pathRegex("/(?:a$|b?){500}"), pathRegex("/(?:a$|b?){1000}")
	if len(twice) > 3*len(once) {
		t.Errorf("500 ends take %d bytes, 1000 take %d", len(once), len(twice))
	}
	target := goRegex(t, pathRegex("/(?:a$|b?){100}"))
	for path, want := range map[string]bool{"/bba": true, "/a?q": true, "/ba?a": true, "/bab": false, "/aa?q": false, "/bb?": true} {
		if got := target.MatchString(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func randomRegex(r *rand.Rand, depth int) string {
	atoms := []string{"a", "b", "-", "/", "/a", ".", "[^a]", "[a-z?]", `\?`, "$", `\z`, "(?m:$)", "^", "(?m:^)", `\b`, `\B`, "(?s:.)", "", "(?i:A)", `\W`, `\n`}
	if depth == 0 {
		return atoms[r.IntN(len(atoms))]
	}
	sub := func() string { return randomRegex(r, depth-1) }
	switch r.IntN(7) {
	case 0:
		return "(?:" + sub() + "|" + sub() + ")"
	case 1:
		return "(" + sub() + ")" + []string{"*", "+", "?", "{2}", "{0,2}", "*?"}[r.IntN(6)]
	case 2, 3, 4:
		return sub() + sub()
	case 5:
		return "/" + sub()
	}
	return sub()
}

func randomText(r *rand.Rand, letters string) string {
	var b strings.Builder
	for range r.IntN(4) {
		b.WriteByte(letters[r.IntN(len(letters))])
	}
	return b.String()
}
