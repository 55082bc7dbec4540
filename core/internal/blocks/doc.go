// Package blocks computes effective confs for many dataplanes at once, and
// again after each change. Equal results are one pointer for all dataplanes of
// a mesh. Such a shared result is called a block.
//
// The pipeline, for one policy kind and the dataplanes of one class, which the
// same policies select:
//
//  1. [Table.ClassConfig] evaluates what does not depend on outbounds: the
//     rules and `from` items of each inbound (inbound.go, SPEC 7.1), and the one
//     conf of a kind without arrays (default.go, SPEC 4.4).
//  2. [Table.OutboundEvaluator] indexes the concatenated `to` items by their
//     targets (to_index.go, SPEC 4.1).
//  3. [OutboundEvaluator.Config] adds, for dataplanes that also have the same
//     outbounds, the conf of each outbound and route (outbound_merger.go, SPEC
//     4.2, 4.3). An outbound that many dataplanes have is evaluated once; items
//     that are always overridden are skipped; after a policy was replaced, only
//     the outbounds that it selects are evaluated.
//
// A class can share the results of another class that the same policies select. If some of
// these policies do not select it, [Table.Without] removes them.
//
// [Table.Evaluate] takes all three steps for one dataplane, which need not exist.
//
// Invariants:
//
//   - A block is immutable. It stays in its [Table] as long as anything refers to it, such as
//     a view or a snapshot.
//   - The result depends on the given policies alone, not on what was evaluated
//     before.
package blocks
