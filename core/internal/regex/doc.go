// Package regex translates regular expressions of policies, in the RE2 syntax
// that package regexp reads, to expressions that mean the same in Envoy (SPEC
// 7.2).
//
// A tree of package regexp/syntax keeps counts until it is simplified, but holds
// \pL as hundreds of ranges of characters. This package makes a smaller tree of it:
//
//  1. [Parse] scans an expression for what package regexp takes long to parse, and
//     refuses more of it than a limit (limits.go).
//  2. It reads what regexp.Compile accepts, and reduces each class to bytes.
//  3. [Expr.Whole], [Expr.Target] and [Expr.Runs] return the expressions to
//     compare with a whole text, with a path and its query, and with each run
//     of the comma-separated elements of a header's value.
//  4. [Check] bounds the program that each of them becomes, with counts
//     expanded, before anything is compiled.
//
// To parse costs what package regexp takes for it: 10 µs for an ordinary path, 20 µs
// for each \pL, and 40 ns for each character of a range under (?i), such as 5 ms for
// all letters. [MaxUnicodeClasses] and [MaxFolded] bound this. The time and the
// memory of all else are proportional to the length of the expression, except for an
// expression that asserts an end of text elsewhere than at its ends. Then they are n log n
// in the size of the expanded program, which Check bounds.
//
// Texts are compared byte by byte, as Envoy does: a character beyond ASCII is
// the bytes of its UTF-8 form, each of which a dot matches, and a class that
// contains all of these characters, such as [^/]. A class that contains at most 16
// of them matches the bytes of each; one that contains more, but not all, matches
// none of them. Under (?i) k and s have a third case beyond ASCII. Single characters
// and classes that are alternatives are one class.
package regex
