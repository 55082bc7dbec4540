// Package relay is a caching xDS proxy (SPEC 9.7, 16): a state for package server that is
// filled from an upstream, which is another ADS server.
//
//	               one stream: locators             streams: nodes and locators
//	upstream ──> sessions ──> verified ──> cache ──> State ──> server ──> clients
//	               one stream per node      │
//	                                        └──> file of Options.State
//
// Definitions. A question is a resource name with dynamic parameters that is asked upstream.
// A variant is an answer: contents, with constraints on parameters. Parameters that the
// constraints accept are covered by the variant. A session is one stream to the upstream.
// A grant is the decision of the upstream whether a client may have what parameters choose.
//
// The pipeline:
//
//  1. The server asks a [State] for what its streams subscribe to. What a variant covers is
//     answered at once. Other parameters are a new question, and the server does not answer
//     the client until it is answered (server.PartialState).
//  2. For each name, questions are asked in rounds: the parameters that wait for a round are
//     tried against the answers of the previous one first. So a name has one question for
//     each variant that a client needs, not one for each client (name.go).
//  3. What has no locator belongs to a node: wildcards, and the names of inbounds, filters
//     and secrets. It is asked on a session of the node, with the node's own message
//     (node.go). With [Nodes], everything is.
//  4. A session verifies each response: resources decode, and have a name and a version;
//     constraints are valid, and do not overlap within a name. Then it is applied and
//     ACKed, or what is wrong is left out and NACKed with a message (verify.go).
//     What was NACKed is asked for again (wrong.go).
//  5. The next State is published. It shares everything with the previous one, except what
//     changed (shards.go). Equal contents are one resource in memory (pool.go).
//
// Invariants:
//
//   - Everything that is served was sent by an upstream, byte for byte, and verified.
//     What is not known is not answered: a client never loses what it holds because the
//     upstream is absent or silent.
//   - When variants are split or joined, parameters that are no longer covered keep their
//     previous variant until their question is answered.
//   - Two questions of a name that have the same variant become one.
//   - A State is immutable. Its methods never wait for the upstream.
//   - Secrets are not written to disk.
package relay
