// Package audit compares what running Envoys allow with what the policies say (SPEC 19).
//
// [New] works in these steps:
//
//  1. Package dump reads the listeners of a proxy, and [match] finds the dataplane of the proxy and
//     the listener of each inbound.
//  2. Package rbac makes the filters of each chain a list of decisions, as core/internal/access has
//     them for policies. So one search decides both, for all requests that could exist.
//  3. The search returns each pair of what decides here and there, with a request that they decide
//     differently (compare.go). A decision that depends on what a dump does not show is unknown,
//     never equal.
//
// [NewAlone] answers for proxies of any mesh without policies (alone.go), and findings.go finds
// identities that were put into regular expressions as they are.
package audit
