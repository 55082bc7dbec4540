// Package permission decides which requests an inbound allows:
// MeshTrafficPermission (SPEC 7).
//
// The pipeline, for one inbound:
//
//  1. Package results provides the policies that select the inbound, in order.
//     [ForInbound] takes their `rules` or, if no policy has rules, their `from` items
//     (SPEC 5.6).
//  2. Rules become [Entry] values, in the order in which they decide: by
//     policy, then by rule, then by entry. If a TCP inbound cannot see a
//     condition, the condition or the whole entry is removed, with a warning,
//     so that the removal never opens the inbound (SPEC 7.5; visible.go).
//  3. [DecisionList.Decide] does not compare all entries: it finds them by the
//     request's SPIFFE ID, by the whole ID and by its leading path segments, and among
//     these in the same way by the path (decision_list.go). Package request compares the
//     other conditions.
//  4. `from` items become [Clients], which are compared from the highest
//     priority down.
//  5. [Permissions.Explain] returns the reason why a request is denied, and the
//     entry that nearly allows it.
//
// Package xds makes Envoy filters from the same entries and items, so decisions
// and proxies have one source.
//
// Invariants:
//
//   - A request is denied if any deny entry matches. Otherwise it is allowed if
//     any allow or allowWithShadowDeny entry matches. Otherwise it is denied. In
//     no order of policies or levels does an allow override a deny (SPEC 7.3).
//   - Only [Open] allows a request that no entry or item allows.
//   - The zero [Permissions], of an inbound without policies, denies every
//     request.
//   - All values are immutable and safe for concurrent use. Decide allocates
//     nothing for a path in normal form.
//
// Paths are compared in the form to which an inbound normalizes them
// (request.NormalizePath). Normalization keeps a semicolon and the text after
// it in a segment. So if a workload interprets path parameters, a denial of /a
// does not cover /a;x.
package permission
