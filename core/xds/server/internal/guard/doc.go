// Package guard protects an ADS server from its clients (SPEC 12.3). A limit is checked before
// any work for a client, and no other client waits for it.
//
//  1. The credentials of [Guard.Credentials] limit the connections that have not begun HTTP/2
//     by address, compute few handshakes at a time, and refuse a client with too many
//     connections.
//  2. A [Connection] is not read faster than the pace of its client, and ends if the requests
//     that have come in part take too much memory.
//  3. [Guard.Enter] limits the streams of a client and of all clients. It returns the [Budget]
//     of the client: what its streams and connections may keep together.
//
// Invariants:
//
//   - What a stream or a connection used is free again when it ends. What a client has to pay
//     by its pace is kept: it may connect again.
//   - The package does not depend on resources, subscriptions or states.
package guard
