// Package permission decides which requests an inbound lets in:
// MeshTrafficPermission (SPEC 7).
//
// The pipeline, for one inbound:
//
//  1. The policies that select the inbound come in order from package rules;
//     [Of] takes either their `rules` or, where no policy has rules, their
//     `from` items (SPEC 5.6).
//  2. Rules become [Entry] values, in the order in which they decide: policies
//     in order, rules, then entries. What a TCP inbound can not see of an entry
//     is taken out so that it never opens the inbound, with a warning (SPEC
//     7.5; visible.go).
//  3. [NewDecisionList] files the entries by the SPIFFE ID that they ask for
//     (decision_list.go), and [DecisionList.Decide] looks a request's ID up
//     instead of scanning: once whole, and once for each path segment.
//  4. `from` items become [Clients], asked from the highest priority down.
//
// Envoy filters are made of the same entries and items by package xds, so that
// what Decide says and what a proxy does have one source.
//
// Invariants:
//
//   - Denied if any deny entry matches; else allowed if any allow or
//     allowWithShadowDeny entry matches; else denied. No order of policies or
//     levels lets an allow override a deny (SPEC 7.3).
//   - The zero [Permissions], of an inbound without policies, denies everything.
//   - Everything here is immutable after it was made and safe for concurrent
//     use. Decide allocates nothing.
//
// Paths are compared as they are given. A proxy that decides on paths must
// normalize them first (in Envoy normalize_path, merge_slashes and
// path_with_escaped_slashes_action), or /a//b and /a%2Fb are other paths than
// /a/b to the policy and the same one to the workload. Nothing normalizes /a;x,
// so where workloads read path parameters a denial of /a does not hold.
package permission
