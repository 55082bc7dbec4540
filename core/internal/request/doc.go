// Package request compares a request to an inbound with a match of a policy
// (SPEC 7.2). It compares the request that the inbound's proxy sees.
//
// The proxy's view differs from the request that the client sends, and
// conditions apply to the proxy's view:
//
//   - The client's SPIFFE ID is the only spiffe:// URI of its certificate
//     ([ClientID]).
//   - The lines of a header are joined into one value ([NewHeaders]).
//   - An HTTP inbound normalizes the path ([NormalizePath]).
//   - A TCP inbound sees only the connection: the SPIFFE ID and the server
//     name.
//
// [Matches] compares one request with one match. A [Condition] is compiled once
// for many requests.
package request
