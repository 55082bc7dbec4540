// Package message makes those parts of Envoy messages that do not depend on policies (SPEC
// 11): clusters, addresses, routes and filters with the default timeouts, the transport
// sockets of mutual TLS, references to secrets, and the forms that gRPC accepts instead.
//
//  1. A caller makes a message with the constructors, such as [NewCluster], and changes it.
//  2. [Any] packs it into another message.
//  3. [NewResource] marshals it to a [wire.Resource]. [Decode] does the reverse, and [JSON]
//     prints a message.
//
// Invariants:
//
//   - Equal messages have the same bytes and the same JSON.
//   - Each call returns a new message, which the caller may change.
//   - What an edit of one policy makes for each proxy is one allocation with its parts.
//
// The package does not depend on policies, dataplanes or snapshots.
package message
