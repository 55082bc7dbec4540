// Package xds translates effective confs to Envoy resources, by pure
// functions, one file or a few for each policy kind.
//
// MeshTrafficPermission becomes the RBAC filter of an inbound (SPEC 7.4), by
// [RBAC] from package permission:
//
//  1. The entries of the rules are put in the order in which a proxy asks
//     them: what denies, then what allows; for the shadow decision with
//     allowWithShadowDeny among what denies (rbac_phase.go).
//  2. Each entry becomes a condition on the request: segment prefixes, paths
//     without the query, headers (rbac_condition.go, path_regex.go). The
//     translation is written once, over a vocabulary that both forms of the
//     filter have.
//  3. In [MatcherForm] they are a list of which the first match counts, each
//     action named by its policy's KRI, with the exact identities in maps
//     (rbac_matcher.go, rbac_stage.go). In [RulesForm], the one that gRPC
//     reads, they are one principal that holds for who is allowed
//     (rbac_rules.go).
//  4. `from` items are translated in their order of priority (rbac_from.go).
//
// Invariants:
//
//   - What is translated decides as permission.Permissions does, for every
//     request of a client that was authenticated by mutual TLS. For rules its
//     certificate is a SPIFFE SVID, which has exactly one URI SAN; for from it
//     has one more, kuma://key/value, for each tag. Only what a regular
//     expression says of a header's bytes beyond ASCII is Envoy's own
//     (regex.go).
//   - A filter without permissions denies everything.
//   - Same permissions, same bytes. Messages share what is equal, and must not
//     be changed.
//
// What a listener must be like for a filter to mean that:
//
//   - Its filter chains require a client certificate. On a chain without TLS
//     Envoy has no identity to look at, stops there and denies, the shadow
//     decision too.
//   - It has the tls_inspector listener filter where entries ask for an SNI;
//     without it no SNI matches, in a deny entry neither.
//   - Its connection manager normalizes paths (normalize_path, merge_slashes,
//     path_with_escaped_slashes_action) where entries ask for paths: else
//     /x/../private, //private and /private%2Fa pass a denial of /private.
//   - In RulesForm Envoy refuses regular expressions of more than 100
//     instructions, unless the runtime key re2.max_program_size.error_level is
//     raised; MatcherForm has no such limit. The tag key=* is an expression,
//     too long where the key has more than 84 characters.
//   - gRPC reads RulesForm only and has no SNI: entries that ask for one do not
//     match. Every method is POST, and it refuses filters that ask for a header
//     whose name begins with grpc-.
package xds
