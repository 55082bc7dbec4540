// Package inspect renders what a view knows as answers for people and
// programs: the JSON of SPEC 10, which the command line prints.
//
// An answer is made in three steps:
//
//  1. The view evaluates: [core.View.Configs] selects, orders and merges.
//  2. This package puts the question: all of a dataplane ([NewDataplane]), all
//     dataplanes of a policy ([NewPolicy]), one request ([ForRequest],
//     [NewAccess]), what has no effect ([NewCheck]), or what two views say
//     otherwise ([NewDiff]).
//  3. It names things: KRIs, levels, inbounds, and fields by JSON pointers.
//
// `check` looks at each distinct config once, with and without the policies
// that only inform: an item or entry that sets or decides something in either
// is no warning.
//
// `diff` flattens both sides to leaves by place and field, and groups the
// dataplanes whose leaves differ alike. Rules are placed by their match and
// permission entries by what they match, so that one more is one change; `from`
// by the common refinement of both sides' selectors.
//
// Invariants: an answer depends on the resources alone, never on the order in
// which they were given; lists that have an order keep it, all others are
// sorted; an absent part is left out and an empty list in a conf is printed.
package inspect
