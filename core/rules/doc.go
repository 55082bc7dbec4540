// Package rules turns the ordered policies that select a dataplane into its
// effective confs: what each outbound, each route, each inbound gets, and
// which item of which policy set it.
//
// The pipeline, for one policy kind and one dataplane:
//
//  1. The caller selects and orders the policies (package match); later ones
//     override.
//  2. Their arrays are concatenated: policy order, then item order (SPEC 4.1).
//  3. For each outbound or route the items that select it are found
//     (filler.go, SPEC 4.2, 4.3); for each inbound rules with equal matches
//     are joined, split into single matches and sorted (inbound.go, SPEC
//     7.1); a kind without arrays has the one conf of all its policies
//     (default.go, SPEC 4.4).
//  4. Their Confs are folded by generated code, highest priority first, until
//     nothing is unset ([Merge], SPEC 6), which gives an [Effective]: the
//     Conf, its origins, and on demand the origin of every field.
//
// This is done for many dataplanes at once, and again after each change, with
// [Blocks]: a [Part] is evaluated for dataplanes that the same policies select,
// an [OutboundPart] for their outbounds, and what comes out equal is one pointer
// everywhere. It looks
//
//   - at one outbound of many dataplanes once;
//   - at the few items for every outbound that are not always overridden
//     (filler.go), unless an item that sets nothing can hide others;
//   - after a policy was replaced, at the outbounds that it reaches.
//
// [Evaluate] is the same for one dataplane that shares with nobody.
//
// Invariants: nothing here changes a policy; an Effective is immutable and
// can be shared by everybody with the same contributions; the result depends
// on the contributions alone. The package knows neither the index nor where
// policies come from.
package rules
