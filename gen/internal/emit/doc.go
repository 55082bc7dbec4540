// Package emit prints the IR of a package as Go, in these steps:
//
//  1. for each root type its methods and its merger;
//  2. the states inside the mergers, one for each struct, list and map that merges;
//  3. equal, hash and clone of the types inside the roots;
//  4. support functions that do not depend on a type.
//
// Each step requests the declarations that it uses from the next ones, and each
// declaration is printed once.
//
// A state is a generated type that contains the progress of merging one struct, list
// or map. All states have the same methods, but only those in use are printed:
//
//	fill     sets the leaves of a lower value that no previous value has set
//	top      returns 1 + the highest item that set a leaf, or 0 if there is none
//	origins  appends the items that set leaves
//	leaves   yields the leaves
//
// Invariants: declarations are printed in the order of their first use, starting at the
// roots in the order of the source; no output depends on the order of a map. Expressions
// are passed as Go text (a.Http, v[i]); statements and declarations are jennifer's.
package emit
