// Package inspect answers the questions of the command line and the HTTP API
// from a view, in the JSON of SPEC 10.
//
//  1. The view has the effective configuration of each dataplane
//     ([core.View.Configs]): policies are selected, ordered and merged.
//  2. This package answers a question about a dataplane ([NewDataplane]), a policy
//     ([NewPolicy]), the effect of a policy on a dataplane ([NewPolicyEffect]), a
//     request ([NewConf], [NewAccess]), input without effect ([NewCheck]), or the
//     difference of two views ([NewDiff]).
//  3. It identifies resources by KRI, by name, and by file and line, and fields
//     by JSON pointers.
//
// `check` examines each distinct config once, with and without the policies that
// only inform. It does not report an item or entry that has an effect in either.
//
// `diff` flattens both views to leaves, by place and field, and groups the
// dataplanes whose leaves differ in the same way. Rules and permission entries
// are identified by their matches, so an additional one is one change. The
// clients of `from` are divided by the selectors of both views.
//
// The error for an unknown name or a contradictory question is a [QueryError]. It
// names fields of the question ([Field]); the command line and the HTTP API
// translate them to their own spelling.
//
// Invariants:
//
//   - An answer depends on the resources alone. It does not depend on their
//     order or, without Options.Source, on the files from which they were read.
//   - Lists that have an order keep it; all other lists are sorted. An absent
//     part is omitted; an empty list of a conf is printed.
//   - An answer is bounded ([Options].MaxRules). A part that exceeds a limit is omitted
//     with an error; the rest of the answer is complete (SPEC 5.5).
package inspect
