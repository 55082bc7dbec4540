// Package inspect makes the answers of the command line, for people and
// programs, from a view: the JSON of SPEC 10.
//
//  1. The view has the effective configuration of each dataplane
//     ([core.View.Configs]): policies are selected, ordered and merged.
//  2. This package answers a question about it: a dataplane ([NewDataplane]), a
//     policy ([NewPolicy]), what it does there ([NewPolicyEffect]), one request
//     ([NewConf], [NewAccess]), what has no effect ([NewCheck]), the difference of two
//     views ([NewDiff]).
//  3. It identifies things for readers: by KRI, by name, by file and line, and
//     fields by JSON pointers.
//
// `check` examines each distinct config once, with and without the policies that
// only inform. An item or entry that has an effect in either is no finding.
//
// `diff` flattens both views to leaves, by place and field, and groups the
// dataplanes whose leaves differ in the same way. The place of a rule is its
// match, and that of a permission entry what it matches, so that one more of them
// is one change. The clients of `from` are divided by the selectors of both
// views.
//
// A name that is not found, and a question that contradicts itself, is a
// [QueryError], which names fields of the question ([Field]): how the reader gives
// them is known to the command line and the HTTP API.
//
// Invariants:
//
//   - An answer depends on the resources alone, not on their order, nor, without
//     Options.Source, on where they were read from.
//   - Lists that have an order keep it, all others are sorted. An absent part is
//     left out; an empty list of a conf is printed.
//   - An answer is bounded ([Options].MaxRules). What passes a limit is left out with an
//     error; the rest of the answer is complete (SPEC 5.5).
package inspect
