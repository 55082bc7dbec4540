// Package constraint reads and writes the messages of dynamic parameter constraints
// (xRFC TP2, SPEC 9.1) as predicates. It depends on no policy, so that a relay can use it.
package constraint
