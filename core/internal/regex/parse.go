package regex

import (
	"fmt"
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// Parse reads an expression. It accepts the same expressions as regexp.Compile, up to
// the limits of [ErrTooWide], which it checks first. The other errors are
// *[syntax.Error].
func Parse(expression string) (*Expr, error) {
	if err := checkWidth(expression); err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, err
	}
	return exprOf(tree), nil
}

// MustParse is Parse for an expression that passed validation. It panics on an
// error.
func MustParse(expression string) *Expr {
	e, err := Parse(expression)
	if err != nil {
		panic(fmt.Sprintf("regex: %q: %v", expression, err))
	}
	return e
}

// exprOf returns the expression of a tree. The tree must not be simplified, because
// Simplify expands counts.
func exprOf(tree *syntax.Regexp) *Expr {
	switch tree.Op {
	case syntax.OpNoMatch:
		return never
	case syntax.OpEmptyMatch:
		return empty
	case syntax.OpLiteral:
		all := make([]*Expr, len(tree.Rune))
		for i, c := range tree.Rune {
			all[i] = ofCharacter(c, tree.Flags&syntax.FoldCase != 0)
		}
		return concat(all...)
	case syntax.OpCharClass:
		return ofClass(tree.Rune)
	case syntax.OpAnyChar:
		return ofSet(set{}.negated())
	case syntax.OpAnyCharNotNL:
		return ofSet(newline.negated())
	case syntax.OpBeginText:
		return assertion(opBegin)
	case syntax.OpEndText:
		return assertion(opEnd)
	case syntax.OpBeginLine:
		return assertion(opLineBegin)
	case syntax.OpEndLine:
		return assertion(opLineEnd)
	case syntax.OpWordBoundary:
		return assertion(opWord)
	case syntax.OpNoWordBoundary:
		return assertion(opNotWord)
	case syntax.OpCapture:
		return exprOf(tree.Sub[0])
	case syntax.OpStar:
		return repeat(exprOf(tree.Sub[0]), 0, -1)
	case syntax.OpPlus:
		return repeat(exprOf(tree.Sub[0]), 1, -1)
	case syntax.OpQuest:
		return repeat(exprOf(tree.Sub[0]), 0, 1)
	case syntax.OpRepeat:
		return repeat(exprOf(tree.Sub[0]), tree.Min, tree.Max)
	case syntax.OpConcat:
		return concat(ofAll(tree.Sub)...)
	case syntax.OpAlternate:
		return alternate(ofAll(tree.Sub)...)
	}
	panic("regex: unknown operation " + tree.Op.String())
}

func ofAll(trees []*syntax.Regexp) []*Expr {
	all := make([]*Expr, len(trees))
	for i, tree := range trees {
		all[i] = exprOf(tree)
	}
	return all
}

// ofCharacter returns the expression of a character. If fold is set, it contains all
// cases of the character: k also has the cases K and the Kelvin sign.
func ofCharacter(c rune, fold bool) *Expr {
	ranges := []rune{c, c}
	for f := unicode.SimpleFold(c); fold && f != c; f = unicode.SimpleFold(f) {
		ranges = append(ranges, f, f)
	}
	return ofClass(ranges)
}

// maxListed is the maximum number of non-ASCII characters that a class may
// contain to match them.
const maxListed = 16

// ofClass returns the expression of the characters in some ranges, each given by its
// first and last character.
func ofClass(ranges []rune) *Expr {
	var ascii set
	var beyond []*Expr
	for i := 0; i < len(ranges); i += 2 {
		first, last := ranges[i], ranges[i+1]
		ascii.addRange(first, last)
		for c := max(first, asciiEnd); c <= last && len(beyond) <= maxListed; c++ {
			if utf8.ValidRune(c) {
				beyond = append(beyond, ofLiteral(string(c)))
			}
		}
	}
	if len(beyond) > maxListed {
		return ofSet(ascii)
	}
	return alternate(append([]*Expr{ofSet(ascii)}, beyond...)...)
}
