package automaton

import (
	"fmt"
	"regexp/syntax"
	"strings"
)

// Print returns the text of an expression. The function part may return another text
// for a part of it.
func Print(tree *syntax.Regexp, part func(*syntax.Regexp) (text string, ok bool)) string {
	if text, ok := part(tree); ok {
		return text
	}
	var parts []string
	for _, s := range tree.Sub {
		parts = append(parts, `(?:`+Print(s, part)+`)`)
	}
	switch tree.Op {
	case syntax.OpCapture:
		return parts[0]
	case syntax.OpStar:
		return parts[0] + `*`
	case syntax.OpPlus:
		return parts[0] + `+`
	case syntax.OpQuest:
		return parts[0] + `?`
	case syntax.OpRepeat:
		if tree.Max < 0 {
			return fmt.Sprintf(`%s{%d,}`, parts[0], tree.Min)
		}
		return fmt.Sprintf(`%s{%d,%d}`, parts[0], tree.Min, tree.Max)
	case syntax.OpConcat:
		return strings.Join(parts, ``)
	case syntax.OpAlternate:
		return strings.Join(parts, `|`)
	}
	return tree.String()
}
