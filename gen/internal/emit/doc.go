// Package emit prints the IR of a package as Go, in these steps:
//
//  1. for each root type its methods and its merger;
//  2. the states that the mergers are made of, one for each struct, list and
//     map that merges;
//  3. equal, hash and clone of every type that the roots are made of;
//  4. what those need and does not depend on a type.
//
// Each step asks for what the next ones have to print, and each thing is
// printed once. Types from which nothing is asked are not printed.
//
// A state is a generated type that holds what merging one struct, list or map
// has come to. All states have the same methods, of which only those are
// printed that something asks for:
//
//	fill     sets what a lower value sets and nothing before it did
//	top      the highest item that set a leaf, + 1; 0 while there is none
//	origins  appends the items that set leaves
//	leaves   yields the leaves
//
// Invariants: the order of the output is that of the first use, walking the
// roots in the order of the source, and never that of a map. Expressions are
// passed as Go text (a.Http, v[i]); statements and declarations are jennifer's.
package emit
