// Package collector finds the collectors of telemetry to which policies refer (SPEC 17.3).
//
// [New] makes the [Set] of the MeshOpenTelemetryBackends of a mesh, and [Set.Find] returns
// the [Collector] of a reference. A Set is immutable and safe for concurrent use. A nil Set
// is empty.
package collector
