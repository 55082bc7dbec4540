// Package server serves Envoy resources by ADS, in the delta protocol and in the
// state of the world protocol, by name and by locator (SPEC 12).
//
// Definitions. A [State] is one immutable state of all resources; a [Source]
// publishes states, and only the newest one matters. The node of a stream
// identifies the dataplane whose [wire.Snapshot] the stream is served. A locator is a
// resource name with dynamic parameters, which choose one [wire.Variant] of the name
// (xRFC TP2). A subscription is what a stream asks for in one type: a wildcard,
// names, locators. A response is in flight from when it is sent until the client
// ACKs or NACKs it. The guide (core/GUIDE.md) has a program whose source is an engine.
//
// The pipeline:
//
//  1. [Server.Run] follows the source. Each new state is a generation. A pass
//     over all streams moves each of them to the newest generation, and sends what
//     that leads to. It has one runner for each processor, and more of them only while
//     these wait for a client or for a state.
//  2. For each type, a stream computes what its client should hold, from the
//     subscription and the state, and keeps what its client holds, which is what was
//     sent last. Both are slices of shared resources, sorted by name; where they are
//     the same, they are one slice of the snapshot. After a change, the server calls
//     the state for the locators that the change can reach, and for no others.
//  3. The difference between the two is what is sent: additions in the order
//     CDS, EDS, LDS, RDS, then removals in the order LDS, ECDS, RDS, CDS, EDS, at most
//     one response in flight for each type (SPEC 12.3). Additions of ECDS and SDS do not
//     wait. Endpoints whose identities only a new cluster accepts wait for its ACK.
//  4. The body of a response is marshalled once for all streams with the same
//     difference. The codec of [Server.Options] sends it without a copy, and the
//     nonce of the stream after it.
//  5. An ACK or a NACK ends the flight. What a NACK rejects is recorded, and is
//     sent again only when its content changes or the client asks for it.
//
// What protects the server from clients is around this, in package guard: connections, paces,
// budgets and the numbers of streams. A stream charges the budget of its client.
//
// Both protocols share all of this. They differ in how a request changes the
// subscription and in how a difference becomes a response.
//
// Invariants:
//
//   - A stream between two requests and changes has no goroutine of its own
//     beyond the one that gRPC reads it with, and no timer unless it waits.
//   - The lock of a stream is not held while something is sent. A client that
//     does not read delays no other stream, and gets the newest state when it
//     reads again: states in between are skipped.
//   - A resource that the client holds, with the same content, is sent again only
//     if the client asks for it.
//   - What is sent depends on the state and the subscription only, and versions
//     are hashes of contents, so any replica resumes a stream of another one.
package server
