// Package inspect renders what a view knows as answers for people and
// programs: the JSON of SPEC 10, which the command line and the Inspect API
// print alike.
//
// An answer is made in two steps: the view evaluates (packages match and
// rules), and this package names things: KRIs, levels, inbounds, JSON
// pointers. It decides nothing.
//
// Invariants: an answer depends on the resources alone, never on the order in
// which they were given; lists that have an order keep it, all others are
// sorted; an absent part is left out and an empty list in a conf is printed.
package inspect
