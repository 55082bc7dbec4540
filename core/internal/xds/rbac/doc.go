// Package rbac translates the permissions of an inbound to Envoy's RBAC filter (SPEC 7.4).
// [New] works in these steps:
//
//  1. It puts the entries of the rules in the order in which a proxy compares them: those
//     that deny, then those that allow. The shadow decision has only the entries of
//     allowWithShadowDeny (decision.go).
//  2. It makes each entry a condition on the request that both forms of the filter can
//     express: on segment prefixes, paths and headers (match_condition.go), and on SPIFFE
//     IDs among other URI SANs (identity.go).
//  3. In [MatcherForm] the conditions are a list, and the first match decides. Each action
//     has the KRI of its policy as its name, and exact SPIFFE IDs are in maps (matcher.go,
//     stage.go, id_map.go). In [RulesForm], the only form that gRPC reads, the conditions
//     are policies, and one must hold (rules.go).
//  4. It translates `from` items in their order of priority (from.go).
//  5. It writes the message in one pass, up to [MaxFilter] (writer.go).
//
// Invariants:
//
//   - A filter in MatcherForm decides as permission.Permissions does, for every
//     request of a client that was authenticated by mutual TLS and whose
//     certificate has at most one SPIFFE ID and no URI SAN with a comma.
//   - So does a filter in RulesForm if Envoy joins header lines, that is, if the runtime key
//     envoy.reloadable_features.rbac_match_headers_individually is off.
//   - A filter without permissions denies every request.
//   - The same permissions give the same bytes.
//   - Envoy accepts every expression of a filter if the policies passed validation.
//
// These invariants require of a listener:
//
//   - Its filter chains require a client certificate. On a chain without TLS Envoy has no
//     URI SANs to compare, so it stops there and denies, even in the shadow decision.
//   - The [CommaFilter] comes first, because Envoy compares the URI SANs of a certificate
//     joined by commas: a URI SAN with a comma looks like several.
//   - The [SeveralFilter] is before the permission filter, because a client with several
//     SPIFFE IDs matches each of them. Neither filter ever changes, so what an edit of
//     permissions sends is small.
//   - It has the tls_inspector listener filter. Without it no SNI matches, not even in a
//     deny entry.
//   - Its connection manager sets normalize_path and merge_slashes. Otherwise
//     /x/../private and //private pass a denial of /private. If entries ask for paths
//     (permission.DecisionList.AsksForPath), the filter denies /private%2Fa, and a path
//     with a byte beyond ASCII; if the connection manager normalizes, the filter sees that
//     byte percent-encoded.
//   - On a TCP inbound whose permissions do not allow every client, tcp_proxy sets
//     upstream_connect_mode ON_DOWNSTREAM_DATA with max_early_data_bytes. The network
//     filter decides at the client's first byte, whereas by default tcp_proxy connects
//     earlier and passes on what the server sends first. If the server speaks first
//     (kuma.io/server-first: "true", SPEC 7.5b), no first byte comes: tcp_proxy sets
//     ON_DOWNSTREAM_TLS_HANDSHAKE, and the validation context accepts only those SPIFFE
//     IDs that the permissions allow.
//   - gRPC reads RulesForm only and has no SNI: entries that ask for one do not match.
//     If a client has several SPIFFE IDs, any of them matches. Every method is POST. gRPC
//     refuses filters that ask for a header whose name begins
//     with grpc-.
package rbac
