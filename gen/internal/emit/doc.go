// Package emit prints the IR of a package as Go, in these steps:
//
//  1. for each root type its methods and its merger;
//  2. the states inside the mergers, one for each struct that merges;
//  3. equal, hash and clone of the types inside the roots.
//
// Each step requests the declarations that it uses from the next ones, and each
// declaration is printed once. What does not depend on a type is in package merge,
// which also describes states: its states of pointers, lists and maps contain those
// of structs.
//
// Invariants: declarations are printed in the order of their first use, starting at the
// roots in the order of the source; no output depends on the order of a map. Expressions
// are passed as Go text (a.Http, v[i]); statements and declarations are jennifer's.
package emit
