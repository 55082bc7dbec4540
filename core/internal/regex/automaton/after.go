package automaton

import (
	"regexp/syntax"
	"slices"
)

// After returns the expression of the texts that may follow a prefix in a whole match
// (Brzozowski's derivative).
func After(tree *syntax.Regexp, prefix string) *syntax.Regexp {
	for i, r := range prefix {
		if tree = derivative(tree, r); i == 0 {
			tree = withoutBegin(tree)
		}
	}
	return tree
}

// withoutBegin returns the expression with every assertion of the beginning of a text
// false.
func withoutBegin(tree *syntax.Regexp) *syntax.Regexp {
	if tree.Op == syntax.OpBeginText || tree.Op == syntax.OpBeginLine {
		return nothing()
	}
	if len(tree.Sub) == 0 {
		return tree
	}
	without := *tree
	without.Sub = nil
	for _, s := range tree.Sub {
		without.Sub = append(without.Sub, withoutBegin(s))
	}
	return &without
}

func nothing() *syntax.Regexp { return &syntax.Regexp{Op: syntax.OpNoMatch} }

// derivative returns the expression of the texts that may follow a rune.
func derivative(tree *syntax.Regexp, r rune) *syntax.Regexp {
	empty := &syntax.Regexp{Op: syntax.OpEmptyMatch}
	switch tree.Op {
	case syntax.OpLiteral:
		if first := (syntax.Inst{Rune: tree.Rune[:1], Arg: uint32(tree.Flags)}); !first.MatchRune(r) {
			return nothing()
		}
		if len(tree.Rune) == 1 {
			return empty
		}
		return &syntax.Regexp{Op: syntax.OpLiteral, Flags: tree.Flags, Rune: tree.Rune[1:]}
	case syntax.OpCharClass:
		if class := (syntax.Inst{Rune: tree.Rune}); class.MatchRune(r) {
			return empty
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL: // prefixes have no line breaks
		return empty
	case syntax.OpCapture, syntax.OpQuest:
		return derivative(tree.Sub[0], r)
	case syntax.OpStar, syntax.OpPlus:
		return concat(derivative(tree.Sub[0], r), &syntax.Regexp{Op: syntax.OpStar, Sub: tree.Sub})
	case syntax.OpRepeat:
		if tree.Max == 0 {
			return nothing()
		}
		rest := &syntax.Regexp{Op: syntax.OpRepeat, Sub: tree.Sub, Min: max(tree.Min-1, 0), Max: tree.Max}
		if tree.Max > 0 {
			rest.Max--
		}
		return concat(derivative(tree.Sub[0], r), rest)
	case syntax.OpAlternate:
		var list []*syntax.Regexp
		for _, s := range tree.Sub {
			list = append(list, derivative(s, r))
		}
		return alternate(list)
	case syntax.OpConcat:
		var list []*syntax.Regexp
		for i, s := range tree.Sub {
			list = append(list, concat(append([]*syntax.Regexp{derivative(s, r)}, tree.Sub[i+1:]...)...))
			if !nullable(s) {
				break
			}
		}
		return alternate(list)
	}
	return nothing()
}

// nullable reports whether an expression matches the empty text before another rune.
func nullable(tree *syntax.Regexp) bool {
	switch tree.Op {
	case syntax.OpEmptyMatch, syntax.OpStar, syntax.OpQuest, syntax.OpBeginText, syntax.OpBeginLine:
		return true
	case syntax.OpCapture, syntax.OpPlus:
		return nullable(tree.Sub[0])
	case syntax.OpRepeat:
		return tree.Min == 0 || nullable(tree.Sub[0])
	case syntax.OpConcat:
		return !slices.ContainsFunc(tree.Sub, func(s *syntax.Regexp) bool { return !nullable(s) })
	case syntax.OpAlternate:
		return slices.ContainsFunc(tree.Sub, nullable)
	}
	return false
}

func concat(list ...*syntax.Regexp) *syntax.Regexp {
	if list[0].Op == syntax.OpNoMatch {
		return list[0]
	}
	if list[0].Op == syntax.OpEmptyMatch && len(list) > 1 {
		list = list[1:]
	}
	if len(list) == 1 {
		return list[0]
	}
	return &syntax.Regexp{Op: syntax.OpConcat, Sub: list}
}

// alternate returns the alternation of a list, which it changes.
func alternate(list []*syntax.Regexp) *syntax.Regexp {
	some := slices.DeleteFunc(list, func(s *syntax.Regexp) bool { return s.Op == syntax.OpNoMatch })
	switch len(some) {
	case 0:
		return nothing()
	case 1:
		return some[0]
	}
	return &syntax.Regexp{Op: syntax.OpAlternate, Sub: some}
}
