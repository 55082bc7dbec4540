// Package relay is a caching xDS proxy (SPEC 9.7, 16): a state for package server that is
// filled from an upstream, which is another ADS server.
//
//	               one stream: locators             streams: nodes and locators
//	upstream ──> sessions ──> verified ──> cache ──> State ──> server ──> clients
//	               one stream per node      │
//	                                        └──> file of Options.State
//
// Definitions:
//
//   - A subscription is a locator (a resource name with dynamic parameters) that the relay has
//     requested upstream.
//   - A variant is a resource of a response, with constraints on parameters. It covers the
//     parameters that its constraints accept.
//   - A session is one stream to the upstream.
//   - A grant is the decision of the upstream whether a client may have what parameters choose.
//   - A name is rejected while the relay has NACKed the newest content that the upstream has sent
//     for it.
//
// The pipeline:
//
//  1. The server asks a [State] for what its streams subscribe to. What a variant covers is
//     served at once. Other parameters are a new subscription; the client gets a response once
//     the upstream has responded (server.PartialState).
//  2. For each name, subscriptions are sent in batches: the parameters that wait for a batch are
//     first compared with the variants of the previous one. So a name has one subscription for
//     each variant that a client needs, not one for each client (name.go).
//  3. What has no locator belongs to a node: wildcards, and the names of inbounds, filters
//     and secrets. It is requested on a session of the node, with the node's own message
//     (node.go). With [Nodes], everything is.
//  4. A session verifies each response: resources decode, and have a name and a version;
//     constraints are valid, and do not overlap within a name. Then it is applied and
//     ACKed, or what is wrong is left out and NACKed with a message (verify.go).
//     What was NACKed is requested again (rejected.go).
//  5. The next State is published. It shares everything with the previous one, except what
//     changed (shards.go). Equal contents are one resource in memory (pool.go).
//
// Invariants:
//
//   - Everything that is served was sent by an upstream, byte for byte, and verified.
//     What is not known gets no response: a client never loses what it holds because the
//     upstream is absent or silent.
//   - When variants are split or joined, parameters that are no longer covered keep their
//     previous variant until the upstream has responded to their subscription.
//   - Two subscriptions of a name that have the same variant become one.
//   - A State is immutable. Its methods never wait for the upstream.
//   - Secrets are not written to disk.
package relay
