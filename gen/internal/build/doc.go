// Package build makes the IR of a loaded package:
//
//  1. values: what each type is made of, for equal, hash and clone;
//  2. structs: from each root down, the rule by which each field merges;
//  3. checks that need the whole: tags that no rule has read, builtins that the
//     package hides, always replacing scalars in a struct that is always there.
//
// Invariants: one type is one *ir.Value and one *ir.Struct; an error does not
// stop the work, so that all errors of a run are reported together; the IR of
// a package with errors is not used.
package build
