package xds

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// portableRegex returns an expression that Envoy accepts and that means the
// same there for texts of ASCII. RE2 can read expressions and texts as UTF-8 or
// as bytes, and Envoys differ: 1.40.0 refuses a listener with \x{100} in it, and
// takes a dot for one byte of ä. What is beyond ASCII in a text is therefore
// matched as far as that goes only; paths have none.
func portableRegex(expression string) string {
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil || !mentionsBeyondASCII(tree) {
		return expression // as it was written
	}
	return portable(tree).String()
}

// mentionsBeyondASCII reports whether the expression tells characters beyond
// ASCII apart.
func mentionsBeyondASCII(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return slices.ContainsFunc(re.Rune, func(r rune) bool { return r >= utf8.RuneSelf })
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if last := re.Rune[i+1]; last >= utf8.RuneSelf && !(last == unicode.MaxRune && re.Rune[i] < utf8.RuneSelf) {
				return true
			}
		}
	}
	return slices.ContainsFunc(re.Sub, mentionsBeyondASCII)
}

// portable rewrites what is printed differently for UTF-8 and for bytes.
func portable(re *syntax.Regexp) *syntax.Regexp {
	switch re.Op {
	case syntax.OpNoMatch:
		// Printed it would be the complement of all of Unicode.
		return &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{
			{Op: syntax.OpLiteral, Rune: []rune{'x'}}, {Op: syntax.OpBeginText},
		}}
	case syntax.OpLiteral:
		if len(re.Rune) == 1 && re.Rune[0] >= utf8.RuneSelf {
			// Printed in a group, so that a repetition takes all of its bytes.
			return &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{re, empty()}}
		}
	case syntax.OpCharClass:
		return portableClass(re.Rune)
	}
	return withSubs(re, portable)
}

// portableClass keeps of a class what is ASCII, and all the rest if it has all
// of the rest: then it is printed as the complement of something in ASCII. For
// that it must have the zero byte, which is in no header.
func portableClass(ranges []rune) *syntax.Regexp {
	out := &syntax.Regexp{Op: syntax.OpCharClass}
	for i := 0; i < len(ranges); i += 2 {
		first, last := ranges[i], ranges[i+1]
		switch {
		case first <= utf8.RuneSelf && last == unicode.MaxRune:
			out.Rune = append(out.Rune, first, last)
			if out.Rune[0] == 1 {
				out.Rune[0] = 0
			} else if out.Rune[0] != 0 {
				out.Rune = append([]rune{0, 0}, out.Rune...)
			}
		case first < utf8.RuneSelf:
			out.Rune = append(out.Rune, first, min(last, utf8.RuneSelf-1))
		}
	}
	switch {
	case len(out.Rune) == 0:
		return portable(never())
	case len(out.Rune) == 2 && out.Rune[0] == 0 && out.Rune[1] == unicode.MaxRune:
		return &syntax.Regexp{Op: syntax.OpAnyChar}
	}
	return out
}

// withSubs returns the expression with its parts rewritten.
func withSubs(re *syntax.Regexp, rewrite func(*syntax.Regexp) *syntax.Regexp) *syntax.Regexp {
	if len(re.Sub) == 0 {
		return re
	}
	out := *re
	out.Sub = make([]*syntax.Regexp, len(re.Sub))
	for i, sub := range re.Sub {
		out.Sub[i] = rewrite(sub)
	}
	return &out
}

func never() *syntax.Regexp { return &syntax.Regexp{Op: syntax.OpNoMatch} }
func empty() *syntax.Regexp { return &syntax.Regexp{Op: syntax.OpEmptyMatch} }

func concat(a, b *syntax.Regexp) *syntax.Regexp {
	switch {
	case a.Op == syntax.OpNoMatch || b.Op == syntax.OpNoMatch:
		return never()
	case a.Op == syntax.OpEmptyMatch:
		return b
	case b.Op == syntax.OpEmptyMatch:
		return a
	}
	return &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{a, b}}
}

func alternate(a, b *syntax.Regexp) *syntax.Regexp {
	switch {
	case a.Op == syntax.OpNoMatch:
		return b
	case b.Op == syntax.OpNoMatch:
		return a
	}
	return &syntax.Regexp{Op: syntax.OpAlternate, Sub: []*syntax.Regexp{a, b}}
}

// repeat returns ?, * or + of an expression.
func repeat(op syntax.Op, sub *syntax.Regexp) *syntax.Regexp {
	switch {
	case sub.Op == syntax.OpEmptyMatch:
		return sub
	case sub.Op == syntax.OpNoMatch && op == syntax.OpPlus:
		return sub
	case sub.Op == syntax.OpNoMatch:
		return empty()
	}
	return &syntax.Regexp{Op: op, Sub: []*syntax.Regexp{sub}}
}
