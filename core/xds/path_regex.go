package xds

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"unicode"
)

// anyQuery matches a query and its question mark, or nothing. A query may
// have bytes that are no UTF-8, which \C matches and a dot does not.
const anyQuery = `(?:\?\C*)?`

// pathRegex returns an expression that matches a request's whole target, path
// and query, if and only if the expression matches its whole path. A path has
// no question mark and is not empty.
//
// It is not enough to append [anyQuery]: in /a.b the dot would take the
// question mark of /a?b, and the $ of ^/a$ would ask for the end of the query.
// So the question mark is taken out of everything that consumes a character,
// and the ends of text are resolved (pathEnd). Like regexp.MustCompile it
// panics on what is no expression; those of policies were compiled before.
func pathRegex(expression string) string {
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		panic(fmt.Sprintf("xds: path expression %q: %v", expression, err))
	}
	inside, atEnd := pathEnd(withoutQuestionMark(tree.Simplify()))
	return "(?:" + portable(alternate(inside, atEnd)).String() + ")" + anyQuery
}

// withoutQuestionMark returns the expression with what can not match a
// question mark in the place of what can.
func withoutQuestionMark(re *syntax.Regexp) *syntax.Regexp {
	switch re.Op {
	case syntax.OpLiteral:
		if slices.Contains(re.Rune, '?') {
			return never()
		}
		return re
	case syntax.OpCharClass:
		return class(re.Rune)
	case syntax.OpAnyChar:
		return class([]rune{0, unicode.MaxRune})
	case syntax.OpAnyCharNotNL:
		return class([]rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune})
	}
	return withSubs(re, withoutQuestionMark)
}

// class returns the class of the ranges, pairs of first and last, without the
// question mark.
func class(ranges []rune) *syntax.Regexp {
	out := &syntax.Regexp{Op: syntax.OpCharClass}
	for i := 0; i < len(ranges); i += 2 {
		first, last := ranges[i], ranges[i+1]
		if '?' < first || last < '?' {
			out.Rune = append(out.Rune, first, last)
			continue
		}
		if first < '?' {
			out.Rune = append(out.Rune, first, '?'-1)
		}
		if '?' < last {
			out.Rune = append(out.Rune, '?'+1, last)
		}
	}
	return out
}

// pathEnd splits an expression into the matches that do not assert an end of
// text and those that do. The latter stand at the end of the path, as nothing
// can be consumed behind it, and so the assertion itself can be left out there.
// Its argument is simplified: it has no counted repetitions.
func pathEnd(re *syntax.Regexp) (inside, atEnd *syntax.Regexp) {
	switch re.Op {
	case syntax.OpEndText:
		return never(), empty()
	case syntax.OpEndLine:
		return re, empty() // inside: before a line break
	case syntax.OpCapture:
		return pathEnd(re.Sub[0])
	case syntax.OpQuest:
		inside, atEnd = pathEnd(re.Sub[0])
		return repeat(syntax.OpQuest, inside), atEnd
	case syntax.OpStar:
		inside, atEnd = pathEnd(re.Sub[0])
		return repeat(syntax.OpStar, inside), concat(repeat(syntax.OpStar, inside), atEnd)
	case syntax.OpPlus:
		inside, atEnd = pathEnd(re.Sub[0])
		return repeat(syntax.OpPlus, inside), concat(repeat(syntax.OpStar, inside), atEnd)
	case syntax.OpAlternate:
		inside, atEnd = never(), never()
		for _, sub := range re.Sub {
			i, e := pathEnd(sub)
			inside, atEnd = alternate(inside, i), alternate(atEnd, e)
		}
		return inside, atEnd
	case syntax.OpConcat:
		// In halves, so that what is written for a thousand ends of text grows
		// with the thousand, not with its square.
		half := len(re.Sub) / 2
		if half == 0 {
			return pathEnd(re.Sub[0])
		}
		left, right := sequence(re.Sub[:half]), sequence(re.Sub[half:])
		leftInside, leftAtEnd := pathEnd(left)
		rightInside, rightAtEnd := pathEnd(right)
		return concat(leftInside, rightInside),
			alternate(concat(leftAtEnd, atPathEnd(right)), concat(leftInside, rightAtEnd))
	}
	return re, never()
}

func sequence(subs []*syntax.Regexp) *syntax.Regexp {
	return &syntax.Regexp{Op: syntax.OpConcat, Sub: subs}
}

// atPathEnd returns what is left of an expression at the end of a path, where
// it can not consume anything and every end of text is met. The other
// assertions stay: \b and \B see no difference between a question mark and the
// end of a text, and the rest look back.
func atPathEnd(re *syntax.Regexp) *syntax.Regexp {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpEndText, syntax.OpEndLine, syntax.OpQuest, syntax.OpStar:
		return empty()
	case syntax.OpBeginText, syntax.OpBeginLine, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return re
	case syntax.OpCapture, syntax.OpPlus:
		return atPathEnd(re.Sub[0])
	case syntax.OpConcat:
		all := empty()
		for _, sub := range re.Sub {
			all = concat(all, atPathEnd(sub))
		}
		return all
	case syntax.OpAlternate:
		one := never()
		for _, sub := range re.Sub {
			one = alternate(one, atPathEnd(sub))
		}
		return one
	}
	return never()
}
