// Package naive is the reference: it computes the configuration of every dataplane by
// following core/SPEC.md sentence by sentence. It has no index, no cache and no
// generated code, and its cost does not matter. It shares only the decoded
// resources with the fast path, so a result on which both agree was computed
// in two independent ways.
//
// The pipeline:
//
//  1. The policies of the mesh that select the dataplane are found, with the
//     inbounds that each selects (SPEC 2.2), and ordered (SPEC 3).
//  2. For each outbound, route, inbound rule, client or `default`, the items
//     that select it are listed in that order (SPEC 4, 5.1, 7.1).
//  3. Each conf becomes a tree of nodes. A node has the merge rule of its Go
//     type and the item that set it; an unset field is nil. The trees are
//     folded from the lowest priority to the highest (SPEC 6), so the remaining
//     nodes have their origins.
//  4. The answers are JSON trees in the form of SPEC 10: map[string]any, []any,
//     string, bool, int and json.Number.
//
// Invariants: the input is not changed. The package imports only the resources and the
// shared field types. It uses their fields, not the decisions of their methods.
//
// The reference has no rule views (SPEC 4.5, 5.3): SPEC 4.2 and 5.1 define their
// meaning, and a [Concatenation] evaluates it for one outbound or client at a time.
// It does not decode the documents of meshes (SPEC 1) either; it does decode those of Open
// Cluster Management ([ReadHub]).
package naive
