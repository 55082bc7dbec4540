// Package inspect answers questions of the command line and the HTTP API about one
// dataplane, policy or request, in the JSON of SPEC 10.
//
//  1. The view has the effective configuration of each dataplane
//     ([core.View.Configs]): policies are selected, ordered and merged.
//  2. Package find finds the resources and parts that a question names.
//  3. This package answers a question about a dataplane ([NewDataplane],
//     [NewProxyRules]), a policy ([NewPolicy]), the conf at one place ([NewConf]) or a
//     request ([NewAccess]), or lists resources ([NewResources]).
//  4. It identifies resources by KRI, by name, and by file and line, and fields by JSON
//     pointers.
//
// The packages below this one answer questions about more than one dataplane, or about
// causes. They use its types, and do not depend on each other:
//
//   - check: what has no effect, or an unexpected one
//   - diff: what changes from one view to another
//   - why: what one policy sets for a dataplane, and why not more
//   - traffic: which clients may send which requests, AccessTests and access logs
//   - placement: where policies are enforced, and plans to enforce them in waves
//
// Invariants of all answers:
//
//   - An answer depends on the resources alone. It does not depend on their
//     order or, without Options.Source, on the files from which they were read.
//   - Lists that have an order keep it; all other lists are sorted. An absent
//     part is omitted; an empty list of a conf is printed.
//   - An answer is bounded ([Options].MaxRules). A part that exceeds a limit is omitted
//     with an error; the rest of the answer is complete (SPEC 5.5).
package inspect
