// Package fleet measures how a fleet of proxies is served: one source, relays behind it, and a
// delta stream for each proxy at one of the relays, all in this process. Fleets of several sizes are
// measured in a process each.
//
//	engine ──> source ══> relay 0 ══> clients of zone 0
//	                 ══> relay 1 ══> clients of zone 1
//
// Servers and relays are the real ones (packages server and relay). Their connections are gRPC
// in memory, without TLS. A proxy is a client of package streams.
//
// The pipeline for each size:
//
//  1. The resources of a world are applied to an engine (source.go), with mutual TLS and two
//     policies that are edited. The resources of each proxy are computed.
//  2. All proxies connect to the source without relays. Then all streams end, and they
//     connect to relays. The difference is what relays cost (measure.go).
//  3. Policies are edited, a relay loses its streams, a relay is replaced by an empty one, and all
//     certificates are renewed.
//  4. [Lines] are fitted through the sizes. They have the growth, and the figures of a larger
//     fleet.
//
// Invariants:
//
//   - A step ends when each proxy has exactly the resources that the engine gives it, by a hash of
//     all of their bytes. Otherwise it is an error.
//   - A proxy whose resources do not change gets nothing.
//   - The time of a step ends with the last response. Its processor time ends when the servers have the
//     last ACK; what compares hashes is not in it.
//   - A fleet that may need more memory than there is does not begin.
package fleet
