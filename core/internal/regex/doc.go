// Package regex translates regular expressions of policies, in the RE2 syntax
// that package regexp reads, to expressions that mean the same in Envoy (SPEC
// 7.2).
//
// Package regexp/syntax could print a rewritten expression too, but it writes
// each class out in full and expands counts, so that \pL{1000} takes megabytes.
// This package reads an expression to a tree that keeps counts and reduces a
// class to its ASCII characters:
//
//  1. [Parse] reads an expression. It accepts what regexp.Compile accepts.
//  2. [Expr.Whole], [Expr.Target] and [Expr.Runs] return the expressions to
//     compare with a whole text, with a path and its query, and with each run
//     of the comma-separated elements of a header's value.
//  3. [Check] bounds the program that each of them becomes, with counts
//     expanded, before anything is compiled.
//
// The time and the memory that a translation takes are proportional to the
// length of the expression, except for an expression that asserts an end of
// text elsewhere than at its ends. Then they are n log n in the size of the
// expanded program, which Check bounds.
//
// Texts are compared byte by byte, as Envoy does: a character beyond ASCII is
// the bytes of its UTF-8 form, each of which a dot matches. A class that names
// some of the characters beyond ASCII matches none of them.
package regex
