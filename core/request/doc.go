// Package request compares a request to an inbound with a match of a policy
// (SPEC 7.2), as the inbound's proxy sees the request.
//
// What a proxy sees differs from what a client sends, and a condition means
// what the proxy sees:
//
//   - The client's SPIFFE ID is the one spiffe:// URI of its certificate
//     ([ClientID]).
//   - The lines of a header are one value ([NewHeaders]).
//   - An HTTP inbound normalizes the path ([NormalizePath]).
//   - A TCP inbound sees the connection only: the SPIFFE ID and the server
//     name.
//
// [Matches] compares one request with one match. A [Condition] is compiled once
// for many requests.
package request
