package automaton

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
)

// check compares an automaton, its complement and the expressions of both with package
// regexp.
func check(t *testing.T, expression string, texts []string) {
	t.Helper()
	a, err := New(expression)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	want := regexp.MustCompile(expression)
	forms := []struct {
		name string
		of   *Automaton
		want func(string) bool
	}{
		{"itself", a, want.MatchString},
		{"complement", a.Complement(), func(s string) bool { return !want.MatchString(s) }},
	}
	for _, form := range forms {
		text, err := form.of.Expression()
		if errors.Is(err, ErrTooLarge) {
			continue
		}
		if err != nil {
			t.Fatalf("%s of %s: %v", form.name, expression, err)
		}
		got, err := regexp.Compile(text)
		if err != nil {
			t.Fatalf("%s of %s is %s: %v", form.name, expression, text, err)
		}
		for _, s := range texts {
			if got.MatchString(s) != form.want(s) {
				t.Errorf("%s of %s is %s: it is wrong for %q", form.name, expression, text, s)
			}
		}
	}
}

func TestExpressions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var texts []string
	for range 400 {
		var b strings.Builder
		for range r.IntN(9) {
			b.WriteByte("aabbc._\n"[r.IntN(8)])
		}
		texts = append(texts, b.String())
	}
	for _, e := range []string{
		``, `a`, `^a`, `a$`, `^$`, `^ab$`, `[^a]`, `^[a-b]+$`, `^a.*b`, `(?i)^AB`, `a|b|c`, `a{2,3}`, `\.`, `^(?:ab|a.b)*$`, `$a`, `b^`, `[^\x00-\x{10FFFF}]`, `(?s)a.b`,
	} {
		check(t, e, texts)
	}
	for range 300 {
		check(t, random(r, 3), texts)
	}
}

// After a prefix, the tree of After matches the rest of each whole match.
func TestAfter(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		expression := randomOf(r, 3, []string{`a`, `b`, `_`, `.`, `[ab]`, `[^a]`, `(?i)A`, `^`, `$`, `ab_`, `(b)`, ``})
		tree, err := syntax.Parse(expression, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		whole := regexp.MustCompile(`^(?:` + expression + `)$`)
		for _, prefix := range []string{"", "a", "ab", "ab_"} {
			after := regexp.MustCompile(`^(?:` + Print(After(tree, prefix), func(*syntax.Regexp) (string, bool) { return "", false }) + `)$`)
			for range 20 {
				text := "ab_c"[:r.IntN(5)] + "a_b"[r.IntN(4):]
				if got, want := after.MatchString(text), whole.MatchString(prefix+text); got != want {
					t.Fatalf("%s after %q is %s: %v for %q", expression, prefix, After(tree, prefix), got, text)
				}
			}
		}
	}
}

func random(r *rand.Rand, depth int) string {
	return randomOf(r, depth, []string{`a`, `b`, `c`, `\.`, `_`, `.`, `[ab]`, `[^a]`, `^`, `$`, ``})
}

func randomOf(r *rand.Rand, depth int, atoms []string) string {
	if depth == 0 {
		return atoms[r.IntN(len(atoms))]
	}
	x, y := randomOf(r, depth-1, atoms), randomOf(r, depth-1, atoms)
	switch r.IntN(6) {
	case 0:
		return x + `|` + y
	case 1:
		return `(?:` + x + `)*`
	case 2:
		return `(?:` + x + `)?` + y
	case 3:
		return `(?:` + x + `){1,2}`
	}
	return `(?:` + x + `)(?:` + y + `)`
}

// Exponential growth is an error, not endless work.
func TestLimits(t *testing.T) {
	if _, err := New(`a[ab]{20}$`); !errors.Is(err, ErrTooLarge) {
		t.Errorf("an automaton with 2^20 states: %v", err)
	}
	a, err := New(`a[ab]{8}$`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Complement().Expression(); !errors.Is(err, ErrTooLarge) {
		t.Errorf("an expression of 2^9 states: %v", err)
	}
	for _, e := range []string{`\ba`, `(?m)^a`, `(?m)a$`} {
		if _, err := New(e); !errors.Is(err, ErrAssertion) {
			t.Errorf("%s: %v", e, err)
		}
	}
}
