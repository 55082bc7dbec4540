package language

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/regex"
)

// Expressions over a, b, slashes, commas, spaces and a non-ASCII byte.
var expressions = []string{
	`a*`, `(a|b)+`, `.*`, `[^a]*`, `a?b`, `\bab\b.*`, `(?m:^a$)`, `a{2,3}`, `(?:a,)*b`, `é.*`, `[^/]+`, `/a/.*`, `.*/b`, `\Ba*`, `$^`,
	`(?i)A+`, ` a`, `a .*`, `a|`, `(ab)*`,
}

// texts returns all texts of the given letters up to a length.
func texts(letters []string, longest int) []string {
	out, last := []string{""}, []string{""}
	for range longest {
		var next []string
		for _, text := range last {
			for _, letter := range letters {
				next = append(next, text+letter)
			}
		}
		out, last = append(out, next...), next
	}
	return out
}

func TestLanguageIsWhatTheMatcherMatches(t *testing.T) {
	for _, expression := range expressions {
		e := regex.MustParse(expression)
		whole, matcher := Whole(e), e.Matcher()
		runs, denial, runsMatcher := Runs(e), Denial(e), e.RunsMatcher()
		for _, text := range texts([]string{"a", "b", "/", ",", " ", "\n", "é"}, 4) {
			if got, want := Contains(whole, text), matcher.MatchString(text); got != want {
				t.Errorf("%s contains %q: %v, want %v", expression, text, got, want)
			}
			if got, want := Contains(runs, text), runsMatcher.MatchString(text); got != want {
				t.Errorf("a run of %s contains %q: %v, want %v", expression, text, got, want)
			}
			if got, want := Contains(denial, text), runsMatcher.MatchString(text) || !regex.ASCII(text); got != want {
				t.Errorf("a denial by %s contains %q: %v, want %v", expression, text, got, want)
			}
		}
	}
}

func TestTrieDividesByConditions(t *testing.T) {
	all := texts([]string{"a", "b", "/"}, 5)
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var conditions []TextCondition
		for range random.IntN(6) {
			conditions = append(conditions, TextCondition{How(random.IntN(3)), strings.TrimSuffix(all[random.IntN(120)], "/")})
		}
		met := func(text string) string {
			var out []bool
			for _, c := range conditions {
				out = append(out, c.Holds(text))
			}
			return fmt.Sprint(out)
		}
		trie := NewTrie(conditions)
		for range 5 {
			like := all[random.IntN(len(all))]
			class := trie.Like(like)
			for _, text := range all {
				if got, want := Contains(class, text), met(text) == met(like); got != want {
					t.Fatalf("%v: %q is like %q: %v, want %v", conditions, text, like, got, want)
				}
			}
		}
	}
}

// The test finds a shortest text of up to four letters by trying all texts.
func TestShortest(t *testing.T) {
	all := texts([]string{"a", "b", "/", ",", " ", "é", "c", "\n", "A"}, 4)
	random := rand.New(rand.NewPCG(3, 4))
	found := 0
	for range 400 {
		var in, out []Language
		var names []string
		for range 1 + random.IntN(4) {
			expression := expressions[random.IntN(len(expressions))]
			l := Whole(regex.MustParse(expression))
			if random.IntN(2) == 0 {
				l = []Language{Runs(regex.MustParse(expression)), Denial(regex.MustParse(expression))}[random.IntN(2)]
			}
			if random.IntN(2) == 0 {
				in, names = append(in, l), append(names, expression)
			} else {
				out, names = append(out, l), append(names, "not "+expression)
			}
		}
		meets := func(text string) bool {
			return !slices.ContainsFunc(in, func(l Language) bool { return !Contains(l, text) }) &&
				!slices.ContainsFunc(out, func(l Language) bool { return Contains(l, text) })
		}
		steps := 10_000_000
		text, ok, err := Shortest(in, out, &steps)
		switch i := slices.IndexFunc(all, meets); {
		case err != nil:
			t.Fatalf("%q: %v", names, err)
		case ok && !meets(text):
			t.Errorf("%q: found %q, which does not meet them", names, text)
		case i >= 0 && (!ok || len(text) > len(all[i])):
			t.Errorf("%q: found %q %v, want a text as short as %q", names, text, ok, all[i])
		case ok:
			found++
		}
	}
	if found < 100 {
		t.Errorf("only %d of 400 searches had a result", found)
	}
}

func TestShortestHasALimit(t *testing.T) {
	var out []Language
	for i := range 12 {
		out = append(out, Whole(regex.MustParse(fmt.Sprintf(`(?:.{%d})*a.*`, i+5))))
	}
	steps := 500
	if _, _, err := Shortest([]Language{Values(`[ab]{60}`)}, out, &steps); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v, want %v", err, ErrTooLarge)
	}
}
