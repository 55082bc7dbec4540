// Package regex translates the regular expressions of policies, in the RE2
// syntax that package regexp reads, to expressions with the same meaning in
// Envoy (SPEC 7.2).
//
// A tree of package regexp/syntax keeps counts until it is simplified, but contains
// \pL as hundreds of ranges of characters. This package makes a smaller tree from
// it:
//
//  1. [Parse] scans an expression for parts that package regexp parses slowly, and
//     limits them (limits.go).
//  2. It accepts the same expressions as regexp.Compile, and reduces each class
//     to bytes.
//  3. [Expr.Whole], [Expr.Target] and [Expr.Runs] return the expressions to
//     compare with a whole text, with a path and its query, and with each run
//     of the comma-separated elements of a header's value.
//  4. [Check] bounds the program of each of them, with counts expanded, before
//     anything is compiled.
//
// Parsing takes the time of package regexp: 10 µs for an ordinary path, and 20 µs for each
// \pL. Each character of a range with (?i) takes 40 ns, so all letters take 5 ms.
// [MaxUnicodeClasses] and [MaxFolded] bound this time. All other time and memory is
// proportional to the length of the expression, unless the expression asserts an end of
// text elsewhere than at its ends. In that case it is n log n in the size of the expanded
// program, which Check bounds.
//
// Like in Envoy, texts are compared byte by byte. A non-ASCII character is the
// sequence of its UTF-8 bytes. A dot matches each of these bytes, and so does a
// class that contains all non-ASCII characters, such as [^/]. A class that contains
// at most 16 non-ASCII characters matches the bytes of each; a class that contains
// more, but not all, matches none of them. With (?i), k and s have a third,
// non-ASCII case. Alternatives that are single characters or classes are merged into
// one class.
package regex
