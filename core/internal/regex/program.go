package regex

import (
	"regexp/syntax"
	"slices"
)

// Compile returns the program of an expression in the syntax of package regexp.
func Compile(expression string) (*syntax.Prog, error) {
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, err
	}
	return syntax.Compile(tree.Simplify())
}

// Asserts reports whether a program has an assertion about lines or words.
func Asserts(program *syntax.Prog) bool {
	return slices.ContainsFunc(program.Inst, func(inst syntax.Inst) bool {
		return inst.Op == syntax.InstEmptyWidth && syntax.EmptyOp(inst.Arg)&^(syntax.EmptyBeginText|syntax.EmptyEndText) != 0
	})
}

// Closure follows the instructions of a program that read no character, as far as their
// assertions hold. The result is sorted. It has the instructions that read a character, those
// that match, and the assertions, because one that does not hold here may hold at the end.
func Closure(program *syntax.Prog, from []uint32, holds syntax.EmptyOp) []uint32 {
	var set []uint32
	seen := map[uint32]bool{}
	for todo := slices.Clone(from); len(todo) > 0; {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		switch inst := &program.Inst[pc]; inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			todo = append(todo, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			todo = append(todo, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^holds == 0 {
				todo = append(todo, inst.Out)
			}
			set = append(set, pc)
		case syntax.InstFail:
		default:
			set = append(set, pc)
		}
	}
	slices.Sort(set)
	return set
}
