package regex

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// anyBytes is the equivalent of \C* in Go.
const anyBytes = `(?s:.)*`

// goRegex compiles an expression that was printed for Envoy. Go has no \C.
func goRegex(t testing.TB, expression string) *regexp.Regexp {
	t.Helper()
	if path, ok := strings.CutSuffix(expression, anyQuery); ok {
		expression = path + `(?:\?` + anyBytes + `)?`
	}
	re, err := regexp.Compile(`\A(?:` + expression + `)\z`)
	if err != nil {
		t.Fatalf("%q: %v", expression, err)
	}
	return re
}

func parsed(t testing.TB, expression string) *Expr {
	t.Helper()
	e, err := Parse(expression)
	if err != nil {
		t.Fatalf("%q: %v", expression, err)
	}
	return e
}

func TestPrinted(t *testing.T) {
	for _, test := range []struct{ name, expression, want string }{
		{"literals", `/a.b`, `/a.b`},
		{"counts stay", `\pL{1000}`, `[A-Za-z]{1000}`},
		{"a count without an end", `a{2,}b{0,3}?`, `a{2,}b{0,3}`},
		{"a brace that is no count", `a{,2}`, `a\{,2\}`},
		{"groups", `(?P<x>a*|b)+(?:c)`, `(?:a*|b)+c`},
		{"nested counts", `(?:a{2}){3}`, `(?:a{2}){3}`},
		{"letter case", `(?i)ab(?-i)c`, `[Aa][Bb]c`},
		{"letter case of a group", `(?i:b)b`, `[Bb]b`},
		{"letters with a third case", `(?i)ks`, "(?:[Kk]|\u212a)(?:[Ss]|\u017f)"},
		{"a Kelvin sign", `(?i)\x{212a}`, "[Kk]|\u212a"},
		{"letter case of a class", `(?i)[a-z]+`, "(?:[A-Za-z]|\u017f|\u212a)+"},
		{"a class of a few characters beyond ASCII", `[aäö]`, `a|ä|ö`},
		{"a class of many", `[a\x{100}-\x{110}]`, `a`},
		{"a common prefix", `/ab|/ac`, `/a[bc]`},
		{"a surrogate", `\x{d800}?a`, `a`},
		{"a complement", `[^/]+`, `[^/]+`},
		{"a complement in Unicode", `\PL`, "[\\x00-@\\[-`\\{-\\x7f]"},
		{"nothing left of a class", `[\x{100}-\x{110}]b`, `(?:x\A)`},
		{"everything", `(?s).`, `(?s:.)`},
		{"a character beyond ASCII that is repeated", `ä*b`, `(?:ä)*b`},
		{"anchors", `^a$`, `\Aa\z`},
		{"lines", `(?m)^a$`, `(?m:^)a(?m:$)`},
		{"escapes", `\x41\x{42}\103\n\.\Qa.b\E\d\s\w`, `ABC\x0a\.a\.b[0-9][\x09\x0a\x0c\x0d ][0-9A-Z_a-z]`},
		{"a class of its own characters", `[]\-a^]`, `[\-\]\^a]`},
		{"POSIX", `[[:digit:][:^alpha:]]`, `[^A-Za-z]`},
		{"names of groups", `\p{ASCII}\p{Greek}?\p{ lu }`, `[\x00-\x7f][A-Z]`},
		{"an empty alternative", `a|`, `a|`},
	} {
		if got := parsed(t, test.expression).String(); got != test.want {
			t.Errorf("%s: %s is printed %s, want %s", test.name, test.expression, got, test.want)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for _, expression := range []string{`(`, `a)`, `[a`, `(?x)`, `\x{110000}`, `\p{Nothing}`, `\`, strings.Repeat("(", 1001) + strings.Repeat(")", 1001)} {
		var bad *syntax.Error
		if _, err := Parse(expression); !errors.As(err, &bad) {
			t.Errorf("Parse of %.20q: %v", expression, err)
		}
		if err := Check(expression); !errors.As(err, &bad) {
			t.Errorf("Check of %.20q: %v", expression, err)
		}
	}
}

// Whole, Target and Runs agree with package regexp. The random expressions
// contain everything that can assert an end or consume a separator.
func TestTranslationsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	expressions := 3000
	if testing.Short() {
		expressions = 500
	}
	var matched [3]int
	for range expressions {
		expression := randomRegex(r, 3)
		want := goRegex(t, expression)
		e := parsed(t, expression)
		whole, target, runs, matcher := goRegex(t, e.Whole()), goRegex(t, e.Target()), goRegex(t, e.Runs(anyBytes)), e.Matcher()
		for range 20 {
			text := randomText(r, "abkS-/\n")
			agree := func(subject int, got, want bool, text, printed string) {
				if got != want {
					t.Fatalf("%q printed %q: %q is %v, want %v", expression, printed, text, got, want)
				}
				if want {
					matched[subject]++
				}
			}
			agree(0, whole.MatchString(text), want.MatchString(text), text, e.Whole())
			agree(0, matcher.MatchString(text), want.MatchString(text), text, "Matcher")
			path := "/" + text
			for _, query := range []string{"", "?", "?" + randomText(r, "ab/?-\n")} {
				agree(1, target.MatchString(path+query), want.MatchString(path), path+query, e.Target())
			}
			value := strings.Trim(randomText(r, "ab, -\t,")+randomText(r, "ab, -\t,"), " \t")
			agree(2, runs.MatchString(value), anyRun(want, value), value, e.Runs(anyBytes))
		}
	}
	for subject, n := range matched {
		if n < expressions/3 {
			t.Errorf("only %d matches of subject %d", n, subject)
		}
	}
}

// anyRun compares each trimmed run of the elements of a value.
func anyRun(re *regexp.Regexp, value string) bool {
	elements := strings.Split(value, ",")
	for i := range elements {
		for j := i + 1; j <= len(elements); j++ {
			if re.MatchString(strings.Trim(strings.Join(elements[i:j], ","), " \t")) {
				return true
			}
		}
	}
	return false
}

func TestBytewise(t *testing.T) {
	for _, test := range []struct {
		expression, text string
		want             bool
	}{
		{".", "ä", false}, {"..", "ä", true}, {".", "\xff", true},
		{"ä", "ä", true}, {"ä", "ö", false}, {"[^a]{2}", "ä", true}, {`\pL+`, "ä", false}, {`\PL`, "\xff", false},
	} {
		if got := parsed(t, test.expression).Matcher().MatchString(test.text); got != test.want {
			t.Errorf("%s and %q: %v", test.expression, test.text, got)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name, expression string
		want             error
	}{
		{"ordinary", `^/api/v[0-9]+/[^/]+/items/.*$`, nil},
		{"counted", `/u/.{1,255}`, nil},
		{"counted classes", `\pL{1000}`, nil},
		{"a thousand times ten", `(?:.{1000}){1}` + strings.Repeat(`.{999}`, 9), ErrTooLarge},
		{"empty matches that are counted", strings.Repeat(`((\$|a)?b*){999}`, 60), ErrTooLarge},
		{"a few ends", `(?:a$|b?){20}`, nil},
		{"many ends", `/(?:a$|b?){100}`, ErrTooLarge},
		{"blanks that are counted", strings.Repeat(` {0,99}`, 90), ErrTooLarge},
		{"as many classes of Unicode as are allowed", `[\pL\P{Greek}]\Q\pL\pL\E\\pL` + strings.Repeat(`\pN`, MaxUnicodeClasses-2), nil},
		{"one class of Unicode too many", `[\pL\P{Greek}]` + strings.Repeat(`\pN`, MaxUnicodeClasses-1), ErrTooWide},
		{"classes of Unicode in a class", "[" + strings.Repeat(`\pL`, 300) + "]", ErrTooWide},
		{"classes of Unicode after a bracket of a class", `[]]` + strings.Repeat(`\pL`, 300) + "]", ErrTooWide},
		{"a range of all letters", `[b-\x{1e942}]`, nil},
		{"a range of all characters in any letter case", `(?i)[\x00-\x{10ffff}]`, nil},
		{"a range of all letters in any letter case", `(?i)[b-\x{1e942}]`, ErrTooWide},
		{"in a group", `[b-𞥂](?s-m:a)(?mi:a)`, ErrTooWide},
		{"not in any letter case", `[b-𞥂](?s-i:a)(?P<i>a)`, nil},
		{"after characters that end nothing", `(?i)[^]\]\x5d[:alpha:]\d-b-\x{1e942}]`, ErrTooWide},
		{"octal", `(?i)[\101-\x{1e942}]`, ErrTooWide},
		{"from a control character", `(?i)[\a-\x{1e942}]`, ErrTooWide},
		{"many small ranges in any letter case", `(?i)` + strings.Repeat(`[a-z]`, 100), ErrTooWide},
		{"paths in any letter case", `(?i)` + strings.Repeat(`/[a-z0-9_.-]+`, 50), nil},
		{"too large for Go", strings.Repeat(`(a{1000})`, 5000), ErrTooLarge},
	} {
		if err := Check(test.expression); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
}

func randomRegex(r *rand.Rand, depth int) string {
	atoms := []string{
		"a", "b", "-", "/", "/a", ".", "[^a]", "[a-z?]", `\?`, "$", `\z`, "(?m:$)", "^", "(?m:^)", `\b`, `\B`, "(?s:.)", "", "(?i:A)", `\W`, `\n`,
		",", " ", "[, ]", " a", "b,", `\pL`, `\PL`, `(?i:[j-m])`, `(?i)S`, `\s`, "[[:alpha:]]", "[^-/]", `\x{17f}?`, "(?i:\u212a)",
	}
	if depth == 0 {
		return atoms[r.IntN(len(atoms))]
	}
	sub := func() string { return randomRegex(r, depth-1) }
	switch r.IntN(7) {
	case 0:
		return "(?:" + sub() + "|" + sub() + ")"
	case 1:
		return "(" + sub() + ")" + []string{"*", "+", "?", "{2}", "{0,2}", "{2,}", "*?"}[r.IntN(7)]
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

func BenchmarkTranslate(b *testing.B) {
	for name, expression := range map[string]string{
		"ordinary": `/api/v1/[^/]+/items/.*`, "classes": strings.Repeat(`\pL`, MaxUnicodeClasses), "counts": `\pL{1000}`, "folded": strings.Repeat(`(?i)[b-\x{7f}\x{100}-\x{18a}]`, 10),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if e := parsed(b, expression); len(e.Target())+len(e.Runs(anyBytes)) == 0 {
					b.Fatal("nothing printed")
				}
			}
		})
	}
}

// FuzzTranslate compares the translations of any expression that package regexp
// accepts with that package, for any ASCII text. If the expression contains no
// dot and no class that is compared byte by byte, it compares them for any text.
//
//fuzz:executions 180000
func FuzzTranslate(f *testing.F) {
	for _, expression := range []string{
		`^/v[0-9]+/(?:a|b).*[^x]$`, `(?i)\x{212a}[[:^upper:]]`, `\Qa.b\E*\p{Lu}{2,}?`, `(?P<n>a$|b?){3}`, `a{,2}[]a-]\101`, `ba\Q\E*`, `x(?i)*b`,
	} {
		f.Add(expression, "/v1/a, b")
	}
	for _, expression := range []string{
		`(?i)k`, `(?i)[k]`, `(?i)[j-m]`, `(?i)[*\x{212a}]`, `(?i:\x{212a})`, `(?i)s|[[:lower:]]`, `(?i)\x{17f}`, `(?i)[a-z]+`, `(?i)\w{2}`, `\x{17f}|k`, `[kK]`, `(?i)[äö]*`, `(?i)ä`,
	} {
		for _, text := range []string{"k", "K", "\u212a", "s", "S", "\u017f", "ä", "ÄÖ", "kS", "\u212as", "x"} {
			f.Add(expression, text)
		}
	}
	f.Fuzz(func(t *testing.T, expression, text string) {
		_, err := regexp.Compile(expression)
		want, groupErr := regexp.Compile(`\A(?:` + expression + `)\z`)
		if err != nil || groupErr != nil || len(expression) > 100 || len(text) > 30 || !utf8.ValidString(text) || !ASCII(text) && !byCharacter(t, expression) {
			return
		}
		if err := Check(expression); errors.Is(err, ErrTooLarge) || errors.Is(err, ErrTooWide) {
			return
		}
		e := parsed(t, expression)
		path, _, _ := strings.Cut(text, "?")
		value := strings.Trim(text, " \t\n\r\f\v")
		agree := func(got bool, printed, text string, want bool) {
			if got != want {
				t.Errorf("%q printed %q: %q is %v", expression, printed, text, got)
			}
		}
		agree(goRegex(t, e.Whole()).MatchString(text), e.Whole(), text, want.MatchString(text))
		agree(e.Matcher().MatchString(text), "Matcher", text, want.MatchString(text))
		if path != "" && !strings.Contains(text, "\n") {
			agree(goRegex(t, e.Target()).MatchString(text), e.Target(), text, want.MatchString(path))
		}
		if !strings.Contains(value, "\n") {
			agree(goRegex(t, e.Runs(anyBytes)).MatchString(value), e.Runs(anyBytes), value, anyRun(want, value))
			agree(e.RunsMatcher().MatchString(value), "RunsMatcher", value, anyRun(want, value))
		}
	})
}

// byCharacter reports whether a translation is also exact for non-ASCII texts: no part
// of the expression matches a single byte of a character, and no class is reduced to
// ASCII.
func byCharacter(t *testing.T, expression string) bool {
	t.Helper()
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	var exact func(tree *syntax.Regexp) bool
	exact = func(tree *syntax.Regexp) bool {
		beyond := 0
		if tree.Op == syntax.OpCharClass {
			for i := 0; i < len(tree.Rune); i += 2 {
				beyond += max(0, int(tree.Rune[i+1])-max(int(tree.Rune[i]), asciiEnd)+1)
			}
		}
		return beyond <= maxListed && tree.Op != syntax.OpAnyChar && tree.Op != syntax.OpAnyCharNotNL &&
			!slices.ContainsFunc(tree.Sub, func(sub *syntax.Regexp) bool { return !exact(sub) })
	}
	return exact(tree)
}
