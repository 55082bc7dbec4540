// Package blocks computes effective confs for many dataplanes at once, and
// again after each change. Results that are equal are one pointer, for all
// dataplanes of a mesh: a block.
//
// The pipeline, for one policy kind and the dataplanes of one class, which the
// same policies select:
//
//  1. [Table.ClassConfig] evaluates what does not depend on outbounds: the
//     rules and `from` items of each inbound (inbound.go, SPEC 7.1), and the one
//     conf of a kind without arrays (default.go, SPEC 4.4).
//  2. [Table.OutboundEvaluator] indexes the concatenated `to` items by what they
//     select (to_index.go, SPEC 4.1).
//  3. [OutboundEvaluator.Config] adds, for dataplanes that also have the same
//     outbounds, the conf of each outbound and route (outbound_merger.go, SPEC
//     4.2, 4.3). An outbound that many dataplanes have is evaluated once; items
//     that are always overridden are skipped; after a policy was replaced, only
//     the outbounds that it selects are evaluated.
//
// What one class of dataplanes has can be used for another one that the same
// policies select ([Table.Hold], [Table.HoldOutbounds]), or all but some of them
// ([Table.Without]).
//
// [Evaluate] does all three for one dataplane that shares with no other.
//
// Invariants:
//
//   - A block is immutable. It is in its [Table] as long as a [ClassConfig] or a
//     config of an [OutboundEvaluator] that is held refers to it; views keep blocks without
//     being counted. [Table.Audit] checks the counts.
//   - The result depends on the given policies alone, not on what was evaluated
//     before.
package blocks
