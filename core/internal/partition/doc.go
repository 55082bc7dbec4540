// Package partition divides all clients that could exist into sets of clients with the
// same content. It works on keys, values, predicates, items and contents; it does not
// depend on policies. Callers use it to make `from` rules (SPEC 5) and variants of
// resources (SPEC 9).
//
// A client is a map from key to value: it has at most one value for a key. For each
// key it has one of the values that some predicate mentions, another value, or none.
// The results are exact for all such clients, not only for the clients that a mesh
// has now. Items are predicates in order; a later item has higher priority. The
// caller's [Algebra] defines what an item contributes.
//
// The pipeline of [Build]:
//
//  1. Keys and values are numbered in the order in which they appear from the
//     highest priority down (domain.go).
//  2. Each item becomes a decision diagram: a node tests one key and has an edge
//     for each mentioned value, one for other values and one for clients
//     without the key; equal nodes are one node (diagram.go, boolean.go).
//     Consecutive items about one key become a single diagram (selection.go).
//  3. The items are added, from the highest priority down, to one diagram whose
//     terminals are contents (partition.go). If an item adds nothing, the diagram
//     does not change.
//
// The results:
//
//   - [Partition.Evaluate]: the content of one client, by a walk through the diagram.
//   - [Partition.Disjoint]: disjoint rules from the paths of the diagram
//     (disjoint.go), joined if possible (join.go). Exactly one rule selects a
//     client.
//   - [Regions]: for each content the set of clients that have it (region.go),
//     with a canonical predicate (canonical.go).
//
// Other results need no partition. [Ordered] searches over the items for rules; the
// first rule that selects a client applies (search.go, shadow.go). [Canonicalize] and
// [Equivalent] work on sets of clients (set.go), and [NewChoice] chooses among disjoint
// sets (choice.go).
//
// Invariants:
//
//   - A diagram is reduced and ordered, so within a call two diagrams have
//     equal results if and only if they are the same pointer. With keys ordered by
//     name, this makes the canonical form of a [Clients] a function of its clients.
//   - All results are immutable and safe for concurrent use. No input is changed or
//     retained.
//   - The same input gives the same bytes; the order of the members of AND and OR,
//     and the order of maps, make no difference.
//   - Cost and memory are bounded by [Limits] on every path; a call that would
//     exceed them returns a [*LimitError] and no partial result.
package partition
