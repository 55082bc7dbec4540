// Package rbac translates the permissions of an inbound to Envoy's RBAC filter
// (SPEC 7.4), by [New]:
//
//  1. The entries of the rules are put in the order in which a proxy compares
//     them: those that deny, then those that allow; for the shadow decision those
//     of allowWithShadowDeny only (decision.go).
//  2. Each entry becomes a condition on the request that both forms of the filter
//     can express: segment prefixes, paths, headers (match_condition.go), SPIFFE
//     IDs among other URI SANs (identity.go).
//  3. In [MatcherForm] they are a list, and the first match decides. Each action has
//     the KRI of its policy as its name, and exact SPIFFE IDs are in maps (matcher.go,
//     stage.go, id_map.go). In [RulesForm], which gRPC reads, they are policies, and
//     one must hold (rules.go).
//  4. `from` items are translated in their order of priority (from.go).
//  5. The message is written in one pass, up to [MaxFilter] (writer.go).
//
// Invariants:
//
//   - A filter in MatcherForm decides as permission.Permissions does, for every
//     request of a client that was authenticated by mutual TLS and whose
//     certificate has no URI SAN with a comma.
//   - A filter in RulesForm does too, except that any of several SPIFFE IDs
//     matches, and that Envoy must join header lines, with the runtime key
//     envoy.reloadable_features.rbac_match_headers_individually off.
//   - A filter without permissions denies every request.
//   - Same permissions, same bytes.
//   - Every expression of a filter is one that Envoy accepts, if the policies
//     passed validation.
//
// What a listener must do for a filter to mean that:
//
//   - Its filter chains require a client certificate. On a chain without TLS
//     Envoy has no URI SANs to compare, stops there and denies, in the shadow
//     decision too.
//   - The [CommaFilter] comes first, as Envoy sees the URI SANs of a certificate
//     joined by commas: one with a comma looks like several.
//   - It has the tls_inspector listener filter if entries ask for an SNI. Without
//     it no SNI matches, in a deny entry neither.
//   - Its connection manager sets normalize_path and merge_slashes, and
//     path_with_escaped_slashes_action REJECT_REQUEST if entries ask for paths
//     (permission.DecisionList.AsksForPath). Else /x/../private, //private and
//     /private%2Fa pass a denial of /private. A path with a byte beyond ASCII is
//     denied by the filter; a connection manager that normalizes shows it the byte
//     percent-encoded.
//   - On a TCP inbound whose permissions do not allow every client, tcp_proxy
//     sets upstream_connect_mode ON_DOWNSTREAM_DATA with max_early_data_bytes. The
//     network filter decides at the client's first byte; by default tcp_proxy
//     connects before, and passes on what the server sends first. If the server
//     speaks first (kuma.io/server-first: "true", SPEC 7.5b), no first byte comes:
//     tcp_proxy sets ON_DOWNSTREAM_TLS_HANDSHAKE, and the validation context
//     accepts those SPIFFE IDs only that the permissions allow.
//   - gRPC reads RulesForm only and has no SNI: entries that ask for one do not
//     match. Every method is POST, and it refuses filters that ask for a header
//     whose name begins with grpc-.
package rbac
