// Package automaton computes what the RE2 syntax has no words for: the texts that an
// expression does not match, and what it matches after a prefix.
//
//  1. [New] compiles expressions to a deterministic automaton, and joins its states that
//     accept the same texts.
//  2. [Automaton.Complement] returns the automaton of all other texts.
//  3. [Automaton.Expression] makes an expression of it (expression.go).
//
// The last two may take exponential space, and return [ErrTooLarge] past a limit. [After]
// works on the tree of an expression instead (after.go), which [Print] makes a text again.
package automaton
