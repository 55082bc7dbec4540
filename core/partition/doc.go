// Package partition splits all clients that could exist into those that get
// the same content. It knows keys, values, predicates, items and contents, and
// nothing of policies; `from` rules (SPEC 5), condition trees (SPEC 7.7) and
// resource variants (SPEC 9) are all made with it.
//
// A client is a map from key to value: at most one value for a key. For each
// key it has one of the values that some predicate mentions, another value, or
// none; the results are exact for all of these, not only for the clients of
// today's mesh. Items are predicates in order, a later one has the higher
// priority, and what an item contributes is known only to the caller's
// [Algebra].
//
// The pipeline of [Build]:
//
//  1. Keys and values are numbered in the order in which they appear from the
//     highest priority down (domain.go).
//  2. Each item becomes a decision diagram: a node asks for one key and has an
//     edge for each mentioned value, one for other values and one for clients
//     without the key; equal nodes are one node (diagram.go, boolean.go).
//     Consecutive items about one key become a single diagram (selection.go).
//  3. From the highest priority down the items are added to one diagram whose
//     terminals are contents (partition.go). Where an item adds nothing, the
//     diagram does not change and nothing below is looked at.
//
// What comes out of it:
//
//   - [Partition.Evaluate]: the content of one client, by a walk.
//   - [Partition.Disjoint]: rules of which exactly one selects a client, read
//     off the paths (disjoint.go) and joined (join.go).
//   - [Partition.Regions]: for each content the set of clients that have it
//     (region.go), with a canonical predicate (canonical.go).
//
// Three things need no partition: [Ordered], rules of which the first that
// selects a client counts, by a search over the items (search.go, shadow.go);
// [BuildTree], conditions that are tested in a given order (tree.go); and the
// questions about predicates [Canonicalize], [Equivalent], [FindOverlap] and
// [FindUncovered] (set.go).
//
// Invariants:
//
//   - A diagram is reduced and ordered, so within a call two diagrams decide
//     the same if and only if they are one pointer. With keys ordered by name
//     this makes the canonical form of a [Set] a function of its clients.
//   - All results are immutable and safe for concurrent use. Nothing of the
//     input is changed or kept.
//   - Same input, same bytes; the order of the members of AND and OR and the
//     order of maps have no influence.
//   - Cost and memory are bounded by [Limits] on every path; a call that would
//     pass them fails with a [*LimitError] and has no partial result.
package partition
