// Package message makes the parts of Envoy messages that SPEC 11 sets whatever the policies
// are: clusters, addresses, routes and filters with the default timeouts, the transport
// sockets of mutual TLS, references to secrets, and what gRPC accepts in their place.
//
//  1. A caller makes a message with the constructors, such as [NewCluster], and changes it.
//  2. [Any] puts it into another message.
//  3. [NewResource] marshals it to a [wire.Resource]. [Decode] does the reverse, and [JSON]
//     prints a message.
//
// Invariants:
//
//   - The same message has the same bytes and the same JSON.
//   - Each call returns a new message, which the caller may change.
//
// The package does not know policies, dataplanes or snapshots.
package message
