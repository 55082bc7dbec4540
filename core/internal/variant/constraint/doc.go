// Package constraint reads and writes the messages of dynamic parameter constraints
// (xRFC TP2, SPEC 9.1) as predicates. It depends on no policy, so that a relay can use it.
//
// [Read] makes a [partition.Predicate] of a message, and [Write] makes a message of a predicate.
// A [Budget] counts nodes and levels for Read, and for readers of documents.
//
// Invariants:
//
//   - A message over a limit is refused before its further members are read.
//   - Read accepts what Write returns, within the limits. The predicate accepts the same parameters.
//   - A message is neither changed nor kept.
package constraint
