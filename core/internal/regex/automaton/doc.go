// Package automaton computes expressions that the RE2 syntax cannot write directly:
// for the texts that an expression does not match, and for the rest of a match after
// a prefix.
//
//  1. [New] compiles expressions to a deterministic automaton, and merges states that
//     accept the same texts.
//  2. [Automaton.Complement] returns the automaton of all other texts.
//  3. [Automaton.Expression] converts an automaton to an expression
//     (expression.go).
//
// New and Expression may need exponential space, and return [ErrTooLarge] past a limit.
// [After] works on the tree of an expression instead (after.go); [Print] converts the tree
// to a text.
package automaton
