// Package permission decides which requests an inbound allows:
// MeshTrafficPermission (SPEC 7).
//
// The pipeline, for one inbound:
//
//  1. The policies that select the inbound come in order from package rules.
//     [ForInbound] takes their `rules` or, if no policy has rules, their `from` items
//     (SPEC 5.6).
//  2. Rules become [Entry] values, in the order in which they decide: policies
//     in order, rules, then entries. What a TCP inbound cannot see of an entry
//     is removed so that it never opens the inbound, with a warning (SPEC 7.5;
//     visible.go).
//  3. [DecisionList.Decide] finds the entries by the request's SPIFFE ID instead
//     of comparing all: by the whole ID, and by its leading path segments
//     (decision_list.go). Package request compares the rest.
//  4. `from` items become [Clients], compared from the highest priority down.
//  5. [Permissions.Explain] returns why a request is denied, and the entry that
//     nearly allows it.
//
// Package xds makes Envoy filters from the same entries and items, so that
// decisions and proxies have one source.
//
// Invariants:
//
//   - A request is denied if any deny entry matches; else allowed if any allow or
//     allowWithShadowDeny entry matches; else denied. No order of policies or
//     levels lets an allow override a deny (SPEC 7.3).
//   - Only [Open] allows a request that no entry or item allows.
//   - The zero [Permissions], of an inbound without policies, denies every
//     request.
//   - All values are immutable and safe for concurrent use. Decide allocates
//     nothing for a path in normal form.
//
// Paths are compared as an inbound normalizes them (request.NormalizePath). A
// semicolon and what follows it in a segment stay, so where workloads read path
// parameters a denial of /a does not hold for /a;x.
package permission
