// Package load reads the packages that the generator works on, in three steps:
//
//  1. find the packages and where they lie;
//  2. type-check them and what they import from source, without function
//     bodies, and as if no generated file existed (every generated file is
//     read as its package clause), so that nothing needs to compile that is
//     about to be generated;
//  3. find the types with a directive, and the names that are taken.
//
// Invariants: what is generated never depends on what was generated before. A
// type error is reported only where it concerns a type that is used, because
// code that waits for generated names can not type-check yet.
package load
