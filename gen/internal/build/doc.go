// Package build makes the IR of a loaded package:
//
//  1. values: the structure of each type, for equal, hash and clone;
//  2. structs: from each root down, the rule by which each field merges;
//  3. checks of the whole package: tags that no rule has read, builtins that the
//     package hides, always replacing scalars in a struct that is always present.
//
// Invariants: one type is one *ir.Value and one *ir.Struct; building continues after
// an error, so that all errors of a run are reported together; the IR of a package
// with errors is not used.
package build
