// Package load reads the packages for which code is generated, in three steps:
//
//  1. find the packages and their directories;
//  2. type-check them and their imports from source, without function bodies and
//     as if no generated file existed (only its package clause is read), so that
//     code which uses generated names need not compile yet;
//  3. find the types with a directive, and the names in use.
//
// Invariants: the output never depends on files that were generated before. A type
// error is reported only if it concerns a type that is used, because code that
// uses generated names does not type-check yet.
package load
