package regex

import (
	"errors"
	"regexp"
	"regexp/syntax"
)

// ErrTooLarge indicates that the program of an expression is so large that
// Envoy refuses it, or that it takes megabytes in Go.
var ErrTooLarge = errors.New("the expression is too large when its counts are expanded")

// MaxProgram is the maximum number of instructions of an expression with its
// counts expanded, alone and in each of its translations. Envoy's RE2 refuses
// more than about 87,000 ("pattern too large"); package regexp takes 40 bytes
// and about 300 ns for each.
const MaxProgram = 10_000

// maxCopied is the maximum number of instructions in counted repetitions of a
// part that asserts an end of text. Such repetitions are written out, which
// takes 600 ns and 180 bytes for each instruction.
const maxCopied = 200

// Check returns [ErrTooLarge] for an expression that exceeds [MaxProgram], and the
// errors of [Parse].
func Check(expression string) error {
	e, err := Parse(expression)
	var bad *syntax.Error
	switch {
	case errors.As(err, &bad) && bad.Code == syntax.ErrLarge:
		return ErrTooLarge
	case err != nil:
		return err
	}
	if e.size > MaxProgram || copied(e) > maxCopied || e.target().size > MaxProgram || e.runs().size > MaxProgram {
		return ErrTooLarge
	}
	return nil
}

// copied returns the size of the counted repetitions of parts that assert an
// end of text.
func copied(e *Expr) int {
	if !e.assertsBegin && !e.assertsEnd {
		return 0
	}
	if e.op == opRepeat && max(e.min, e.max) > 1 {
		return e.size
	}
	size := 0
	for _, sub := range e.subs {
		size += copied(sub)
	}
	return size
}

// Whole returns the expression to compare with a whole text.
func (e *Expr) Whole() string { return e.String() }

// Target returns the expression to compare with a path and its query. It
// matches if and only if e matches the path alone. A path has no question mark.
//
// It is not enough to append the query: in /a.b the dot would match the
// question mark of /a?b, and the $ of ^/a$ would require the end of the query.
// So the question mark is removed from every part that consumes a byte, and the
// ends of text are resolved.
func (e *Expr) Target() string { return group(e.target()) + anyQuery }

// anyQuery matches a query with its question mark, or the empty text. A query
// may have bytes that are not valid UTF-8, which \C matches and a dot does not.
const anyQuery = `(?:\?\C*)?`

func (e *Expr) target() *Expr {
	var question set
	question.add('?')
	return withoutEnd(without(e, question))
}

// Runs returns the expression to compare with a header's value. It matches if
// and only if e matches any trimmed run of the value's comma-separated elements
// (SPEC 7.2). AnyBytes is the syntax for any number of bytes: \C* in Envoy.
func (e *Expr) Runs(anyBytes string) string {
	return "(?:" + anyBytes + `,)?[\t ]*` + group(e.runs()) + `[\t ]*(?:,` + anyBytes + ")?"
}

func (e *Expr) runs() *Expr {
	var blank set
	blank.add(' ')
	blank.add('\t')
	e = notEndingIn(withoutEnd(e), blank)
	if !e.assertsBegin && !e.first.intersects(blank) {
		return e
	}
	return reversed(notEndingIn(withoutEnd(reversed(e)), blank))
}

// without returns the matches of an expression that contain no byte of a set.
func without(e *Expr, s set) *Expr {
	return rewrite(e, func(leaf *Expr) *Expr {
		if leaf.op != opSet || !leaf.set.intersects(s) {
			return leaf
		}
		return ofSet(leaf.set.without(s))
	})
}

// rewrite returns the expression with each leaf replaced by the result of a
// function.
func rewrite(e *Expr, leaf func(*Expr) *Expr) *Expr {
	if len(e.subs) == 0 {
		return leaf(e)
	}
	return e.withSubs(func(sub *Expr) *Expr { return rewrite(sub, leaf) })
}

func group(e *Expr) string {
	if e.op == opEmpty {
		return ""
	}
	return "(?:" + e.String() + ")"
}

// Matcher compares whole texts with an expression, byte by byte like Envoy.
type Matcher struct{ compiled *regexp.Regexp }

// Matcher compiles [Expr.Whole].
func (e *Expr) Matcher() Matcher { return compile(e.BytewiseWhole()) }

// RunsMatcher compiles [Expr.Runs].
func (e *Expr) RunsMatcher() Matcher { return compile(e.BytewiseRuns()) }

// BytewiseWhole returns [Expr.Whole] for texts with a character for each byte.
func (e *Expr) BytewiseWhole() string { return group(bytewise(e)) }

// BytewiseTarget returns [Expr.Target] for texts with a character for each byte.
func (e *Expr) BytewiseTarget() string { return group(bytewise(e).target()) + `(?:\?(?s:.)*)?` }

// BytewiseRuns returns [Expr.Runs] for texts with a character for each byte.
func (e *Expr) BytewiseRuns() string { return bytewise(e).Runs(`(?s:.)*`) }

func compile(expression string) Matcher {
	return Matcher{regexp.MustCompile(`\A` + expression + `\z`)}
}

// bytewise returns an expression for texts with a character for each byte.
func bytewise(e *Expr) *Expr {
	return rewrite(e, func(leaf *Expr) *Expr {
		if leaf.op != opLiteral {
			return leaf
		}
		return ofLiteral(OneRuneEach(leaf.literal))
	})
}

// MatchString reports whether the expression matches the whole text.
func (m Matcher) MatchString(text string) bool {
	if !ASCII(text) {
		text = OneRuneEach(text)
	}
	return m.compiled.MatchString(text)
}

// ASCII reports whether a text has only ASCII bytes.
func ASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= asciiEnd {
			return false
		}
	}
	return true
}

// OneRuneEach returns a text with a character for each byte of the text.
func OneRuneEach(text string) string {
	out := make([]rune, len(text))
	for i := range len(text) {
		out[i] = rune(text[i])
	}
	return string(out)
}
